/**
 * Fills a stopped store in bulk until it has exactly N bound ARQs. The same decision functions are used as at run time,
 * so that journal and views agree. The hosts are those of a demo of the given size (`--demo-hosts` ...), recorded
 * through their reports. A second run with the same numbers adds nothing.
 */
import type { Caller } from '../../actors/control.ts'
import { boundOn, freeHandles } from '../../services/arqs/prebound.ts'
import type { Append } from '../../actors/runtime/ports.ts'
import { systemClock, systemIds } from '../../vocabulary/clock.ts'
import { RELAY } from '../../delivery/relay/options.ts'
import type { Log } from '../../vocabulary/log.ts'
import type { Store } from '../../persistence/store.ts'
import { type Progress, withProgress } from '../progress.ts'
import { type SeededHardware, type SeedSize, seedHardware } from './seedHardware.ts'

export type Seeded = { readonly bound: number; readonly added: number; readonly rows: number }

const SEED_PROFILE = 'seed-fpga'
const projectOf = (at: number, projects: number) => `5eed0000-0000-4000-8000-${String(at % projects).padStart(12, '0')}`

/** Fills each deployable completely before the next one. */
function* histories(hardware: SeededHardware, missing: number, projects: number, { add }: Progress): Generator<Append> {
  let made = 0
  for (const start of hardware.deployables) {
    let place = start
    for (let free = freeHandles(place); free > 0 && made < missing; free--) {
      const asked = { profile: hardware.profile, group: hardware.group, projectId: projectOf(made++, projects) }
      const { appends, memory } = boundOn(systemIds, systemClock.now(), place, asked)
      yield* appends
      add(1)
      place = { ...place, memory }
    }
  }
}

/** The loaded rows count as already published: the relay begins after them, unless it had unpublished rows before. */
const publishedMark = async ({ journal, journalEnd }: Store) => {
  const position = await journal.checkpoint(RELAY)
  const [unpublished] = await journal.feed(position, 1)
  return async () => {
    if (!unpublished) await journal.saveCheckpoint(RELAY, await journalEnd())
  }
}

/** Throws with a text for the operator when the numbers do not fit. No other program may use the store meanwhile. */
export const seed = async (store: Store, size: SeedSize, log: Log): Promise<Seeded> => {
  const operator: Caller = {
    userId: 'seed',
    projectId: projectOf(0, 1),
    isAdmin: true,
    isService: true,
    requestId: 'seed',
  }
  const markPublished = await publishedMark(store)
  const hardware = await seedHardware(store, size, operator, SEED_PROFILE, log)
  const missing = size.arqs - hardware.bound
  if (missing < 0)
    throw new Error(`the store holds ${hardware.bound} bound ARQs already, more than the ${size.arqs} asked for`)
  const free = hardware.deployables.reduce((sum, place) => sum + freeHandles(place), 0)
  if (free < missing)
    throw new Error(
      `${missing} ARQs need as many free attach handles, and there are ${free}: give more hosts, devices or handles`,
    )
  const load = () =>
    withProgress({ what: 'accelerator requests', total: missing }, (progress) =>
      store.bulkLoad(histories(hardware, missing, size.projects, progress)),
    )
  const loaded = missing > 0 ? await load() : { journalRows: 0 }
  if (missing > 0) await markPublished()
  return { bound: size.arqs, added: missing, rows: loaded.journalRows }
}

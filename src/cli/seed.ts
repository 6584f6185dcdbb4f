/**
 * Brings a stopped store to exactly N bound ARQs, in bulk: decided by the same deciders as at run time, so that journal and views agree.
 * Hosts are those of a sized demo (`--demo-hosts` ...), recorded through their reports. Run again with the same figures it adds nothing.
 */
import { arq, arqKey } from '../actors/arq/decider.ts'
import type { Caller } from '../actors/control.ts'
import { deployable, deployableKey } from '../actors/deployable/decider.ts'
import { deciderOf } from '../actors/entities.ts'
import { type Draft, openDraft, toAppend } from '../actors/draft.ts'
import { instance, instanceKey } from '../actors/instance/decider.ts'
import { type Loan, type Memory, blank } from '../actors/memory.ts'
import type { Append } from '../actors/ports.ts'
import { type Row } from '../actors/views.ts'
import { systemClock, systemIds } from '../clock.ts'
import type { Log } from '../log.ts'
import type { Store } from '../persistence/store.ts'
import { type Ground, layGround } from './seedGround.ts'

export type SeedSize = {
  readonly hosts: number
  readonly devices: number
  readonly handles: number
  readonly arqs: number
  readonly projects: number
}
export type Seeded = { readonly bound: number; readonly added: number; readonly rows: number }

export const SEED_PROFILE = 'seed-fpga'
type Terms = { readonly deadline: number; readonly requestId: string }
const HALF_A_YEAR_MS = 180 * 24 * 3_600_000
const cause = { by: 'seed' }
const projectOf = (at: number, projects: number) => `5eed0000-0000-4000-8000-${String(at % projects).padStart(12, '0')}`

type Place = { readonly memory: Memory; readonly row: Row<'deployables'> }
type Born = { readonly uuid: string; readonly at: number }

const create = ({ uuid, at }: Born, { profile, group }: Ground, projectId: string) => {
  const key = arqKey(uuid)
  const loan: Loan = new Map([[key, blank(key, arq)]])
  const { draft, drafted } = openDraft(loan, deciderOf, at)
  const of = { profileUuid: profile.uuid, profileName: profile.name, groupId: 0, group }
  draft.decide(arq, key, { type: 'Create', uuid, projectId, ...of })
  return toAppend(loan, drafted, systemIds.uuid(), at, cause)
}

/** The handle is granted and, where the host has work, prepared as if it had answered at once. */
const grant = (draft: Draft, target: string, arqUuid: string, terms: Terms) => {
  const [granted] = draft.decide(deployable, target, { type: 'Grant', arq: arqUuid, bitstream: null, ...terms })
  if (granted?.type !== 'Granted') throw new Error('a grant that was accepted names no handle')
  const { order } = granted
  const answer = { failed: null, final: true, retryBy: draft.at }
  if (order) draft.decide(deployable, target, { type: 'Answer', slot: order.slot, number: order.number, ...answer })
  const { uuid, type, info } = draft.state(deployable, target).handles[granted.handle]!
  return { handle: { uuid, type, info }, order: order?.number ?? null }
}

const bind = ({ uuid, at }: Born, { row, memory }: Place, created: Memory) => {
  const instanceUuid = systemIds.uuid()
  const [key, target, life] = [arqKey(uuid), deployableKey(row.uuid), instanceKey(instanceUuid)]
  const loan: Loan = new Map([
    [key, created],
    [target, memory],
    [life, blank(life, instance)],
  ])
  const { draft, drafted } = openDraft(loan, deciderOf, at)
  const terms: Terms = { deadline: at + HALF_A_YEAR_MS, requestId: 'seed' }
  const { handle, order } = grant(draft, target, uuid, terms)
  const place = {
    hostname: row.hostname,
    deviceRpUuid: row.rp_uuid!,
    instanceUuid,
    deployable: row.uuid,
    host: row.hostname,
  }
  draft.decide(arq, key, { type: 'Bind', bond: { ...place, handle, order }, projectId: null })
  const parts = [{ arq: uuid, deployable: row.uuid, prepared: true }]
  const settled = { instance: instanceUuid, at, parts, hostname: row.hostname, tellUntil: null }
  draft.decide(instance, life, { type: 'Bind', ...settled, ...terms })
  draft.decide(arq, key, { type: 'ReportBound', workMs: order === null ? null : 0 })
  const { append, after } = toAppend(loan, drafted, systemIds.uuid(), at, cause)
  return { append, memory: after.get(target)! }
}

/** One ARQ, from its creation to Bound, on the next free handle of the deployable: two appends, as at run time. */
const bindOne = (place: Place, ground: Ground, projectId: string) => {
  const born = { uuid: systemIds.ordered(), at: systemClock.now() }
  const created = create(born, ground, projectId)
  const { append, memory } = bind(born, place, created.after.get(arqKey(born.uuid))!)
  return { appends: [created.append, append], memory }
}

const freeHandles = ({ memory }: Place) =>
  Object.values((memory.state as typeof deployable.initial).handles).filter(({ state }) => state === 'free').length

/** Deployable after deployable, each filled up. */
function* histories(ground: Ground, missing: number, projects: number): Generator<Append> {
  let made = 0
  for (const start of ground.places) {
    let place = start
    for (let free = freeHandles(place); free > 0 && made < missing; free--) {
      const { appends, memory } = bindOne(place, ground, projectOf(made++, projects))
      yield* appends
      place = { ...place, memory }
    }
  }
}

/** Throws with a text for the operator when the figures do not fit. The store must have no other user. */
export const seed = async (store: Store, size: SeedSize, log: Log): Promise<Seeded> => {
  const operator: Caller = {
    userId: 'seed',
    projectId: projectOf(0, 1),
    isAdmin: true,
    isService: true,
    requestId: 'seed',
  }
  const ground = await layGround(store, size, operator, SEED_PROFILE, log)
  const missing = size.arqs - ground.bound
  if (missing < 0)
    throw new Error(`the store holds ${ground.bound} bound ARQs already, more than the ${size.arqs} asked for`)
  const free = ground.places.reduce((sum, place) => sum + freeHandles(place), 0)
  if (free < missing)
    throw new Error(
      `${missing} ARQs need as many free attach handles, and there are ${free}: give more hosts, devices or handles`,
    )
  const loaded = missing > 0 ? await store.bulkLoad(histories(ground, missing, size.projects)) : { journalRows: 0 }
  return { bound: size.arqs, added: missing, rows: loaded.journalRows }
}

/** One seed from start to end: load with faults, end of the faults, time to settle, and the check of the invariants. */
import type { DeployableEvent } from '../../src/actors/deployable/messages.ts'
import type { Evidence, Violation } from '../../src/audit/evidence.ts'
import { CONTROL_DEFAULTS, RELEASE_FOR_MS } from '../../src/services/kernel/kernel.ts'
import { doubtful, hasLostProgramming, unnamed } from './databaseServer.ts'
import { type Favourite, mend, strike } from './faults.ts'
import {
  type Bite,
  needsClocks,
  needsHammer,
  needsKeystone,
  needsLiar,
  needsLoss,
  needsPlacement,
  needsRestarts,
} from './lies.ts'
import { judged } from './clocks.ts'
import { hammered } from './hammer.ts'
import { believed, liesMore } from './liar.ts'
import { strayed } from './moving.ts'
import { poisoned, silence } from './hardships.ts'
import { interventionSession } from './operators.ts'
import { recordedTwice } from './returning.ts'
import { unrecorded } from './shown.ts'
import { falseDifferences } from './slots.ts'
import {
  ADMIN,
  PROFILES,
  type Tools,
  divide,
  ensureProfile,
  novaSession,
  operatorSession,
  survey,
  tenantSession,
} from './sessions.ts'
import { seeded } from './random.ts'
import { pass, until } from './until.ts'
import { type World, openWorld } from './world.ts'

export type Played = {
  readonly seed: number
  readonly requests: number
  readonly faults: number
  readonly steps: number
  /** How often a part of a divided card was given. */
  readonly parts: number
  /** How often a mediated device was given. */
  readonly vgpus: number
  /** The clock of a control was set wrong: rules about terms cannot be judged over the journal as it is. */
  readonly haveStrayed: boolean
  readonly violations: readonly Violation[]
  readonly story: readonly string[]
  /** The evidence at the end of the settling time, before the clients delete everything. */
  readonly evidence: Evidence
}

/** Requests of a seed, by the number of processes: with more processes each request takes more steps. */
const REQUESTS = [305, 305, 300, 240, 190] as const
const FAULTS = 12
const NOVAS = 5
/** Longer than a bind's deadline, Nova's patience and the retries of a release. */
const SETTLE_MS = 350_000
/** A programming whose result was lost ends by its deadline: its host does not carry out an order that it has had. */
const SETTLE_PROGRAMMED_MS = CONTROL_DEFAULTS.programDeadlineMs + 20_000
/** A term that begins at a moment far ahead lasts from when a control has seen it: the longest is that of a release. */
const SETTLE_STRAYED_MS = RELEASE_FOR_MS + 100_000
// units that were withheld for requests that are gone have to be free again by then (L3)
const CLEAR_MS = 130_000

type Load = { readonly tools: Tools; faults: number; readonly ended: Promise<unknown> }

const requestsIn = ({ stage }: World): number => REQUESTS[stage.processes.length]!

const startLoad = (world: World, seed: number): Load => {
  const { client, stage, uuid } = world
  const over = (): boolean => client.requests() >= requestsIn(world) && load.faults >= FAULTS
  const toolsOf = (name: string): Tools => ({
    client,
    nova: stage.nova,
    random: seeded(`${seed}/${name}`),
    uuid,
    over,
    places,
    say: stage.say,
  })
  const places: Tools['places'] = []
  const tools = toolsOf('operator')
  const sessions = async (): Promise<void> => {
    for (const name of Object.keys(PROFILES)) await ensureProfile(tools, name)
    while (places.length < 8) {
      await client.sleep(500)
      await survey(tools)
    }
    if (tools.random.chance(0.5)) {
      await divide(tools)
      await client.sleep(1000)
    }
    const novas = Array.from({ length: NOVAS }, (_, at) => novaSession(toolsOf(`nova ${at}`)))
    const others = [interventionSession(toolsOf('interventions')), tenantSession(toolsOf('tenant'))]
    await Promise.all([...novas, operatorSession(tools), ...others])
  }
  const load: Load = { tools, faults: 0, ended: Promise.resolve() }
  return Object.assign(load, { ended: sessions() })
}

const favouriteOf = (bite: Bite | null): Favourite | null => {
  if (needsLoss(bite)) return 'loss'
  if (needsKeystone(bite)) return 'keystone'
  if (needsClocks(bite)) return 'clocks'
  if (needsLiar(bite)) return 'liar'
  if (bite === 'programming unverified') return 'programming'
  if (needsRestarts(bite)) return 'restart'
  return needsPlacement(bite) ? 'placement' : null
}

/** Faults are spread over the requests, and injected earlier if the clients are slow. */
const makeFaults = (world: World, load: Load, bite: Bite | null): void => {
  const { stage, client } = world
  const { schedule, life, random } = stage
  const first = 40
  const next = (): void => {
    const wanted = first + ((requestsIn(world) - first) * (load.faults + random.unit() * 0.8)) / FAULTS
    if (client.requests() >= wanted) {
      load.faults++
      strike(stage, favouriteOf(bite))
    }
    if (load.faults < FAULTS) schedule.after(life, random.between(1, 200), next)
  }
  next()
}

/** Deletes all remaining ARQs, so that everything must be free at the end. */
const clearOut = async ({ tools: { client } }: Load): Promise<void> => {
  for (let round = 0; round < 20; round++) {
    const listed = await client.ask({ ...ADMIN, service: true }, 'list', 'GET /v2/accelerator_requests')
    const arqs = listed.status === 200 ? (listed.json.arqs as { uuid: string }[]).map(({ uuid }) => uuid) : ['']
    if (arqs.length === 0) return
    if (arqs[0] !== '')
      await client.ask(
        { ...ADMIN, service: true },
        'remove',
        `DELETE /v2/accelerator_requests?arqs=${arqs.join(',')}`,
        undefined,
        { arqs },
      )
    await client.sleep(1000)
  }
}

/** What was given of what is rare. */
const givenIn = (journal: Evidence['journal']): Pick<Played, 'parts' | 'vgpus'> => {
  const [parts, divided] = [new Set<string>(), new Set<string>()]
  const given = { parts: 0, vgpus: 0 }
  for (const { key, events } of journal.filter((row) => row.key.startsWith('deployable/')))
    for (const event of events as readonly DeployableEvent[]) {
      if (event.type === 'DeployableRecorded' && event.identity.tree) parts.add(key)
      if (event.type === 'DeployableRecorded' && event.description.handles.some(({ type }) => type === 'MDEV'))
        divided.add(key)
      if (event.type !== 'Granted') continue
      if (parts.has(key)) given.parts++
      if (divided.has(key)) given.vgpus++
    }
  return given
}

const settleMs = ({ store, haveStrayed }: World['stage']): number => {
  if (haveStrayed) return SETTLE_STRAYED_MS
  return hasLostProgramming(store.server) ? SETTLE_PROGRAMMED_MS : SETTLE_MS
}
const gather = async (world: World): Promise<Evidence> => {
  const gathered = world.evidence(true)
  await until(world, 'the gathering of evidence', gathered)
  return gathered
}
export const play = async (seed: number, bite: Bite | null = null): Promise<Played> => {
  const world = openWorld(seed, { bite })
  try {
    const { stage, client, story, complaints } = world
    for (const each of [...stage.processes, ...stage.machines]) each.start()
    const load = startLoad(world, seed)
    makeFaults(world, load, bite)
    await until(world, 'the load', load.ended)
    if (needsClocks(bite) || stage.random.chance(0.3)) await silence(world, load.tools)
    if (stage.random.chance(0.2)) await poisoned(world, load.tools)
    if (needsHammer(bite) || stage.random.chance(0.06)) await hammered(world, load.tools)
    mend(stage)
    if (stage.haveLied) liesMore(stage)
    await pass(world, settleMs(stage))
    const evidence = await gather(world)
    // what was told by then is told at the end as well
    const { topics: _topics, ...untold } = evidence
    const moments = () => (stage.haveStrayed ? stage.store.moments : null)
    const settled = [...judged(untold, moments()), ...strayed(evidence, stage.machines)]
    await until(world, 'the clearing', clearOut(load))
    await pass(world, CLEAR_MS)
    const last = await gather(world)
    const nameless = unnamed(stage.store.server)
    if (nameless.length > 0)
      world.complain(`${nameless.length} rows are lost, and nobody knows, such as ${nameless[0]}`, 'INCARNATION-2')
    for (const trait of stage.placement?.lostTraits() ?? [])
      world.complain(`${trait} was set by an operator and is gone`, 'SETTLE-3')
    const altered = new Set([
      ...stage.machines.flatMap((machine) => [...machine.altered]),
      ...doubtful(stage.store.server),
    ])
    const violations = [
      ...complaints,
      ...settled,
      ...judged(last, moments()),
      ...recordedTwice(last),
      ...(stage.haveLied ? believed(last) : []),
      ...falseDifferences(last, altered),
      ...unrecorded(last, new Map(stage.machines.map(({ name, devices }) => [name, devices()]))),
    ]
    const seen = new Set<string>()
    const distinct = violations.filter(
      ({ invariant, found }) => !seen.has(`${invariant} ${found}`) && seen.add(`${invariant} ${found}`),
    )
    return {
      seed,
      requests: client.requests(),
      faults: load.faults,
      steps: stage.schedule.steps(),
      ...givenIn(last.journal),
      haveStrayed: stage.haveStrayed,
      violations: distinct,
      story,
      evidence,
    }
  } finally {
    world.close()
  }
}

/**
 * A simulated cloud in one process: control processes, compute nodes, Nova and clients over one store and one bus, from
 * one seed.
 */
import type { Evidence, Violation } from '../../src/audit/evidence.ts'
import type { Row, ViewName } from '../../src/actors/runtime/views.ts'
import { VIEWS } from '../../src/actors/runtime/views.ts'
import { keepBack } from '../../src/cli/store/keepBack.ts'
import { openOfflinePlane } from '../../src/cli/store/offlinePlane.ts'
import type { SimulatedPlan } from '../../src/drivers/simulated/simulated.ts'
import type { Log } from '../../src/vocabulary/log.ts'
import { type Client, openClient } from './client.ts'
import { openProcess } from './control.ts'
import { simKeystone } from './keystone.ts'
import { openMachine } from './machine.ts'
import { type Network, openNetwork } from './network.ts'
import { simNova } from './nova.ts'
import { simPlacement } from './placement.ts'
import { seeded, seededIds } from './random.ts'
import { openSchedule } from './schedule.ts'
import { openSnare } from './snare.ts'
import type { Pause, Stage } from './stage.ts'
import { openTap, type Tap } from './tap.ts'
import { type Bite, needsKeystone, needsPlacement, needsSeveral } from './lies.ts'
import { simStore } from './store.ts'

export type World = {
  readonly stage: Stage
  readonly tap: Tap
  readonly client: Client
  readonly story: readonly string[]
  /** Violations that belong to no invariant, such as a failed request or an unhandled error. */
  readonly complaints: readonly Violation[]
  readonly complain: (line: string, rule?: string) => void
  readonly evidence: (quiet: boolean) => Promise<Evidence>
  readonly uuid: () => string
  readonly close: () => void
}

/** Rules that are checked during the run, and not from evidence. */
const MEANINGS: Readonly<Record<string, string>> = {
  'data-model 11.7': 'what is done for a request is done on the card that it was bound to',
  bug: 'nothing breaks, and nothing is thrown that nobody catches',
  'SHARING-2': 'the checkpoint of the relay never goes back',
  'SHARING-3': 'what one process claimed, no other gets until the claim is over',
  'INCARNATION-2': 'what the database had acknowledged and has lost is found, and listed for the operator',
  'SETTLE-3': 'traits that others have set on our providers stay',
  'TOKENS-1': 'a good token is taken, and one that has ended is not, as soon as nobody may remember it',
  L6: 'what is bound to a dead host can be deleted',
  L7: 'what is poisoned, or asks for too much, delays others by a bounded time at most',
}
/** How many processes there are. */
const CONTROLS = [1, 1, 1, 2, 2, 2, 3, 4] as const
const SKEW_MS = 2000

const PLANS: readonly SimulatedPlan['devices'][] = [
  [
    { kind: 'fpga', handles: 4 },
    { kind: 'gpu', handles: 2 },
  ],
  [
    { kind: 'nic', handles: 4 },
    { kind: 'gpu', handles: 1 },
    // only its programming needs work on its host
    { kind: 'fpga', handles: 2, hostWork: false },
  ],
  [
    { kind: 'fpga', handles: 3 },
    { kind: 'nic', handles: 2 },
    { kind: 'fpga', handles: 2, functions: 2 },
  ],
]

/** The host that has real GPUs besides. */
const GPUS_OF = 1

const plain = (_: string, value: unknown): unknown => (value instanceof Error ? (value.stack ?? value.message) : value)
const logTo = (say: (line: string) => void): Log => {
  const at = (level: string) => (detail: object, message: string) =>
    say(`${level}: ${message} ${JSON.stringify(detail, plain)}`)
  return { debug: () => {}, info: () => {}, warn: at('warn'), error: at('error') }
}

const viewsOf = async (stage: Stage): Promise<NonNullable<Evidence['views']>> => {
  const { page } = stage.store.store.reads
  const read = async (view: ViewName) => {
    const rows = (await page({ view, where: {}, sort: VIEWS[view].key as never, limit: Infinity })) as readonly Row<
      typeof view
    >[]
    return [view, rows] as const
  }
  return Object.fromEntries(await Promise.all((Object.keys(VIEWS) as ViewName[]).map(read))) as NonNullable<
    Evidence['views']
  >
}

export type Setting = {
  readonly bite?: Bite | null
  /** How many processes there are, and they all know that. When not given, the seed says. */
  readonly controls?: number
  readonly plans?: readonly SimulatedPlan['devices'][]
  /** No faults except those that are injected explicitly. */
  readonly calm?: boolean
}

export const openWorld = (
  seed: number,
  { bite = null, controls, plans = PLANS, calm = false }: Setting = {},
): World => {
  const chance = seeded(`${seed}`)
  const story: string[] = []
  const complaints: Violation[] = []
  const say = (line: string): void => void story.push(`${(schedule.elapsed() / 1000).toFixed(3)} ${line}`)
  const complain: World['complain'] = (found, invariant = 'bug') => {
    complaints.push({ invariant, meaning: MEANINGS[invariant] ?? '', found, proof: [] })
    say(`complaint: ${invariant}: ${found}`)
  }
  const uncaught = (error: unknown): void =>
    complain(`nobody caught ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`)
  const schedule = openSchedule(chance.fork('schedule'), uncaught)
  const fates = chance.fork('fates')
  // several processes share one store, as in a cluster; one may know that it is alone, as with the embedded store
  const count = controls ?? (needsSeveral(bite) ? fates.between(2, 4) : fates.pick(CONTROLS))
  const life = schedule.life('fate')
  const snare = openSnare(schedule)
  const tap = openTap(say)
  const clock = schedule.clockOf(life)
  const ids = seededIds(chance.fork('ids'), clock.now)
  const exclusive = controls === undefined && count === 1 && fates.chance(0.6)
  const store = simStore({
    schedule,
    random: chance.fork('store'),
    snare,
    tap,
    exclusive,
    bite,
    say,
    complain,
    now: clock.now,
  })
  const { onLoss, records, losses } = store.server
  const nova = simNova({ schedule, tap, random: chance.fork('nova'), committed: store.committed, onLoss, say })
  const placement =
    needsPlacement(bite) || (!calm && fates.chance(0.4))
      ? simPlacement({ schedule, random: chance.fork('placement'), hosts: plans.map((_, at) => `h${at + 1}`), say })
      : null
  const tokens = chance.fork('keystone')
  const keystone =
    needsKeystone(bite) || (!calm && tokens.chance(0.35))
      ? simKeystone({ schedule, random: tokens, skewMs: tokens.between(-SKEW_MS, SKEW_MS), say })
      : null
  const open = (generation: number): Network =>
    openNetwork({ schedule, random: chance.fork(`bus ${generation}`), snare, tap, calm, generation })
  const networks = [open(0)]
  const network = (): Network => networks.at(-1)!
  const loseBus = (): void => {
    schedule.end(network().life)
    networks.push(open(networks.length))
  }
  const skewMs = (): number => (calm ? 0 : fates.between(-SKEW_MS, SKEW_MS))
  const shared = { schedule, ids, network, log: logTo(say), say }
  const processes = Array.from({ length: count }, (_, at) => `control-${at + 1}`).map((name) =>
    openProcess({
      ...shared,
      name,
      random: chance.fork(name),
      skewMs: skewMs(),
      store,
      nova,
      placement,
      keystone,
      bite,
    }),
  )
  const machines = plans.map((devices, at) =>
    openMachine({
      ...shared,
      name: `h${at + 1}`,
      plan: { seed: `${seed}/${at}`, devices },
      hasGpus: plans === PLANS && at === GPUS_OF,
      random: chance.fork(`h${at}`),
      skewMs: skewMs(),
      tap,
      bite,
      complain,
    }),
  )
  const pauses: Pause[] = []
  const client = openClient({
    schedule,
    random: chance.fork('client'),
    processes,
    keystone,
    committed: store.committed,
    onLoss,
    say,
    complain,
  })
  /** As `migrate --adopt`: a process of its own, which writes while writing is stopped. */
  const adopt = async (): Promise<void> => {
    const [stopped, mine] = [records.stopped(), schedule.life('operator')]
    if (stopped === null) return
    const plane = openOfflinePlane(store.seenBy(mine, true), shared.log, { clock: schedule.clockOf(mine), ids })
    try {
      const failed = await keepBack(plane.adoption, stopped.lost, (line) => say(`operator: ${line}`))
      if (failed.length > 0) throw new Error(failed.join(', '))
      records.goOn(stopped.lost)
    } finally {
      await plane.stop()
      schedule.end(mine)
    }
  }
  const stage: Stage = {
    schedule,
    random: fates,
    life,
    processes,
    machines,
    network,
    loseBus,
    store,
    snare,
    nova,
    placement,
    keystone,
    now: clock.now,
    pauses,
    haveStrayed: false,
    haveLied: false,
    witnessesUntilMs: 0,
    adopt,
    say,
  }

  process.on('unhandledRejection', uncaught)
  process.on('uncaughtException', uncaught)
  return {
    stage,
    tap,
    client,
    story,
    complaints,
    complain,
    uuid: ids.uuid,
    evidence: async (quiet) => ({
      journal: [...store.rows()],
      now: clock.now(),
      quiet,
      pauses: [...pauses],
      lost: losses.map(({ rows, fromMs, toMs }) => ({ rows, fromMs, toMs })),
      views: await viewsOf(stage),
      memories: quiet ? (await Promise.all(processes.map((each) => each.memories()))).flat() : [],
      hosts: await Promise.all(machines.map(({ trace }) => trace())),
      nova: [...nova.heard],
      ...(placement && { placement: placement.seen() }),
      clients: [...client.asked],
      topics: {
        messages: networks.flatMap(({ stored }) => stored),
        cut: new Set(),
        publishedTo: await store.store.journal.checkpoint('relay'),
        settled: (await store.store.journal.checkpoint('relay.unsettled')) === 'settled',
        open: null,
      },
    }),
    close: () => {
      for (const each of processes) each.kill()
      for (const machine of machines) machine.crash('kept')
      for (const machine of machines) machine.close()
      process.off('unhandledRejection', uncaught)
      process.off('uncaughtException', uncaught)
      schedule.release()
    },
  }
}

/** A whole cloud in one process: control processes, compute nodes, Nova and clients, over one store and one bus, out of one seed. */
import type { Evidence } from '../../src/actors/invariants/evidence.ts'
import type { Row, ViewName } from '../../src/actors/views.ts'
import { VIEWS } from '../../src/actors/views.ts'
import type { SimulatedPlan } from '../../src/drivers/simulated.ts'
import type { Log } from '../../src/log.ts'
import { type Client, openClient } from './client.ts'
import { openProcess } from './control.ts'
import type { Pause, Stage } from './faults.ts'
import { openMachine } from './machine.ts'
import { type Network, openNetwork } from './network.ts'
import { simNova } from './nova.ts'
import { seeded, seededIds } from './random.ts'
import { openSchedule } from './schedule.ts'
import { type Bite, simStore } from './store.ts'

export type World = {
  readonly stage: Stage
  readonly client: Client
  readonly story: readonly string[]
  /** Bugs that no invariant has a name for: a request that broke, an error that nobody caught. */
  readonly complaints: readonly string[]
  readonly complain: (line: string) => void
  readonly evidence: (quiet: boolean) => Promise<Evidence>
  readonly uuid: () => string
  readonly close: () => void
}

const PLANS: readonly SimulatedPlan['devices'][] = [
  [
    { kind: 'fpga', handles: 4 },
    { kind: 'gpu', handles: 2 },
  ],
  [
    { kind: 'nic', handles: 4 },
    { kind: 'gpu', handles: 1 },
    { kind: 'fpga', handles: 1 },
  ],
  [
    { kind: 'fpga', handles: 3 },
    { kind: 'nic', handles: 2 },
  ],
]

const logTo = (say: (line: string) => void): Log => {
  const at = (level: string) => (detail: object, message: string) =>
    say(`${level}: ${message} ${JSON.stringify(detail)}`)
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

export const openWorld = (seed: number, bite: Bite | null = null): World => {
  const chance = seeded(`${seed}`)
  const story: string[] = []
  const complaints: string[] = []
  const say = (line: string): void => void story.push(`${(schedule.elapsed() / 1000).toFixed(3)} ${line}`)
  const complain = (line: string): void => {
    complaints.push(line)
    say(`complaint: ${line}`)
  }
  const uncaught = (error: unknown): void =>
    complain(`nobody caught ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`)
  const schedule = openSchedule(chance.fork('schedule'), uncaught)
  const fates = chance.fork('fates')
  // two processes share one store, as in a cluster; one may know that it is alone, as with the embedded store
  const alone = fates.chance(0.5)
  const life = schedule.life('fate')
  const clock = schedule.clockOf(life)
  const ids = seededIds(chance.fork('ids'), clock.now)
  const store = simStore({ schedule, random: chance.fork('store'), exclusive: alone && fates.chance(0.6), bite, say })
  const nova = simNova({ schedule, random: chance.fork('nova'), committed: store.committed, say })
  let network: Network = openNetwork(schedule, chance.fork('bus'))
  const loseBus = (): void => {
    schedule.end(network.life)
    network = openNetwork(schedule, chance.fork(`bus ${story.length}`))
  }
  const shared = { schedule, ids, network: () => network, log: logTo(say), say }
  const processes = (alone ? ['control'] : ['control-1', 'control-2']).map((name, at) =>
    openProcess({ ...shared, name, random: chance.fork(name), skewMs: at * 30, store, nova }),
  )
  const machines = PLANS.map((devices, at) =>
    openMachine({
      ...shared,
      name: `h${at + 1}`,
      plan: { seed: `${seed}/${at}`, devices },
      random: chance.fork(`h${at}`),
      bite,
    }),
  )
  const pauses: Pause[] = []
  const client = openClient({
    schedule,
    random: chance.fork('client'),
    processes,
    committed: store.committed,
    say,
    complain,
  })
  const stage: Stage = {
    schedule,
    random: fates,
    life,
    processes,
    machines,
    network: () => network,
    loseBus,
    store,
    nova,
    now: clock.now,
    pauses,
    say,
  }

  process.on('unhandledRejection', uncaught)
  process.on('uncaughtException', uncaught)
  return {
    stage,
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
      views: await viewsOf(stage),
      memories: quiet ? (await Promise.all(processes.map((each) => each.memories()))).flat() : [],
      hosts: await Promise.all(machines.map(({ trace }) => trace())),
      nova: [...nova.heard],
      clients: [...client.asked],
    }),
    close: () => {
      for (const each of processes) each.kill()
      for (const machine of machines) machine.crash('kept')
      process.off('unhandledRejection', uncaught)
      process.off('uncaughtException', uncaught)
      schedule.release()
    },
  }
}

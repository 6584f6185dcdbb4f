/**
 * `--parts cluster`: several controls and hosts over a real broker and a real database, between two measurements of the
 * floor.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { ownBroker } from '../../test/support/kafka.ts'
import { digits, summary } from '../figures.ts'
import { openGenerator } from '../generator.ts'
import type { Options } from '../options.ts'
import { type Floor, type Server, between } from '../postgres.ts'
import { cpuMs } from '../proc.ts'
import { measureClusterKill } from './kill.ts'
import { measureLag } from './lag.ts'
import { type Scene, type Taken, calm, measureSteady, measureWhole, portsOf, warmUp } from './measure.ts'
import { type ClusterResults, noClusterResults } from './results.ts'
import { BROKER_RIG, type ClusterStand, type ClusterRig, openClusterStand } from './stand.ts'
import type { ClusterTask } from './tasks.ts'

export type Say = (line: string) => void
type Run = { readonly options: Options; readonly results: ClusterResults; readonly scene: Scene; readonly say: Say }

/** How many controls run for the figures of a whole cluster, and with how many the cost of one bind is compared. */
const CONTROLS = 3
const COMPARED = [4, 2, 1]
/** Ratios of short measurements tell little. */
const COMPARE_SECONDS = 6
const LAG_PER_SECOND = 50
const REST_MS = 5000
const PAGE = 100

const told = ({ found, cpu, fences }: Taken): string => {
  const { p50 = Number.NaN, p99 = Number.NaN } = found.stages['whole'] ?? {}
  const costs = [cpu.controls, cpu.hosts, cpu.broker, cpu.database, found.generatorCpuMs].map(digits).join('/')
  const failed = found.failures.length > 0 ? `; ${found.failures.length} FAILURES: ${found.failures[0]}` : ''
  return `${digits(found.perSecond)}/s, p50 ${digits(p50)} ms, p99 ${digits(p99)} ms, CPU ms controls/hosts/broker/database/callers ${costs}, ${fences.stale} of ${fences.appends} appends fenced${failed}`
}

const atRest = async ({ controls }: ClusterStand): Promise<number> => {
  const total = (): number => controls.reduce((sum, { pid }) => sum + cpuMs(pid), 0)
  const [before, began] = [total(), performance.now()]
  await sleep(REST_MS)
  return ((total() - before) * 1000) / (performance.now() - began)
}

const controlsUpTo = async (run: Run, count: number): Promise<void> => {
  const { stand } = run.scene
  while (stand.controls.length < count) await stand.startControl()
  while (stand.controls.length > count) await stand.endControl(stand.controls.at(-1)!, 'SIGTERM')
}

/**
 * Callers against fewer and fewer controls, so that none is newer than the others: as many for each control, and all
 * that the most controls have. The fewer callers a control has, the fewer appends share a statement, whatever else is
 * so.
 */
const compareControls = async (run: Run): Promise<void> => {
  const { scene, options, results, say } = run
  const most = options.concurrency.at(-1)!
  const targets = await scene.stand.targets(true)
  for (const count of COMPARED) {
    await controlsUpTo(run, count)
    await warmUp(scene, targets)
    const restMs = await atRest(scene.stand)
    for (const lanes of new Set([most, Math.ceil((most / COMPARED[0]!) * count)])) {
      const taken = await measureWhole(scene, targets, lanes, Math.max(COMPARE_SECONDS, options.seconds))
      say(`${count} controls, host work, ${lanes} callers: ${told(taken)}; at rest ${digits(restMs)} ms CPU/s`)
      results.controls.push({ controls: count, lanes, restMs, ...taken })
    }
  }
}

type Whole = Omit<ClusterResults['whole'][number], 'floor'>
const wholeWays = async ({ scene, options, say }: Run): Promise<readonly Whole[]> => {
  const { arqs } = scene.stand
  const found: Whole[] = []
  for (const hostWork of options.hostWork) {
    const targets = await scene.stand.targets(hostWork)
    await warmUp(scene, targets)
    for (const lanes of options.concurrency) {
      const taken = await measureWhole(scene, targets, lanes, options.seconds)
      say(`${arqs} ARQs, ${hostWork ? 'host work' : 'no host work'}, ${lanes} callers: ${told(taken)}`)
      found.push({ arqs, hostWork, lanes, ...taken })
    }
  }
  return found
}

/** Half of what the most callers reached a moment ago. */
const steadily = async ({ scene, options, results, say }: Run, most: Taken): Promise<void> => {
  const { arqs } = scene.stand
  const perSecond = most.found.perSecond / 2
  const steady = await measureSteady(scene, await scene.stand.targets(true), perSecond, options.steadySeconds)
  results.steady = { arqs, ...steady }
  say(`steady at ${digits(perSecond)}/s for ${options.steadySeconds} s: ${told(steady)}`)
  say(`memory ${steady.grown.map(({ name, residentMb }) => `${name} ${residentMb.join(' > ')} MB`).join(', ')}`)
}

const lists = async ({ scene, results }: Run): Promise<void> => {
  const { stand, rig } = scene
  for (const limit of [PAGE, null]) {
    const task = { kind: 'list', ports: portsOf(stand).slice(0, 1), lanes: 1, limit, forMs: 2000 } as const
    const found = summary([await rig.callers.run(task)])
    results.lists.push({ arqs: stand.arqs, what: limit === null ? 'all in one answer' : `page of ${limit}`, found })
  }
}

const onEmpty = async (run: Run): Promise<readonly Whole[]> => {
  const { scene, options, results, say } = run
  await controlsUpTo(run, CONTROLS)
  const found = await wholeWays(run)
  const targets = await scene.stand.targets(true)
  const lag = await measureLag(scene, targets, LAG_PER_SECOND, Math.min(30, options.steadySeconds / 2))
  results.lag = lag
  say(
    `tail at ${LAG_PER_SECOND} binds/s: ${lag.facts} facts, p50 ${digits(lag.ms.p50)} ms, p99 ${digits(lag.ms.p99)} ms`,
  )
  const kill = await measureClusterKill(scene, targets, options.inFlight)
  results.kill = kill
  say(
    `${kill.inFlight} in flight at a SIGKILL of the relaying control: all ended after ${digits(kill.allMs / 1000)} s, hosts stood still for ${digits(kill.stoodMs / 1000)} s`,
  )
  await compareControls(run)
  return found
}
const onFull = async (run: Run): Promise<readonly Whole[]> => {
  await controlsUpTo(run, CONTROLS)
  await lists(run)
  const found = await wholeWays(run)
  await steadily(run, found.at(-1)!)
  return found
}

/** One number of ARQs, between two measurements of the floor. */
const measureOn = async (
  rig: ClusterRig,
  arqs: number,
  parts: Pick<Run, 'options' | 'results' | 'say'>,
  work: (run: Run) => Promise<readonly Whole[]>,
): Promise<void> => {
  const { options, results, say } = parts
  const floor = (): Promise<Floor> => rig.server.floor(options.concurrency, Math.min(5, options.seconds))
  const before = await floor()
  say(`floor ${[...before.binds].map(([clients, { perSecond }]) => `${clients}: ${digits(perSecond)}/s`).join(', ')}`)
  const stand = await openClusterStand(rig, arqs, 1, { profile: options.profile })
  results.seeds.push({ arqs, said: stand.seeded })
  try {
    await stand.startControl()
    await stand.startHosts()
    const found = await work({ ...parts, scene: { stand, rig } })
    await calm(stand)
    const mean = between(before, await floor())
    results.whole.push(...found.map((one) => ({ ...one, floor: mean })))
  } finally {
    await stand.drop()
  }
}

export const measureCluster = async (server: Server, options: Options, say: Say): Promise<ClusterResults> => {
  const results = noClusterResults()
  const broker = await ownBroker(BROKER_RIG)
  const callers = openGenerator<ClusterTask>(new URL('load.ts', import.meta.url))
  const rig = { server, broker, callers, nova: await callers.greeting() }
  const parts = { options, results, say }
  try {
    await measureOn(rig, options.arqs[0]!, parts, onEmpty)
    await measureOn(rig, options.arqs.at(-1)!, parts, onFull)
  } finally {
    callers.close()
    await broker.kill()
  }
  return results
}

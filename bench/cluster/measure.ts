/** What a cluster does under load: rounds of binds at so many callers, and a steady stream of them. */
import { TRIED_AGAIN } from '../calls.ts'
import { type Summary, summary } from '../figures.ts'
import { memoryOf, quiet } from '../proc.ts'
import { PROFILE } from '../stand.ts'
import type { Made, Measured, Target } from '../tasks.ts'
import { type Fences, fencesOf } from './page.ts'
import { type ClusterStand, type Cpu, type ClusterRig, cpuBetween, cpuOf } from './stand.ts'

export type Scene = {
  readonly stand: ClusterStand
  readonly rig: ClusterRig
}
/** Of one bind, or of all. */
export type Taken = { readonly found: Summary; readonly cpu: Cpu; readonly fences: Fences }

const REMOVERS = 2
export const portsOf = ({ controls }: ClusterStand): readonly number[] => controls.map(({ port }) => port)

export const calm = async ({ controls, hosts }: ClusterStand): Promise<void> => {
  for (const { pid } of [...controls, ...hosts]) await quiet(pid, 20_000)
}
export const remove = async ({ stand, rig }: Scene, made: readonly Made[]): Promise<void> => {
  const arqs = made.map(({ arq }) => arq)
  const { failures } = await rig.callers.run({ kind: 'remove', ports: portsOf(stand), lanes: REMOVERS, arqs })
  if (failures.length > 0) throw new Error(failures[0])
  await calm(stand)
}

const PARTS = ['controls', 'hosts', 'broker', 'database'] as const
export const shared = (all: readonly Cpu[], count: number): Cpu => {
  const each = PARTS.map((part) => [part, all.reduce((sum, one) => sum + one[part], 0) / count] as const)
  return Object.fromEntries(each) as Cpu
}
/** CPU and fences of the whole cluster while something is done. */
const watched = async ({ stand, rig }: Scene, work: () => Promise<Measured>) => {
  const [fences, from] = [await fencesOf(stand.controls), cpuOf(stand, rig)]
  const measured = await work()
  const cpu = cpuBetween(from, cpuOf(stand, rig))
  const { appends, stale, recalls } = await fencesOf(stand.controls)
  const fenced = { appends: appends - fences.appends, stale: stale - fences.stale, recalls: recalls - fences.recalls }
  return { measured, cpu, fences: fenced }
}
type Watched = Awaited<ReturnType<typeof watched>>
const together = (rounds: readonly Watched[]): Taken => {
  const all = rounds.map(({ measured, cpu }) => ({
    ...measured,
    serverCpuMs: cpu.controls,
    databaseCpuMs: cpu.database,
  }))
  const found = summary(all)
  const sum = (of: keyof Fences): number => rounds.reduce((total, { fences }) => total + fences[of], 0)
  return {
    found,
    cpu: shared(
      rounds.map(({ cpu }) => cpu),
      found.count,
    ),
    fences: { appends: sum('appends'), stale: sum('stale'), recalls: sum('recalls') },
  }
}

/** Handles are given back between the rounds, outside of the measured time. */
export const measureWhole = async (
  scene: Scene,
  targets: readonly Target[],
  lanes: number,
  seconds: number,
): Promise<Taken> => {
  const rounds: Watched[] = []
  for (let left = seconds * 1000; left > 50;) {
    const task = { kind: 'binds', ports: portsOf(scene.stand), lanes, profile: PROFILE, targets, forMs: left } as const
    const round = await watched(scene, () => scene.rig.callers.run(task))
    rounds.push(round)
    left -= round.measured.tookMs
    await remove(scene, round.measured.made)
    if (round.measured.failures.length > 0) break
  }
  return together(rounds)
}

export type Grown = { readonly name: string; readonly residentMb: readonly [number, number, number] }
export type Steady = Taken & {
  readonly perSecond: number
  readonly seconds: number
  /** Removals that were told to come again. */
  readonly triedAgain: number
  readonly grown: readonly Grown[]
}
const STEADY_LANES = 96

/** A stream of binds that does not wait for the answers to the earlier ones. Memory at its begin, middle and end. */
export const measureSteady = async (
  scene: Scene,
  targets: readonly Target[],
  perSecond: number,
  seconds: number,
): Promise<Steady> => {
  const { stand, rig } = scene
  const processes = [...stand.controls, ...stand.hosts]
  const memory = (): readonly number[] => processes.map(({ pid }) => memoryOf(pid).residentMb)
  const stream = (forMs: number) =>
    watched(scene, () =>
      rig.callers.run({
        kind: 'steady',
        ports: portsOf(stand),
        lanes: STEADY_LANES,
        profile: PROFILE,
        targets,
        perSecond,
        forMs,
      }),
    )
  const before = memory()
  const first = await stream(seconds * 500)
  const middle = memory()
  const second = await stream(seconds * 500)
  const after = memory()
  return {
    ...together([first, second]),
    perSecond,
    seconds,
    triedAgain: [first, second].reduce((sum, { measured }) => sum + (measured.states[TRIED_AGAIN] ?? 0), 0),
    grown: processes.map(({ name }, at) => ({ name, residentMb: [before[at]!, middle[at]!, after[at]!] })),
  }
}

const WARM = { lanes: 16, binds: 400, seconds: 15 }
/** Until the hot code of each control is compiled, and the groups have settled. */
export const warmUp = async (scene: Scene, targets: readonly Target[]): Promise<void> => {
  const wanted = WARM.binds * scene.stand.controls.length
  const end = performance.now() + WARM.seconds * 1000
  for (let done = 0; done < wanted && performance.now() < end;)
    done += (await measureWhole(scene, targets, WARM.lanes, 2)).found.count
}

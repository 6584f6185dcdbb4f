/** What requests cost: the whole way of a bind, POST alone, GET by instance. */
import { type Summary, summary } from './figures.ts'
import type { LoadGenerator } from './generator.ts'
import { quiet } from './proc.ts'
import type { Program } from './program.ts'
import { PROFILE } from './stand.ts'
import type { Made, Measured, Target } from './tasks.ts'

export type Scene = {
  readonly program: Program
  readonly generator: LoadGenerator
  readonly targets: readonly Target[]
  /** CPU time of the database's own processes so far; 0 when it has none. */
  readonly databaseCpuMs: () => number
}

const REMOVERS = 2
export const remove = async ({ program, generator }: Scene, made: readonly Made[]): Promise<void> => {
  const { port, pid } = program
  const { failures } = await generator.run({ kind: 'remove', port, lanes: REMOVERS, arqs: made.map(({ arq }) => arq) })
  if (failures.length > 0) throw new Error(failures[0])
  await quiet(pid)
}

/** Handles are given back between the rounds, outside of the measured time. */
const inRounds = async (
  scene: Scene,
  seconds: number,
  round: (forMs: number) => Promise<Measured>,
): Promise<readonly Measured[]> => {
  const rounds: Measured[] = []
  for (let left = seconds * 1000; left > 50;) {
    const before = scene.databaseCpuMs()
    const measured = await round(left)
    rounds.push({ ...measured, databaseCpuMs: scene.databaseCpuMs() - before })
    left -= measured.tookMs
    await remove(scene, measured.made)
    if (measured.failures.length > 0) return rounds
  }
  return rounds
}

export const measureBinds = async (scene: Scene, lanes: number, seconds: number): Promise<Summary> => {
  const { program, generator, targets } = scene
  const { port, pid } = program
  const round = (forMs: number) => generator.run({ kind: 'binds', port, pid, lanes, profile: PROFILE, targets, forMs })
  return summary(await inRounds(scene, seconds, round))
}

/** Until the program's hot code is compiled. */
export const warmUp = async (scene: Scene, seconds: number): Promise<void> =>
  void (await measureBinds(scene, 8, Math.max(1.5, seconds / 2)))

export const measurePosts = async (scene: Scene, lanes: number, seconds: number): Promise<Summary> => {
  const { port, pid } = scene.program
  const task = { kind: 'posts', port, pid, lanes, profile: PROFILE } as const
  return summary(
    await inRounds(scene, seconds, (forMs) => scene.generator.run({ ...task, forMs: Math.min(forMs, 2000) })),
  )
}

const SHOWN = 256
export const measureGets = async (
  scene: Scene,
  lanes: readonly number[],
  seconds: number,
): Promise<readonly Summary[]> => {
  const { generator, program, targets } = scene
  const { port, pid } = program
  const few = targets.map((target) => ({ ...target, free: Math.ceil(SHOWN / targets.length) }))
  const bind = { kind: 'binds', port, pid, lanes: 8, profile: PROFILE, targets: few, forMs: 60_000 } as const
  const { made } = await generator.run(bind)
  await quiet(pid)
  const instances = made.map(({ instance }) => instance)
  const found: Summary[] = []
  for (const each of lanes) {
    const task = { kind: 'gets', port, pid, instances } as const
    await generator.run({ ...task, lanes: 8, forMs: 500 })
    found.push(summary([await generator.run({ ...task, lanes: each, forMs: seconds * 1000 })]))
  }
  await remove(scene, made)
  return found
}

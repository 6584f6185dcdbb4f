/**
 * Plays every operation once for each of its steps and each fault: the step fails, is repeated, or its process is
 * killed after it. Then everything is deleted, and the operation is played again without a fault. A first run of each
 * operation counts its steps.
 */
import { check } from '../../src/audit/check.ts'
import { seeded } from './random.ts'
import { type Bench, type Saga, begun, clear, surveyed } from './sagaTable.ts'
import { PROFILES, ensureProfile } from './sessions.ts'
import { HARMS, type Harm, type Step } from './tap.ts'
import { pass, until } from './until.ts'
import { type World, openWorld } from './world.ts'

export type Case = { readonly saga: string; readonly at: number; readonly harm: Harm }
export type Outcome = {
  readonly saga: string
  readonly harmed: (Case & { readonly step: Step }) | null
  readonly steps: readonly Step[]
  /** Violations as text; empty: none. */
  readonly wrong: readonly string[]
  readonly story: readonly string[]
}

const SEED = 4711
const PLANS = [
  [
    { kind: 'fpga', handles: 2 },
    { kind: 'gpu', handles: 1 },
    { kind: 'nic', handles: 1 },
  ],
] as const
const FOLLOW_MS = 3000
const DOWN_MS = 1500
/** Long enough for an order to be sent again and for a claim to expire. */
const SETTLE_MS = 45_000
const AGAIN_MS = 20_000

const openBench = async (world: World): Promise<Bench> => {
  const { client, stage, uuid } = world
  const tools = {
    client,
    nova: stage.nova,
    random: seeded('saga'),
    uuid,
    over: () => false,
    places: [],
    say: stage.say,
  }
  for (const name of Object.keys(PROFILES)) await ensureProfile(tools, name)
  await surveyed({ world, tools })
  return { world, tools }
}
const killer =
  ({ stage }: World) =>
  (name: string): void => {
    const process = stage.processes.find((one) => one.name === name)
    const machine = stage.machines.find((one) => one.name === name)
    process?.kill()
    machine?.crash('kept')
    stage.schedule.after(stage.life, DOWN_MS, () => (process ?? machine)?.start())
  }

/** Checks after everything was deleted. */
const slate = async (world: World): Promise<readonly string[]> => {
  const evidence = await world.evidence(true)
  const handles = (evidence.views?.handles ?? []).filter(({ state }) => state !== 'free')
  return [
    ...world.complaints.map(({ invariant, found }) => `${invariant}: ${found}`),
    ...check(evidence).map(({ invariant, found }) => `${invariant}: ${found}`),
    ...handles.map(({ uuid, state }) => `handle ${uuid} is ${state}`),
    ...(evidence.views?.arqs ?? []).map(({ uuid, state }) => `ARQ ${uuid} is left, ${state}`),
  ]
}

const ended = async <Value>(world: World, what: string, work: Promise<Value>): Promise<Value> => {
  await until(world, what, work)
  return work
}
const acted = async (saga: Saga, world: World, bench: Bench, harmed: Case | null) => {
  const made = await ended(world, 'what is before', begun(saga, bench))
  await pass(world, FOLLOW_MS)
  world.tap.open(harmed && { ...harmed, kill: killer(world) })
  const ok = await ended(world, 'the operation', saga.act(bench, made))
  await pass(world, saga.followMs ?? FOLLOW_MS)
  const steps = world.tap.close()
  await pass(world, DOWN_MS + FOLLOW_MS)
  await ended(world, 'the clearing', clear(saga, bench, made))
  return { ok, steps }
}

const played = async (saga: Saga, world: World, harmed: Case | null): Promise<Omit<Outcome, 'story' | 'saga'>> => {
  for (const each of [...world.stage.processes, ...world.stage.machines]) each.start()
  const bench = await ended(world, 'the beginning', openBench(world))
  await pass(world, FOLLOW_MS)
  const first = await acted(saga, world, bench, harmed)
  await pass(world, SETTLE_MS)
  const after = await ended(world, 'the evidence', slate(world))
  const again = await acted(saga, world, bench, null)
  await pass(world, AGAIN_MS)
  const wrong = [...after, ...(await ended(world, 'the evidence', slate(world)))]
  if (!harmed && !first.ok) wrong.push('it does not work')
  if (!again.ok) wrong.push('it does not work once more')
  const step = harmed && first.steps[harmed.at]
  if (harmed && !step) wrong.push('the step did not come')
  return { harmed: harmed && step ? { ...harmed, step } : null, steps: first.steps, wrong: [...new Set(wrong)] }
}

export const playSaga = async (saga: Saga, harmed: Case | null): Promise<Outcome> => {
  const world = openWorld(SEED, { controls: 2, plans: PLANS, calm: true })
  try {
    const broken = (error: unknown) => ({ harmed: null, steps: [], wrong: [String(error)] })
    const outcome = await played(saga, world, harmed).catch(broken)
    return { saga: saga.name, ...outcome, story: world.story }
  } finally {
    world.close()
  }
}

/** One case for each step and harm. */
export const casesOf = ({ saga, steps }: Pick<Outcome, 'saga' | 'steps'>): readonly Case[] =>
  steps.flatMap((_, at) => HARMS.map((harm) => ({ saga, at, harm })))

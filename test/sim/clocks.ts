/** Wall clocks that are set while programs run, each for itself, and how what was recorded by them is judged. */
import { check } from '../../src/audit/check.ts'
import type { Evidence, Recorded, Violation } from '../../src/audit/evidence.ts'
import type { Process } from './control.ts'
import { type Fault, type Stage, later, mayStop, pause } from './stage.ts'

/** The wall clock of one machine. */
export type Wall = {
  readonly wrongMs: () => number
  /** Sets it wrong by so much, or right again (0). */
  readonly set: (ms: number) => void
}
/** `skewMs`: how far it is off while nobody sets it. */
export const openWall = (skewMs: number): Wall => {
  let setMs = 0
  return { wrongMs: () => skewMs + setMs, set: (ms) => void (setMs = ms) }
}

const [MINUTE, HOUR] = [60_000, 3_600_000]
const STEPS = [-24 * HOUR, -HOUR, -5 * MINUTE, -20_000, 20_000, 5 * MINUTE, HOUR, 24 * HOUR]
const FAR = Date.UTC(2099, 0, 1)

const wrongMs = ({ random, now }: Stage): number => (random.chance(0.3) ? FAR - now() : random.pick(STEPS))

const startsAgain = (stage: Stage, { name, kill, wall, start }: Process, ms: number): void => {
  kill()
  wall.set(ms)
  stage.say(`${name} starts with a clock that is wrong by ${ms} ms`)
  start()
  pause(stage, 5000)
}
/** A control is started with a wrong clock, records what it does by it, and ends before its clock is set right. */
const startsWrong = (stage: Stage): void => {
  if (!mayStop(stage)) return
  const process = stage.random.pick(stage.processes)
  startsAgain(stage, process, wrongMs(stage))
  later(stage, stage.random.between(5000, 40_000), () => mayStop(stage) && startsAgain(stage, process, 0))
}
/** The clocks of all controls are ahead until the returned function is called. */
export const allAhead = (stage: Stage): (() => void) => {
  stage.haveStrayed = true
  const ms = stage.random.pick([HOUR, FAR - stage.now()])
  for (const process of stage.processes) startsAgain(stage, process, ms)
  return () => stage.processes.forEach((process) => startsAgain(stage, process, 0))
}
type Clocked = Pick<Process, 'name' | 'wall'>
const isSet = (stage: Stage, { name, wall }: Clocked): void =>
  later(stage, stage.random.below(stage.random.chance(0.5) ? 1 : 60_000), () => {
    const ms = wrongMs(stage)
    stage.say(`fault: the clock of ${name} is set wrong by ${ms} ms`)
    wall.set(ms)
  })
/**
 * Clocks of some controls and hosts are set wrong, some of them several times. Where callers need tokens, only those of
 * hosts are: a control whose clock is in 2099 rightly takes no token.
 */
export const clocksSet: Fault = (stage) => {
  const { random, processes, machines, keystone } = stage
  for (let left = random.between(1, 4); left > 0; left--) {
    const isControl = keystone === null && random.chance(0.6)
    if (isControl) stage.haveStrayed = true
    if (isControl && random.chance(0.5)) startsWrong(stage)
    else isSet(stage, random.pick<Clocked>(isControl ? processes : machines))
  }
}

export const clockJumps: Fault = ({ schedule, random, now, pauses, say }) => {
  const ms = random.pick([-20_000, -3000, 5000, 60_000, 200_000])
  const from = now()
  schedule.jump(ms)
  if (ms > 0) pauses.push({ from, to: from + ms })
  say(`fault: all clocks jump by ${ms} ms`)
}

/** The rules that compare moments of the journal with each other. */
const TIMED: readonly string[] = ['L1', 'L2']
/** Twice the term of a bind, and the time until a control looks for moments that lie far ahead. */
const SLACK_MS = 150_000

const TERMS = ['deadline', 'tellUntil', 'until']
/** The row as its writer would have made it if its clock had been right. */
const righted = (row: Recorded, moment: number): Recorded => {
  const move = ([name, value]: readonly [string, unknown]) =>
    [name, TERMS.includes(name) && typeof value === 'number' ? value + moment - row.at : value] as const
  const events = row.events.map((event) => Object.fromEntries(Object.entries(event).map(move)) as typeof event)
  return { ...row, at: moment, events }
}

/** `moments`: when the rows were really committed; null: no clock of a control was set. */
export const judged = (evidence: Evidence, moments: readonly number[] | null): readonly Violation[] => {
  if (moments === null) return check(evidence)
  const { now, quiet, pauses, lost, nova, journal: recorded } = evidence
  const journal = recorded.map((row, at) => righted(row, moments[at]!))
  const timed = check({ journal, now, quiet, pauses, lost, nova, slackMs: SLACK_MS } as Evidence)
  const isTimed = ({ invariant }: Violation): boolean => TIMED.includes(invariant)
  return [...check(evidence).filter((one) => !isTimed(one)), ...timed.filter(isTimed)]
}

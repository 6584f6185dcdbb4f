/** Runs the simulation until some work is done or some time has passed, within limits. */
import type { World } from './world.ts'

/** Work that takes longer than these limits, in time or in tasks, is considered an endless loop. */
const LONG_MS = 3_600_000
const STEPS_MAX = 600_000

/** Resolves when the work is done. If it does not end, that is a violation, and the seed continues without it. */
export const until = async (
  { stage: { schedule }, complain }: World,
  what: string,
  work: Promise<unknown>,
): Promise<void> => {
  let over = false
  const end = (): void => void (over = true)
  work.then(end, end)
  const [steps, elapsed] = [schedule.steps() + STEPS_MAX, schedule.elapsed() + LONG_MS]
  await schedule.run(() => over || schedule.steps() > steps || schedule.elapsed() > elapsed)
  if (over) await work
  else complain(`${what} did not end`)
}
export const pass = ({ stage, client }: World, ms: number): Promise<unknown> => {
  const end = stage.schedule.elapsed() + ms
  client.sleep(ms).catch(() => {})
  return stage.schedule.run(() => stage.schedule.elapsed() >= end)
}

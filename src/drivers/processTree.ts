/** Which processes belong to a program that was started, also those that have left its process group. Pure. */
import { hasEnded, procStat } from '../vocabulary/procStat.ts'

export type Process = {
  readonly pid: number
  readonly parent: number
  /** As `/proc/PID/environ` has it: `NAME=value`, each ended by NUL. Empty where it cannot be read. */
  readonly environment: string
}

/** The process and the parent of it, from `/proc/PID/stat`; null: it has ended. */
export const parentIn = (stat: string): number | null => {
  const { state, parent } = procStat(stat)
  return hasEnded({ state }) || !/^\d+$/.test(parent) ? null : Number(parent)
}

/** The kernel tells programs time in hundredths of a second. */
const TICK_MS = 10
/** The program of a process, and when it was started, counted from the start of the machine; from `/proc/PID/stat`. */
export const startedIn = (stat: string): { readonly name: string; readonly startedMs: number } => {
  const { name, started } = procStat(stat)
  return { name, startedMs: TICK_MS * Number(started) }
}

/**
 * The descendants of `root`, and whatever has inherited `mark` (`NAME=value`) from it, although its parent may have
 * ended.
 */
export const belonging = (all: readonly Process[], root: number, mark: string): readonly number[] => {
  const found = new Set(
    all.filter(({ environment }) => `\0${environment}`.includes(`\0${mark}\0`)).map(({ pid }) => pid),
  )
  found.add(root)
  for (let before = 0; before !== found.size;) {
    before = found.size
    for (const { pid, parent } of all) if (found.has(parent)) found.add(pid)
  }
  return [...found].filter((pid) => all.some((one) => one.pid === pid))
}

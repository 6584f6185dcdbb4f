/** One part of a cluster on this machine: a process, or a server with processes of its own. */
import { readFileSync } from 'node:fs'

export type Part = {
  readonly name: string
  /**
   * Resolves when the part is ready; rejects with the reason when it does not start. Does nothing when it already runs.
   */
  readonly start: () => Promise<void>
  /** Process id of its first process. Null: it does not run. */
  readonly pid: () => number | null
  /** The address where it answers, known once it was ready. It may change with each start. */
  readonly address: () => string
  /** Stops the part, also while it is starting. Resolves when it has stopped; at once when it does not run. */
  readonly stop: () => Promise<void>
  /** Its log files, shown when it does not start. */
  readonly logs: readonly string[]
  /** Advice for the operator when it does not start and the error itself contains none. */
  readonly advice: string
}

/** A part that keeps running after this process unless it is stopped. */
export type Server = Part & {
  /** A command that stops it from any process. */
  readonly stopCommand: readonly string[]
}

/** An error that explains why a part does not start and what the operator can do about it. */
export class Hindered extends Error {
  readonly advice: string
  constructor(message: string, advice: string) {
    super(message)
    this.advice = advice
  }
}

/**
 * A process that has ended but was not reaped by its parent. On Linux, the first process of a container may never reap
 * it.
 */
const isZombie = (pid: number): boolean => {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return stat[stat.lastIndexOf(')') + 2] === 'Z'
  } catch {
    return false
  }
}

export const isRunning = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return !isZombie(pid)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

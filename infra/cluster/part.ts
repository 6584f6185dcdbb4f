/** One part of a cluster on this machine: a process, or a server with processes of its own. */
import { readFileSync } from 'node:fs'

export type Part = {
  readonly name: string
  /** Resolves when it is ready; rejects with why it is not. A part that runs already stays as it is. */
  readonly start: () => Promise<void>
  /** Of its first process; null: it does not run. */
  readonly pid: () => number | null
  /** Where it answers, once it was ready; may change with a start. */
  readonly address: () => string
  /** Ends it, and a start under way. Resolves when it is gone; at once when it does not run. */
  readonly stop: () => Promise<void>
  /** Files in which it tells what it does, for whoever wants to know why it does not start. */
  readonly logs: readonly string[]
  /** What an operator can do when it does not start and the error itself says nothing about that. */
  readonly advice: string
}

/** A part that outlives this process unless it is stopped. */
export type Server = Part & {
  /** What anybody can run to stop it. */
  readonly stopCommand: readonly string[]
}

/** Why a part does not start, together with what an operator can do about it. */
export class Hindered extends Error {
  readonly advice: string
  constructor(message: string, advice: string) {
    super(message)
    this.advice = advice
  }
}

/** One that has ended and that nobody asked about yet: on Linux, where a container's first process may never ask. */
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

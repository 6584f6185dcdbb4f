/** One part of a cluster on this machine: a process, or a server with processes of its own. */

export type Part = {
  readonly name: string
  /** Resolves when it is ready; rejects with why it is not. A part that runs already stays as it is. */
  readonly start: () => Promise<void>
  /** Of its first process; null: it does not run. */
  readonly pid: () => number | null
  /** Where it answers, once it was ready; may change with a start. */
  readonly address: () => string
  /** Resolves when it is gone; at once when it does not run. */
  readonly stop: () => Promise<void>
}

export const isRunning = (pid: number | null): boolean => {
  if (pid === null) return false
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

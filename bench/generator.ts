/** The load generator, as seen from the process that directs it. */
import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { Measured, Task } from './tasks.ts'

export type LoadGenerator = {
  /** One task at a time. Rejects when the task could not be carried out at all. */
  readonly run: (task: Task) => Promise<Measured>
  readonly close: () => void
}
type Reply = { readonly measured: Measured } | { readonly broken: string }

export const openGenerator = (): LoadGenerator => {
  const child = fork(fileURLToPath(new URL('load.ts', import.meta.url)), { serialization: 'advanced' })
  process.on('exit', () => child.kill('SIGKILL'))
  return {
    run: (task) =>
      new Promise((resolve, reject) => {
        child.once('message', (reply: Reply) =>
          'measured' in reply ? resolve(reply.measured) : reject(new Error(reply.broken)),
        )
        child.send(task)
      }),
    close: () => child.disconnect(),
  }
}

/** A load generator, as seen from the process that directs it. */
import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { Measured, Task } from './tasks.ts'

export type LoadGenerator<Asked = Task> = {
  /** One task at a time. Rejects when the task could not be carried out at all. */
  readonly run: (task: Asked) => Promise<Measured>
  /** What it says by itself, before the first task. */
  readonly greeting: () => Promise<string>
  readonly close: () => void
}
export type Reply = { readonly measured: Measured } | { readonly broken: string }

/** `script`: a module of the bench that answers each task with a `Reply`. */
export const openGenerator = <Asked = Task>(script = new URL('load.ts', import.meta.url)): LoadGenerator<Asked> => {
  const child = fork(fileURLToPath(script), { serialization: 'advanced' })
  process.on('exit', () => child.kill('SIGKILL'))
  const gone = new Promise<never>((_, reject) =>
    child.once('exit', (code) => reject(new Error(`the callers' process has ended with ${code}`))),
  )
  gone.catch(() => undefined)
  const asked = (task: Asked): Promise<Measured> =>
    new Promise((resolve, reject) => {
      child.once('message', (reply: Reply) =>
        'measured' in reply ? resolve(reply.measured) : reject(new Error(reply.broken)),
      )
      child.send(task as object)
    })
  return {
    run: (task) => Promise.race([asked(task), gone]),
    greeting: () => new Promise((resolve) => child.once('message', (text: string) => resolve(text))),
    close: () => child.disconnect(),
  }
}

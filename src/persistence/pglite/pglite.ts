/**
 * The embedded PostgreSQL: a folder, one process, no server. The data survives a kill of the process at any moment, but
 * commits are not flushed to the disk: a power loss may lose the last ones.
 */
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { lockFolder } from '../folderLock.ts'
import type { Ask, Reply, Start } from './protocol.ts'
import { PLANNER } from '../planner.ts'
import type { Database, Rows, Run, Statement } from '../sql.ts'

type PendingReply = { readonly resolve: (reply: Reply) => void; readonly reject: (cause: Error) => void }
type Thread = {
  readonly opened: Promise<Reply>
  readonly ask: (statement: Statement) => Promise<Reply>
  readonly end: () => Promise<void>
  /** Resolves when the thread ends unexpectedly. */
  readonly lost: Promise<Error>
}

const threadOn = (folder: string): Thread => {
  const start: Start = { folder, settings: PLANNER }
  const worker = new Worker(new URL('./worker.ts', import.meta.url), { workerData: start })
  const asked = new Map<number, PendingReply>()
  let outbox: Ask[] = []
  let lastId = 0
  const promised = (id: number): Promise<Reply> =>
    new Promise((resolve, reject) => {
      asked.set(id, { resolve, reject })
    })
  const opened = promised(0)
  opened.catch(() => undefined)

  const answer = (reply: Reply): void => {
    const waiting = asked.get(reply.id)
    asked.delete(reply.id)
    if (reply.error === undefined) waiting?.resolve(reply)
    else waiting?.reject(Object.assign(new Error(reply.error.message), reply.error))
  }
  let gone: Error | null = null
  let ending = false
  const lost = Promise.withResolvers<Error>()
  const fail = (cause: Error): void => {
    gone ??= cause
    for (const { reject } of asked.values()) reject(gone)
    asked.clear()
    if (!ending) lost.resolve(gone)
  }
  worker.on('message', answer)
  worker.on('error', fail)
  worker.on('exit', () => fail(new Error('the embedded database has ended')))

  const flush = (): void => {
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
    worker.postMessage(outbox)
    outbox = []
  }
  const ask = (statement: Statement): Promise<Reply> => {
    if (gone !== null) return Promise.reject(gone)
    const id = ++lastId
    // All statements of one turn of the event loop are sent as one message.
    if (outbox.push({ ...statement, id }) === 1) queueMicrotask(flush)
    return promised(id)
  }
  const end = async (): Promise<void> => {
    ending = true
    await worker.terminate()
  }
  return { opened, ask, end, lost: lost.promise }
}

const plain = (text: string): Statement => ({ text, params: [] })

/** A mutex: there is only one session, and while a transaction uses it all other statements wait. */
const turnstile = () => {
  let last: Promise<unknown> = Promise.resolve()
  let inside = 0
  const alone = <T>(work: () => Promise<T>): Promise<T> => {
    inside++
    const result = last.then(work).finally(() => inside--)
    last = result.catch(() => undefined)
    return result
  }
  /** Runs at once unless a transaction holds the mutex. */
  const pass = async <T>(work: () => Promise<T>): Promise<T> => {
    if (inside === 0) return work()
    await last
    return pass(work)
  }
  return { alone, pass }
}

export type Embedded = Database & { readonly ask: (text: string, params: readonly unknown[]) => Promise<Reply> }

export const pgliteDatabase = async (dir: string): Promise<Embedded> => {
  const lock = await lockFolder(dir)
  const thread = threadOn(join(dir, 'pglite'))
  const gate = turnstile()
  const give = async (): Promise<void> => {
    await thread.end()
    lock.release()
  }
  await thread.opened.catch(async (cause: unknown) => {
    await give()
    throw cause
  })
  if (!lock.held()) {
    await thread.end()
    throw new Error(`${dir} was taken by another process in the same instant`)
  }
  const now: Run = async (statement): Promise<Rows> => (await thread.ask(statement)).rows ?? []
  const run: Run = (statement) => gate.pass(() => now(statement))
  const transaction = <T>(work: (run: Run) => Promise<T>): Promise<T> =>
    gate.alone(async () => {
      await now(plain('begin'))
      try {
        const result = await work(now)
        await now(plain('commit'))
        return result
      } catch (cause) {
        await now(plain('rollback'))
        throw cause
      }
    })
  return {
    kind: 'pglite',
    exclusive: true,
    lost: thread.lost,
    read: run,
    write: run,
    share: run,
    readsAreFinal: async () => undefined,
    transaction,
    ask: (text, params) => thread.ask({ text, params }),
    close: async () => {
      await gate.alone(() => thread.ask(plain('close'))).catch(() => undefined)
      await give()
    },
  }
}

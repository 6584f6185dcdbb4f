/** Answers the messages of the main thread on an open database, one at a time. */
import type { PGlite } from '@electric-sql/pglite'
import type { Ask, Reply } from './protocol.ts'
import { sessionOn } from './session.ts'
import { upkeepOf } from './upkeep.ts'

type Session = ReturnType<typeof sessionOn>
/** The end of the thread's message channel. */
export type Port = {
  readonly on: (event: 'message', take: (asks: readonly Ask[]) => void) => unknown
  readonly postMessage: (reply: Reply) => void
}

export const errorOf = (cause: unknown): NonNullable<Reply['error']> => {
  const { message, code, constraint, table, column } = cause as Record<string, unknown>
  return { message: String(message ?? cause), code, constraint, table, column }
}

/** What cannot be sent is answered as an error of its statement. */
const answer = async (session: Session, ask: Ask, send: (reply: Reply) => void): Promise<void> => {
  try {
    send({ id: ask.id, ...(await session(ask)) })
  } catch (cause) {
    send({ id: ask.id, error: errorOf(cause) })
  }
}

export const serve = (db: PGlite, port: Port): void => {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
  const send = (reply: Reply): void => port.postMessage(reply)
  const session = sessionOn(db)
  const upkeep = upkeepOf(db)
  let last = Promise.resolve()
  let inTransaction = false
  const handle = async (asks: readonly Ask[]): Promise<void> => {
    for (const ask of asks) {
      if (ask.text === 'close') {
        await db.query('checkpoint').catch(() => undefined)
        await db.close()
        return send({ id: ask.id, rows: [] })
      }
      upkeep.wrote(ask.params)
      await answer(session, ask, send)
      if (/^(begin|commit|rollback)$/.test(ask.text)) inTransaction = ask.text === 'begin'
    }
    if (!inTransaction) await upkeep.whenDue()
  }
  port.on('message', (asks) => {
    last = last.then(() => handle(asks))
  })
}

/** The embedded database in a thread of its own, since it would block the event loop. Handles one message at a time. */
import { PGlite } from '@electric-sql/pglite'
import { parentPort, workerData } from 'node:worker_threads'
import type { Ask, Reply, Start } from './protocol.ts'
import { filledFromTemplate } from './template.ts'
import { sessionOn } from './session.ts'
import { upkeepOf } from './upkeep.ts'

type Session = ReturnType<typeof sessionOn>

const port = parentPort!
const { folder, settings } = workerData as Start

const send = (reply: Reply): void => port.postMessage(reply)

const errorOf = (cause: unknown): NonNullable<Reply['error']> => {
  const { message, code, constraint, table, column } = cause as Record<string, unknown>
  return { message: String(message ?? cause), code, constraint, table, column }
}

const answer = async (session: Session, ask: Ask): Promise<void> => {
  try {
    send({ id: ask.id, ...(await session(ask)) })
  } catch (cause) {
    send({ id: ask.id, error: errorOf(cause) })
  }
}

const serve = (db: PGlite): void => {
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
      await answer(session, ask)
      if (/^(begin|commit|rollback)$/.test(ask.text)) inTransaction = ask.text === 'begin'
    }
    if (!inTransaction) await upkeep.whenDue()
  }
  port.on('message', (asks: readonly Ask[]) => {
    last = last.then(() => handle(asks))
  })
}

try {
  filledFromTemplate(folder)
  const db = await PGlite.create({ dataDir: folder })
  for (const [name, value] of Object.entries(settings))
    await db.query(`select set_config('${name}', '${value}', false)`)
  serve(db)
  send({ id: 0, rows: [] })
} catch (cause) {
  send({ id: 0, error: errorOf(cause) })
}

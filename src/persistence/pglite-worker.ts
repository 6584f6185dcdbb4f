/** The embedded database in a thread of its own, as it never yields: asked and answered by messages, one at a time. */
import { PGlite } from '@electric-sql/pglite'
import { parentPort, workerData } from 'node:worker_threads'
import type { Ask, Reply, Start } from './pglite-protocol.ts'

/** A killed process leaves what was logged since the last checkpoint to be replayed at the next start. */
const CHECKPOINT_BYTES = 8_000_000

const port = parentPort!
const { folder, settings } = workerData as Start

const send = (reply: Reply): void => port.postMessage(reply)

const errorOf = (cause: unknown): NonNullable<Reply['error']> => {
  const { message, code, constraint, table, column } = cause as Record<string, unknown>
  return { message: String(message ?? cause), code, constraint, table, column }
}

let sinceCheckpoint = 0
const checkpointWhenDue = async (db: PGlite): Promise<void> => {
  if (sinceCheckpoint < CHECKPOINT_BYTES) return
  sinceCheckpoint = 0
  await db.query('checkpoint').catch(() => undefined)
}

const answer = async (db: PGlite, { id, text, params }: Ask): Promise<void> => {
  try {
    for (const param of params) sinceCheckpoint += typeof param === 'string' ? param.length : 8
    const { rows, affectedRows } = await db.query<Record<string, unknown>>(text, [...params])
    send({ id, rows, affected: affectedRows ?? 0 })
  } catch (cause) {
    send({ id, error: errorOf(cause) })
  }
}

const serve = (db: PGlite): void => {
  let last = Promise.resolve()
  let inTransaction = false
  const handle = async (asks: readonly Ask[]): Promise<void> => {
    for (const ask of asks) {
      if (ask.text === 'close') {
        await db.query('checkpoint').catch(() => undefined)
        await db.close()
        return send({ id: ask.id, rows: [] })
      }
      await answer(db, ask)
      if (/^(begin|commit|rollback)$/.test(ask.text)) inTransaction = ask.text === 'begin'
    }
    if (!inTransaction) await checkpointWhenDue(db)
  }
  port.on('message', (asks: readonly Ask[]) => {
    last = last.then(() => handle(asks))
  })
}

try {
  const db = await PGlite.create({ dataDir: folder })
  for (const [name, value] of Object.entries(settings))
    await db.query(`select set_config('${name}', '${value}', false)`)
  serve(db)
  send({ id: 0, rows: [] })
} catch (cause) {
  send({ id: 0, error: errorOf(cause) })
}

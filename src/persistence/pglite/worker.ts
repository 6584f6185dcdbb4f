/** The embedded database in a thread of its own, since it would block the event loop. */
import { PGlite } from '@electric-sql/pglite'
import { parentPort, workerData } from 'node:worker_threads'
import type { Reply, Start } from './protocol.ts'
import { errorOf, serve } from './serve.ts'
import { filledFromTemplate } from './template.ts'

const port = parentPort!
const { folder, settings } = workerData as Start
/** Answers the start: the database is open, or why it is not. */
const answerStart = (reply: Reply): void => port.postMessage(reply)

try {
  filledFromTemplate(folder)
  const db = await PGlite.create({ dataDir: folder })
  for (const [name, value] of Object.entries(settings))
    await db.query(`select set_config('${name}', '${value}', false)`)
  serve(db, port)
  answerStart({ id: 0, rows: [] })
} catch (cause) {
  answerStart({ id: 0, error: errorOf(cause) })
}

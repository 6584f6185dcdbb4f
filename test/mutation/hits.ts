/**
 * Loaded first into every process of a recording, the programs that tests start among them: notes which functions run.
 */
import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Hits, RECORDING } from './recording.ts'

const FLUSH_MS = 500
const seen = new Set<number>()
/** Writes what has run since the last call. */
const flush = (): void => {
  const { [RECORDING.folder]: folder, [RECORDING.file]: file } = process.env
  if (folder === undefined || file === undefined || seen.size === 0) return
  const hits: Hits = { file, functions: [...seen] }
  seen.clear()
  appendFileSync(join(folder, `${process.pid}.ndjson`), `${JSON.stringify(hits)}\n`)
}
Object.assign(globalThis, { __hit: (id: number) => void seen.add(id), __flushHits: flush })
process.on('exit', flush)
// a program may be killed
setInterval(flush, FLUSH_MS).unref()

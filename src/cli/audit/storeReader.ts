/**
 * Reads a store for an audit. An embedded database uses several hundred MB while it is open, so a separate process
 * reads it and ends before the audit begins to judge.
 */
import { fork } from 'node:child_process'
import type { SnapshotSource } from '../../persistence/follow.ts'
import { type Marks, type Sent, type Take, readHere } from './storeTables.ts'

const readApart = (source: SnapshotSource, take: Take): Promise<Marks> =>
  new Promise((resolve, reject) => {
    const child = fork(new URL('./storeProcess.ts', import.meta.url), [JSON.stringify(source)], {
      serialization: 'advanced',
    })
    let [marks, failed]: [Marks | null, string | null] = [null, null]
    child.on('message', (sent: Sent) => {
      if ('block' in sent) void take(sent.table, sent.block)
      else if ('marks' in sent) marks = sent.marks
      else failed = sent.failed
    })
    child.on('error', reject)
    child.on('close', (code, signal) => {
      if (marks !== null) resolve(marks)
      else reject(new Error(failed ?? `the process that reads the store has ended with ${signal ?? code}`))
    })
  })

export const readStore = (source: SnapshotSource, take: Take): Promise<Marks> =>
  // Deno cannot start a module in a new process as Node does
  source.kind === 'pglite' && !('Deno' in globalThis) ? readApart(source, take) : readHere(source, take)

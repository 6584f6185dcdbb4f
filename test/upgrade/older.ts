/**
 * Reads, with the code of another tree, what this one writes; run in a process of its own, so that no module of both is
 * mixed:
 *
 *   node test/upgrade/older.ts TREE MESSAGES JOURNAL     prints what it cannot read, a line each
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type * as Entities from '../../src/actors/entities.ts'
import type { JournalRow } from '../../src/actors/runtime/ports.ts'
import type { BusRecord } from '../../src/wire/envelope.ts'
import type * as Message from '../../src/wire/message.ts'

const [tree = '', messages = '', journal = ''] = process.argv.slice(2)
const linesOf = (path: string): readonly unknown[] =>
  readFileSync(path, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as unknown)
const { readDeadLetter, readOrder, readReport } = (await import(join(tree, 'src/wire/message.ts'))) as typeof Message
const { rebuild, remember } = (await import(join(tree, 'src/actors/entities.ts'))) as typeof Entities

/** Facts and states are for those who tail; these three the programs themselves read. */
const READERS: Readonly<Record<string, (record: BusRecord) => { readonly ok: boolean; readonly fault?: unknown }>> = {
  'host.orders.v1': readOrder,
  'host.reports.v1': readReport,
  'dead-letters.v1': readDeadLetter,
}
const untold = (linesOf(messages) as readonly BusRecord[]).flatMap((record) => {
  const read = READERS[record.topic]?.(record)
  return read === undefined || read.ok ? [] : [`${record.topic}: ${JSON.stringify(read.fault)}: ${record.value}`]
})
const folds = (key: string, rows: readonly JournalRow[]): readonly string[] => {
  try {
    const { version } = remember(key, rows)
    rebuild(key, rows)
    return version === rows.length ? [] : [`${key}: version ${version} after ${rows.length} rows`]
  } catch (error) {
    return [`${key}: ${String(error)}`]
  }
}
const unfolded = [...Map.groupBy(linesOf(journal) as readonly JournalRow[], ({ key }) => key)].flatMap(([key, rows]) =>
  folds(key, rows),
)
process.stdout.write([...untold, ...unfolded].map((line) => `${line}\n`).join(''))

/** The proof of a violation: the rows of its append, and the last rows of the entities it names. Pure. */
import type { JournalRow } from '../actors/runtime/ports.ts'
import type { Records, JournalCount, Proof } from './evidence.ts'
import type { Finding } from './history.ts'

const ENTRIES_MAX = 12

type Rows = Records['journal']
type Entry = JournalRow & { readonly position?: string }
const shown = (row: Entry): Proof => ({
  of: 'journal',
  key: row.key,
  version: row.version,
  ...(row.position === undefined ? {} : { position: row.position }),
  commandId: row.commandId,
  at: row.at,
  events: row.events.map(({ type }) => type),
})

/** The rows of the append that ends at `rowCount`: the last and those directly before it with the same command id. */
const appendAt = (journal: Rows, rowCount: JournalCount): readonly Entry[] => {
  const rows: Entry[] = []
  for (let at = rowCount - 1; at >= 0; at--) {
    const row = journal.at(at)
    if (!row || (rows.length > 0 && row.commandId !== rows[0]!.commandId)) break
    rows.unshift(row)
  }
  return rows
}

/** The last row of each of these entities among the first `end` rows. */
const lastOf = (journal: Rows, keys: readonly string[], end: number): readonly Entry[] => {
  const last = new Map<string, Entry>()
  let count = 0
  if (keys.length > 0)
    for (const row of journal) {
      if (count++ >= end) break
      if (keys.includes(row.key)) last.set(row.key, row)
    }
  return keys.flatMap((key) => last.get(key) ?? [])
}

export const prove = (journal: Rows, { rowCount, keys = [], proof = [] }: Finding): readonly Proof[] => {
  const append = rowCount === undefined ? [] : appendAt(journal, rowCount)
  const before = lastOf(journal, keys, rowCount ?? journal.length)
  const named = append.length > ENTRIES_MAX ? append.filter(({ key }) => keys.includes(key)) : append
  // a row may be found twice, but is named once
  const rows = new Map([...before, ...named].map((row) => [`${row.key} ${row.version} ${row.commandId}`, row]))
  return [...proof, ...[...rows.values()].map(shown)].slice(0, ENTRIES_MAX)
}

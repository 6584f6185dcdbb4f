/** The proof of a violation: the rows of its append, and the last rows of the entities it names. Pure. */
import type { Evidence, JournalCount, Proof } from './evidence.ts'
import type { Finding } from './history.ts'

const ENTRIES_MAX = 12

type Rows = Evidence['journal']
const shown = (row: Rows[number]): Proof => ({
  of: 'journal',
  key: row.key,
  version: row.version,
  ...(row.position === undefined ? {} : { position: row.position }),
  commandId: row.commandId,
  at: row.at,
  events: row.events.map(({ type }) => type),
})

/** The rows of the append that ends at `place`: the last row and those directly before it with the same command id. */
const appendAt = (journal: Rows, place: JournalCount): Rows => {
  const last = journal[place - 1]
  if (!last) return []
  let from = place - 1
  while (from > 0 && journal[from - 1]!.commandId === last.commandId) from--
  return journal.slice(from, place)
}

export const prove = (journal: Rows, { place, keys = [], proof = [] }: Finding): readonly Proof[] => {
  const append = place === undefined ? [] : appendAt(journal, place)
  const end = (place ?? journal.length) - 1
  const before = keys.flatMap((key) => {
    const at = journal.findLastIndex((row, index) => index <= end && row.key === key)
    return at < 0 ? [] : [journal[at]!]
  })
  const named = append.length > ENTRIES_MAX ? append.filter(({ key }) => keys.includes(key)) : append
  return [...proof, ...new Set([...before, ...named])]
    .map((entry) => ('of' in entry ? entry : shown(entry)))
    .slice(0, ENTRIES_MAX)
}

/** A copy of all data in memory, like a standby that no longer follows its server: it can replace the data later. */
import type { FeedRow, JournalRow } from '../../../src/actors/runtime/ports.ts'
import { type ViewChange, keyOfRow } from '../../../src/actors/runtime/views.ts'
import { viewNames } from '../../../src/persistence/rules.ts'
import type { Kept } from './kept.ts'

const putBack = <Key, Value>(into: Map<Key, Value>, copy: ReadonlyMap<Key, Value>): void => {
  into.clear()
  for (const [key, value] of copy) into.set(key, value)
}

/** Returns a function that replaces the data with the copy, and returns the rows that are lost thereby. */
export const standbyOf = (kept: Kept, commandOf: (row: JournalRow) => string) => {
  const { log, byKey, commands, tables, checkpoints, work, archived } = kept
  const count = log.length
  const views = viewNames.flatMap((view) =>
    tables.rows(view).map((row) => ({ view, key: keyOfRow(view, row), row }) as unknown as ViewChange),
  )
  const maps = { leases: new Map(work.leases), claims: new Map(work.claims), seen: new Map(work.seen) }
  const [points, left] = [new Map(checkpoints), new Set(archived)]
  return (): readonly FeedRow[] => {
    const lost = log.splice(count)
    byKey.clear()
    commands.clear()
    for (const row of log) {
      const own = byKey.get(row.key)
      if (own === undefined) byKey.set(row.key, [row])
      else own.push(row)
      commands.add(commandOf(row))
    }
    tables.clear()
    tables.write(views)
    putBack(checkpoints, points)
    for (const name of ['leases', 'claims', 'seen'] as const) putBack<string, unknown>(work[name], maps[name])
    archived.clear()
    for (const position of left) archived.add(position)
    return lost
  }
}

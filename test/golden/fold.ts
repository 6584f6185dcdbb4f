/** A recorded journal as text, and the views it folds to. */
import { viewRowsOf } from '../../src/actors/entities.ts'
import type { JournalRow } from '../../src/actors/runtime/ports.ts'
import { cellsOf, dumpLine, dumpedViews, lastChanges } from '../../src/persistence/rules.ts'

export const journalText = (rows: readonly JournalRow[]): string =>
  rows
    .map(
      ({ key, version, commandId, events, at, cause }) =>
        `${JSON.stringify({ key, version, commandId, events, at, cause })}\n`,
    )
    .join('')

export const journalIn = (text: string): readonly JournalRow[] =>
  text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as JournalRow)

/** Columns that no release had when it wrote the recorded journals: where they are empty they are left out. */
const LATER: Readonly<Record<string, readonly string[]>> = { attributes: ['parent_uuid'], deployables: ['kind'] }
const known = (view: string, cells: Readonly<Record<string, unknown>>) =>
  Object.fromEntries(Object.entries(cells).filter(([name, value]) => value !== null || !LATER[view]?.includes(name)))

/** A line a row, in the order of the lines. */
export const viewsText = (rows: readonly JournalRow[]): string => {
  const lines = [...Map.groupBy(rows, ({ key }) => key)].flatMap(([key, own]) =>
    lastChanges(viewRowsOf(key, own)).flatMap(({ view, row }) =>
      row === null || !dumpedViews.includes(view) ? [] : [dumpLine(view, known(view, cellsOf(view, row)))],
    ),
  )
  return `${lines.toSorted().join('\n')}\n`
}

/** What the rows of an earlier release hold in columns that it did not have, where that is not null. */
const DEFAULTS: Readonly<Record<string, unknown>> = { 'profiles.version': 1, 'profiles.enabled': true }

const cellsIn = (line: string): readonly [string, Readonly<Record<string, unknown>>] => {
  const cut = line.indexOf(' ')
  return [line.slice(0, cut), JSON.parse(line.slice(cut + 1)) as Record<string, unknown>]
}
/**
 * Without the columns that views did not have then. A row that an earlier release has written leaves them empty, so any
 * other value stays.
 */
export const withoutLaterColumns = (text: string, then: string): string => {
  const known = new Map(then.trimEnd().split('\n').map(cellsIn))
  const lines = text
    .trimEnd()
    .split('\n')
    .map((line) => {
      const [view, cells] = cellsIn(line)
      const had = known.get(view) ?? {}
      const empty = (column: string) => DEFAULTS[`${view}.${column}`] ?? null
      const kept = Object.entries(cells).filter(([column, value]) => column in had || value !== empty(column))
      return `${view} ${JSON.stringify(Object.fromEntries(kept))}`
    })
  return `${lines.join('\n')}\n`
}

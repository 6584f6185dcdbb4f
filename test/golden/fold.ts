/** A recorded journal as text, and the views it folds to. */
import { rebuild } from '../../src/actors/entities.ts'
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

/** A line a row, in the order of the lines. */
export const viewsText = (rows: readonly JournalRow[]): string => {
  const lines = [...Map.groupBy(rows, ({ key }) => key)].flatMap(([key, own]) =>
    lastChanges(rebuild(key, own)).flatMap(({ view, row }) =>
      row === null || !dumpedViews.includes(view) ? [] : [dumpLine(view, cellsOf(view, row))],
    ),
  )
  return `${lines.toSorted().join('\n')}\n`
}

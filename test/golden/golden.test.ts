/** Journals that earlier releases have written are read for ever, and fold to the same views. */
import { describe, expect, test } from 'vitest'
import { remember, viewRowsOf } from '../../src/actors/entities.ts'
import { check } from '../../src/audit/check.ts'
import type { JournalRow } from '../../src/actors/runtime/ports.ts'
import { memoryStore } from '../support/memoryStore/memory.ts'
import { handClock } from '../support/lab.ts'
import { NOVA, openPlane, value } from '../support/plane.ts'
import { missingIn } from './events.ts'
import { journalIn, viewsText, withoutLaterColumns } from './fold.ts'
import { golden, inOrder } from './releases.ts'
import { playScenario } from './scenario.ts'

/** A store that holds the rows as if it had written them itself. */
const storeOf = async (rows: readonly JournalRow[]) => {
  const store = memoryStore()
  await store.bulkLoad(rows.map((row) => ({ rows: [row], changes: [] })))
  await store.rebuildViews(viewRowsOf)
  return store
}

/** Views that came later than the first release. */
const YOUNGER = ['usage', 'ignored_drift']
/** Without the rows of views that a release did not have. */
const ofViewsIn =
  (then: string) =>
  (line: string): boolean =>
    !YOUNGER.some((view) => line.startsWith(`${view} `) && !then.includes(`\n${view} `))

describe.each(inOrder())('the journal of %s', (release, { commit, journal }) => {
  const rows = journalIn(golden(journal))

  test('folds to the views it folded to then', () => {
    const then = golden(`${release}.views.txt`)
    const lines = viewsText(rows).split('\n')
    expect(withoutLaterColumns(lines.filter(ofViewsIn(then)).join('\n'), then)).toBe(then)
  })
  test('gives each entity a memory of its last version', () => {
    for (const [key, own] of Map.groupBy(rows, (row) => row.key)) expect(remember(key, own).version).toBe(own.length)
  })
  test('keeps every invariant', () => {
    const now = Math.max(...rows.map(({ at }) => at))
    expect(check({ journal: rows, now })).toEqual([])
  })
  test('is served: lists, single objects and timelines', async () => {
    // at the time of the journal, so that no deadline in it has passed
    const { control, plane } = await openPlane({ clock: handClock() }, await storeOf(rows))
    const arqs = value(await control.arqs.list(NOVA, {}, {})).items
    expect(arqs.map(({ state }) => state)).toContain('Bound')
    for (const { uuid, state } of arqs) {
      expect(value(await control.arqs.get(NOVA, uuid))).toMatchObject({ state })
      expect(value(await control.arqs.timeline(NOVA, uuid)).steps.length).toBeGreaterThan(0)
    }
    await plane.stop()
  })
  test('names the commit that wrote it', () => expect(commit).toMatch(/^[0-9a-f]{40}$/))
})

test('what is recorded for a release holds every event there is', async () => {
  expect(missingIn(await playScenario())).toEqual([])
})

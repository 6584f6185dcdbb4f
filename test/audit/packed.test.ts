/** Rows that are held compressed are the rows that were added, in order, however often they are read. */
import { describe, expect, it } from 'vitest'
import { check } from '../../src/audit/check.ts'
import { packed as packedFrom } from '../../src/cli/audit/packed.ts'
import { readTables, SNAPSHOTS_BLOCK } from '../../src/cli/audit/storeTables.ts'
import type { Snapshot } from '../../src/persistence/snapshot.ts'
import { arq, bindStarted, created, journalOf } from './cases/scene.ts'

const packed = <Row>(rows: readonly Row[]) =>
  packedFrom(
    (async function* () {
      yield* rows
    })(),
  )

const rowsOf = (count: number) =>
  async function* () {
    for (let n = 0; n < count; n++) yield { n } as never
  }
it('the tables of a store are read block by block, and the next block when the last one has been taken', async () => {
  const taken: string[] = []
  const snapshot: Snapshot = {
    now: 7,
    settledBefore: '3.0',
    journal: rowsOf(501),
    lost: rowsOf(1),
    view: (name) => rowsOf(name === 'snapshots' ? SNAPSHOTS_BLOCK + 1 : name === 'arqs' ? 2 : 0)(),
    checkpoint: async (reader) => `of ${reader}`,
  }
  let busy = false
  const marks = await readTables(snapshot, async (table, { rows }) => {
    expect(busy).toBe(false)
    busy = true
    await new Promise((resolve) => setImmediate(resolve))
    busy = false
    taken.push(`${table} ${rows}`)
  })
  expect(marks).toEqual({ now: 7, settledBefore: '3.0', publishedTo: 'of relay', unsettled: 'of relay.unsettled' })
  expect(taken.toSorted()).toEqual(['arqs 2', 'journal 1', 'journal 500', 'lost 1', 'snapshots 1', 'snapshots 16'])
  expect(taken.slice(0, 3)).toEqual(['journal 500', 'journal 1', 'lost 1'])
})

describe('packed rows', () => {
  it.each([0, 1, 499, 500, 501, 1700])('%d of them', async (count) => {
    const rows = Array.from({ length: count }, (_, n) => ({ n, text: `row ${n}`, none: null }))
    const held = await packed(rows)
    expect(held.length).toBe(count)
    expect([...held]).toEqual(rows)
    expect([...held]).toEqual(rows)
    expect([held.at(0), held.at(-1), held.at(count), held.at(600)]).toEqual([
      rows[0],
      rows.at(-1),
      undefined,
      rows[600],
    ])
  })
  it('are judged as an array of them is, with the same proofs', async () => {
    const journal = journalOf(created('a1'), arq('a1', bindStarted()), { ...created('a1'), version: 9 })
    const expected = check({ journal, now: 0 })
    expect(expected.length).toBeGreaterThan(0)
    expect(check({ journal: await packed(journal), now: 0 })).toEqual(expected)
  })
})

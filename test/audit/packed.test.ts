/** Rows that are held compressed are the rows that were added, in order, however often they are read. */
import { describe, expect, it } from 'vitest'
import { check } from '../../src/audit/check.ts'
import { packed as packedFrom } from '../../src/cli/audit/packed.ts'
import { arq, bindStarted, created, journalOf } from './cases/scene.ts'

const packed = <Row>(rows: readonly Row[]) =>
  packedFrom(
    (async function* () {
      yield* rows
    })(),
  )

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

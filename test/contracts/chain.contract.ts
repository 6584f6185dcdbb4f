/** Each row follows the very row that its writer remembers; what is remembered and is not in the journal is void. */
import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import type { Append, Journal, RowMark, Verdict } from '../../src/actors/runtime/ports.ts'
import { snapshotSchemaOf } from '../../src/actors/runtime/snapshots.ts'
import { put } from '../../src/actors/runtime/views.ts'
import * as sample from '../persistence/samples.ts'

const markOf = ({ rows: [row] }: Append) => ({ commandId: row!.commandId, at: row!.at }) satisfies RowMark
const unknownRow = (): RowMark => ({ commandId: randomUUID(), at: null })

export const chainContract = (journal: () => Journal): void => {
  const append = (wanted: Append): Promise<Verdict> => journal().append(wanted)

  test('a row is stale unless it follows the very row that its writer remembers', async () => {
    const key = sample.newKey()
    const first = sample.one(key, 1)
    await append(first)
    const second = (follows: RowMark): Append => ({
      ...sample.one(key, 2),
      rows: sample.one(key, 2).rows.map((row) => ({ ...row, follows })),
    })
    const { commandId, at } = markOf(first)
    expect(await append(second(unknownRow()))).toBe('stale')
    // the same command, recorded at another time
    expect(await append(second({ commandId, at: at + 1 }))).toBe('stale')
    const right = second({ commandId, at })
    expect(await append(right)).toBe('appended')
    expect(await append(second({ commandId, at }))).toBe('stale')
    // one of a unit that does not follow keeps the others from being written, and nothing else of the batch
    const [other, bystander] = [sample.newKey(), sample.newKey()]
    const torn = sample.unit([
      [key, 3],
      [other, 1],
    ])
    const wrong = { ...torn, rows: torn.rows.map((row) => (row.key === key ? { ...row, follows: unknownRow() } : row)) }
    expect(await Promise.all([append(wrong), append(sample.one(bystander, 1))])).toEqual(['stale', 'appended'])
    expect(await sample.versionsOf(journal(), key)).toEqual([1, 2])
    expect(await sample.versionsOf(journal(), other)).toEqual([])
    const [stored] = (await journal().recall([{ key, after: 1 }])).get(key)!.rows
    expect(stored).not.toHaveProperty('follows')
  })

  test('a row may follow one of which only the command is known', async () => {
    const key = sample.newKey()
    const first = sample.one(key, 1)
    await append(first)
    const rows = sample.one(key, 2).rows.map((row) => ({ ...row, follows: { ...markOf(first), at: null } }))
    expect(await append({ ...sample.one(key, 2), rows })).toBe('appended')
  })

  test('what is known of an entity is void when the journal does not hold the row that is known as its last', async () => {
    const key = sample.newKey()
    const appends = [sample.one(key, 1), sample.one(key, 2)]
    for (const each of appends) await append(each)
    const [one, two] = appends.map(markOf)
    const recall = async (after: number, last: RowMark) => {
      const found = (await journal().recall([{ key, after, last }])).get(key)!
      return { void: found.void, versions: found.rows.map(({ version }) => version) }
    }
    expect(await recall(1, one!)).toEqual({ void: undefined, versions: [2] })
    expect(await recall(2, two!)).toEqual({ void: undefined, versions: [] })
    // the journal went another way, or back
    expect(await recall(1, two!)).toEqual({ void: true, versions: [1, 2] })
    expect(await recall(2, one!)).toEqual({ void: true, versions: [1, 2] })
    expect(await recall(2, { ...two!, at: two!.at - 1 })).toEqual({ void: true, versions: [1, 2] })
    expect(await recall(2, { ...two!, at: null })).toEqual({ void: undefined, versions: [] })
    expect(await recall(3, unknownRow())).toEqual({ void: true, versions: [1, 2] })
    const unknown = sample.newKey()
    const nothing = (await journal().recall([{ key: unknown, after: 5, last: one! }])).get(unknown)!
    expect(nothing).toEqual({ void: true, snapshot: null, rows: [] })
  })

  test('a snapshot comes with what is void, and its own row is enough to know that nothing is', async () => {
    const key = sample.newKey()
    const snapshot = put('snapshots', { entity: key, version: 2, memory: { state: 7 }, schema: snapshotSchemaOf(key) })
    const second = sample.one(key, 2, [snapshot])
    for (const each of [sample.one(key, 1), second, sample.one(key, 3)]) await append(each)
    const recall = async (after: number, last: RowMark) => (await journal().recall([{ key, after, last }])).get(key)!
    const gone = await recall(4, unknownRow())
    expect(gone).toMatchObject({ void: true, snapshot: { version: 2, memory: { state: 7 } } })
    expect(gone.rows.map(({ version }) => version)).toEqual([3])
    const known = await recall(2, markOf(second))
    expect(known).toMatchObject({ snapshot: null })
    expect(known).not.toHaveProperty('void')
  })
}

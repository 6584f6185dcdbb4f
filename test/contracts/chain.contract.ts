/** Each row follows the very row that its writer remembers; what is remembered and is not in the journal is void. */
import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import type { Append, Journal, Verdict } from '../../src/actors/runtime/ports.ts'
import { snapshotSchemaOf } from '../../src/actors/runtime/snapshots.ts'
import { put } from '../../src/actors/runtime/views.ts'
import * as sample from '../persistence/samples.ts'

export const chainContract = (journal: () => Journal): void => {
  const append = (wanted: Append): Promise<Verdict> => journal().append(wanted)

  test('a row is stale unless it follows the very row that its writer remembers', async () => {
    const key = sample.newKey()
    const first = sample.one(key, 1)
    await append(first)
    const second = (follows: string): Append => ({
      ...sample.one(key, 2),
      rows: sample.one(key, 2).rows.map((row) => ({ ...row, follows })),
    })
    expect(await append(second(randomUUID()))).toBe('stale')
    const right = second(first.rows[0]!.commandId)
    expect(await append(right)).toBe('appended')
    expect(await append(second(first.rows[0]!.commandId))).toBe('stale')
    // one of a unit that does not follow keeps the others from being written, and nothing else of the batch
    const [other, bystander] = [sample.newKey(), sample.newKey()]
    const torn = sample.unit([
      [key, 3],
      [other, 1],
    ])
    const wrong = { ...torn, rows: torn.rows.map((row) => (row.key === key ? { ...row, follows: randomUUID() } : row)) }
    expect(await Promise.all([append(wrong), append(sample.one(bystander, 1))])).toEqual(['stale', 'appended'])
    expect(await sample.versionsOf(journal(), key)).toEqual([1, 2])
    expect(await sample.versionsOf(journal(), other)).toEqual([])
    const [stored] = (await journal().recall([{ key, after: 1 }])).get(key)!.rows
    expect(stored).not.toHaveProperty('follows')
  })

  test('what is known of an entity is void when the journal does not hold the row that is known as its last', async () => {
    const key = sample.newKey()
    const appends = [sample.one(key, 1), sample.one(key, 2)]
    for (const each of appends) await append(each)
    const [one, two] = appends.map(({ rows }) => rows[0]!.commandId)
    const recall = async (after: number, last: string) => {
      const found = (await journal().recall([{ key, after, last }])).get(key)!
      return { void: found.void, versions: found.rows.map(({ version }) => version) }
    }
    expect(await recall(1, one!)).toEqual({ void: undefined, versions: [2] })
    expect(await recall(2, two!)).toEqual({ void: undefined, versions: [] })
    // the journal went another way, or back
    expect(await recall(1, two!)).toEqual({ void: true, versions: [1, 2] })
    expect(await recall(2, one!)).toEqual({ void: true, versions: [1, 2] })
    expect(await recall(3, randomUUID())).toEqual({ void: true, versions: [1, 2] })
    const unknown = sample.newKey()
    const nothing = (await journal().recall([{ key: unknown, after: 5, last: one! }])).get(unknown)!
    expect(nothing).toEqual({ void: true, snapshot: null, rows: [] })
  })

  test('a snapshot comes with what is void, and its own row is enough to know that nothing is', async () => {
    const key = sample.newKey()
    const snapshot = put('snapshots', { entity: key, version: 2, memory: { state: 7 }, schema: snapshotSchemaOf(key) })
    const second = sample.one(key, 2, [snapshot])
    for (const each of [sample.one(key, 1), second, sample.one(key, 3)]) await append(each)
    const recall = async (after: number, last: string) => (await journal().recall([{ key, after, last }])).get(key)!
    const gone = await recall(4, randomUUID())
    expect(gone).toMatchObject({ void: true, snapshot: { version: 2, memory: { state: 7 } } })
    expect(gone.rows.map(({ version }) => version)).toEqual([3])
    const known = await recall(2, second.rows[0]!.commandId)
    expect(known).toMatchObject({ snapshot: null })
    expect(known).not.toHaveProperty('void')
  })
}

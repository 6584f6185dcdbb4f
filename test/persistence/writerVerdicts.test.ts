/** What the writer sends, statement by statement, and the verdict of each append: without a database. */
import { expect, test } from 'vitest'
import type { Append, Verdict } from '../../src/actors/runtime/ports.ts'
import { type ViewChange, drop, put } from '../../src/actors/runtime/views.ts'
import { createPrepared } from '../../src/persistence/prepared.ts'
import { appendStatement } from '../../src/persistence/statements.ts'
import { NotSent } from '../../src/persistence/sql.ts'
import type { Database, Rows, Statement } from '../../src/persistence/sql.ts'
import { writerOf } from '../../src/persistence/writer.ts'
import * as sample from './samples.ts'

const sqlError = (code: string, more = {}): Error => Object.assign(new Error(`as ${code}`), { code, ...more })
const versionsIn = ({ params }: Statement): readonly string[] =>
  (JSON.parse(params[0] as string) as { key: string; version: number }[]).map(({ key, version }) => `${key} ${version}`)

/** Each answer is for one statement; when none is left, what is sent is written. */
const over = (...answers: readonly (Rows | Error | ((sent: readonly string[]) => Rows | Error))[]) => {
  const sent: (readonly [string, ...string[]])[] = []
  const left = [...answers]
  const write = async (statement: Statement): Promise<Rows> => {
    const keys = versionsIn(statement)
    sent.push([statement.name === 'sift' ? 'sift' : 'append', ...keys])
    const next = left.shift() ?? []
    const answer = typeof next === 'function' ? next(keys) : next
    if (answer instanceof Error) throw answer
    return answer
  }
  const writer = writerOf({ write } as Database)
  const heard: (readonly Append[])[] = []
  writer.onAppended((appends) => heard.push(appends ?? []))
  return { sent, writer, heard }
}
const [A, B, C, D] = ['a', 'b', 'c', 'd'].map((key) => sample.one(key, 1)) as [Append, Append, Append, Append]
const all = (
  { append }: ReturnType<typeof over>['writer'],
  ...appends: readonly Append[]
): Promise<readonly Verdict[]> => Promise.all(appends.map(append))

test('appends of one turn are one statement, and who listens is told of them together', async () => {
  const { sent, writer, heard } = over()
  expect(await all(writer, A, B)).toEqual(['appended', 'appended'])
  expect(await writer.append(C)).toBe('appended')
  expect(sent).toEqual([
    ['append', 'a 1', 'b 1'],
    ['append', 'c 1'],
  ])
  expect(heard).toEqual([[A, B], [C]])
})

test('who stops listening is told nothing more, and others are', async () => {
  const { writer, heard } = over()
  const others: number[] = []
  const stop = writer.onAppended((appends) => others.push(appends!.length))
  await all(writer, A, B)
  stop()
  await writer.append(C)
  expect([others, heard.length]).toEqual([[2], 2])
})

test.each<readonly [string, Error, Verdict]>([
  ['not sent', new NotSent('no session'), 'busy'],
  ['unknown', new Error('Connection terminated'), 'unknown'],
  ['stopped', sqlError('P0S01'), { stopped: 'as P0S01' }],
  [
    'refused',
    sqlError('54000'),
    { refused: { kind: 'invalid', field: 'a value', rule: 'is larger than the database takes (SQLSTATE 54000)' } },
  ],
  ['refused', sqlError('42P01'), { refused: { kind: 'broken', reason: 'the journal cannot be written: as 42P01' } }],
  ['rolled back', sqlError('57014'), 'busy'],
])('a statement that is %s gives its append the verdict at once, and nobody hears of it', async (_, error, verdict) => {
  const { sent, writer, heard } = over(error)
  expect(await writer.append(A)).toEqual(verdict)
  expect([sent.length, heard]).toEqual([1, []])
  expect(await writer.append(A)).toBe('appended')
})

test('a value that no store can hold is named by its field, whatever the database says of it', async () => {
  const { writer } = over(sqlError('22003'))
  const bad = sample.one('a', 1, [put('due', { entity: 'a', kind: 'x', at: 0.5 })])
  expect(await writer.append(bad)).toEqual({
    refused: { kind: 'invalid', field: 'due.at', rule: 'must be a whole number of at most 15 digits' },
  })
})

test('a statement that cannot be put together says why', async () => {
  const { sent, writer } = over()
  const rows = A.rows.map((row) => ({ ...row, at: 1n as unknown as number }))
  const [verdict, other] = await all(writer, { rows, changes: [] }, B)
  expect(verdict).toEqual({
    refused: {
      kind: 'broken',
      reason: expect.stringMatching(
        /^the journal cannot be written: the statement cannot be put together: TypeError: .*BigInt/,
      ),
    },
  })
  expect([other, sent]).toEqual(['appended', [['append', 'b 1']]])
})

test('of a fenced statement those that are written or stale get their verdicts, and the rest is sent again', async () => {
  const found = [
    { a: 1, seen: true },
    { a: 3, seen: false },
  ]
  const { sent, writer, heard } = over(sqlError('23505', { constraint: 'journal_pkey' }), found)
  expect(await all(writer, A, B, C, D)).toEqual(['appended', 'seen', 'appended', 'stale'])
  expect(sent).toEqual([
    ['append', 'a 1', 'b 1', 'c 1', 'd 1'],
    ['sift', 'a 1', 'b 1', 'c 1', 'd 1'],
    ['append', 'a 1', 'c 1'],
  ])
  expect(heard).toEqual([[A, C]])
})

test('when all of a fenced statement have their verdicts nothing is sent again', async () => {
  const { sent, writer } = over(sqlError('22012'), [{ a: 0, seen: false }])
  expect(await writer.append(A)).toBe('stale')
  expect(sent.map(([what]) => what)).toEqual(['append', 'sift'])
})

test('a rule of the views that one append breaks is looked for in halves, and names itself', async () => {
  const unique = sqlError('23505', { constraint: 'profiles_name_unique' })
  const breaks = (sent: readonly string[]) => (sent.includes('c 1') ? unique : [])
  const { sent, writer, heard } = over(breaks, [], breaks, breaks, [], breaks, [], breaks)
  expect(await all(writer, A, B, C, D)).toEqual([
    'appended',
    'appended',
    { conflict: 'profiles_name_unique' },
    'appended',
  ])
  expect(sent).toEqual([
    ['append', 'a 1', 'b 1', 'c 1', 'd 1'],
    ['sift', 'a 1', 'b 1', 'c 1', 'd 1'],
    ['append', 'a 1', 'b 1'],
    ['append', 'c 1', 'd 1'],
    ['sift', 'c 1', 'd 1'],
    ['append', 'c 1'],
    ['sift', 'c 1'],
    ['append', 'd 1'],
  ])
  expect(heard).toEqual([[A, B], [D]])
})

test.each([
  ['the row that was in the way is gone again', { code: '23505', constraint: 'journal_pkey' }],
  ['the gap before it was filled', { code: '22012' }],
])('a fence in which nothing is found is tried again: %s', async (_, { code, ...more }) => {
  const { sent, writer } = over(sqlError(code, more), [])
  expect(await writer.append(A)).toBe('appended')
  expect(sent.map(([what]) => what)).toEqual(['append', 'sift', 'append'])
})

test('a search in the journal that the database refuses is a refusal, one that fails otherwise leaves time to ask again', async () => {
  const fenced = sqlError('23505', { constraint: 'journal_pkey' })
  expect(await over(fenced, sqlError('42P01')).writer.append(A)).toEqual({
    refused: { kind: 'broken', reason: 'the journal cannot be written: as 42P01' },
  })
  expect(await over(fenced, sqlError('57014')).writer.append(A)).toBe('busy')
  // the append at fault is looked for
  const { sent, writer } = over(fenced, sqlError('22003'))
  expect(await all(writer, A, B)).toEqual(['appended', 'appended'])
  expect(sent.map(([what, ...keys]) => [what, keys.length])).toEqual([
    ['append', 2],
    ['sift', 2],
    ['append', 1],
    ['append', 1],
  ])
})

test('what another transaction rolls back is tried nine times', async () => {
  const again = Array.from({ length: 8 }, () => sqlError('40001'))
  const { sent, writer } = over(...again)
  expect([await writer.append(A), sent.length]).toEqual(['appended', 9])
  const never = over(...again, sqlError('40P01'))
  expect([await never.writer.append(A), never.sent.length]).toEqual(['busy', 9])
})

test('WRITER-4 a statement is given the time of the append that waits least, and what is late is not sent again', async () => {
  const limits: unknown[] = []
  const now = performance.now()
  let end = now + 200_000
  const write = async ({ params }: Statement): Promise<Rows> => {
    limits.push(params[2])
    if (limits.length > 1) return []
    // its time comes while the statement runs
    end = now
    throw sqlError('2201F')
  }
  const writer = writerOf({ write } as Database)
  const soon = Object.defineProperty({ ...A }, 'notAfter', { get: () => end })
  const later = { ...B, notAfter: now + 400_000 }
  expect(await all(writer, later, soon, C)).toEqual(['appended', 'busy', 'appended'])
  const [first, second] = limits as [number, number]
  expect([first > 0, first <= 200_000, second > 200_000, second <= 400_000]).toEqual([true, true, true, true])
  await writer.append(D)
  // without a time in any append there is no limit
  expect([limits.length, limits[2]]).toEqual([3, null])
})

test('appends of one key follow each other in statements of their own, in their order', async () => {
  const { sent, writer } = over()
  expect(await all(writer, A, sample.one('a', 2), B)).toEqual(['appended', 'appended', 'appended'])
  expect(sent).toEqual([
    ['append', 'a 1', 'b 1'],
    ['append', 'a 2'],
  ])
})

test('a writer that is closed has answered everything, and is busy from then on', async () => {
  const { sent, writer } = over()
  const waiting = all(writer, A, sample.one('a', 2))
  const closed = writer.drain()
  expect(await writer.append(B)).toBe('busy')
  await closed
  expect(sent).toHaveLength(2)
  expect(await waiting).toEqual(['appended', 'appended'])
  await writer.drain()
})

test('what is written of the views comes with the journal in one statement, sorted for the locks', async () => {
  const { promise, resolve } = Promise.withResolvers<Statement>()
  const writer = writerOf({ write: async (statement: Statement) => (resolve(statement), []) } as unknown as Database)
  const rows = ['b', 'a'].map((entity) => put('due', { entity, kind: 'x', at: 1 }))
  const unit = sample.unit(
    [
      ['b', 2],
      ['a', 1],
      ['b', 1],
    ],
    [...rows, drop('profiles', 'z'), drop('profiles', 'y')],
  )
  await writer.append({ ...unit, rows: unit.rows.map((row) => ({ ...row, follows: { commandId: 'f', at: null } })) })
  const { params } = await promise
  const [journal, count, limit, gone, due] = params as [string, number, number | null, string, string]
  const cells = JSON.parse(journal) as readonly Record<string, unknown>[]
  expect(cells.map(({ key, version, pos }) => [key, version, pos])).toEqual([
    ['a', 1, 2],
    ['b', 1, 3],
    ['b', 2, 1],
  ])
  const { commandId, events, ...first } = unit.rows[1]!
  expect(cells[0]).toEqual({ ...first, pos: 2, command: commandId, data: events, follows: 'f', follows_at: null })
  expect([count, limit, JSON.parse(gone), JSON.parse(due)]).toEqual([
    3,
    null,
    ['y', 'z'],
    [
      { entity: 'a', kind: 'x', at: 1 },
      { entity: 'b', kind: 'x', at: 1 },
    ],
  ])
})

test('appends that touch the same views are one prepared statement', () => {
  const own = createPrepared(10)
  const of = (...changes: readonly ViewChange[]) =>
    appendStatement([sample.unit([['a', 1]], [...changes])], true, null, 0, own).name
  const due = put('due', { entity: 'a', kind: 'x', at: 1 })
  expect([of(due), of(drop('profiles', 'y')), of(due), of()]).toEqual(['append_0', 'append_1', 'append_0', 'append_2'])
})

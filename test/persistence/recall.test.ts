/** How the journal's tails are read: who shares a query, what is read from the archive, and what a failure spoils. */
import { expect, test } from 'vitest'
import type { Recalled, Wish } from '../../src/actors/runtime/ports.ts'
import { snapshotSchemaOf } from '../../src/actors/runtime/snapshots.ts'
import { Unreadable } from '../../src/actors/runtime/unreadable.ts'
import { recallOf } from '../../src/persistence/recall.ts'
import type { Database, Rows, Statement } from '../../src/persistence/sql.ts'
import { until } from '../support/lab.ts'
import * as sample from './samples.ts'

type Asked = { readonly i: number; readonly key: string; readonly after: number }
const paramsOf = ({ params }: Statement) => JSON.parse(params[0] as string) as readonly Asked[]
const keysOf = (statement: Statement) => paramsOf(statement).map(({ key }) => key)

const over = (answer: (statement: Statement) => Rows | Promise<Rows>, more: Partial<Database> = {}) => {
  const asked: Statement[] = []
  const read = async (statement: Statement): Promise<Rows> => {
    asked.push(statement)
    return answer(statement)
  }
  const database = { read, readsAreFinal: async () => undefined, ...more } as Database
  return { asked, recall: recallOf(database) }
}
const stored = (key: string, version: number) => sample.journalRow(key, version, `c${version}`)
const cells = (i: number, key: string, version: number) => {
  const { commandId, events, ...rest } = stored(key, version)
  return { i, ...rest, command: commandId, data: events }
}
const snapshot = (i: number, key: string, version: number) => ({ ...cells(i, key, version), command: null, data: 'm' })
const gone = (i: number, key: string) => ({ ...cells(i, key, 0), command: null, data: null })
const found = async (rows: Rows, wishes: readonly Wish[], archived: Rows = []) => {
  const { asked, recall } = over(({ name }) => (name === 'archived' ? archived : rows))
  const answer = await recall(wishes)
  const versions = ({ rows: own, ...rest }: Recalled) => ({ ...rest, rows: own.map(({ version }) => version) })
  return {
    found: wishes.map(({ key }) => versions(answer.get(key)!)),
    gaps: asked.filter(({ name }) => name === 'archived').map(paramsOf),
  }
}

test('a wish is put with what its reader remembers, and answered with whole rows', async () => {
  const { asked, recall } = over(() => [cells(1, 'arq/2', 4), cells(1, 'arq/2', 5)])
  const wishes = [
    { key: 'arq/1', after: 0 },
    { key: 'arq/2', after: 3, last: { commandId: 'c3', at: sample.AT } },
    { key: 'arq/3', after: 3, last: { commandId: 'c3', at: null } },
  ]
  expect(await recall(wishes)).toEqual(
    new Map([
      ['arq/1', { snapshot: null, rows: [] }],
      ['arq/2', { snapshot: null, rows: [stored('arq/2', 4), stored('arq/2', 5)] }],
      ['arq/3', { snapshot: null, rows: [] }],
    ]),
  )
  const schema = snapshotSchemaOf('arq/1')
  expect(asked).toEqual([
    { text: expect.stringContaining('from journal'), params: [expect.any(String)], name: 'tails' },
  ])
  expect(paramsOf(asked[0]!)).toEqual([
    { i: 0, key: 'arq/1', after: 0, last: null, last_at: null, schema },
    { i: 1, key: 'arq/2', after: 3, last: 'c3', last_at: sample.AT, schema },
    { i: 2, key: 'arq/3', after: 3, last: 'c3', last_at: null, schema },
  ])
})

test('ARCHIVE-3 what lies before the first row of a tail is read from the archive, and put before it', async () => {
  const wishes = ['arq/0', 'arq/1', 'arq/2', 'arq/3', 'arq/4'].map((key, at) => ({ key, after: at }))
  const rows = [
    // from the first row on: nothing is before
    cells(0, 'arq/0', 1),
    // two are before, of which the reader knows one
    cells(1, 'arq/1', 4),
    // follows its snapshot
    snapshot(2, 'arq/2', 5),
    cells(2, 'arq/2', 6),
    // does not follow its snapshot
    snapshot(3, 'arq/3', 5),
    cells(3, 'arq/3', 7),
    // what the reader knows is gone: it is told everything
    gone(4, 'arq/4'),
    cells(4, 'arq/4', 3),
  ]
  const archived = [
    cells(1, 'arq/1', 2),
    cells(1, 'arq/1', 3),
    cells(3, 'arq/3', 6),
    cells(4, 'arq/4', 1),
    cells(4, 'arq/4', 2),
  ]
  expect(await found(rows, wishes, archived)).toEqual({
    found: [
      { snapshot: null, rows: [1] },
      { snapshot: null, rows: [2, 3, 4] },
      { snapshot: { version: 5, memory: 'm' }, rows: [6] },
      { snapshot: { version: 5, memory: 'm' }, rows: [6, 7] },
      { void: true, snapshot: null, rows: [1, 2, 3] },
    ],
    gaps: [
      [
        { i: 1, key: 'arq/1', after: 1, upto: 4 },
        { i: 3, key: 'arq/3', after: 5, upto: 7 },
        { i: 4, key: 'arq/4', after: 0, upto: 3 },
      ],
    ],
  })
})

test('the archive is not asked when every tail follows what is known', async () => {
  const wishes = [
    { key: 'arq/0', after: 0 },
    { key: 'arq/1', after: 3 },
    { key: 'arq/2', after: 7 },
  ]
  expect((await found([cells(1, 'arq/1', 4)], wishes)).gaps).toEqual([])
})

test('requests of one turn share a query, in which nothing is asked twice; those that come later share the next', async () => {
  const { asked, recall } = over(() => [])
  const wish = (key: string, after = 0): readonly Wish[] => [{ key, after }]
  await Promise.all([
    recall(wish('arq/1')),
    recall([...wish('arq/2'), ...wish('arq/1')]),
    recall(wish('arq/1', 1)),
    recall([{ key: 'arq/1', after: 1, last: { commandId: 'c', at: null } }]),
    recall([{ key: 'arq/1', after: 1, last: { commandId: 'c', at: 5 } }]),
    recall(wish('host/\0')),
  ])
  expect(asked.map(paramsOf).map((wishes) => wishes.map(({ key, after }) => `${key} ${after}`))).toEqual([
    ['arq/1 0', 'arq/2 0', 'arq/1 1', 'arq/1 1', 'arq/1 1'],
  ])
  await recall(wish('arq/1'))
  expect(asked).toHaveLength(2)
})

test('two queries run at once, and what comes meanwhile waits for the end of one', async () => {
  const gates: PromiseWithResolvers<Rows>[] = []
  const { asked, recall } = over(() => {
    const gate = Promise.withResolvers<Rows>()
    gates.push(gate)
    return gate.promise
  })
  const answers: Promise<unknown>[] = []
  for (const key of ['arq/1', 'arq/2']) {
    answers.push(recall([{ key, after: 0 }]))
    await until(() => gates.length === answers.length)
  }
  for (const key of ['arq/3', 'arq/4']) {
    answers.push(recall([{ key, after: 0 }]))
    await new Promise((turn) => setImmediate(turn))
  }
  expect(asked.map(keysOf)).toEqual([['arq/1'], ['arq/2']])
  gates[1]!.resolve([])
  await until(() => gates.length === 3)
  gates[0]!.resolve([])
  gates[2]!.resolve([])
  await Promise.all(answers)
  expect(asked.map(keysOf)).toEqual([['arq/1'], ['arq/2'], ['arq/3', 'arq/4']])
})

test('one statement asks for 2,000 keys at most', async () => {
  const { asked, recall } = over((statement) =>
    paramsOf(statement).flatMap(({ i, key }) => (key === 'arq/2000' ? [cells(i, key, 1)] : [])),
  )
  const wishes = Array.from({ length: 2_001 }, (_, at) => ({ key: `arq/${at}`, after: 0 }))
  const answer = await recall(wishes)
  expect(asked.map((statement) => paramsOf(statement).length)).toEqual([2_000, 1])
  expect(answer.get('arq/2000')!.rows).toEqual([stored('arq/2000', 1)])
  expect([answer.size, answer.get('arq/0')!.rows]).toEqual([2_001, []])
})

test('a query that the database refuses for one request fails for that one alone', async () => {
  const { asked, recall } = over((statement) => {
    if (keysOf(statement).includes('arq/3')) throw Object.assign(new Error('too large'), { code: '22003' })
    return []
  })
  const results = await Promise.allSettled([0, 1, 2, 3, 4].map((at) => recall([{ key: `arq/${at}`, after: 0 }])))
  expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'fulfilled', 'rejected', 'fulfilled'])
  expect(results[3]).toMatchObject({
    reason: { name: 'Unreadable', permanent: true, message: 'the journal cannot be read: too large (22003)' },
  })
  // half of those in which the fault is, and again
  expect(asked.map(keysOf)).toEqual([
    ['arq/0', 'arq/1', 'arq/2', 'arq/3', 'arq/4'],
    ['arq/0', 'arq/1'],
    ['arq/2', 'arq/3', 'arq/4'],
    ['arq/2'],
    ['arq/3', 'arq/4'],
    ['arq/3'],
    ['arq/4'],
  ])
})

test('a connection that ends fails all requests of the query, without another look', async () => {
  const { asked, recall } = over(() => Promise.reject(new Error('Connection terminated')))
  const results = await Promise.allSettled([0, 1].map((at) => recall([{ key: `arq/${at}`, after: 0 }])))
  expect(results).toEqual(
    [0, 1].map(() => ({
      status: 'rejected',
      reason: new Unreadable('the journal cannot be read: Connection terminated', { permanent: false }),
    })),
  )
  expect(asked).toHaveLength(1)
})

test('nothing is read before the writers of this process are known to have ended', async () => {
  const failed = over(() => [], { readsAreFinal: () => Promise.reject(new Error('a session is left')) })
  await expect(failed.recall([{ key: 'arq/1', after: 0 }])).rejects.toThrow(
    'the journal cannot be read: a session is left',
  )
  expect(failed.asked).toEqual([])
  const gate = Promise.withResolvers<void>()
  const { asked, recall } = over(() => [], { readsAreFinal: () => gate.promise })
  const answer = recall([{ key: 'arq/1', after: 0 }])
  for (let turn = 0; turn < 3; turn++) await new Promise((next) => setImmediate(next))
  expect(asked).toEqual([])
  gate.resolve()
  await answer
  expect(asked).toHaveLength(1)
})

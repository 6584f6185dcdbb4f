/** What the thread of the embedded database answers: statements on a database in memory, and messages one at a time. */
import { PGlite } from '@electric-sql/pglite'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Ask, Reply } from '../../src/persistence/pglite/protocol.ts'
import { errorOf, serve } from '../../src/persistence/pglite/serve.ts'
import { sessionOn } from '../../src/persistence/pglite/session.ts'
import { quiet, until } from '../support/lab.ts'

describe('a statement', () => {
  let db: PGlite
  beforeAll(async () => {
    db = await PGlite.create()
    await db.exec('create table t (id int primary key, text text, json json)')
  })
  afterAll(() => db.close())
  /** Counts the statements that are sent to be planned under a name. */
  const counted = () => {
    let plans = 0
    const execProtocol: PGlite['execProtocol'] = (message, options) => {
      if (message[0] === 'P'.charCodeAt(0)) plans++
      return db.execProtocol(message, options)
    }
    const counting = { query: db.query.bind(db), execProtocol } as unknown as PGlite
    return { session: sessionOn(counting), plans: () => plans }
  }
  const INSERT = 'insert into t values ($1::int, $2::text, $3::json)'

  test('without a name is run as it is', async () => {
    const { session, plans } = counted()
    expect(await session({ id: 1, text: INSERT, params: [1, 'one', '{"a":1}'] })).toEqual({ rows: [], affected: 1 })
    const rows = [{ id: 1, text: 'one', json: { a: 1 } }]
    expect(await session({ id: 2, text: 'select * from t where id = $1', params: [1] })).toEqual({ rows, affected: 0 })
    expect(await session({ id: 3, text: 'begin', params: [] })).toEqual({ rows: [], affected: 0 })
    expect(await session({ id: 4, text: 'rollback', params: [] })).toEqual({ rows: [], affected: 0 })
    expect(plans()).toBe(0)
  })
  test('with a name is planned once, and given each of its values as text', async () => {
    const { session, plans } = counted()
    const put = (...params: readonly unknown[]) => session({ id: 1, name: 'put', text: INSERT, params })
    expect(await put(11, 'eleven', { b: [true, null] })).toEqual({ rows: [], affected: 1 })
    expect(await put('12', null, undefined)).toEqual({ rows: [], affected: 1 })
    expect(await put(13, '', 'null')).toEqual({ rows: [], affected: 1 })
    const text = 'select * from t where id > $1::int order by id'
    expect(await session({ id: 2, name: 'get', text, params: [10] })).toEqual({
      rows: [
        { id: 11, text: 'eleven', json: { b: [true, null] } },
        { id: 12, text: null, json: null },
        { id: 13, text: '', json: null },
      ],
      affected: 0,
    })
    const none = { id: 3, name: 'gone', text: 'delete from t where id = $1::int', params: [99] }
    expect(await session(none)).toEqual({ rows: [], affected: 0 })
    expect(plans()).toBe(3)
  })
  test('with a name that cannot be planned fails each time, and harms no other', async () => {
    const { session, plans } = counted()
    const bad = () => session({ id: 1, name: 'bad', text: 'select nothing from t', params: [] })
    await expect(bad()).rejects.toMatchObject({ code: '42703' })
    await expect(bad()).rejects.toMatchObject({ code: '42703' })
    expect(plans()).toBe(2)
    const one = { id: 2, name: 'one', text: 'select 1 as one', params: [] }
    expect(await session(one)).toEqual({ rows: [{ one: 1 }], affected: 0 })
  })
})

/** A database that does as it is told, and the channel to it. */
const served = (
  query: (text: string, done: string[]) => Promise<object> = async () => ({ rows: [], affectedRows: 0 }),
) => {
  const [done, replies]: [string[], Reply[]] = [[], []]
  let tell: (asks: readonly Ask[]) => void = () => expect.unreachable('nobody listens')
  const db = {
    query: (text: string) => (done.push(text), query(text, done)),
    close: async () => void done.push('closed'),
  } as unknown as PGlite
  serve(db, {
    on: (_event, take) => (tell = take),
    postMessage: (reply) => void replies.push(reply),
  })
  const ask = (id: number, text: string, ...params: readonly unknown[]): Ask => ({ id, text, params })
  return { done, replies, ask, tell: (...asks: readonly Ask[]) => tell(asks) }
}
/** As many characters as make a checkpoint due. */
const ENOUGH = 'x'.repeat(8_000_000)

describe('the messages to the thread', () => {
  test('are answered statement by statement, with rows or with what the database says is wrong', async () => {
    const broken = { code: '23505', constraint: 'c', table: 't', column: 'x', detail: 'not told' }
    const { replies, ask, tell } = served(async (text) => {
      if (text === 'bad') throw Object.assign(new Error('as told'), broken)
      return { rows: [{ text }], affectedRows: 2 }
    })
    tell(ask(7, 'good'), ask(8, 'bad'), ask(9, 'better'))
    await until(() => replies.length === 3)
    expect(replies).toEqual([
      { id: 7, rows: [{ text: 'good' }], affected: 2 },
      { id: 8, error: { message: 'as told', code: '23505', constraint: 'c', table: 't', column: 'x' } },
      { id: 9, rows: [{ text: 'better' }], affected: 2 },
    ])
    expect(errorOf('no error at all').message).toBe('no error at all')
  })
  test('are handled one after the other', async () => {
    const gates = [0, 1].map(() => Promise.withResolvers<object>())
    const { done, replies, ask, tell } = served((text) => gates[Number(text)]!.promise)
    tell(ask(1, '0'))
    tell(ask(2, '1'))
    await until(() => done.length > 0)
    expect(done).toEqual(['0'])
    gates[1]!.resolve({ rows: [] })
    gates[0]!.resolve({ rows: [] })
    await until(() => replies.length === 2)
    expect([done, replies.map(({ id }) => id)]).toEqual([
      ['0', '1'],
      [1, 2],
    ])
  })
  test.each(['commit', 'rollback'])('let upkeep wait for the %s of a transaction', async (end) => {
    const { done, replies, ask, tell } = served()
    tell(ask(1, 'begin'))
    tell(ask(2, 'write', ENOUGH))
    tell(ask(3, 'begin work', 'x'))
    await until(() => replies.length === 3)
    tell(ask(4, end))
    tell(ask(5, 'last'))
    await until(() => replies.length === 5)
    expect(done.map((text) => text.split(' ')[0])).toEqual([
      ...['begin', 'write', 'begin', end, 'vacuum', 'checkpoint', 'last'],
    ])
  })
  test('that bring much are followed by upkeep at once outside of a transaction', async () => {
    const { done, replies, ask, tell } = served()
    tell(ask(1, 'write', ENOUGH), ask(2, 'read'))
    tell(ask(3, 'last'))
    await until(() => replies.length === 3)
    expect(done.map((text) => text.split(' ')[0])).toEqual(['write', 'read', 'vacuum', 'checkpoint', 'last'])
  })
  test('end with the database, also when its last checkpoint fails', async () => {
    for (const fails of [false, true]) {
      const { done, replies, ask, tell } = served(async (_text, seen) => {
        await quiet()
        seen.push('written')
        if (fails) throw new Error('disk full')
        return {}
      })
      tell(ask(5, 'close'), ask(6, 'too late'))
      await until(() => replies.length > 0)
      expect([done, replies]).toEqual([['checkpoint', 'written', 'closed'], [{ id: 5, rows: [] }]])
    }
  })
})

/** Lists and the journal as statements: what is asked, with which values, and what the rows become. No database. */
import { describe, expect, test } from 'vitest'
import { sqlJournal } from '../../src/persistence/journal.ts'
import { createPrepared } from '../../src/persistence/prepared.ts'
import { pageStatement, sqlReads } from '../../src/persistence/reads.ts'
import type { Database, Rows, Statement } from '../../src/persistence/sql.ts'
import * as sample from './samples.ts'

const UUID = '00000000-0000-4000-8000-00000000000a'
const COLUMNS = '"uuid", "name", "description", "groups", "version", "enabled", "projects", "created_at", "updated_at"'
type Query = Parameters<typeof pageStatement<'profiles'>>[0]
/** What follows the columns, and the values. */
const asked = (query: Partial<Query>) => {
  const statement = pageStatement<'profiles'>({ view: 'profiles', where: {}, sort: 'created_at', limit: 5, ...query })
  const [columns, rest] = statement.text.split(' from "profiles"')
  expect(columns).toBe(`select ${COLUMNS}`)
  return [statement.text.slice(`${columns} from "profiles"`.length).trim() || rest, ...statement.params]
}

describe('a page', () => {
  test('is ordered by the column and the key, a thousand rows at most', () => {
    expect(asked({})).toEqual(['order by "created_at" asc, "uuid" asc limit $1::int', 5])
    expect(asked({ limit: 1000 }).at(-1)).toBe(1000)
    expect(asked({ limit: 1001, descending: true })).toEqual([
      'order by "created_at" desc, "uuid" desc limit $1::int',
      1000,
    ])
    expect(asked({ descending: false })).toEqual(asked({}))
    // a column that is unique by itself needs no second one
    for (const sort of ['name', 'uuid'] as const)
      expect(asked({ sort })).toEqual([`order by "${sort}" asc limit $1::int`, 5])
  })
  test('has the rows with a value, with one of several, or with none', () => {
    expect(asked({ where: { name: 'n', version: 2, description: null, projects: undefined as never } })).toEqual([
      'where "name" = $1::text and "version" = $2::int and "description" is null order by "created_at" asc, "uuid" asc limit $3::int',
      'n',
      2,
      5,
    ])
    expect(asked({ where: { name: ['a', 'b'] }, visible: { version: [1, null] } })).toEqual([
      'where "name" = any($1::text[]) and ("version" = any($2::int[]) or "version" is null) order by "created_at" asc, "uuid" asc limit $3::int',
      ['a', 'b'],
      [1],
      5,
    ])
  })
  test('has no row with a value that its column cannot hold', () => {
    expect(asked({ where: { uuid: 'none', version: 0.5 } })).toEqual([
      'where false and false order by "created_at" asc, "uuid" asc limit $1::int',
      5,
    ])
    expect(asked({ where: { uuid: ['none', UUID] } })[1]).toEqual([UUID])
  })
  test('goes on after its marker, if that may be seen', () => {
    expect(asked({ marker: UUID })).toEqual([
      `where ("created_at", "uuid") > ((select m."created_at" from "profiles" m where m."uuid" = $1::uuid), $1::uuid) order by "created_at" asc, "uuid" asc limit $2::int`,
      UUID,
      5,
    ])
    expect(asked({ marker: UUID, sort: 'name', descending: true, visible: { version: 1 } })).toEqual([
      `where "version" = $1::int and "name" < (select m."name" from "profiles" m where m."uuid" = $2::uuid and m."version" = $3::int) order by "name" desc limit $4::int`,
      1,
      UUID,
      1,
      5,
    ])
  })
  test('goes on after a place, whether its row is there or not', () => {
    const after = { value: 7, key: UUID }
    expect(asked({ after })).toEqual([
      'where ("created_at", "uuid") > ($1::bigint, $2::uuid) order by "created_at" asc, "uuid" asc limit $3::int',
      7,
      UUID,
      5,
    ])
    expect(asked({ after: { value: 'n', key: UUID }, sort: 'name', descending: true })).toEqual([
      'where "name" < $1::text order by "name" desc limit $2::int',
      'n',
      5,
    ])
  })
  test('is prepared, unless it holds a list: the best index depends on how long that is', () => {
    const own = createPrepared(10)
    const of = (where: Query['where']) =>
      pageStatement<'profiles'>({ view: 'profiles', where, sort: 'uuid', limit: 5 }, own)
    const names = [{ name: 'a' }, { name: 'b' }, { version: 1 }].map((where) => of(where).name)
    expect(names).toEqual(['page_0', 'page_0', 'page_1'])
    expect('name' in of({ name: ['a'] })).toBe(false)
  })
})

const over = (...answers: readonly Rows[]) => {
  const statements: Statement[] = []
  const left = [...answers]
  const run = async (statement: Statement): Promise<Rows> => {
    statements.push(statement)
    return left.shift() ?? []
  }
  return {
    statements,
    database: { read: run, write: run, readsAreFinal: async () => undefined } as unknown as Database,
  }
}
describe('a list', () => {
  const query = { view: 'profiles', where: {}, sort: 'created_at', limit: 5 } as const
  test('that is empty after a marker is at its end, or the marker is unknown', async () => {
    const of = async (...answers: readonly Rows[]) => {
      const { database, statements } = over(...answers)
      const visible = { version: 1 }
      const page = await sqlReads(database).page({ ...query, marker: UUID, visible })
      return { page, more: statements.slice(1).map(({ text, params }) => [text, ...params]) }
    }
    const looked = [['select 1 from "profiles" where "version" = $1::int and "uuid" = $2::uuid', 1, UUID]]
    expect(await of([], [])).toEqual({ page: null, more: looked })
    expect(await of([], [{}])).toEqual({ page: [], more: looked })
    const row = sample.profileRow('p')
    expect(await of([row])).toEqual({ page: [row], more: [] })
  })
  test('without a marker is asked for once, and with one that no key can be not at all', async () => {
    const { database, statements } = over()
    expect(await sqlReads(database).page(query)).toEqual([])
    expect(await sqlReads(database).page({ ...query, marker: 'none' })).toBeNull()
    expect(statements).toHaveLength(1)
  })
  test('of what is due leaves out what only an operator can do', async () => {
    const due = [{ entity: 'arq/1', kind: 'x', at: 5 }]
    const { database, statements } = over(due)
    expect(await sqlReads(database).dueBefore(7, 9)).toEqual(due)
    expect(statements).toEqual([
      {
        text: `select entity, kind, at from due where at <= $1::bigint and kind not in ('nova-undelivered') order by at, entity limit $2::int`,
        params: [7, 9],
        name: 'due',
      },
    ])
  })
  test('is counted by the values of a column', async () => {
    const { database, statements } = over([
      { value: 'up', rows: 2 },
      { value: true, rows: 3 },
    ])
    expect(await sqlReads(database).tally('hosts', 'liveness')).toEqual(
      new Map([
        ['up', 2],
        ['true', 3],
      ]),
    )
    expect(statements[0]!.text).toBe(
      'select "liveness"::text as value, count(*)::int as rows from "hosts" where "liveness" is not null group by 1 order by 1',
    )
  })
  test('that cannot be read is named', async () => {
    const away = async () => {
      throw new Error('away')
    }
    const reads = sqlReads({ read: away } as unknown as Database)
    const named = 'the view profiles cannot be read: away'
    await expect(reads.page(query)).rejects.toThrow(named)
    await expect(reads.tally('profiles', 'name')).rejects.toThrow(named)
    await expect(reads.dueBefore(1, 1)).rejects.toThrow('the view due cannot be read: away')
    const journal = sqlJournal({ read: away } as unknown as Database)
    for (const read of [journal.feed('', 1), journal.history([], 1), journal.checkpoint('r')])
      await expect(read).rejects.toThrow('the journal cannot be read: away')
  })
})

test('the journal is asked by key, from a position on, and for the place of a reader', async () => {
  const { commandId, events, ...rest } = sample.journalRow('arq/1', 2, 'c')
  const cells = { ...rest, command: commandId, data: events, xid: '12', pos: 3 }
  const fed = { ...rest, commandId, events, position: '12.3' }
  const { database, statements } = over([cells], [cells], [{ position: '12.3' }], [], [])
  const journal = sqlJournal({ ...database, exclusive: true })
  expect([await journal.history(['arq/1', 'arq/2'], 9), await journal.feed('11.4', 8)]).toEqual([[fed], [fed]])
  expect([await journal.checkpoint('r'), await journal.checkpoint('none')]).toEqual(['12.3', ''])
  await journal.saveCheckpoint('r', '12.3')
  expect(statements.map(({ name, params }) => [name, ...params])).toEqual([
    ['history', '["arq/1","arq/2"]', 9],
    ['feed', '11', 4, 8],
    [undefined, 'r'],
    [undefined, 'none'],
    ['save', 'r', '12.3'],
  ])
  expect([journal.exclusive, journal.incarnation]).toEqual([true, 0])
  const later = sqlJournal({ ...database, exclusive: false, incarnation: () => 4 })
  expect([later.exclusive, later.incarnation]).toEqual([false, 4])
})

/** What the doctor and the audit are told of a database, over a scripted server: each fact, and what is not asked. */
import { afterEach, describe, expect, test } from 'vitest'
import { type Clock, systemClock } from '../../src/clock.ts'
import { followJournal } from '../../src/persistence/follow.ts'
import { inspectDatabase } from '../../src/persistence/inspect.ts'
import { migrationNames } from '../../src/persistence/migrate.ts'
import { readSnapshot, type Snapshot } from '../../src/persistence/snapshot.ts'
import { until } from '../support/lab.ts'
import * as sample from './samples.ts'
import { type Script, scriptedPostgres, sqlError } from '../support/scriptedPostgres.ts'

const closing: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close()
})
const serverWith = async (script: Script) => {
  const server = await scriptedPostgres(script)
  closing.push(server.close)
  return server
}
type Answers = Readonly<Record<string, Awaited<ReturnType<Script>>>>

const NAMES = migrationNames()
const HOLDER = { pid: 42, name: 'psql', user: 'ann', database: 'd', state: 'idle', age: 1234.6, xids: 1 }
const TABLE = { table: 'journal', bytes: 1536, live: 1, dead: 10 }
/** Where a statement has this text in it, it is answered so. */
const USUAL: Answers = {
  server_version_num: [{ version: 160_004, role: 'acc', superuser: false }],
  'select need ||': [{ lacks: 'insert on journal' }, { lacks: 'update on leases' }],
  [`to_regclass('mikro_orm_migrations')`]: [{ there: true }],
  'select name from mikro_orm_migrations': [...NAMES.slice(1), '9999_newer'].map((name) => ({ name })),
  'from pg_stat_activity where backend_xid': [HOLDER],
  [`to_regclass('journal') is not null`]: [{ there: true }],
  'as "held"': [{ rows: 7 }],
  [`to_regclass('incarnation')`]: [{ there: true }],
  'from "incarnation"': [{ reason: 'rows are gone', stopped_at: '2026-03-01 10:00:00+00' }],
  'from "lost_rows"': [1, 2].map((version) => ({ key: 'arq/1', version, command: 'c', data: [], at: 5 })),
  'from pg_stat_user_tables': [TABLE],
}
/** The three looks at the clock of the server take so long, and find it so far ahead. */
const LOOKS = [
  { takesMs: 60, aheadMs: 100 },
  { takesMs: 21, aheadMs: 200 },
  { takesMs: 40, aheadMs: 300 },
]
const inspected = async (more: Answers = {}) => {
  const [answers, looks] = [Object.entries({ ...USUAL, ...more }), [...LOOKS]]
  let at = 1_000_000
  const clock: Clock = { ...systemClock, now: () => at }
  const server = await serverWith(({ text }) => {
    if (text.endsWith('::float8 as now')) {
      const { takesMs, aheadMs } = looks.shift() ?? { takesMs: 0, aheadMs: 0 }
      const now = Math.floor(at + takesMs / 2 + aheadMs)
      at += takesMs
      return [{ now }]
    }
    return (
      answers.find(([part]) => text.includes(part))?.[1] ?? (text.startsWith('select pg_backend_pid()') ? null : [])
    )
  })
  try {
    return { facts: await inspectDatabase(server.url, clock, { relay: 'relay', bindDeadlineMs: 1 }), server }
  } finally {
    await until(() => server.open().length === 0)
  }
}
const FACTS = {
  version: 160_004,
  role: 'acc',
  superuser: false,
  // of the shortest look
  skewMs: 200,
  skewErrorMs: 12,
  pending: NAMES.slice(0, 1),
  unknown: ['9999_newer'],
  missingRights: ['insert on journal', 'update on leases'],
  holder: { pid: 42, name: 'psql', user: 'ann', database: 'd', state: 'idle', ageMs: 1235 },
  heldRows: 7,
  restored: false,
  stopped: { reason: 'rows are gone', lost: 2 },
  tables: [TABLE],
  work: null,
}

describe('the doctor', () => {
  test('is told each fact of a database, by a session of its own name that ends', async () => {
    const { facts, server } = await inspected()
    expect(facts).toEqual(FACTS)
    expect(server.startups).toMatchObject([{ application_name: 'accelerando doctor' }])
    expect(server.settings[1]).toMatchObject({ statement_timeout: 10_000 })
    const lacking = server.asked.find(({ text }) => text.startsWith('select need ||'))!
    const needs = JSON.parse(lacking.params[0]!) as readonly { readonly name: string; readonly need: string }[]
    expect(needs.filter(({ name }) => name === 'journal')).toEqual(
      ['select', 'insert', 'delete'].map((need) => ({ name: 'journal', need })),
    )
  })
  test.each<[string, Answers, object]>([
    [
      'whose open transaction is prepared, or is not shown in full',
      {
        'from pg_stat_activity where backend_xid': [
          { pid: null, name: null, user: null, database: null, state: null, age: null, xids: 1 },
        ],
      },
      { holder: { pid: null, name: '', user: '', database: '', state: '', ageMs: 0 } },
    ],
    [
      'that has no open transaction, and a role that may do all',
      {
        'from pg_stat_activity where backend_xid': [],
        'select need ||': [],
        server_version_num: [{ version: 150_000, role: 'root', superuser: true }],
      },
      { holder: null, missingRights: [], version: 150_000, role: 'root', superuser: true },
    ],
    [
      'of which the role may not read a table: nothing is said of its schema and its rows',
      { 'select need ||': [{ lacks: 'insert on arqs' }, { lacks: 'select on leases' }] },
      {
        ...{ missingRights: ['insert on arqs', 'select on leases'], pending: null, unknown: [] },
        ...{ heldRows: 0, restored: false, stopped: null },
      },
    ],
    [
      'that has no journal yet',
      { [`to_regclass('journal') is not null`]: [{ there: false }] },
      { heldRows: 0, restored: false, stopped: null },
    ],
    [
      'that was restored from another server, and is not stopped',
      {
        'select last::text as last': [{ last: '9', next: '5' }],
        'from "incarnation"': [{ reason: null, stopped_at: null }],
      },
      { restored: true, stopped: null },
    ],
  ])('is told of a database %s', async (_, answers, facts) => {
    expect((await inspected(answers)).facts).toEqual({ ...FACTS, ...facts })
  })
  test('is told why a database cannot be asked', async () => {
    await expect(inspected({ 'select last::text as last': sqlError('57014', 'too slow') })).rejects.toThrow('too slow')
  })
})

const cells = (version: number) => {
  const { commandId, events, ...row } = sample.journalRow('arq/1', version, 'c')
  return { ...row, command: commandId, data: events, xid: '12', pos: version }
}
const many = <Row>(count: number, row: (at: number) => Row): Row[] => Array.from({ length: count }, (_, at) => row(at))
describe('a snapshot', () => {
  const opened = async <Value>(script: Script, work: (snapshot: Snapshot) => Promise<Value>) => {
    const server = await serverWith((asked) =>
      asked.text.includes('as xmin') ? [{ now: 5, xmin: '77' }] : script(asked),
    )
    let value: Value
    try {
      value = await readSnapshot({ kind: 'postgres', url: server.url }, work)
    } finally {
      await until(() => server.open().length === 0)
    }
    const session = server.asked.find(({ text }) => text === 'begin')!.session
    const asked = server.asked.filter((one) => one.session === session)
    return { value, asked: asked.map(({ text, params }) => [text, ...params]) }
  }
  const count = async (rows: AsyncIterable<unknown>): Promise<number> => {
    let all = 0
    for await (const _ of rows) all++
    return all
  }
  const limits = ['statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout']
  const begun = [
    ...['begin', ...limits.map((limit) => `set local ${limit} = 0`)],
    'set transaction isolation level repeatable read read only',
  ]
  test('is one transaction that only reads, in which the journal comes page by page in its order', async () => {
    const pages = [many(1000, (at) => cells(at + 1)), [cells(1001)]]
    const { value, asked } = await opened(
      ({ text }) => (text.startsWith('fetch') ? pages.shift()! : null),
      async ({ now, settledBefore, journal }) => {
        const rows: unknown[] = []
        for await (const row of journal()) rows.push(row)
        return { now, settledBefore, count: rows.length, last: rows.at(-1) }
      },
    )
    const last = { ...sample.journalRow('arq/1', 1001, 'c'), position: '12.1001' }
    expect(value).toEqual({ now: 5, settledBefore: '77.0', count: 1001, last })
    const texts = asked.map(([text]) => text)
    const shown = '"key", "version", "command", "data", "at", "cause", "xid", "pos"'
    const both = ['journal', 'journal_archive']
      .map((table) => `select "key", "version", "pos", "xid", "command", "data", "at", "cause" from "${table}"`)
      .join(' union all ')
    expect(texts.slice(0, begun.length)).toEqual(begun)
    expect(texts.slice(begun.length + 1)).toEqual([
      `declare journal_rows no scroll cursor for (select ${shown} from (${both}) as "journal" order by "xid", "pos")`,
      ...['fetch 1000 from journal_rows', 'fetch 1000 from journal_rows', 'close journal_rows', 'commit'],
    ])
  })
  test('shows a view page by page after the last key, of states of entities a few at once', async () => {
    const due = many(1000, (at) => ({ entity: `arq/${at}`, kind: 'x', at: 1 }))
    const states = many(32, (at) => ({ entity: `arq/${at}`, version: 1, memory: {}, schema: 1 }))
    const { value, asked } = await opened(
      ({ text, params: [last] }) => {
        if (last === undefined) return null
        return last !== null ? [] : text.includes('"due"') ? due : states
      },
      async ({ view }) => [await count(view('due')), await count(view('snapshots'))],
    )
    expect(value).toEqual([1000, 32])
    const pages = asked.filter(([text]) => text!.includes('order by "entity"'))
    expect(pages.map(([text, last]) => [/ limit \d+$/.exec(text!)![0], last])).toEqual([
      [' limit 1000', null],
      [' limit 1000', 'arq/999'],
      [' limit 32', null],
      [' limit 32', 'arq/31'],
    ])
  })
  test('has the rows that were found to be lost, none before they are recorded, and the place of a reader', async () => {
    const row = (version: number) => ({
      ...{ key: 'arq/1', version, command: 'c', data: [], at: 5, found_at: 7, adopted_at: version === 1 ? 9 : null },
    })
    const pages = [many(500, (at) => row(at + 1)), []]
    const { value, asked } = await opened(
      ({ text }) => {
        if (text.startsWith('fetch')) return pages.shift()!
        return text.includes('to_regclass') ? [{ there: true }] : text.includes('"checkpoints"') ? [] : null
      },
      async ({ lost, checkpoint }) => {
        const rows: unknown[] = []
        for await (const one of lost()) rows.push(one)
        return { count: rows.length, first: rows.slice(0, 2), position: await checkpoint('relay') }
      },
    )
    const lost = { key: 'arq/1', command: 'c', events: [], at: 5, foundAt: 7 }
    expect(value).toEqual({
      count: 500,
      first: [
        { ...lost, version: 1, adoptedAt: 9 },
        { ...lost, version: 2, adoptedAt: null },
      ],
      position: '',
    })
    expect(asked.map(([text]) => text).filter((text) => text!.endsWith('lost_rows_read'))).toEqual([
      ...['fetch 500 from lost_rows_read', 'fetch 500 from lost_rows_read', 'close lost_rows_read'],
    ])
    const none = await opened(
      ({ text }) => (text.includes('to_regclass') ? [{ there: false }] : null),
      ({ lost }) => count(lost()),
    )
    expect(none.value).toBe(0)
  })
  test.each([
    ['42P01', 'the schema of the database does not match this release: as 42P01; run accelerando migrate'],
    ['42703', 'the schema of the database does not match this release: as 42703; run accelerando migrate'],
    ['57014', 'as 57014'],
  ])('that cannot be read says why: %s', async (code, reason) => {
    const read = opened(
      ({ text }) => (text.includes('from "due"') ? sqlError(code) : null),
      ({ view }) => count(view('due')),
    )
    await expect(read).rejects.toThrow(new RegExp(`^${reason}$`))
  })
})

test('a journal is followed from its end, in sessions of its own', async () => {
  const server = await serverWith(({ text }) =>
    text.includes('order by journal.xid desc')
      ? [{ xid: '12', pos: 3 }]
      : text.includes('from journal')
        ? [cells(4)]
        : null,
  )
  const { end, feed, close } = await followJournal({ kind: 'postgres', url: server.url, statementTimeoutMs: 700 })
  expect(await end()).toBe('12.3')
  expect((await feed('12.3', 9)).map(({ position }) => position)).toEqual(['12.4'])
  expect(new Set(server.settings.slice(1).map((one) => one['statement_timeout']))).toEqual(new Set([700]))
  await close()
  await until(() => server.open().length === 0)
})

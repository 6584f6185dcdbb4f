/** What the doctor is told of a database, over a scripted server: each fact, and what is not asked. */
import { afterEach, describe, expect, test } from 'vitest'
import { type Clock, systemClock } from '../../src/vocabulary/clock.ts'
import { inspectDatabase } from '../../src/persistence/inspect.ts'
import { migrationNames } from '../../src/persistence/migrate.ts'
import { until } from '../support/lab.ts'
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

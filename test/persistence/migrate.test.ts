/**
 * How a schema comes to be of today: by one of several processes, all or nothing, by its owner; and what a newer one
 * left.
 */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { MIGRATION_TABLE, migrationNames } from '../../src/persistence/migrate.ts'
import { put } from '../../src/actors/runtime/views.ts'
import { openStore } from '../../src/persistence/open.ts'
import { Migration0001 } from '../../src/persistence/migrations/0001_journal_and_views.ts'
import { describeWith } from '../support/needs.ts'
import { sqlOnce } from '../support/postgres.ts'
import { ownServer } from '../support/postgresOwn.ts'
import type { OwnServer } from '../support/postgresOwn.ts'
import * as sample from './samples.ts'

/** As the first release left it. */
const atFirst = async (url: string): Promise<void> => {
  const first = new Migration0001(undefined as never, undefined as never)
  first.up()
  const record = `create table ${MIGRATION_TABLE} (id serial primary key, name varchar(255), executed_at timestamptz default now());
    insert into ${MIGRATION_TABLE} (name) values ('${migrationNames()[0]}')`
  await sqlOnce(url, [...first.getQueries().map(String), record].join(';\n'))
}
const tablesOf = async (url: string): Promise<readonly string[]> =>
  (
    await sqlOnce(url, `select relname from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace`)
  ).rows.map(({ relname }: { relname: string }) => relname)

describeWith('postgres', 'migrations on a server', (bin) => {
  // its transactions are long, and would hold back the feeds of others on the same server
  let server: OwnServer
  beforeAll(async () => {
    server = await ownServer(bin)
  }, 60_000)
  afterAll(() => server.end(), 60_000)
  const open = (url: string) => openStore({ kind: 'postgres', url })

  test.each(['nothing', 'the first release'])(
    'of five processes that start together on %s one migrates',
    async (on) => {
      const { url, drop } = await server.freshDatabase()
      if (on !== 'nothing') await atFirst(url)
      const stores = await Promise.all([1, 2, 3, 4, 5].map(() => open(url)))
      const { rows } = await sqlOnce(url, `select name from ${MIGRATION_TABLE} order by id`)
      expect(rows.map(({ name }: { name: string }) => name)).toEqual(migrationNames())
      const key = sample.newKey()
      expect(await stores[0]!.journal.append(sample.one(key, 1))).toBe('appended')
      expect(await sample.versionsOf(stores[4]!.journal, key)).toEqual([1])
      await Promise.all(stores.map((store) => store.close()))
      await drop()
    },
  )

  test('one that fails leaves nothing half done, and succeeds when what was in its way is gone', async () => {
    const { url, drop } = await server.freshDatabase()
    await atFirst(url)
    // stands in the way of the last tables of the second
    await sqlOnce(url, 'create table journal_archive (mine int)')
    await expect(open(url)).rejects.toThrow('journal_archive')
    expect(await tablesOf(url)).not.toContain('leases')
    await sqlOnce(url, 'drop table journal_archive')
    await (await open(url)).close()
    expect(await tablesOf(url)).toEqual(expect.arrayContaining(['leases', 'journal_archive']))
    await drop()
  })

  test('it does not hold up those who wait behind it, and comes again', async () => {
    const { url, drop } = await server.freshDatabase()
    await atFirst(url)
    const reader = sqlOnce(url, 'begin; select 1 from snapshots; select pg_sleep(3); commit')
    const opened = open(url)
    await (await opened).close()
    await reader
    await drop()
  }, 30_000)

  test('hosts that were taken out of service before are so after it, and others are not', async () => {
    const { url, drop } = await server.freshDatabase()
    const before = await open(url)
    const care = (...all: readonly (string | null)[]) =>
      all.map((one) => ({ type: 'LivenessSet', liveness: 'down', by: 'op', ...(one && { care: one }) }))
    const told: Readonly<Record<string, readonly ReturnType<typeof care>[]>> = {
      kept: [care(null)],
      gone: [care('retired'), care(null)],
      back: [care('retired'), care('restored', null)],
      again: [care('retired'), care('restored', 'retired')],
      away: [care('retired'), care('removed')],
    }
    for (const [name, rows] of Object.entries(told))
      for (const [at, events] of rows.entries()) {
        const row = sample.hostRow(name, name === 'away' ? 'removed' : 'down')
        const {
          rows: [one],
        } = sample.one(`host/${name}`, at + 1)
        const append = { rows: [{ ...one!, events }], changes: [put('hosts', row)] }
        expect(await before.journal.append(append)).toBe('appended')
      }
    await before.close()
    const last = migrationNames().findLast((name) => name.startsWith('0015'))!
    await sqlOnce(
      url,
      `alter table hosts drop column out_of_service; delete from ${MIGRATION_TABLE} where name = '${last}'`,
    )
    await (await open(url)).close()
    const { rows } = await sqlOnce(url, 'select name from hosts where out_of_service order by name')
    expect(rows.map(({ name }: { name: string }) => name)).toEqual(['again', 'gone'])
    await drop()
  })

  test('a store of an older program opens, and says what it does not know', async () => {
    const { url, drop } = await server.freshDatabase()
    await (await open(url)).close()
    await sqlOnce(url, `insert into ${MIGRATION_TABLE} (name) values ('9999_of_tomorrow')`)
    const store = await open(url)
    expect(store.newer).toEqual(['9999_of_tomorrow'])
    await store.close()
    await drop()
  })

  test('the program of the first release goes on writing beside a newer one', async () => {
    const { url, drop } = await server.freshDatabase()
    const store = await open(url)
    const key = sample.newKey()
    for (const version of [1, 2]) expect(await store.journal.append(sample.one(key, version))).toBe('appended')
    await sqlOnce(url, `insert into snapshots (entity, version, memory) values ('${key}', 1, '{"of": "the first"}')`)
    // its snapshot has the shape of that release, so the journal is folded instead
    const recalled = (await store.journal.recall([{ key, after: 0 }])).get(key)!
    expect(recalled.snapshot).toBeNull()
    expect(recalled.rows.map(({ version }) => version)).toEqual([1, 2])
    await store.close()
    await drop()
  })
})

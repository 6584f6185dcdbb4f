/**
 * How a schema comes to be of today: by one of several processes, all or nothing, by its owner; and what a newer one
 * left.
 */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { MIGRATION_TABLE, migrationNames } from '../../src/persistence/migrate.ts'
import { openStore } from '../../src/persistence/open.ts'
import { describeWith } from '../support/needs.ts'
import { sqlOnce } from '../support/postgres.ts'
import { ownServer } from '../support/postgresOwn.ts'
import type { OwnServer } from '../support/postgresOwn.ts'
import * as sample from './samples.ts'

/** As release 0.3.0, from which an upgrade begins, left it. */
const asItWas = async (url: string): Promise<void> => {
  await (await openStore({ kind: 'postgres', url })).close()
  await sqlOnce(url, `drop table ignored_drift; delete from ${MIGRATION_TABLE} where name like '0016%'`)
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

  test.each(['nothing', 'the release before'])(
    'of five processes that start together on %s one migrates',
    async (on) => {
      const { url, drop } = await server.freshDatabase()
      if (on !== 'nothing') await asItWas(url)
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
    await asItWas(url)
    // stands in the way of its last statement
    const index = 'ignored_drift_hostname_until_at_uuid_index'
    await sqlOnce(url, `create table mine (hostname int); create index ${index} on mine (hostname)`)
    await expect(open(url)).rejects.toThrow(index)
    expect(await tablesOf(url)).not.toContain('ignored_drift')
    await sqlOnce(url, 'drop table mine')
    await (await open(url)).close()
    expect(await tablesOf(url)).toContain('ignored_drift')
    await drop()
  })

  test('it does not hold up those who wait behind it, and comes again', async () => {
    const { url, drop } = await server.freshDatabase()
    await asItWas(url)
    const other = `begin; lock table ${MIGRATION_TABLE} in share mode; select pg_sleep(3); commit`
    const reader = sqlOnce(url, other)
    const opened = open(url)
    await (await opened).close()
    await reader
    await drop()
  }, 30_000)

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

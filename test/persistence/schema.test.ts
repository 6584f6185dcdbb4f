/** Views, entities and migrations say the same, on both databases. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { MikroORM } from '@mikro-orm/core'
import { beforeAll, expect, test } from 'vitest'
import { migrationNames, pending } from '../../src/persistence/migrate.ts'
import { openStore } from '../../src/persistence/open.ts'
import { ormOnPglite, ormOnPostgres } from '../../src/persistence/orm.ts'
import { pgliteDatabase } from '../../src/persistence/pglite/pglite.ts'
import { embeddedStoreIn, embeddedStoreMade } from '../support/embedded.ts'
import { describeWith } from '../support/needs.ts'
import { freshDatabase, sqlOnce } from '../support/postgres.ts'

type Diffing = MikroORM & { readonly schema: { getUpdateSchemaSQL: () => Promise<string> } }
const difference = async (orm: MikroORM): Promise<string> => {
  const sql = await (orm as Diffing).schema.getUpdateSchemaSQL()
  await orm.close(true)
  return sql
}

beforeAll(embeddedStoreMade)
test('the embedded database has nothing pending after the migrations, and no thread but its own', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'accelerando-schema-'))
  await embeddedStoreIn(dir)
  const database = await pgliteDatabase(dir)
  expect(await pending(database.read)).toEqual([])
  expect(await difference(await ormOnPglite(database))).toBe('')
  await database.close()
  rmSync(dir, { recursive: true })
})

describeWith('postgres', 'a migrated server', (bin) => {
  test('has nothing pending, and remembers each migration by its file', async () => {
    const { url, drop } = await freshDatabase(bin)
    await (await openStore({ kind: 'postgres', url })).close()
    expect(await difference(await ormOnPostgres(url))).toBe('')
    const { rows } = await sqlOnce(url, 'select name from mikro_orm_migrations order by name')
    expect(rows.map(({ name }: { name: string }) => name)).toEqual(migrationNames())
    await drop()
  })
})

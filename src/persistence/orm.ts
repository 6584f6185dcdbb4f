/** MikroORM over both databases, for migrations and for comparing the entities with the tables. */
import type { MikroORM } from '@mikro-orm/core'
import { Migrator } from '@mikro-orm/migrations'
import type { Migration } from '@mikro-orm/migrations'
import { entities } from './ormEntities.ts'
import { MIGRATION_TABLE, migrationNames, MIGRATIONS, MODULE_EXTENSION } from './migrate.ts'
import type { Embedded } from './pglite/pglite.ts'

/** A migration waits only this long for a table lock, since all later users of the table queue behind it. */
const MIGRATION_LOCK_MS = 2_000

type MigrationClass = new (...args: never[]) => Migration

const migrationsList = () =>
  Promise.all(
    migrationNames().map(async (name) => {
      const module = (await import(new URL(`${name}${MODULE_EXTENSION}`, MIGRATIONS).href)) as Record<
        string,
        MigrationClass
      >
      return { name, class: Object.values(module)[0]! }
    }),
  )

const common = async () => ({
  entities: [...entities],
  extensions: [Migrator],
  // the trigger that stops writing is made by plain SQL in a migration, so the ORM does not know it
  schemaGenerator: { ignoreTriggers: true },
  migrations: {
    tableName: MIGRATION_TABLE,
    migrationsList: (await migrationsList()) as never,
    snapshot: false,
    silent: true,
  },
})

/** The part of an embedded database that the ORM's driver uses. The worker thread still owns the database. */
const proxyOf = (database: Embedded) => {
  const query = async (text: string, params: readonly unknown[] = []) => {
    const { rows = [], affected = 0 } = await database.ask(text, params)
    return { rows, affectedRows: affected, fields: [] }
  }
  const transaction = async <T>(work: (tx: { query: typeof query }) => Promise<T>): Promise<T> => {
    await query('begin')
    try {
      const result = await work({ query })
      await query('commit')
      return result
    } catch (cause) {
      await query('rollback')
      throw cause
    }
  }
  return {
    query,
    transaction,
    close: () => Promise.resolve(),
    closed: false,
    ready: true,
    waitReady: Promise.resolve(),
  }
}

export const ormOnPglite = async (database: Embedded): Promise<MikroORM> => {
  const { MikroORM } = await import('@mikro-orm/pglite')
  return MikroORM.init({ ...(await common()), dbName: 'postgres', driverOptions: { pglite: proxyOf(database) } })
}

export const ormOnPostgres = async (url: string): Promise<MikroORM> => {
  const { MikroORM } = await import('@mikro-orm/postgresql')
  const driverOptions = { options: `-c lock_timeout=${MIGRATION_LOCK_MS}` }
  return MikroORM.init({ ...(await common()), clientUrl: url, driverOptions })
}

export const migrateUp = async (orm: MikroORM): Promise<void> => {
  try {
    await orm.migrator.up()
  } finally {
    await orm.close(true)
  }
}

/** Work of the owner of the tables: runs the migrations and grants the role of the programs its rights. */
import { expectUpgradable, migrate, newer, pending } from './migrate.ts'
import { postgresDatabase } from './postgres/postgres.ts'
import { roleGrants } from './roles.ts'
import type { Database } from './sql.ts'

export type Schema = {
  readonly pending: readonly string[]
  /** Migrations of a newer program. */
  readonly newer: readonly string[]
}

const over = async <T>(url: string, work: (database: Database) => Promise<T>): Promise<T> => {
  const database = await postgresDatabase({ url, readers: 1 })
  try {
    return await work(database)
  } finally {
    await database.close()
  }
}
const schemaIn = async ({ read }: Database): Promise<Schema> => {
  await expectUpgradable(read)
  return { pending: await pending(read), newer: await newer(read) }
}

export const schemaOf = (url: string): Promise<Schema> => over(url, schemaIn)

/**
 * Returns the state of the schema before the run. If several processes do this at once, one migrates and the others
 * wait.
 */
export const upgradeSchema = (url: string): Promise<Schema> =>
  over(url, async (database) => {
    const before = await schemaIn(database)
    await migrate(database, async () => {
      const { migrateUp, ormOnPostgres } = await import('./orm.ts')
      await migrateUp(await ormOnPostgres(url))
    })
    return before
  })

/** Runs all grants or none. Returns the statements that were run. */
export const grantTo = (url: string, role: string): Promise<readonly string[]> =>
  over(url, async (database) => {
    const statements = roleGrants(role)
    await database.transaction(async (run) => {
      for (const text of statements) await run({ text, params: [] })
    })
    return statements
  })

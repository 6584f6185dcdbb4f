/** Whether the schema is of today: asked in plain SQL, so that an ordinary start does not load MikroORM. */
import { readdirSync } from 'node:fs'
import type { Database, Run } from './sql.ts'

export const MIGRATIONS = new URL('./migrations/', import.meta.url)
export const MIGRATION_TABLE = 'mikro_orm_migrations'

/** Names as they are recorded: the files without their ending, oldest first. */
export const migrationNames = (): readonly string[] =>
  readdirSync(MIGRATIONS)
    .filter((file) => file.endsWith('.ts'))
    .map((file) => file.slice(0, -'.ts'.length))
    .toSorted()

const done = async (run: Run): Promise<ReadonlySet<string>> => {
  const [table] = await run({ text: `select to_regclass('${MIGRATION_TABLE}') is not null as there`, params: [] })
  if (table!['there'] !== true) return new Set()
  return new Set(
    (await run({ text: `select name from ${MIGRATION_TABLE}`, params: [] })).map((row) => row['name'] as string),
  )
}

export const pending = async (run: Run): Promise<readonly string[]> => {
  const known = await done(run)
  return migrationNames().filter((name) => !known.has(name))
}

/** `up` runs all migrations that are due. */
export const migrate = async (database: Database, up: () => Promise<void>): Promise<void> => {
  if ((await pending(database.read)).length === 0) return
  if (database.exclusive) return up()
  // Of several processes that start together one migrates, and the others wait for it.
  await database.transaction(async (run) => {
    await run({ text: `select pg_advisory_xact_lock(hashtext('accelerando migrations'))`, params: [] })
    if ((await pending(run)).length > 0) await up()
  })
}

/** Checks whether all migrations have run. Uses plain SQL, so that an ordinary start does not load MikroORM. */
import { readdirSync } from 'node:fs'
import { extname } from 'node:path'
import { pause } from '../vocabulary/waiting.ts'
import { systemClock } from '../vocabulary/clock.ts'
import type { Database, Run } from './sql.ts'

export const MIGRATIONS = new URL('./migrations/', import.meta.url)
/** `.ts` in a checkout; `.js` in the npm package. */
export const MODULE_EXTENSION = extname(import.meta.filename)
export const MIGRATION_TABLE = 'mikro_orm_migrations'

/** Names of all migrations as the database records them: file names without extension, oldest first. */
export const migrationNames = (): readonly string[] =>
  readdirSync(MIGRATIONS)
    .filter((file) => file.endsWith(MODULE_EXTENSION))
    .map((file) => file.slice(0, -MODULE_EXTENSION.length))
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

/**
 * Migrations of a newer program. Migrations only add to the schema (decision 0020), so this program can still use it.
 */
export const newer = async (run: Run): Promise<readonly string[]> => {
  const own = new Set(migrationNames())
  return [...(await done(run))].filter((name) => !own.has(name)).toSorted()
}

const DENIED = '42501'
/** The ORM wraps the error of the driver. */
const said = (error: unknown, code: string): boolean => {
  if (!(error instanceof Error)) return false
  return (error as Error & { readonly code?: unknown }).code === code || said(error.cause, code)
}
const LOCKED = '55P03'
const LOCK_TRIES = 20
const LOCK_PAUSE_MS = 500

/**
 * `alter table` waits only briefly for its lock, since all later users of the table queue behind it; then it is
 * retried.
 */
const patiently = async (up: () => Promise<void>, tries = 1): Promise<void> => {
  try {
    await up()
  } catch (cause) {
    if (!said(cause, LOCKED) || tries >= LOCK_TRIES) throw cause
    await pause(systemClock, LOCK_PAUSE_MS)
    await patiently(up, tries + 1)
  }
}

const carryOut = async (names: readonly string[], up: () => Promise<void>): Promise<void> => {
  try {
    await patiently(up)
  } catch (cause) {
    const text = `the database lacks ${names.join(', ')}, and this role may not change it: let its owner run \`accelerando migrate\``
    throw said(cause, DENIED) ? new Error(text, { cause }) : cause
  }
}

/** The last migration of release 0.3.0, from which a database can be upgraded. */
const OLDEST = '0015_hosts_out_of_service'
/** Rejects if the database was last used by a release before 0.3.0. */
export const expectUpgradable = async (run: Run): Promise<void> => {
  const known = await done(run)
  if (known.size === 0 || known.has(OLDEST)) return
  throw new Error(
    'this database was last used by a release before 0.3.0: upgrade it to 0.3.0 first, then to this release (docs/upgrade.md)',
  )
}

/** `up` runs all pending migrations, all or none. Rejects if the database is of a release before 0.3.0. */
export const migrate = async (database: Database, up: () => Promise<void>): Promise<void> => {
  const due = await pending(database.read)
  if (due.length === 0) return
  await expectUpgradable(database.read)
  if (database.exclusive) return carryOut(due, up)
  // If several processes start together, one migrates and the others wait for it.
  await database.transaction(async (run) => {
    await run({ text: `select pg_advisory_xact_lock(hashtext('accelerando migrations'))`, params: [] })
    const left = await pending(run)
    if (left.length > 0) await carryOut(left, up)
  })
}

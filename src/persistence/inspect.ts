/** Collects facts about a database for `accelerando doctor`, which judges them. Reads only. */
import { sql } from 'kysely'
import type { Clock } from '../vocabulary/clock.ts'
import { stoppedOf } from './stopped.ts'
import { expectOwnServer, Restored } from './serverIdentity.ts'
import { newer, pending } from './migrate.ts'
import { expectKeptSession, openClient } from './postgres/client.ts'
import { clientConfig } from './postgres/postgres.ts'
import { runOn } from './postgres/run.ts'
import { RIGHTS } from './roles.ts'
import type { Rows, Run } from './sql.ts'
import type { WorkFacts, WorkQuestions } from './inspectWork.ts'
import { inspectWork } from './inspectWork.ts'
import { queriesOn } from './typedQueries.ts'
import type { Queries } from './typedQueries.ts'

/** An open transaction that has written something. The journal feed cannot pass it (commit order). */
export type Holder = {
  /** Null: a transaction prepared for a two-phase commit, which no connected process owns. */
  readonly pid: number | null
  readonly name: string
  readonly user: string
  readonly database: string
  readonly state: string
  readonly ageMs: number
}
export type TableFacts = {
  readonly table: string
  readonly bytes: number
  readonly live: number
  readonly dead: number
}
export type DatabaseFacts = {
  /** `server_version_num` of the server, such as 160004. */
  readonly version: number
  readonly role: string
  readonly superuser: boolean
  /** The clock of the database minus ours, and the error bound of that figure. */
  readonly skewMs: number
  readonly skewErrorMs: number
  /** Null: this role may not read the table of migrations. */
  readonly pending: readonly string[] | null
  /** Migrations recorded in the database that this program does not know: a newer program has run them. */
  readonly unknown: readonly string[]
  /** Each one in the form `insert on journal`. */
  readonly missingRights: readonly string[]
  /** The oldest open transaction; null: there is none, or this role may not see it. */
  readonly holder: Holder | null
  /** Committed journal rows that readers do not get yet because of the open transaction; counted up to `COUNT_MAX`. */
  readonly heldRows: number
  /**
   * The journal has transaction ids that this server has not reached yet: the database was restored from another
   * server.
   */
  readonly restored: boolean
  /** Why writing is stopped, and how many acknowledged rows are gone; null: writing is not stopped. */
  readonly stopped: { readonly reason: string; readonly lost: number } | null
  readonly tables: readonly TableFacts[]
  /** Null: the schema is missing or incomplete. */
  readonly work: WorkFacts | null
}

export const COUNT_MAX = 100_000
const TIMEOUT_MS = 10_000
const LOOKS = 3

const SERVER = `select current_setting('server_version_num')::int as version, current_user as role,
  (select rolsuper from pg_roles where rolname = current_user) as superuser`
const MOMENT = `select (extract(epoch from clock_timestamp()) * 1000)::float8 as now`
const HOLDER = `select pid, application_name as name, usename as user, datname as database, state,
    extract(epoch from clock_timestamp() - xact_start)::float8 * 1000 as age, age(backend_xid) as xids
  from pg_stat_activity where backend_xid is not null
  union all
  select null, gid, owner, database, 'prepared', extract(epoch from clock_timestamp() - prepared)::float8 * 1000, age(transaction)
  from pg_prepared_xacts order by xids desc limit 1`
const TABLES = `select relname as table, pg_total_relation_size(relid)::float8 as bytes,
  n_live_tup::float8 as live, n_dead_tup::float8 as dead from pg_stat_user_tables
  where relid in (select to_regclass(name) from unnest($1::text[]) name) order by relname`
const LACKING = `select need || ' on ' || name as lacks from jsonb_to_recordset($1::jsonb) r(name text, need text)
  where to_regclass(name) is not null and not has_table_privilege(to_regclass(name), need) order by name, need`

const NEEDS = Object.entries(RIGHTS).flatMap(([name, rights]) => rights.split(', ').map((need) => ({ name, need })))

const ask = (run: Run, text: string, ...params: readonly unknown[]): Promise<Rows> => run({ text, params })
const one = async (run: Run, text: string, ...params: readonly unknown[]): Promise<Rows[number]> =>
  (await ask(run, text, ...params))[0]!

/** Of several measurements the one with the shortest round trip has the smallest error. */
const skewOf = async (run: Run, clock: Clock): Promise<Pick<DatabaseFacts, 'skewMs' | 'skewErrorMs'>> => {
  const looks: { readonly skewMs: number; readonly skewErrorMs: number }[] = []
  for (let look = 0; look < LOOKS; look++) {
    const asked = clock.now()
    const { now } = await one(run, MOMENT)
    const half = (clock.now() - asked) / 2
    looks.push({ skewMs: Math.round((now as number) - asked - half), skewErrorMs: Math.ceil(half) + 1 })
  }
  return looks.toSorted((a, b) => a.skewErrorMs - b.skewErrorMs)[0]!
}

const holderOf = (row: Rows[number] | undefined): Holder | null =>
  row === undefined
    ? null
    : {
        pid: row['pid'] as number | null,
        name: (row['name'] as string | null) ?? '',
        user: (row['user'] as string | null) ?? '',
        database: (row['database'] as string | null) ?? '',
        state: (row['state'] as string | null) ?? '',
        ageMs: Math.round((row['age'] as number | null) ?? 0),
      }

const isRestored = async (run: Run): Promise<boolean> => {
  try {
    await expectOwnServer(run)
    return false
  } catch (error) {
    if (error instanceof Restored) return true
    throw error
  }
}
const heldRows = async ({ db }: Queries): Promise<number> => {
  const held = db
    .selectFrom('journal')
    .where('xid', '>=', sql<string>`pg_snapshot_xmin(pg_current_snapshot())`)
    .limit(COUNT_MAX)
    .select('pos')
  const { rows } = await db
    .selectFrom(held.as('held'))
    .select(({ fn }) => fn.countAll<number>().as('rows'))
    .executeTakeFirstOrThrow()
  return rows
}
const stoppedFacts = async (run: Run): Promise<DatabaseFacts['stopped']> => {
  const stopped = await stoppedOf(run)
  return stopped && { reason: stopped.reason, lost: stopped.lost.length }
}
const UNKNOWN = { heldRows: 0, restored: false, stopped: null }
const journalFacts = async (run: Run, queries: Queries) => {
  const { there } = await one(run, `select to_regclass('journal') is not null as there`)
  if (there !== true) return UNKNOWN
  return { heldRows: await heldRows(queries), restored: await isRestored(run), stopped: await stoppedFacts(run) }
}

const schemaFacts = async (run: Run, readable: boolean): Promise<Pick<DatabaseFacts, 'pending' | 'unknown'>> =>
  readable ? { pending: await pending(run), unknown: await newer(run) } : { pending: null, unknown: [] }

const factsOf = async (run: Run, clock: Clock, questions: WorkQuestions): Promise<DatabaseFacts> => {
  const queries = await queriesOn(run)
  const server = await one(run, SERVER)
  const skew = await skewOf(run, clock)
  const lacks = await ask(run, LACKING, JSON.stringify(NEEDS))
  const missingRights = lacks.map((row) => row['lacks'] as string)
  const readable = !missingRights.some((right) => right.startsWith('select'))
  const schema = await schemaFacts(run, readable)
  return {
    version: server['version'] as number,
    role: server['role'] as string,
    superuser: server['superuser'] === true,
    ...skew,
    ...schema,
    missingRights,
    holder: holderOf((await ask(run, HOLDER))[0]),
    ...(readable ? await journalFacts(run, queries) : UNKNOWN),
    tables: (await ask(run, TABLES, Object.keys(RIGHTS))) as unknown as readonly TableFacts[],
    work: schema.pending?.length === 0 ? await inspectWork(queries, clock, questions) : null,
  }
}

/** Rejects with the message of the server when the database cannot be queried. */
export const inspectDatabase = async (url: string, clock: Clock, questions: WorkQuestions): Promise<DatabaseFacts> => {
  const config = { ...clientConfig(url, TIMEOUT_MS), application_name: 'accelerando doctor' }
  const client = await openClient(config)
  try {
    await expectKeptSession(client, config)
    return await factsOf(runOn(client), clock, questions)
  } finally {
    await client.end().catch(() => undefined)
  }
}

/**
 * MikroORM's typed queries over one of our sessions, for rare reads and writes: a query that uses a column renamed in
 * VIEWS does not compile. Importing this file loads MikroORM, so the code that serves requests must not import it
 * (decision 0101).
 */
import { MikroORM } from '@mikro-orm/postgresql'
import type { EntityManager } from '@mikro-orm/postgresql'
import { PostgresAdapter, PostgresIntrospector, PostgresQueryCompiler } from 'kysely'
import type { CompiledQuery, DatabaseConnection, Dialect, Driver, Kysely } from 'kysely'
import { entities } from './ormEntities.ts'
import type { Tables } from './ormEntities.ts'
import type { Run } from './sql.ts'

export type Queries = {
  /** Finds rows of one table. */
  readonly em: EntityManager
  /** For sums, joins and expressions. Values are returned as `Run` returns them, without conversion. */
  readonly db: Kysely<Tables>
}

const refused = (): Promise<never> => Promise.reject(new Error('transactions must be opened on the session itself'))

/**
 * A driver that sends each query through `run`, which keeps its session, time-outs, transaction and value types on both
 * databases.
 */
const driverOn = (run: Run): Driver => {
  const executeQuery = async ({ sql, parameters }: CompiledQuery) => ({
    rows: [...(await run({ text: sql, params: parameters }))],
  })
  const connection: DatabaseConnection = {
    // the caller wrote the query, so it declares the type of the rows
    executeQuery: executeQuery as DatabaseConnection['executeQuery'],
    streamQuery: () => {
      throw new Error('rows are read in pages')
    },
  }
  return {
    init: () => Promise.resolve(),
    acquireConnection: () => Promise.resolve(connection),
    releaseConnection: () => Promise.resolve(),
    beginTransaction: refused,
    commitTransaction: refused,
    rollbackTransaction: refused,
    destroy: () => Promise.resolve(),
  }
}

const dialectOn = (run: Run): Dialect => ({
  createAdapter: () => new PostgresAdapter(),
  createDriver: () => driverOn(run),
  createIntrospector: (db) => new PostgresIntrospector(db),
  createQueryCompiler: () => new PostgresQueryCompiler(),
})

/** Usable as long as `run` is; there is nothing to close. */
export const queriesOn = async (run: Run): Promise<Queries> => {
  const orm = await MikroORM.init({
    entities: [...entities],
    // the driver requires a name, but the session is already connected to its database
    dbName: 'postgres',
    driverOptions: dialectOn(run),
    // no identity map: each query returns fresh rows
    disableIdentityMap: true,
  })
  const em = orm.em.fork({ disableTransactions: true })
  return { em, db: em.getKysely<Tables>() }
}

/** The columns that the journal and its archive have in common. */
export const JOURNAL_COLUMNS = ['key', 'version', 'pos', 'xid', 'command', 'data', 'at', 'cause'] as const
/** Rows of the journal and its archive. */
export const wholeJournal = (db: Queries['db']) =>
  db.selectFrom('journal').select(JOURNAL_COLUMNS).unionAll(db.selectFrom('journal_archive').select(JOURNAL_COLUMNS))

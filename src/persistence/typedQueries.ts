/**
 * MikroORM's typed queries over a session of ours, for reads and writes that are rare: a column that is renamed in VIEWS no longer
 * compiles here. Whoever imports this file loads MikroORM, so the path of a request does not (decision 0033).
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
  /** Sums, joins and expressions; nothing it returns is converted, so values are as `Run` reads them. */
  readonly db: Kysely<Tables>
}

const refused = (): Promise<never> => Promise.reject(new Error('transactions belong to whoever opened the session'))

/** Sessions, time-outs, transactions and types of values stay those of `run`, whether a server or the embedded database is behind it. */
const driverOn = (run: Run): Driver => {
  const executeQuery = async ({ sql, parameters }: CompiledQuery) => ({
    rows: [...(await run({ text: sql, params: parameters }))],
  })
  const connection: DatabaseConnection = {
    // the caller says what its rows are, as it wrote the query
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

/** Valid as long as `run` is; there is nothing to close. */
export const queriesOn = async (run: Run): Promise<Queries> => {
  const orm = await MikroORM.init({
    entities: [...entities],
    // the driver asks for a name, and the session has its database already
    dbName: 'postgres',
    driverOptions: dialectOn(run),
    // what was found before says nothing about now
    disableIdentityMap: true,
  })
  const em = orm.em.fork({ disableTransactions: true })
  return { em, db: em.getKysely<Tables>() }
}

/** What a row keeps when it is moved from the journal to the archive. */
export const JOURNAL_COLUMNS = ['key', 'version', 'pos', 'xid', 'command', 'data', 'at', 'cause'] as const
/** Rows of both, to select from. */
export const wholeJournal = (db: Queries['db']) =>
  db.selectFrom('journal').select(JOURNAL_COLUMNS).unionAll(db.selectFrom('journal_archive').select(JOURNAL_COLUMNS))

/** The only place that opens a store. The modules of each kind of store are loaded when that kind is opened. */
import type { Incarnation } from './incarnation.ts'
import { noHints } from '../actors/runtime/hints.ts'
import type { Embedded } from './pglite/pglite.ts'
import type { PostgresOptions } from './postgres/postgres.ts'
import type { Database } from './sql.ts'
import type { Store } from './store.ts'

export type StoreConfig =
  /** `dir` belongs to the store alone; it is created when it does not exist. */
  { readonly kind: 'pglite'; readonly dir: string } | ({ readonly kind: 'postgres' } & PostgresOptions)

/** Returns the last migration, and the names of migrations that only a newer program knows. */
const prepare = async (
  database: Database,
  migrateUp: () => Promise<void>,
): Promise<Pick<Store, 'schema' | 'newer'>> => {
  const [{ migrate, migrationNames, newer }, { expectOwnServer }] = await Promise.all([
    import('./migrate.ts'),
    import('./serverIdentity.ts'),
  ])
  await migrate(database, migrateUp)
  await expectOwnServer(database.read)
  return { schema: migrationNames().at(-1) ?? null, newer: await newer(database.read) }
}

const storeOn = async (
  database: Database,
  migrateUp: () => Promise<void>,
  incarnation: Incarnation | null = null,
): Promise<Store> => {
  const schema = await prepare(database, migrateUp).catch(async (cause: unknown) => {
    await database.close()
    throw cause
  })
  const [
    { sqlJournal },
    { sqlLandmarks },
    { sqlReads },
    { endAllOthers, sqlSharing },
    bulk,
    { cloudIn },
    { remembering },
    { isStopped, recordsOn },
  ] = await Promise.all([
    import('./journal.ts'),
    import('./landmarks.ts'),
    import('./reads.ts'),
    import('./sharing.ts'),
    import('./bulk.ts'),
    import('./cloud.ts'),
    import('./incarnation.ts'),
    import('./incarnationSql.ts'),
  ])
  const journal = incarnation ? remembering(sqlJournal(database), incarnation) : sqlJournal(database)
  if (database.exclusive) await endAllOthers(database.write)
  await incarnation?.checkSession(recordsOn(database.write))
  // loads MikroORM, so it is imported only when needed
  let archiver: Promise<Store['archiveEnded']> | null = null
  return {
    kind: database.kind,
    ...schema,
    ...(database.lost ? { lost: database.lost } : {}),
    journal,
    landmarks: sqlLandmarks(database),
    expectWriting: async () => incarnation?.look(recordsOn(database.write)),
    isStopped: async () => incarnation !== null && isStopped(database.read),
    reads: sqlReads(database),
    sharing: sqlSharing(database),
    hints: (database.exclusive ? null : database.hints) ?? noHints,
    cloud: (newKey) => cloudIn(database, newKey),
    bulkLoad: (appends) => bulk.bulkLoad(database, appends),
    loadWhole: (appends) => bulk.loadWhole(database, appends),
    journalEnd: () => bulk.journalEnd(database),
    rebuildViews: (fold) => bulk.rebuildViews(database, fold),
    archiveEnded: async (order) => {
      archiver ??= import('./archive.ts').then(({ archiverOn }) => archiverOn(database))
      return (await archiver)(order)
    },
    dumpViews: () => bulk.dumpViews(database),
    close: async () => {
      await journal.close()
      await database.close()
    },
  }
}

/** The store on an embedded database; closing the store closes the database. */
export const pgliteStore = (database: Embedded): Promise<Store> =>
  storeOn(database, async () => {
    const { migrateUp, ormOnPglite } = await import('./orm.ts')
    await migrateUp(await ormOnPglite(database))
  })

const openPglite = async (dir: string): Promise<Store> => {
  const { pgliteDatabase } = await import('./pglite/pglite.ts')
  return pgliteStore(await pgliteDatabase(dir))
}

const openPostgres = async (options: PostgresOptions): Promise<Store> => {
  const [{ postgresDatabase }, { openIncarnation }, { recordsOn }] = await Promise.all([
    import('./postgres/postgres.ts'),
    import('./incarnation.ts'),
    import('./incarnationSql.ts'),
  ])
  const { sole = false, ...rest } = options
  const incarnation = openIncarnation()
  const presence = sole ? 'alone' : 'together'
  const database = await postgresDatabase({
    ...rest,
    // an operator may adopt while a program has the database to itself, so this session takes no lock
    ...(rest.adopting ? {} : { presence }),
    checkSession: (run) => incarnation.checkSession(recordsOn(run)),
  })
  const migrateUp = async () => {
    const orm = await import('./orm.ts')
    await orm.migrateUp(await orm.ormOnPostgres(options.url))
  }
  return storeOn(database, migrateUp, incarnation)
}

export const openStore = (config: StoreConfig): Promise<Store> =>
  config.kind === 'pglite' ? openPglite(config.dir) : openPostgres(config)

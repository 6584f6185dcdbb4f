/**
 * Databases for tests that open many control planes. Opening takes seconds, so each is opened once and emptied between
 * two planes.
 */
import { readFileSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect } from 'vitest'
import { entities } from '../../src/persistence/ormEntities.ts'
import { openStore, pgliteStore } from '../../src/persistence/open.ts'
import { pgliteDatabase } from '../../src/persistence/pglite/pglite.ts'
import type { Store } from '../../src/persistence/store.ts'
import { embeddedStoreIn, folderOfRun } from './embedded.ts'
import { freshDatabase, sqlOnce } from './postgres.ts'
import { ownServer } from './postgresOwn.ts'
import { type Source, openStoresBy } from './stores.ts'

/** A store that is reused. */
type Kept = { readonly store: Store; readonly empty: () => Promise<unknown>; readonly end: () => Promise<void> }
export type Pool = { readonly take: Source; readonly end: () => Promise<void> }

/** `free`: emptied stores, which may be those that other pools have left. `leave`: what becomes of them in the end. */
const poolOf = (open: () => Promise<Kept>, free: Kept[], leave: () => Promise<void>): Pool => {
  const taken = new Set<Kept>()
  const take = async (): Promise<Store> => {
    const kept = free.pop() ?? (await open())
    taken.add(kept)
    const close = async () => {
      await kept.empty()
      if (taken.delete(kept)) free.push(kept)
    }
    return { ...kept.store, close }
  }
  const end = async () => {
    await Promise.all([...taken].map((kept) => kept.end()))
    taken.clear()
    await leave()
  }
  return { take, end }
}
/** A pool whose stores end with it. */
const ownPool = (open: () => Promise<Kept>): Pool => {
  const free: Kept[] = []
  return poolOf(open, free, async () => void (await Promise.all(free.splice(0).map(({ end }) => end()))))
}

/**
 * Of a few rows each. To truncate them would make new files for each table and index, which takes many times as long.
 */
const deletes = entities
  .filter(({ meta }) => meta.tableName !== 'cluster')
  .map(({ meta }, at) => `d${at} as (delete from "${meta.tableName}")`)
/** The cloud keeps its id, which only a migration makes, and has no key yet. */
const NO_KEY = 'k as (update cluster set private_key = null)'
const EMPTY = { text: `with ${[...deletes, NO_KEY].join(', ')} select 1`, params: [] }

/**
 * Those that no test uses now. The files of a test process share its modules, and so they share these: opening one
 * takes a second of processor time. They end with the process.
 */
const embedded: Kept[] = []
let copies = 0
const openEmbedded = async (): Promise<Kept> => {
  const dir = join(await folderOfRun(), `pool-${process.pid}-${++copies}`)
  await embeddedStoreIn(dir)
  const database = await pgliteDatabase(dir)
  const store = await pgliteStore(database)
  const end = async () => {
    await store.close()
    rmSync(dir, { recursive: true })
  }
  return { store, empty: () => database.write(EMPTY), end }
}
/** A mutation test runs each file in a process of its own, and would leave a database behind for each. */
const isShared = process.env['MUTATION_FOLDER'] === undefined
/** Databases embedded in this process. */
export const pglitePool = (): Pool =>
  isShared ? poolOf(openEmbedded, embedded, async () => undefined) : ownPool(openEmbedded)

type Database = Awaited<ReturnType<typeof freshDatabase>>
const openOn = (made: () => Promise<Database>) => async (): Promise<Kept> => {
  const { url, drop } = await made()
  const store = await openStore({ kind: 'postgres', url })
  const end = async () => {
    await store.close()
    await drop()
  }
  return { store, empty: () => sqlOnce(url, EMPTY.text), end }
}
const poolOn = (made: () => Promise<Database>): Pool => ownPool(openOn(made))
/** `bin`: the folder of the programs of PostgreSQL. */
export const postgresPool = (bin: string): Pool => poolOn(() => freshDatabase(bin))
/** On a server of its own: an open transaction of another test would keep the last rows out of the feed. */
export const ownPostgresPool = (bin: string): Pool => {
  let server: ReturnType<typeof ownServer> | null = null
  const pool = poolOn(async () => (await (server ??= ownServer(bin))).freshDatabase())
  return { ...pool, end: async () => (await pool.end(), await (await server)?.end()) }
}

const HTTP = join(import.meta.dirname, '../http')
const OPENS_PLANE = /from '(\.\/cloud|\.\.\/support\/(plane|world))\.ts'/
/** A file that brings a store of its own would only run once more as it does by itself. */
const BRINGS_STORE = /from '[./]*\/support\/memoryStore\//
const isOverTestStore = (file: string): boolean => {
  const text = readFileSync(join(HTTP, file), 'utf8')
  return OPENS_PLANE.test(text) && !BRINGS_STORE.test(text)
}

/** Declares the tests of `test/http` that open a plane once more, over stores of the pool. */
export const describeHttpOn = (pool: Pool): void => {
  let taken = 0
  openStoresBy(async (now) => {
    taken++
    return pool.take(now)
  })
  // The first one takes longer than a test may.
  beforeAll(async () => (await pool.take(Date.now)).close())
  for (const file of readdirSync(HTTP)
    .filter((name) => name.endsWith('.test.ts'))
    .filter(isOverTestStore))
    describe(file, async () => {
      let before = 0
      beforeAll(() => void (before = taken))
      afterAll(() => expect(taken, `${file} took no store of the pool`).toBeGreaterThan(before))
      await import(join(HTTP, file))
    })
}

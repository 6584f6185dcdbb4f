/** One process that may trust its memory, because a lock on the server keeps the others out. */
import { setTimeout as wait } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openStore } from '../../src/persistence/open.ts'
import { describeWith } from '../support/needs.ts'
import { freshDatabase, sqlOnce } from '../support/postgres.ts'
import type { Database } from '../support/postgres.ts'
import * as sample from './samples.ts'

const END_WRITERS = `select pg_terminate_backend(l.pid) from pg_locks l
  where l.locktype = 'advisory' and l.database = (select oid from pg_database where datname = current_database())`

describeWith('postgres', 'the sole writer on a server', (bin) => {
  let database: Database
  const sole = () => openStore({ kind: 'postgres', url: database.url, sole: true })
  const until = async (holds: () => boolean): Promise<void> => {
    while (!holds()) await wait(10)
  }
  beforeAll(async () => {
    database = await freshDatabase(bin)
  })
  afterAll(() => database.drop())

  test('trusts its memory; a second one is refused, and takes over when the first has ended', async () => {
    const first = await sole()
    expect(first.journal.exclusive).toBe(true)
    await expect(sole()).rejects.toThrow(/another accelerando uses this database: server process \d+ holds its lock/)
    const second = sole()
    await first.close()
    expect((await second).journal.exclusive).toBe(true)
    await (await second).close()
  }, 30_000)

  test('is refused beside several, and they beside it; several are there together', async () => {
    const together = () => openStore({ kind: 'postgres', url: database.url })
    const [a, b] = await Promise.all([together(), together()])
    expect([a.journal.exclusive, b.journal.exclusive]).toEqual([false, false])
    const alone = sole()
    await expect(alone).rejects.toThrow(/another accelerando uses this database: server process \d+ holds its lock/)
    await Promise.all([a.close(), b.close()])
    const one = await sole()
    await expect(together()).rejects.toThrow('another accelerando uses this database')
    await one.close()
  }, 30_000)

  test('that lost its session goes on, but trusts its memory no more', async () => {
    const store = await sole()
    await sqlOnce(database.url, END_WRITERS)
    await until(() => !store.journal.exclusive)
    const key = sample.newKey()
    expect(await store.journal.append(sample.one(key, 1))).toBe('appended')
    expect(store.journal.exclusive).toBe(false)
    await store.close()
  })

  test('that finds another in its place is lost', async () => {
    const store = await sole()
    const lost = store.lost!
    // waits for the lock before the session ends, and so is first
    const thief = sqlOnce(
      database.url,
      `${END_WRITERS}; select pg_advisory_lock(hashtextextended('accelerando', 0)); select pg_sleep(8)`,
    )
    expect((await lost).message).toMatch(/another accelerando uses this database/)
    await store.close()
    await thief
  }, 30_000)
})

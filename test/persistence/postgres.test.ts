/** What only a server brings: several processes on one database, sessions that are lost, commits that come late. */
import { randomUUID } from 'node:crypto'
import { connect, createServer } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { Client } from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Append, Verdict } from '../../src/actors/runtime/ports.ts'
import { openStore } from '../../src/persistence/open.ts'
import type { Store } from '../../src/persistence/store.ts'
import { describeWith } from '../support/needs.ts'
import { freshDatabase, sqlOnce } from '../support/postgres.ts'
import type { Database } from '../support/postgres.ts'
import * as sample from './samples.ts'

/** A wire to the server that can be cut, so that the server does not notice at once. */
const cuttable = async (url: string) => {
  const target = new URL(url)
  const port = Number(target.port)
  const sockets = new Set<Socket>()
  const server = createServer((near) => {
    const far = connect(port, target.hostname)
    sockets.add(near)
    near.on('data', (bytes) => far.write(bytes)).on('error', () => undefined)
    far.on('data', (bytes) => near.write(bytes)).on('error', () => undefined)
  })
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  target.port = String((server.address() as AddressInfo).port)
  const cut = () => {
    for (const socket of sockets) socket.destroy()
    sockets.clear()
  }
  return { url: target.href, cut, close: () => server.close() }
}

describeWith('postgres', 'stores on one server', (bin) => {
  let database: Database
  let store: Store
  const clientOn = async (url = database.url): Promise<Client> => {
    const client = new Client({ connectionString: url })
    client.on('error', () => undefined)
    await client.connect()
    return client
  }
  /** A client that holds the journal, so that an append stands still until it lets go. */
  const holding = async (): Promise<Client> => {
    const client = await clientOn()
    await client.query('begin; lock table journal in exclusive mode')
    return client
  }
  const untilBlocked = async (client: Client): Promise<void> => {
    const { rows } = await client.query(
      `select 1 from pg_locks where not granted and database = (select oid from pg_database where datname = current_database())`,
    )
    if (rows.length > 0) return
    await wait(10)
    await untilBlocked(client)
  }

  beforeAll(async () => {
    database = await freshDatabase(bin)
    store = await openStore({ kind: 'postgres', url: database.url })
  })
  afterAll(async () => {
    await store.close()
    await database.drop()
  })

  test('how the role or the database writes dates does not matter, also when it changes while a store is open', async () => {
    const own = await freshDatabase(bin)
    const client = await clientOn(own.url)
    const { rows } = await client.query<{ name: string }>('select current_database() as name')
    const name = rows[0]!.name
    const endOthers = `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${name}' and pid <> pg_backend_pid()`
    const setting = (what: string) => client.query(`alter database "${name}" ${what}`)
    await setting(`set datestyle = 'SQL, DMY'`)
    await setting(`set timezone = 'Asia/Kathmandu'`)
    const opened = await openStore({ kind: 'postgres', url: own.url })
    expect(await opened.journal.append(sample.one(sample.newKey(), 1))).toBe('appended')
    await setting('reset all')
    await client.query(endOthers)
    const again = () => opened.journal.append(sample.one(sample.newKey(), 1)).catch(String)
    await expect.poll(again, { timeout: 10_000, interval: 100 }).toBe('appended')
    await opened.close()
    await client.end()
    await own.drop()
  })

  test('two that start at once on an empty database both open', async () => {
    const empty = await freshDatabase(bin)
    const stores = await Promise.all([1, 2, 3].map(() => openStore({ kind: 'postgres', url: empty.url })))
    expect(await stores[0]!.journal.append(sample.one(sample.newKey(), 1))).toBe('appended')
    await Promise.all(stores.map((each) => each.close()))
    await empty.drop()
  })

  test('two writers that race leave no gap, lose nothing they acknowledged and tear no unit', async () => {
    const other = await openStore({ kind: 'postgres', url: database.url })
    const keys = Array.from({ length: 6 }, sample.newKey)
    const written = new Map<string, readonly string[]>()
    const counts = { appended: 0, stale: 0 }
    const attempt = async ({ journal }: Store, pair: readonly string[]): Promise<void> => {
      const tails = await journal.recall(pair.map((key) => ({ key, after: 0 })))
      const command = randomUUID()
      const next = pair.map((key) => [key, tails.get(key)!.rows.length + 1] as const)
      const verdict = await journal.append(sample.unit(next, [], command))
      if (verdict === 'appended') written.set(command, pair)
      counts[verdict as 'appended']++
    }
    const work = async (writer: Store, seed: number): Promise<void> => {
      for (let round = 0; round < 40; round++) {
        const first = (seed * 7 + round * 5) % 6
        await attempt(writer, [keys[first]!, keys[(first + 1 + (round % 5)) % 6]!])
      }
    }
    await Promise.all([store, other].flatMap((each, index) => [1, 2, 3, 4].map((n) => work(each, index * 4 + n))))
    const tails = await store.journal.recall(keys.map((key) => ({ key, after: 0 })))
    for (const { rows } of tails.values())
      expect(rows.map(({ version }) => version)).toEqual(rows.map((_, index) => index + 1))
    for (const [command, pair] of written) {
      const holders = keys.filter((key) => tails.get(key)!.rows.some((row) => row.commandId === command))
      expect(holders.toSorted((a, b) => a.localeCompare(b))).toEqual(pair.toSorted((a, b) => a.localeCompare(b)))
    }
    const rows = [...tails.values()].reduce((sum, tail) => sum + tail.rows.length, 0)
    expect(rows).toBe(2 * written.size)
    expect(counts.appended).toBe(written.size)
    expect(counts.stale).toBeGreaterThan(0)
    await other.close()
  })

  test('the feeds of two stores that both append show all rows, in one order, and skip none', async () => {
    const other = await openStore({ kind: 'postgres', url: database.url })
    const writers = [store, other].flatMap((each) => Array.from({ length: 12 }, () => ({ each, key: sample.newKey() })))
    const keys = new Set(writers.map(({ key }) => key))
    const count = writers.length * 25
    /** As a relay reads: always on from the last row, while others write. */
    const follow = async ({ journal }: Store): Promise<readonly string[]> => {
      const end = performance.now() + 20_000
      const seen: string[] = []
      for (let position = start; seen.length < count && performance.now() < end;) {
        const page = await journal.feed(position, 17)
        seen.push(...page.filter(({ key }) => keys.has(key)).map(({ key, version }) => `${key} ${version}`))
        position = page.at(-1)?.position ?? position
        if (page.length === 0) await wait(5)
      }
      return seen
    }
    const start = (await sample.fedAll(store.journal)).at(-1)?.position ?? ''
    const write = async ({ each, key }: (typeof writers)[number]): Promise<void> => {
      for (let version = 1; version <= 25; version++)
        expect(await each.journal.append(sample.one(key, version))).toBe('appended')
    }
    const [first, second] = await Promise.all([follow(store), follow(other), ...writers.map(write)])
    expect(first).toHaveLength(count)
    expect(second).toEqual(first)
    // what the test before has left on its way may still arrive
    const fed = (await sample.fedAll(store.journal, start)).filter(({ key }) => keys.has(key))
    expect(fed.map(({ key, version }) => `${key} ${version}`)).toEqual(first)
    for (const key of keys)
      expect(first.filter((row) => row.startsWith(key))).toEqual(
        Array.from({ length: 25 }, (_, n) => `${key} ${n + 1}`),
      )
    await other.close()
  }, 30_000)

  test('the feed waits for a transaction that is still open, and then skips nothing', async () => {
    const mark = sample.newKey()
    expect(await store.journal.append(sample.one(mark, 1))).toBe('appended')
    const start = (await store.journal.history([mark], 1))[0]!.position
    const [late, early] = [sample.newKey(), sample.newKey()]
    const client = await clientOn()
    await client.query('begin')
    await client.query(
      `insert into journal (key, version, pos, command, data, at, cause) values ($1, 1, 1, $2, '[]', 0, '{}')`,
      [late, randomUUID()],
    )
    expect(await store.journal.append(sample.one(early, 1))).toBe('appended')
    expect(await store.journal.feed(start, 10)).toEqual([])
    await client.query('commit')
    await client.end()
    expect((await sample.fedWhole(store.journal, 2, start)).map(({ key }) => key)).toEqual([late, early])
  })

  test('a session that dies in mid-append: unknown, the tail is final, and the same append can be said again', async () => {
    const key = sample.newKey()
    const holder = await holding()
    const verdict = store.journal.append(sample.one(key, 1))
    await untilBlocked(holder)
    await holder.query(
      `select pg_terminate_backend(pid) from pg_stat_activity
       where datname = current_database() and query like 'with j as%' and pid <> pg_backend_pid()`,
    )
    expect(await verdict).toBe('unknown')
    await holder.query('rollback')
    await holder.end()
    expect(await sample.versionsOf(store.journal, key)).toEqual([])
    expect(await store.journal.append(sample.one(key, 1))).toBe('appended')
  })

  test('a wire cut in mid-append: the server goes on by itself, but not beyond the next recall', async () => {
    const wire = await cuttable(database.url)
    const far = await openStore({ kind: 'postgres', url: wire.url })
    const key = sample.newKey()
    const wanted: Append = sample.one(key, 1)
    const holder = await holding()
    expect(far.journal.incarnation).toBe(1)
    const verdict: Promise<Verdict> = far.journal.append(wanted)
    await untilBlocked(holder)
    wire.cut()
    expect(await verdict).toBe('unknown')
    const recalled = await sample.versionsOf(far.journal, key)
    await holder.query('rollback')
    await holder.end()
    await wait(100)
    expect(recalled).toEqual([])
    expect(await sample.versionsOf(store.journal, key)).toEqual([])
    expect(await far.journal.append(wanted)).toBe('appended')
    expect(far.journal.incarnation).toBe(2)
    await far.close()
    wire.close()
  })

  test('a statement that takes too long is given up by the server, and is not written', async () => {
    const hasty = await openStore({ kind: 'postgres', url: database.url, statementTimeoutMs: 150 })
    const key = sample.newKey()
    const holder = await holding()
    expect(await hasty.journal.append(sample.one(key, 1))).toBe('busy')
    await holder.query('rollback')
    await holder.end()
    expect(await sample.versionsOf(hasty.journal, key)).toEqual([])
    await hasty.close()
  })

  test('a row that is locked for too long: nothing is written, and the caller is told to come again', async () => {
    const holder = await holding()
    const key = sample.newKey()
    const verdict = store.journal.append(sample.one(key, 1))
    expect(await verdict).toBe('busy')
    await holder.query('rollback')
    await holder.end()
    expect(await sample.versionsOf(store.journal, key)).toEqual([])
  })

  test('a database that has lost the identity of its cloud is not used', async () => {
    const own = await freshDatabase(bin)
    const opened = await openStore({ kind: 'postgres', url: own.url })
    await sqlOnce(own.url, 'delete from cluster')
    await expect(opened.cloud(() => 'key')).rejects.toThrow('this database has lost the identity of its cloud')
    await opened.close()
    await own.drop()
  })

  test('an unreachable server is said at once, in its own words', async () => {
    await expect(openStore({ kind: 'postgres', url: 'postgres://nobody@127.0.0.1:9/none' })).rejects.toThrow(
      'ECONNREFUSED',
    )
    const missing = new URL(database.url)
    missing.pathname = '/no_such'
    await expect(openStore({ kind: 'postgres', url: missing.href })).rejects.toThrow('no_such')
  })
})

/** MikroORM's typed queries on both databases, and what the doctor and the audit read with them. */
import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Clock } from '../../src/clock.ts'
import { systemClock } from '../../src/clock.ts'
import { NOVA_UNDELIVERED } from '../../src/actors/runtime/dueKinds.ts'
import { put } from '../../src/actors/runtime/views.ts'
import { openSource } from '../../src/persistence/follow.ts'
import type { SnapshotSource } from '../../src/persistence/follow.ts'
import { inspectWork } from '../../src/persistence/inspectWork.ts'
import { openStore } from '../../src/persistence/open.ts'
import { TABLES } from '../../src/persistence/ormEntities.ts'
import { readSnapshot } from '../../src/persistence/snapshot.ts'
import type { Database } from '../../src/persistence/sql.ts'
import { queriesOn } from '../../src/persistence/typedQueries.ts'
import type { Queries } from '../../src/persistence/typedQueries.ts'
import { embeddedStoreIn } from '../support/embedded.ts'
import { describeWith } from '../support/needs.ts'
import { freshDatabase } from '../support/postgres.ts'
import { arqRow, AT, handleRow, hostRow, one, orderRow } from './samples.ts'

const NOW = AT + 1_000_000
const QUESTIONS = { relay: 'relay', bindDeadlineMs: 60_000 }
const clock: Clock = { ...systemClock, now: () => NOW }
const ARQ = arqRow({ state: 'Bound', hostname: 'h1' })
const LATE = arqRow({ state: 'BindStarted', updated_at: AT })
/** One millisecond more than an accepted bind and a look of the sweeper may take. */
const JUST_LATE = arqRow({ state: 'BindStarted', updated_at: NOW - 90_001 })
const HANDLE = handleRow(ARQ.uuid)
const DRIVERS = {
  pci_driver: { status: 'failed' as const, error: 'no sysfs' },
  fake_driver: { status: 'ok' as const, error: null },
}
const host = (name: string, retired = false) =>
  put('hosts', { ...hostRow(name, 'up'), drivers: DRIVERS, out_of_service: retired || null })
const order = (deadline: number) => put('pending_orders', orderRow(randomUUID(), AT, deadline))
const CHANGES = [
  put('arqs', ARQ),
  put('arqs', LATE),
  put('arqs', JUST_LATE),
  put('arqs', arqRow({ state: 'BindStarted', updated_at: NOW - 90_000 })),
  put('arqs', arqRow({ state: 'BindStarted', created_at: NOW })),
  put('arqs', arqRow({ state: 'Bound', updated_at: AT })),
  put('handles', HANDLE),
  put('handles', handleRow(null)),
  host('h1'),
  host('h2', true),
  put('hosts', { ...hostRow('h0', 'removed'), drivers: { mdev_driver: { status: 'failed', error: null } } }),
  order(NOW - 1),
  order(NOW),
  order(NOW + 1),
  put('pending_orders', { ...orderRow(randomUUID(), AT, NOW - 5), hostname: 'h0' }),
  put('due', { entity: 'arq/1', kind: 'arq', at: NOW - 40_000 }),
  put('due', { entity: 'arq/2', kind: 'arq', at: NOW - 50_000 }),
  put('due', { entity: 'arq/3', kind: 'arq', at: NOW - 10 }),
  put('due', { entity: 'instance/1', kind: 'instance', at: NOW - 30_001 }),
  put('due', { entity: 'deployable/1', kind: 'deployable', at: NOW - 30_000 }),
  put('due', { entity: 'instance/2', kind: NOVA_UNDELIVERED, at: AT }),
]

const planted = async (source: SnapshotSource): Promise<void> => {
  const store = await openStore(source)
  for (const key of ['arq/1', 'arq/2', 'arq/3']) await store.journal.append(one(key, 1, key === 'arq/1' ? CHANGES : []))
  // a transaction that another test has open on the same server holds the feed back
  const end = performance.now() + 60_000
  let fed = await store.journal.feed('', 3)
  for (; fed.length < 3 && performance.now() < end; fed = await store.journal.feed('', 3)) await setTimeout(20)
  const [first] = fed
  await store.journal.saveCheckpoint('relay', `told ${first!.position}`)
  await store.sharing.acquire('relay', 'control-a', 60_000)
  await store.sharing.acquire('given back', 'control-b', 60_000)
  await store.sharing.release('given back', 'control-b')
  await store.sharing.noteSeen(['h1'])
  await store.close()
}

const contract = (source: () => SnapshotSource): void => {
  let database: Database
  let queries: Queries
  beforeAll(async () => {
    await planted(source())
    database = await openSource(source())
    queries = await queriesOn(database.read)
  }, 120_000)
  afterAll(() => database.close())

  test.each(Object.values(TABLES))('$meta.tableName is read in all its columns', async (entity) => {
    const columns = Object.keys(entity.meta.properties)
    const [found] = await queries.em.find<Record<string, unknown>>(entity as never, {}, { limit: 1 })
    const { tableName } = entity.meta
    const [row] = await database.read({ text: `select * from "${tableName}" limit 1`, params: [] })
    expect(Object.keys(row ?? {}).every((column) => columns.includes(column))).toBe(true)
    expect(Object.keys(found ?? {}).toSorted()).toEqual(Object.keys(row ?? {}).toSorted())
  })

  test('rows come back as the actors wrote them', async () => {
    const { em, db } = queries
    expect(await db.selectFrom('arqs').selectAll().where('uuid', '=', ARQ.uuid).execute()).toEqual([ARQ])
    expect({ ...(await em.findOneOrFail(TABLES.arqs, { uuid: ARQ.uuid })) }).toEqual(ARQ)
    const held = await em.find(TABLES.handles, { state: 'granted' }, { fields: ['uuid', 'arq_uuid'] })
    expect(held.map(({ uuid, arq_uuid }) => ({ uuid, arq_uuid }))).toEqual([
      { uuid: HANDLE.uuid, arq_uuid: HANDLE.arq_uuid },
    ])
  })

  test('a column that VIEWS does not have is refused by the compiler and by the database', async () => {
    const { em, db } = queries
    // @ts-expect-error -- the column is `state`
    await expect(db.selectFrom('handles').select('stat').execute()).rejects.toMatchObject({ code: '42703' })
    // @ts-expect-error -- a handle has no `arq`
    await expect(db.selectFrom('handles').selectAll().where('arq', '=', '1').execute()).rejects.toBeDefined()
    // @ts-expect-error -- an ordinal is a number
    await expect(db.selectFrom('arqs').selectAll().where('group_id', '=', 'x').execute()).rejects.toBeDefined()
    // @ts-expect-error -- a checkpoint belongs to a reader
    await expect(em.find(TABLES.checkpoints, { readers: 'relay' })).rejects.toThrow('readers')
    // @ts-expect-error -- the column is `hostname`
    await expect(em.find(TABLES.devices, {}, { orderBy: { host: 1 } })).rejects.toThrow('host')
  })

  test('nothing begins a transaction on a session that is not theirs', async () => {
    await expect(queries.db.transaction().execute(() => Promise.resolve())).rejects.toThrow(
      'transactions must be opened',
    )
  })

  test('the doctor finds who relays, what waits, who is silent and what is late', async () => {
    const { lease, hosts, ...facts } = await inspectWork(queries, clock, QUESTIONS)
    expect(lease).toMatchObject({ holder: 'control-a', epoch: 1 })
    expect(lease!.remainsMs).toBeGreaterThan(0)
    const failed = ['pci_driver: no sysfs']
    expect(hosts).toEqual([
      { name: 'h0', liveness: 'removed', retired: false, silentMs: null, failed: ['mdev_driver'] },
      { name: 'h1', liveness: 'up', retired: false, silentMs: expect.any(Number), failed },
      { name: 'h2', liveness: 'up', retired: true, silentMs: null, failed },
    ])
    expect(facts).toEqual({
      lag: { rows: 2, oldestMs: NOW - AT - 1 },
      orders: [
        { host: 'h0', waiting: 1, late: 1 },
        { host: 'h1', waiting: 3, late: 1 },
      ],
      overdue: [
        { kind: 'arq', count: 2, oldestMs: 50_000 },
        { kind: 'instance', count: 1, oldestMs: 30_001 },
      ],
      lateBinds: [LATE.uuid, JUST_LATE.uuid],
      sharedKeys: [],
    })
  })

  test('a relay that never was has told nothing, and one that ended has given its lease back', async () => {
    const of = async (relay: string, now = NOW) => {
      const { lease, lag } = await inspectWork(queries, { ...clock, now: () => now }, { ...QUESTIONS, relay })
      return { lease, lag }
    }
    expect(await of('nobody')).toEqual({ lease: null, lag: { rows: 3, oldestMs: NOW - AT - 1 } })
    const lag = { rows: 3, oldestMs: 0 }
    // the rows are of a moment that this clock has not reached
    expect(await of('given back', AT)).toEqual({ lease: { holder: 'control-b', epoch: 1, remainsMs: null }, lag })
  })
}

const collected = async <Item>(items: AsyncIterable<Item>): Promise<readonly Item[]> => {
  const all: Item[] = []
  for await (const item of items) all.push(item)
  return all
}
const audited = (source: () => SnapshotSource): void => {
  test('an audit reads the journal in commit order, the checkpoint and the rows of the views', async () => {
    const found = await readSnapshot(source(), async ({ journal, view, checkpoint }) => ({
      keys: (await collected(journal())).map(({ key, version }) => `${key} ${version}`),
      handles: await collected(view('handles')),
      told: await checkpoint('relay'),
      unknown: await checkpoint('nobody'),
    }))
    expect(found.keys).toEqual(['arq/1 1', 'arq/2 1', 'arq/3 1'])
    expect(found.handles).toHaveLength(2)
    expect(found.told).toMatch(/^told \d+\.\d+$/)
    expect(found.unknown).toBe('')
  })
}

describe('on the embedded database', () => {
  const dir = mkdtempSync(join(tmpdir(), 'accelerando-queries-'))
  const source = (): SnapshotSource => ({ kind: 'pglite', dir })
  beforeAll(() => embeddedStoreIn(dir))
  describe('typed queries', () => contract(source))
  describe('a stopped store', () => audited(source))
  afterAll(() => rmSync(dir, { recursive: true }))
})

describeWith('postgres', 'on a server', (bin) => {
  let url = ''
  let drop = (): Promise<void> => Promise.resolve()
  const source = (): SnapshotSource => ({ kind: 'postgres', url })
  beforeAll(async () => {
    const database = await freshDatabase(bin)
    url = database.url
    drop = database.drop
  })
  describe('typed queries', () => contract(source))
  describe('a running store', () => audited(source))
  afterAll(() => drop())
})

/** What the doctor reads of the work in a database: who relays, what waits, who is silent, what is late. */
import { randomUUID } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { put } from '../../src/actors/runtime/views.ts'
import { type Clock, systemClock } from '../../src/vocabulary/clock.ts'
import { inspectDatabase } from '../../src/persistence/inspect.ts'
import { openStore } from '../../src/persistence/open.ts'
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
  put('due', { entity: 'instance/2', kind: 'nova-undelivered', at: AT }),
]

const planted = async (url: string): Promise<void> => {
  const store = await openStore({ kind: 'postgres', url })
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

describeWith('postgres', 'the doctor', (bin) => {
  let database: Awaited<ReturnType<typeof freshDatabase>>
  const workAt = async (now = NOW, relay = 'relay') =>
    (await inspectDatabase(database.url, { ...clock, now: () => now }, { ...QUESTIONS, relay })).work!
  beforeAll(async () => {
    database = await freshDatabase(bin)
    await planted(database.url)
  }, 120_000)
  afterAll(() => database.drop())

  test('finds who relays, what waits, who is silent and what is late', async () => {
    const { lease, hosts, ...facts } = await workAt()
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
  test('is told of a relay that never was, and of one that has given its lease back', async () => {
    const of = async (relay: string, now?: number) => {
      const { lease, lag } = await workAt(now, relay)
      return { lease, lag }
    }
    expect(await of('nobody')).toEqual({ lease: null, lag: { rows: 3, oldestMs: NOW - AT - 1 } })
    const lag = { rows: 3, oldestMs: 0 }
    // the rows are of a moment that this clock has not reached
    expect(await of('given back', AT)).toEqual({ lease: { holder: 'control-b', epoch: 1, remainsMs: null }, lag })
  })
})

const pinned = (key: string | null, did = 'pinned') => ({ type: 'LivenessSet', key: { did, name: '', key } })
const OTHER = { type: 'LivenessSet', liveness: 'down' }
/** What the journal says of the keys of each host, row by row. */
const HOSTS: Readonly<Record<string, readonly (readonly object[])[]>> = {
  alone: [[pinned('k2')], [pinned('k1', 'offered')]],
  first: [[pinned('k1')], [OTHER]],
  forgotten: [[pinned('k1')], [pinned(null, 'replaced')]],
  gone: [[pinned('k1')]],
  later: [[OTHER], [pinned('k3'), pinned('k1', 'replaced')]],
  renewed: [[pinned('k1')], [pinned('k4', 'replaced')]],
}
describeWith('postgres', 'in journals of releases that did not refuse it', (bin) => {
  test('two hosts have the key that was accepted for both last, unless one was removed', async () => {
    const { url, drop } = await freshDatabase(bin)
    const store = await openStore({ kind: 'postgres', url })
    for (const [name, all] of Object.entries(HOSTS)) {
      const view = put('hosts', hostRow(name, name === 'gone' ? 'removed' : 'up'))
      for (const [at, events] of all.entries()) {
        const append = one(`host/${name}`, at + 1, [view])
        const rows = append.rows.map((row) => ({ ...row, events: events as typeof row.events }))
        expect(await store.journal.append({ ...append, rows })).toBe('appended')
      }
    }
    await store.close()
    const { work } = await inspectDatabase(url, systemClock, QUESTIONS)
    expect(work!.sharedKeys).toEqual([['first', 'later']])
    await drop()
  })
})

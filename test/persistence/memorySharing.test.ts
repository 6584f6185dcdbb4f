/** The shared work of the store in memory to the millisecond, which a store with a clock of its own cannot show. */
import { expect, test } from 'vitest'
import { FORGOTTEN_MAX, type Sharing } from '../../src/actors/runtime/sharing.ts'
import { drop, put } from '../../src/actors/runtime/views.ts'
import { memoryStores } from '../../src/persistence/memory/memory.ts'
import type { Store } from '../../src/persistence/store.ts'
import * as sample from './samples.ts'

/** Two processes, whose clocks differ, over one store. */
const opened = () => {
  const clock = { now: 1_000 }
  const open = memoryStores({ exclusive: false, now: () => clock.now })
  const stores = [open(), open(() => clock.now + 5_000_000)] as const
  const [one, two] = stores.map(({ sharing }) => sharing) as [Sharing, Sharing]
  return { open, clock, store: stores[0], other: stores[1], one, two }
}
const write = (store: Store, changes: Parameters<typeof sample.unit>[1]) =>
  store.journal.append(sample.unit([], changes))

test('a lease is taken over when another process saw it unchanged for its whole time', async () => {
  const { clock, one, two } = opened()
  expect(await one.acquire('relay', 'a', 100)).toEqual({ epoch: 1 })
  clock.now += 500
  // this is the first look of the other process
  expect(await two.acquire('relay', 'b', 100)).toBeNull()
  clock.now += 99
  expect(await two.acquire('relay', 'b', 100)).toBeNull()
  clock.now += 1
  expect(await two.acquire('relay', 'b', 100)).toEqual({ epoch: 2 })
  expect(await one.acquire('relay', 'a', 100)).toBeNull()
})

test('a lease that its holder renews is not taken over, and keeps its epoch only while it has not lapsed', async () => {
  const { clock, one, two } = opened()
  await one.acquire('relay', 'a', 100)
  expect(await two.acquire('relay', 'b', 100)).toBeNull()
  clock.now += 99
  expect(await one.acquire('relay', 'a', 100)).toEqual({ epoch: 1 })
  clock.now += 1
  expect(await two.acquire('relay', 'b', 100)).toBeNull()
  clock.now += 99
  // 100 ms after the renewal: another process may have acted since
  expect(await one.acquire('relay', 'a', 100)).toEqual({ epoch: 2 })
  expect(await one.acquire('relay', 'a', 100)).toEqual({ epoch: 2 })
  // the same holder in another process has not held it before
  expect(await two.acquire('relay', 'a', 100)).toEqual({ epoch: 3 })
})

test('a lease given back is free for everybody, under a new epoch', async () => {
  const { one, two } = opened()
  await one.acquire('relay', 'a', 100)
  await one.acquire('other', 'a', 100)
  await one.release('relay', 'b')
  await two.release('no such', 'a')
  expect(await two.acquire('relay', 'b', 100)).toBeNull()
  await one.release('relay', 'a')
  expect(await two.acquire('other', 'b', 100)).toBeNull()
  expect(await two.acquire('relay', 'b', 100)).toEqual({ epoch: 2 })
})

test('a process that has the store to itself finds leases and claims free', async () => {
  const open = memoryStores({ now: () => 0 })
  const first = open()
  await write(first, [put('due', { entity: 'arq/1', kind: 'x', at: 1 })])
  await first.sharing.acquire('relay', 'a', 100)
  expect(await first.sharing.claimDue(['x'], 1, 9, 100)).toHaveLength(1)
  expect(await first.sharing.claimDue(['x'], 1, 9, 100)).toHaveLength(0)
  const second = open()
  expect(await second.sharing.acquire('relay', 'b', 100)).toEqual({ epoch: 2 })
  expect(await second.sharing.claimDue(['x'], 1, 9, 100)).toHaveLength(1)
})

test('a checkpoint is saved under the epoch that stands, up to the last row of the journal', async () => {
  const { store, other, one } = opened()
  for (const version of [1, 2]) await store.journal.append(sample.one('arq/1', version))
  const lease = { name: 'relay', epoch: (await one.acquire('relay', 'a', 100))!.epoch }
  const save = (position: string, epoch = lease.epoch) => one.saveUnder({ ...lease, epoch }, 'reader', position)
  const saved = async (position: string, epoch?: number) => [
    await save(position, epoch),
    await other.journal.checkpoint('reader'),
  ]
  expect(await saved('settled')).toEqual([true, 'settled'])
  expect(await saved('from 2')).toEqual([true, 'from 2'])
  expect(await saved('3')).toEqual([false, 'from 2'])
  // the position is at the end
  expect(await saved('30 settled')).toEqual([true, '30 settled'])
  expect(await saved('1', lease.epoch + 1)).toEqual([false, '30 settled'])
  expect(await saved('1', lease.epoch - 1)).toEqual([false, '30 settled'])
  expect(await one.saveUnder({ name: 'no such', epoch: 1 }, 'reader', '1')).toBe(false)
})

test('what is due is claimed by kind and moment, for the time of the claim', async () => {
  const { clock, store, one, two } = opened()
  const rows = [
    { entity: 'arq/1', kind: 'x', at: 30 },
    { entity: 'arq/2', kind: 'y', at: 20 },
    { entity: 'arq/3', kind: 'x', at: 20 },
    { entity: 'arq/4', kind: 'z', at: 10 },
  ] as const
  await write(
    store,
    rows.map((row) => put('due', row)),
  )
  const claimed = async (by: Sharing, kinds: readonly string[], moments: number | { after: number }, limit = 9) =>
    (await by.claimDue(kinds, moments, limit, 100)).map(({ entity }) => entity)
  expect(await claimed(one, ['x', 'y'], 19)).toEqual([])
  expect(await claimed(one, ['x', 'y'], { after: 30 })).toEqual([])
  expect(await claimed(one, ['x', 'y'], { after: 20 })).toEqual(['arq/1'])
  expect(await one.claimDue(['x', 'y'], 20, 1, 100)).toEqual([rows[1]])
  expect(await claimed(two, ['x', 'y', 'z'], 30, 1)).toEqual(['arq/4'])
  expect(await claimed(two, ['x', 'y', 'z'], 30)).toEqual(['arq/3'])
  // the other process has just seen the first two claims
  clock.now += 99
  expect(await claimed(two, ['x', 'y'], 30)).toEqual([])
  clock.now += 1
  expect(await claimed(two, ['x', 'y'], 30)).toEqual(['arq/2', 'arq/1'])
  await two.unclaim(['arq/1', 'no such'])
  expect(await claimed(one, ['x', 'y'], 30)).toEqual(['arq/1'])
})

test('the moment of due work is put off only while it is the one that was claimed', async () => {
  const { store, one, two } = opened()
  await write(store, [put('due', { entity: 'arq/1', kind: 'x', at: 10 })])
  expect([await one.postponeDue('arq/1', 11, 50), await one.postponeDue('arq/2', 10, 50)]).toEqual([false, false])
  expect(await one.postponeDue('arq/1', 10, 50)).toBe(true)
  expect(await two.claimDue(['x'], 50, 9, 1)).toEqual([{ entity: 'arq/1', kind: 'x', at: 50 }])
})

test('orders are taken oldest first as they were, and marked as sent now', async () => {
  const { store, one, two } = opened()
  const [first, second, third] = [30, 10, 20].map((sent, at) =>
    sample.orderRow(`00000000-0000-4000-8000-00000000000${at}`, sent),
  )
  await write(
    store,
    [first!, second!, third!].map((row) => put('pending_orders', row)),
  )
  expect(await one.takeOrders(9, 99, 9)).toEqual([])
  expect(await one.takeOrders({ after: 30 }, 99, 9)).toEqual([])
  expect(await one.takeOrders(20, 99, 1)).toEqual([second])
  expect(await two.takeOrders(30, 98, 9)).toEqual([third, first])
  expect((await two.takeOrders({ after: 98 }, 97, 9)).map(({ slot, sent_at: at }) => [slot, at])).toEqual([
    [second!.slot, 99],
  ])
  const put1 = { slot: first!.slot, number: 2, sentAt: 5 }
  await one.postponeOrders([put1, { ...put1, slot: third!.slot, number: 1 }, { ...put1, slot: 'no such' }])
  expect(await two.takeOrders(5, 96, 9)).toEqual([{ ...third, sent_at: 5 }])
  expect(await two.takeOrders({ after: 97 }, 96, 9)).toEqual([{ ...first, sent_at: 98 }])
})

test('a silence is told to the millisecond, and its mark changes with each sight', async () => {
  const { clock, one, two } = opened()
  await one.noteSeen(['h1', 'h2'])
  clock.now += 40
  await two.noteSeen(['h2'])
  clock.now += 2
  const silences = await one.silences()
  expect([...silences].map(([name, { ms }]) => [name, ms])).toEqual([
    ['h1', 42],
    ['h2', 2],
  ])
  const marks = async () => [...(await two.silences()).values()].map(({ mark }) => mark)
  const before = await marks()
  expect(new Set(before).size).toBe(2)
  await two.noteSeen(['h2'])
  const [first, second] = await marks()
  expect(first).toBe(before[0])
  expect(second).not.toBe(before[1])
})

const reading = (driver: string, at: number) => ({ driver, at, devices: [] })
const LIVENESS = { up: 'up', down: 'down', removed: 'removed' }

test('names that are no host, or a removed one, are forgotten with what was measured there', async () => {
  const { clock, store, one, two } = opened()
  await write(
    store,
    Object.entries(LIVENESS).map(([name]) => put('hosts', sample.hostRow(name, 'up'))),
  )
  const readings = ['up', 'down', 'removed', 'nobody'].flatMap((host) =>
    ['b', 'a', 'c'].map((driver) => ({ host, reading: reading(driver, 1) })),
  )
  await one.noteMeasured(readings)
  await two.noteMeasured([{ host: 'up', reading: reading('b', 2) }])
  const all = ['up', 'down', 'removed', 'nobody']
  const measured = async () =>
    Object.fromEntries(await Promise.all(all.map(async (host) => [host, await two.measuredOn(host)])))
  const three = [reading('a', 1), reading('b', 1), reading('c', 1)]
  expect(await measured()).toEqual({ up: three.with(1, reading('b', 2)), down: three, removed: three, nobody: [] })
  // what is kept shares nothing with what was handed in
  Object.assign(readings[3]!.reading, { at: 7 })
  expect((await measured())['down']).toEqual(three)
  await one.noteSeen(all)
  await write(
    store,
    Object.entries(LIVENESS).map(([name, liveness]) => put('hosts', sample.hostRow(name, liveness))),
  )
  await one.noteMeasured([{ host: 'removed', reading: reading('a', 9) }])
  clock.now += 100
  await one.noteSeen(['late'])
  expect(await one.forgetSeen(101)).toBe(0)
  expect((await measured())['removed']).toEqual(three)
  expect(await one.forgetSeen(100)).toBe(2)
  expect([...(await two.silences()).keys()]).toEqual(['up', 'down', 'late'])
  expect(await measured()).toMatchObject({ down: three, removed: [], nobody: [] })
  expect((await measured())['up']).toHaveLength(3)
})

test('so many names are forgotten at once, those heard from first', async () => {
  const { one } = opened()
  await one.noteSeen(Array.from({ length: FORGOTTEN_MAX + 1 }, (_, at) => `h${at}`))
  expect(await one.forgetSeen(0)).toBe(FORGOTTEN_MAX)
  expect([...(await one.silences()).keys()]).toEqual([`h${FORGOTTEN_MAX}`])
  expect([await one.forgetSeen(0), await one.forgetSeen(0)]).toEqual([1, 0])
})

const stateOf = async (store: Store) => {
  const lines: string[] = []
  for await (const line of store.dumpViews()) lines.push(line)
  const { journal, sharing, landmarks } = store
  return {
    lines,
    fed: await journal.feed('', 99),
    rows: await Promise.all(['arq/1', 'arq/2'].map((key) => sample.versionsOf(journal, key))),
    end: await store.journalEnd(),
    checkpoints: await Promise.all(['relay', 'later'].map(journal.checkpoint)),
    silences: await sharing.silences(),
    newest: await landmarks.newest(),
  }
}

test('a standby replaces everything by what it had, and tells which rows are lost thereby', async () => {
  const { open, clock, store, one, two } = opened()
  const kept = sample.one('arq/1', 1, [
    put('profiles', sample.profileRow('kept')),
    put('due', { entity: 'arq/1', kind: 'x', at: 1 }),
  ])
  await store.journal.append(kept)
  await store.journal.append(sample.one('arq/2', 1))
  await store.journal.saveCheckpoint('relay', '1')
  await one.noteSeen(['h1'])
  await one.acquire('relay', 'a', 100)
  const before = await stateOf(store)
  const promote = open.standby()
  expect(await stateOf(store)).toEqual(before)
  const [lost, other] = [
    sample.one('arq/1', 2, [put('profiles', sample.profileRow('lost')), drop('due', 'arq/1')]),
    sample.one('arq/3', 1),
  ]
  for (const append of [lost, other]) expect(await store.journal.append(append)).toBe('appended')
  await store.journal.saveCheckpoint('relay', '3')
  await store.journal.saveCheckpoint('later', '3')
  await one.noteSeen(['h1', 'h2'])
  await one.release('relay', 'a')
  await two.acquire('relay', 'b', 100)
  await two.acquire('later', 'b', 100)
  clock.now += 1
  await one.claimDue(['x'], 1, 9, 100)
  expect(promote()).toEqual([lost, other].map(({ rows }, at) => ({ ...rows[0], position: String(3 + at) })))
  clock.now -= 1
  expect(await stateOf(store)).toEqual(before)
  // the lease is that of the first holder again, and nobody holds the later one
  expect(await two.acquire('relay', 'b', 100)).toBeNull()
  expect(await one.acquire('later', 'c', 100)).toEqual({ epoch: 1 })
  expect(await one.claimDue(['x'], 1, 9, 100)).toHaveLength(1)
  // what is lost may be written again, what is kept may not
  expect(await store.journal.append(kept)).toBe('seen')
  expect(await store.journal.append(lost)).toBe('appended')
  expect(await store.journal.append(sample.one('arq/2', 2))).toBe('appended')
})

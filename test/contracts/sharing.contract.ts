/**
 * How processes over one store share the work (SHARING-1 to SHARING-3), the same in every store. On two processes over
 * one store.
 */
import { randomUUID } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { drop, put } from '../../src/actors/runtime/views.ts'
import type { Store } from '../../src/persistence/store.ts'
import * as sample from '../persistence/samples.ts'

type Sharing = Store['sharing']
/** So many names are forgotten at once. */
const FORGOTTEN_MAX = 1000

export type Shared = { readonly stores: readonly [Store, Store]; readonly dispose: () => Promise<void> }

const SHORT = 60
const LONG = 60_000

/** Asks until the answer holds, for as long as a slow machine may need. */
const until = async <T>(ask: () => Promise<T>, holds: (answer: T) => boolean): Promise<T> => {
  const end = performance.now() + 10_000
  for (;;) {
    const answer = await ask()
    if (holds(answer)) return answer
    if (performance.now() > end) throw new Error(`still ${JSON.stringify(answer)}`)
    await wait(10)
  }
}

export const sharingContract = (open: () => Promise<Shared>): void => {
  let shared: Shared
  const one = (): Sharing => shared.stores[0].sharing
  const two = (): Sharing => shared.stores[1].sharing
  const checkpoint = (reader: string) => shared.stores[1].journal.checkpoint(reader)
  const write = (changes: Parameters<typeof sample.unit>[1]) =>
    shared.stores[0].journal.append({ rows: [], changes: changes! })
  /** So many rows that are due from `at` on. */
  const due = async (count: number, at: number, kind = 'x'): Promise<readonly string[]> => {
    const entities = Array.from({ length: count }, sample.newKey)
    await write(entities.map((entity, n) => put('due', { entity, kind, at: at + n })))
    return entities
  }
  const noDue = async (): Promise<void> => {
    const rows = (await shared.stores[0].reads.dueBefore(Number.MAX_SAFE_INTEGER, 1000)) ?? []
    await write(rows.map(({ entity }) => ({ view: 'due', key: entity, row: null }) as const))
  }

  beforeAll(async () => {
    shared = await open()
  })
  afterAll(() => shared.dispose())

  test('HINTS-1 HINTS-2 a hint reaches the other processes that listen for its name, and not its sender', async () => {
    const [sender, other] = shared.stores.map(({ hints }) => hints)
    const heard: string[] = []
    // a store that belongs to one process has nobody to send hints to
    if (shared.stores[0].journal.exclusive) return expect(sender!.arrive()).toBe(false)
    const ends = [
      sender!.onHint('x', () => heard.push('own')),
      other!.onHint('x', () => heard.push('x')),
      other!.onHint('y', () => heard.push('y')),
    ]
    await until(async () => [sender, other].every((hints) => hints!.arrive()), Boolean)
    for (let n = 0; n < 100; n++) sender!.send('x')
    // what is sent while a statement is under way is gathered
    await until(
      async () => heard.length,
      (count) => count > 0,
    )
    sender!.send('y')
    await until(async () => heard.includes('y'), Boolean)
    expect(new Set(heard)).toEqual(new Set(['x', 'y']))
    for (const end of ends) end()
    const before = heard.length
    other!.onHint('z', () => heard.push('z'))
    for (const name of ['x', 'y', 'z']) sender!.send(name)
    await until(async () => heard.includes('z'), Boolean)
    expect(heard.length).toBe(before + 1)
  })

  test('a lease has one holder, who renews it under the same epoch', async () => {
    const name = randomUUID()
    expect(await one().acquire(name, 'a', LONG)).toEqual({ epoch: 1 })
    expect(await two().acquire(name, 'b', LONG)).toBe(null)
    expect(await one().acquire(name, 'a', LONG)).toEqual({ epoch: 1 })
    expect(await two().acquire(randomUUID(), 'b', LONG)).toEqual({ epoch: 1 })
  })

  test('of many that ask at once for a free lease, one gets it', async () => {
    const name = randomUUID()
    const asked = Array.from({ length: 20 }, (_, n) => (n % 2 ? one() : two()).acquire(name, `h${n}`, LONG))
    expect((await Promise.all(asked)).filter((lease) => lease !== null)).toEqual([{ epoch: 1 }])
  })

  test('a lease that is over goes to who asks, with a later epoch, also to the same holder', async () => {
    const name = randomUUID()
    await one().acquire(name, 'a', SHORT)
    const taken = await until(
      () => two().acquire(name, 'b', SHORT),
      (lease) => lease !== null,
    )
    expect(taken).toEqual({ epoch: 2 })
    await wait(2 * SHORT)
    expect(await two().acquire(name, 'b', LONG)).toEqual({ epoch: 3 })
    expect(await one().acquire(name, 'a', LONG)).toBe(null)
  })

  test('a lease given back is free at once, and only its holder can give it back', async () => {
    const name = randomUUID()
    await one().acquire(name, 'a', LONG)
    await two().release(name, 'b')
    expect(await two().acquire(name, 'b', LONG)).toBe(null)
    await one().release(name, 'a')
    expect(await two().acquire(name, 'b', LONG)).toEqual({ epoch: 2 })
  })

  test('a lease given back and taken again by the same holder has a new epoch', async () => {
    const name = randomUUID()
    expect(await one().acquire(name, 'a', LONG)).toEqual({ epoch: 1 })
    await one().release(name, 'a')
    expect(await one().acquire(name, 'a', LONG)).toEqual({ epoch: 2 })
  })

  test('leases of different names are given back one by one, and giving back what nobody has does no harm', async () => {
    const [name, next] = [randomUUID(), randomUUID()]
    await one().release(name, 'a')
    for (const each of [name, next]) expect(await one().acquire(each, 'a', LONG)).toEqual({ epoch: 1 })
    await one().release(name, 'a')
    await one().release(name, 'a')
    expect(await one().acquire(next, 'a', LONG)).toEqual({ epoch: 1 })
    expect(await one().acquire(name, 'a', LONG)).toEqual({ epoch: 2 })
    expect(await two().acquire(next, 'b', LONG)).toBe(null)
  })

  test('a checkpoint is saved under the epoch, and not by a holder whose lease another took', async () => {
    const [name, reader] = [randomUUID(), randomUUID()]
    const first = (await one().acquire(name, 'a', SHORT))!
    expect(await one().saveUnder({ name, epoch: first.epoch }, reader, 'a')).toBe(true)
    const second = await until(
      () => two().acquire(name, 'b', LONG),
      (lease) => lease !== null,
    )
    expect(await one().saveUnder({ name, epoch: first.epoch }, reader, 'b')).toBe(false)
    expect(await checkpoint(reader)).toBe('a')
    expect(await two().saveUnder({ name, epoch: second!.epoch }, reader, 'c')).toBe(true)
    expect(await checkpoint(reader)).toBe('c')
    expect(await one().saveUnder({ name: randomUUID(), epoch: 1 }, reader, 'd')).toBe(false)
    expect(await checkpoint(reader)).toBe('c')
  })

  test('a checkpoint that the store has not reached, as of rows that were lost, is not saved', async () => {
    const [name, reader] = [randomUUID(), randomUUID()]
    const { epoch } = (await one().acquire(name, 'a', LONG))!
    const reached = '0.0'
    expect(await one().saveUnder({ name, epoch }, reader, reached)).toBe(true)
    expect(await one().saveUnder({ name, epoch }, reader, '99999999999.99999999')).toBe(false)
    expect(await checkpoint(reader)).toBe(reached)
  })

  test('what is due is claimed oldest first, by one caller only, and within the limit', async () => {
    await noDue()
    const entities = await due(5, sample.AT)
    expect(await one().claimDue(['x'], sample.AT + 2, 2, LONG)).toEqual([
      { entity: entities[0], kind: 'x', at: sample.AT },
      { entity: entities[1], kind: 'x', at: sample.AT + 1 },
    ])
    expect((await two().claimDue(['x'], sample.AT + 2, 10, LONG)).map(({ entity }) => entity)).toEqual([entities[2]])
    expect(await two().claimDue(['x'], sample.AT + 2, 10, LONG)).toEqual([])
    await one().unclaim([entities[1]!, entities[0]!, 'no such'])
    expect((await two().claimDue(['x'], sample.AT + 2, 10, LONG)).map(({ entity }) => entity)).toEqual(
      entities.slice(0, 2),
    )
  })

  test('what is due is claimed by kind, whatever else is due before', async () => {
    await noDue()
    const [slow, ...others] = [
      await due(50, sample.AT, 'y'),
      await due(1, sample.AT + 100),
      await due(1, sample.AT + 99, 'z'),
    ]
    const claimed = async (kinds: readonly string[]) =>
      (await one().claimDue(kinds, sample.AT + 1000, 10, LONG)).map(({ entity }) => entity)
    expect(await claimed(['x', 'z'])).toEqual(others.flat().toReversed())
    expect(await claimed(['y'])).toEqual(slow.slice(0, 10))
    expect(await claimed([])).toEqual([])
  })

  test('callers at once get all rows, and none twice', async () => {
    await noDue()
    const entities = await due(300, sample.AT)
    const claim = async (n: number): Promise<readonly string[]> => {
      const rows = await (n % 2 ? one() : two()).claimDue(['x'], sample.AT + 1000, 40, LONG)
      return rows.length === 0 ? [] : [...rows.map(({ entity }) => entity), ...(await claim(n))]
    }
    const claimed = (await Promise.all(Array.from({ length: 8 }, (_, n) => claim(n)))).flat()
    claimed.push(...(await claim(0)))
    expect(new Set(claimed)).toEqual(new Set(entities))
    expect(claimed).toHaveLength(entities.length)
  })

  test('a claim that is over is given again, and once', async () => {
    await noDue()
    const entities = await due(3, sample.AT)
    expect(await one().claimDue(['x'], sample.AT + 10, 10, SHORT)).toHaveLength(3)
    const observed = () => Promise.all([one(), two()].map((each) => each.claimDue(['x'], sample.AT + 10, 10, LONG)))
    expect((await observed()).flat()).toEqual([])
    await wait(2 * SHORT)
    const again = await observed()
    expect(again.flat().map(({ entity }) => entity)).toHaveLength(3)
    expect(new Set(again.flat().map(({ entity }) => entity))).toEqual(new Set(entities))
  })

  test('a process that has seen a lease or a claim only just now waits for its whole duration', async () => {
    await noDue()
    const name = randomUUID()
    await due(1, sample.AT)
    await one().acquire(name, 'a', 400)
    await one().claimDue(['x'], sample.AT, 1, 400)
    await wait(450)
    const began = performance.now()
    expect(await two().acquire(name, 'b', LONG)).toBe(null)
    expect(await two().claimDue(['x'], sample.AT, 1, LONG)).toEqual([])
    await until(
      () => two().acquire(name, 'b', LONG),
      (lease) => lease !== null,
    )
    await until(
      () => two().claimDue(['x'], sample.AT, 1, LONG),
      (rows) => rows.length > 0,
    )
    expect(performance.now() - began).toBeGreaterThanOrEqual(395)
  })

  test('due work is put off, unless it has another moment since, or is gone', async () => {
    await noDue()
    const [first, second, third] = await due(3, sample.AT)
    expect(await one().postponeDue(first!, sample.AT, sample.AT + 500)).toBe(true)
    expect(await one().postponeDue(first!, sample.AT, sample.AT + 900)).toBe(false)
    expect(await one().postponeDue(second!, sample.AT, sample.AT + 500)).toBe(false)
    expect(await one().postponeDue(sample.newKey(), sample.AT, sample.AT + 500)).toBe(false)
    const found = async (at: number) => (await two().claimDue(['x'], at, 10, SHORT)).map(({ entity }) => entity)
    expect(await found(sample.AT + 499)).toEqual([second, third])
    expect(await two().claimDue(['x'], sample.AT + 500, 10, SHORT)).toEqual([
      { entity: first, kind: 'x', at: sample.AT + 500 },
    ])
    await noDue()
  })

  test('an order is put off, unless its slot has another order since', async () => {
    const [first, second, gone] = [1, 2, 3].map(() => sample.orderRow(randomUUID(), 100))
    await write([put('pending_orders', first!), put('pending_orders', { ...second!, number: 2 })])
    await one().postponeOrders([first!, second!, gone!].map(({ slot, number }) => ({ slot, number, sentAt: 500 })))
    const slots = [first!.slot, second!.slot, gone!.slot]
    const rows = await shared.stores[1].reads.page({
      view: 'pending_orders',
      where: { slot: slots },
      sort: 'sent_at',
      limit: 10,
    })
    expect(rows).toEqual([
      { ...second!, number: 2 },
      { ...first!, sent_at: 500 },
    ])
    await one().postponeOrders([])
    expect((await two().takeOrders(499, 600, 10)).map(({ slot }) => slot)).toContain(second!.slot)
    expect((await two().takeOrders(500, 600, 10)).map(({ slot }) => slot)).toContain(first!.slot)
    await write(slots.map((slot) => drop('pending_orders', slot)))
  })

  test('an order is taken once, and marked as sent in the same step', async () => {
    const orders = Array.from({ length: 60 }, (_, n) => sample.orderRow(randomUUID(), 1000 + n))
    await write(orders.map((row) => put('pending_orders', row)))
    expect(await one().takeOrders(1001, 9000, 10)).toEqual(orders.slice(0, 2))
    const take = async (n: number): Promise<readonly string[]> => {
      const rows = await (n % 2 ? one() : two()).takeOrders(5000, 9000, 7)
      return rows.length === 0 ? [] : [...rows.map(({ slot }) => slot), ...(await take(n))]
    }
    const taken = (await Promise.all([0, 1, 2, 3].map(take))).flat()
    taken.push(...(await take(0)))
    expect(taken).toHaveLength(58)
    expect(new Set(taken)).toEqual(new Set(orders.slice(2).map(({ slot }) => slot)))
    const query = { view: 'pending_orders', where: {}, sort: 'sent_at', limit: 100 } as const
    expect((await shared.stores[1].reads.page(query))!.map(({ sent_at: at }) => at)).toEqual(orders.map(() => 9000))
  })

  test('a silence is counted by the clock of the store, and ended by any process', async () => {
    const [a, b] = [randomUUID(), randomUUID()]
    await one().noteSeen([a, b, a])
    await until(
      () => two().silences(),
      (found) => found.get(a)!.ms >= 30,
    )
    await two().noteSeen([b])
    const silences = await one().silences()
    expect(silences.get(a)!.ms).toBeGreaterThan(silences.get(b)!.ms)
    expect(silences.has(randomUUID())).toBe(false)
    await one().noteSeen([])
  })

  test('the record of a host changes when it is heard from, and only then', async () => {
    const [a, b] = [randomUUID(), randomUUID()]
    await one().noteSeen([a, b])
    const before = await two().silences()
    // the store counts in ms
    await until(
      () => two().silences(),
      (found) => found.get(b)!.ms >= 5,
    )
    await two().noteSeen([b])
    const after = await one().silences()
    expect(after.get(a)!.mark).toBe(before.get(a)!.mark)
    expect(after.get(b)!.mark).not.toBe(before.get(b)!.mark)
  })

  test('what is due later than a moment is claimed as well, when asked for', async () => {
    await noDue()
    const entities = await due(3, sample.AT)
    const claimed = async (after: number) =>
      (await one().claimDue(['x'], { after }, 10, LONG)).map(({ entity }) => entity)
    expect(await claimed(sample.AT + 2)).toEqual([])
    expect(await claimed(sample.AT + 1)).toEqual([entities[2]])
    expect(await two().claimDue(['x'], { after: 0 }, 1, LONG)).toMatchObject([{ entity: entities[0] }])
  })

  test('orders sent later than a moment are taken, when asked for', async () => {
    const orders = [70_000, 80_000].map((at) => sample.orderRow(randomUUID(), at))
    await write(orders.map((row) => put('pending_orders', row)))
    expect(await one().takeOrders({ after: 80_000 }, 5, 10)).toEqual([])
    expect(await one().takeOrders({ after: 70_000 }, 5, 10)).toEqual([orders[1]])
    expect(await two().takeOrders({ after: 69_999 }, 5, 10)).toEqual([orders[0]])
    expect((await two().takeOrders(5, 6, 10)).map(({ slot }) => slot).toSorted()).toEqual(
      orders.map(({ slot }) => slot).toSorted(),
    )
    await write(orders.map(({ slot }) => drop('pending_orders', slot)))
  })

  test('names that are no host, or a removed one, are forgotten when they are silent; hosts never are', async () => {
    const [up, down, removed, nobody] = [randomUUID(), randomUUID(), randomUUID(), randomUUID()]
    await write([
      put('hosts', sample.hostRow(up, 'up')),
      put('hosts', sample.hostRow(down, 'down')),
      put('hosts', sample.hostRow(removed, 'removed')),
    ])
    const named = async () => {
      const silences = await one().silences()
      return [up, down, removed, nobody].filter((name) => silences.has(name))
    }
    await one().noteSeen([up, down, removed, nobody])
    await two().forgetSeen(LONG)
    expect(await named()).toEqual([up, down, removed, nobody])
    const left = async () => (await two().forgetSeen(1), named())
    expect(await until(left, ({ length }) => length <= 2)).toEqual([up, down])
    await two().noteSeen([removed])
    expect(await named()).toEqual([up, down, removed])
  })
  test('the last reading of each driver is kept for hosts that are recorded, until they are removed and forgotten', async () => {
    const [up, removed, nobody] = [randomUUID(), randomUUID(), randomUUID()]
    await write([put('hosts', sample.hostRow(up, 'up')), put('hosts', sample.hostRow(removed, 'up'))])
    const reading = (driver: string, at: number) => ({ driver, at, devices: [], complaint: 'a \u{1f600}' })
    const measured = [up, removed, nobody].flatMap((host) =>
      ['b', 'a'].map((driver) => ({ host, reading: reading(driver, 1) })),
    )
    await one().noteMeasured(measured)
    await two().noteMeasured([{ host: up, reading: reading('b', 2) }])
    await two().noteMeasured([])
    expect(await two().measuredOn(up)).toEqual([reading('a', 1), reading('b', 2)])
    expect(await one().measuredOn(nobody)).toEqual([])
    await write([put('hosts', sample.hostRow(removed, 'removed'))])
    await one().noteMeasured([{ host: removed, reading: reading('a', 3) }])
    expect(await one().measuredOn(removed)).toEqual([reading('a', 1), reading('b', 1)])
    await one().noteSeen([removed])
    await until(
      async () => (await two().forgetSeen(1), one().measuredOn(removed)),
      ({ length }) => length === 0,
    )
    expect(await one().measuredOn(up)).toHaveLength(2)
  })
  test('of many such names only so many are forgotten at once', async () => {
    await one().noteSeen(Array.from({ length: FORGOTTEN_MAX + 5 }, () => randomUUID()))
    await wait(20)
    const counts = [await one().forgetSeen(1), await one().forgetSeen(1)]
    expect(counts[0]).toBe(FORGOTTEN_MAX)
    expect(counts[1]).toBeGreaterThanOrEqual(5)
  })
}

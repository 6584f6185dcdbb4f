/** What ends a stream of events, and what is told when the database has lost rows. On the store in memory. */
import { afterEach, describe, expect, test } from 'vitest'
import type { EventsOptions } from '../../src/delivery/events/options.ts'
import { noHints } from '../../src/actors/runtime/hints.ts'
import { memoryStores } from '../support/memoryStore/memory.ts'
import { Unreadable } from '../../src/actors/runtime/unreadable.ts'
import { until } from '../support/lab.ts'
import { replacedStores } from '../support/replacedStore.ts'
import { OPERATOR, SAME_CALLER, follow, published, createEvents, valueOf, createWriter } from './eventsLab.ts'

const stopping: (() => void)[] = []
afterEach(() => {
  for (const stop of stopping.splice(0)) stop()
})
const open = (options: Partial<EventsOptions> = {}, store = memoryStores({ exclusive: false })()) => {
  const events = createEvents(store, options)
  stopping.push(events.stop)
  return { store, events, ...createWriter(store) }
}
const ASKED = { after: null, filter: {} }

describe('a stream ends', () => {
  test('after its lifetime, and says when to come back', async () => {
    const { events } = open({ lifeMs: 30, random: () => 0.5 })
    const client = await follow(events)
    await client.take()
    expect(await client.take()).toEqual({ kind: 'bye', why: 'lifetime', retryMs: 3000 })
    await until(() => events.state().open === 0)
    expect(events.state().ended).toMatchObject({ lifetime: 1 })
  })
  test.each(['expired', 'rights', 'failed'] as const)(
    'STREAM-EVENTS-4 when its caller is not who it was: %s, before the next event is told',
    async (why) => {
      const { events, create } = open({ identifiedForMs: 0 })
      let ending: typeof why | null = null
      const client = await follow(events, null, { identifyAgain: async () => ending })
      await client.take()
      await create('p1')
      await client.takeUntil(1)
      ending = why
      await create('p1')
      expect(await client.take()).toMatchObject({ kind: 'bye', why })
      expect(client.received).toHaveLength(1)
      await until(() => events.state().open === 0)
      expect(events.state().ended).toMatchObject({ [why]: 1 })
    },
  )
  test('STREAM-EVENTS-4 also when nothing happens, with the next beat; and nobody is identified more often than before what is sent', async () => {
    const { events } = open({ identifiedForMs: 0, beatMs: 20 })
    let asked = 0
    const client = await follow(events, null, { identifyAgain: async () => (++asked > 2 ? 'expired' : null) })
    await expect.poll(async () => (await client.take()).kind).toBe('bye')
    expect(client.others.at(-1)).toMatchObject({ why: 'expired' })
    expect(client.others.length).toBeLessThanOrEqual(asked)
  })
  test('at once when the process stops, although nobody can say who the caller is', async () => {
    const { events } = open({ identifiedForMs: 0, random: () => 0 })
    const client = await follow(events, null, { identifyAgain: () => new Promise(() => {}) })
    const waiting = client.take()
    events.stop()
    expect(await waiting).toEqual({ kind: 'bye', why: 'stopping', retryMs: 2000 })
  })
  test('when the process stops, which opens no more', async () => {
    const { events, create } = open({ random: () => 0 })
    const client = await follow(events)
    await client.take()
    const waiting = client.take()
    events.stop()
    expect(await waiting).toEqual({ kind: 'bye', why: 'stopping', retryMs: 2000 })
    expect(await events.open(OPERATOR, ASKED, SAME_CALLER)).toMatchObject({ fault: { kind: 'unavailable' } })
    await create('p1')
  })
  test('with a gap that its client is told of, when the client falls out of the ring; it comes back to where it was', async () => {
    const { store, events, create } = open({ ringBytes: 2000 })
    const client = await follow(events)
    await client.take()
    await create('p1')
    await client.takeUntil(1)
    for (let n = 0; n < 50; n++) await create('p1')
    await until(() => events.state().ringBytes > 1000)
    await until(() => events.state().ringBytes <= 2000)
    await expect.poll(async () => (await client.take()).kind).toBe('bye')
    expect(client.others.at(-1)).toMatchObject({ why: 'slow' })
    const again = await follow(events, client.last())
    const rest = await again.takeUntil(51 - client.received.length)
    expect([...client.received, ...rest].map(({ text }) => text)).toEqual(await published(store))
  })
  test('when nobody takes anything from it', async () => {
    const { events } = open({ stallMs: 20 })
    const stream = valueOf(await events.open(OPERATOR, ASKED, SAME_CALLER))
    expect(await stream.closed).toBe('stalled')
    expect(events.state().ended).toMatchObject({ stalled: 1 })
  })
  test('when the journal cannot be read while it catches up; while it only waits, it goes on', async () => {
    let away = false
    const store = memoryStores({
      exclusive: false,
      beforeRead: async () => (away ? Promise.reject(new Unreadable('away')) : undefined),
    })()
    const { events, create } = open({ retry: { firstMs: 5, maxMs: 5 } }, store)
    for (let n = 0; n < 150; n++) await create('p1')
    const behind = await follow(events, '0')
    const waiting = await follow(events)
    await Promise.all([behind.take(), waiting.take()])
    await behind.take()
    away = true
    await expect.poll(async () => (await behind.take()).kind).toBe('bye')
    expect(behind.others.at(-1)).toMatchObject({ why: 'failed' })
    expect(await events.open(OPERATOR, { ...ASKED, after: '0' }, SAME_CALLER)).toMatchObject({
      fault: { kind: 'unavailable' },
    })
    expect(await waiting.take()).toMatchObject({ kind: 'beat' })
    away = false
    await create('p2')
    expect(await waiting.takeUntil(1)).toHaveLength(1)
  })
})

test('one read serves all streams', async () => {
  let reads = 0
  const store = memoryStores({ exclusive: false, beforeRead: async () => void reads++ })()
  const { events, create } = open({ poll: { busyMs: 500, idleMs: 500, busyForMs: 0, aloneMs: 500, leastMs: 1 } }, store)
  const clients = await Promise.all(Array.from({ length: 40 }, () => follow(events)))
  for (const client of clients) await client.take()
  const before = reads
  await create('p1')
  await Promise.all(clients.map((client) => client.takeUntil(1)))
  expect(reads - before).toBeLessThan(8)
})

test('for a while after something was read the journal is read often, although nothing wakes the reader', async () => {
  const stores = memoryStores({ exclusive: false })
  const [own, other] = [stores(), stores()]
  const poll = { busyMs: 5, idleMs: 3_600_000, busyForMs: 600_000, aloneMs: 3_600_000, leastMs: 1 }
  const { events, create } = open({ poll, hints: noHints }, own)
  const client = await follow(events)
  await client.take()
  await create('p1')
  await client.takeUntil(1)
  await createWriter(other).create('p1')
  expect(await client.takeUntil(2)).toHaveLength(2)
})

test('a client that comes from a control which had read more keeps its place until this one has read as far', async () => {
  const stores = memoryStores({ exclusive: false })
  const [own, other] = [stores(), stores()]
  const poll = { busyMs: 3_600_000, idleMs: 3_600_000, busyForMs: 0, aloneMs: 3_600_000, leastMs: 1 }
  const behind = open({ poll, hints: noHints }, own)
  const ahead = open({}, other)
  const before = await follow(ahead.events)
  await Promise.all([before.take(), (await follow(behind.events)).take()])
  for (let n = 0; n < 3; n++) await ahead.create('p1')
  await before.takeUntil(3)
  const moved = await follow(behind.events, before.last())
  expect(await moved.take()).toMatchObject({ kind: 'beat', id: before.last() })
  expect(await moved.take()).toMatchObject({ kind: 'beat', id: before.last() })
  expect(moved.received).toEqual([])
})

describe('when the database is an older copy', () => {
  const lost = async (kept: number) => {
    const stores = replacedStores()
    const { events } = open({}, stores.open())
    const { create } = createWriter(stores.open())
    const client = await follow(events)
    await client.take()
    for (let n = 0; n < 5; n++) await create('p1')
    await client.takeUntil(5)
    await stores.goBack(kept)
    return { stores, events, client }
  }
  test('without the last events that were told, every client is told so', async () => {
    const { stores, events, client } = await lost(3)
    await expect.poll(async () => (await client.take()).kind).toBe('reset')
    const reset = client.others.at(-1)
    expect(reset).toMatchObject({ kind: 'reset', why: 'unknown', oldest: '0' })
    await createWriter(stores.open()).create('p2')
    const [, , , , , next] = await client.takeUntil(6)
    expect(next!.text).toBe((await published(stores.open())).at(-1))
    const back = await follow(events, client.received[4]!.id)
    expect(await back.take()).toMatchObject({ kind: 'reset', why: 'unknown' })
  })
  test('with all of them, streams go on', async () => {
    const { stores, client } = await lost(5)
    await createWriter(stores.open()).create('p2')
    expect(await client.takeUntil(6)).toHaveLength(6)
    expect(client.others.every(({ kind }) => kind === 'beat')).toBe(true)
  })
})

/** Which orders are taken, sent again and put off, in the rounds and at the start of a single process. */
import type { Store } from '../../src/persistence/store.ts'
import { expect, test } from 'vitest'
import type { Row } from '../../src/actors/runtime/views.ts'
import { memoryStores } from '../support/memoryStore/memory.ts'
import { type BusRecord } from '../../src/wire/envelope.ts'
import { readOrder } from '../../src/wire/message.ts'
import { DEPLOYABLE } from '../support/reports.ts'
import { hostRow, orderRow } from '../persistence/samples.ts'
import { handClock } from '../support/lab.ts'
import { openPlane } from '../support/plane.ts'
import { settled } from './settled.ts'

type Pending = Row<'pending_orders'>
type Call = Parameters<Store['sharing']['takeOrders']>
const DAY = 86_400_000
const RESEND = 10_000
const SLOTS = [1, 2, 3, 4, 5, 6].map((n) => `60000000-0000-4000-8000-00000000000${n}`)
const RELEASE_MS = 600_000
const AT_ONCE = 500

/** `orders`: what each call of the store takes, one after the other. */
const opened = async (orders: readonly (readonly Pending[])[], { exclusive = false, refuses = false } = {}) => {
  const clock = handClock()
  const store = memoryStores({ exclusive, now: clock.now })()
  const left = [...orders]
  const taken: Call[] = []
  const putOff: unknown[] = []
  const published: BusRecord[] = []
  const sharing: typeof store.sharing = {
    ...store.sharing,
    takeOrders: async (...call) => {
      taken.push(call)
      if (taken.length > 1001) throw new Error('too many portions')
      return left.shift() ?? []
    },
    postponeOrders: async (all) => void putOff.push(all),
  }
  const hosts = [hostRow('h1', 'up'), hostRow('h2', 'down'), hostRow('h3', 'removed'), hostRow('h4', 'stale')]
  const page: typeof store.reads.page = (query) =>
    query.view === 'hosts' && 'name' in query.where ? (Promise.resolve(hosts) as never) : store.reads.page(query)
  const publish = async (records: readonly BusRecord[]) => {
    if (refuses) throw new Error('no broker')
    published.push(...records)
  }
  const options = { sweepEveryMs: DAY, resendMs: RESEND }
  const parts = { clock, sharing, reads: { ...store.reads, page }, publish, options }
  const { plane } = await openPlane(parts, store)
  await settled(clock, plane.sweeper.idle())
  const round = () => settled(clock, plane.sweeper.round())
  const stop = () => settled(clock, plane.stop())
  return { clock, taken, putOff, published, round, stop, left }
}
const given = (slot: number, host: string, agoMs: number, now: number): Pending => {
  const row = orderRow(SLOTS[slot]!, now - agoMs, now - agoMs + RELEASE_MS)
  return { ...row, hostname: host, number: slot + 1, body: { ...row.body, host, number: slot + 1 } }
}

test('a round takes what was sent too long ago, and every ten seconds what lies too far ahead', async () => {
  const { clock, taken, putOff, published, round, stop } = await opened([])
  const start = clock.now()
  expect(taken).toEqual([
    [start - RESEND, start, AT_ONCE],
    [{ after: start + 240_000 }, start, AT_ONCE],
  ])
  taken.length = 0
  await clock.pass(9999)
  await round()
  expect(taken).toEqual([[start + 9999 - RESEND, start + 9999, AT_ONCE]])
  taken.length = 0
  await clock.pass(1)
  await round()
  expect(taken).toEqual([
    [start, start + 10_000, AT_ONCE],
    [{ after: start + 250_000 }, start + 10_000, AT_ONCE],
  ])
  expect([putOff, published]).toEqual([[], []])
  await stop()
})

test('an order is sent again unless its host is silent, and put off the longer, the older it is', async () => {
  const { clock, putOff, published, round, stop, left } = await opened([])
  const now = clock.now()
  const orders = [
    given(0, 'h1', 0, now),
    given(1, 'h1', 40_000, now),
    given(2, 'h2', 40_000, now),
    given(3, 'h3', 0, now),
    given(4, 'h4', 400_000, now),
  ]
  left.push(orders)
  await round()
  const sent = published.map((record) => {
    const read = readOrder(record)
    return [record.topic, record.key, read.ok && read.value.body]
  })
  const body = (at: number) => ['host.orders.v1', orders[at]!.hostname, orders[at]!.body]
  expect(sent).toEqual([body(0), body(1), body(4)])
  expect(putOff).toEqual([
    [
      { slot: SLOTS[1], number: 2, sentAt: now + 30_000 },
      { slot: SLOTS[2], number: 3, sentAt: now + 110_000 },
      { slot: SLOTS[3], number: 4, sentAt: now + 110_000 },
      { slot: SLOTS[4], number: 5, sentAt: now + 50_000 },
    ],
  ])
  await stop()
})

test('a programming whose deadline has passed is neither sent nor put off', async () => {
  const { clock, putOff, published, round, stop, left } = await opened([])
  const now = clock.now()
  const programming = (slot: number, deadline: number): Pending => {
    const { hostname, number, body } = given(slot, 'h1', 0, now)
    const order = { ...body, type: 'Program', slot: DEPLOYABLE, image: 'i', deadline } as const
    return { ...orderRow(SLOTS[slot]!, now), hostname, number, body: order }
  }
  left.push([programming(0, now), programming(1, now + 1)])
  await round()
  expect(published.map(({ key, value }) => [key, JSON.parse(value).data.number])).toEqual([['h1', 2]])
  expect(putOff).toEqual([])
  await stop()
})

test('at a start everything is sent again in portions, and put off in portions', async () => {
  const now = handClock().now()
  const whole = Array.from({ length: AT_ONCE }, () => given(0, 'h1', 40_000, now))
  const { taken, putOff, published, stop } = await opened([whole, [given(1, 'h2', 0, now)]], { exclusive: true })
  const all = [now + 120_000, now + 120_001, AT_ONCE]
  expect(taken.slice(0, 2)).toEqual([all, all])
  // the rounds begin
  expect(taken.slice(2)).toEqual([
    [now - RESEND, now, AT_ONCE],
    [{ after: now + 240_000 }, now, AT_ONCE],
  ])
  expect(published).toHaveLength(AT_ONCE)
  const first = { slot: SLOTS[0], number: 1, sentAt: now + 30_000 }
  const last = { slot: SLOTS[1], number: 2, sentAt: now + 110_000 }
  expect(putOff).toEqual([whole.map(() => first), [last]])
  await stop()
})

test('orders that cannot be sent at a start are left to the rounds', async () => {
  const now = handClock().now()
  const orders = [given(0, 'h1', 40_000, now), given(1, 'h2', 0, now)]
  const { putOff, stop } = await opened([orders], { exclusive: true, refuses: true })
  expect(putOff).toEqual([
    [
      { slot: SLOTS[0], number: 1, sentAt: now },
      { slot: SLOTS[1], number: 2, sentAt: now },
    ],
  ])
  await stop()
})

test('a start sends a thousand portions at most', async () => {
  // the rows of a sparse list are not worked on
  const portion: Pending[] = []
  portion.length = AT_ONCE
  const { taken, stop } = await opened(
    Array.from({ length: 1100 }, () => portion),
    { exclusive: true },
  )
  expect(taken.filter(([, , limit]) => limit === AT_ONCE).length).toBeGreaterThanOrEqual(1000)
  expect(new Set(taken.slice(0, 1000).map(([moments]) => moments)).size).toBe(1)
  expect(taken[1000]).not.toEqual(taken[0])
  await stop()
})

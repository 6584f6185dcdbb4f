/** Orders from their arrival to their result, over a driver that ends when told: every entry, outcome and signal. */
import { describe, expect, test } from 'vitest'
import type { Card } from '../../src/card.ts'
import type { Driver } from '../../src/drivers/driver.ts'
import type { ReportedDevice } from '../../src/hardware.ts'
import { DEFAULTS } from '../../src/host/defaults.ts'
import { memoryDisk } from '../../src/host/disk.ts'
import { type Entry, handleKey } from '../../src/host/entry.ts'
import { openLedger } from '../../src/host/ledger.ts'
import { Orders, type OrdersOptions } from '../../src/host/orders.ts'
import { Atlas } from '../../src/host/sections.ts'
import { Survivors } from '../../src/host/survivors.ts'
import { type Tracer, untraced } from '../../src/trace.ts'
import type { Order } from '../../src/wire/orders.ts'
import { recordedHostIo } from '../drivers/recordedHostIo.ts'
import { filesOf } from '../support/images.ts'
import { handClock, memoryLog, quiet } from '../support/lab.ts'

const handle = (fn: string) => ({
  type: 'PCI' as const,
  info: { domain: '0000', bus: 'af', device: '00', function: fn },
})
const LATER = 120_000
const head = (slot: string, number: number) => ({
  ...{ host: 'h1', slot, number, driver: 'd', deployable: 'h1_card', deployableUuid: 'u' },
  deadline: Date.UTC(2026, 0, 1) + LATER,
})
type Prepare = Extract<Order, { type: 'PrepareSlot' }>
const prepare = (slot: string, number: number, more: Partial<Prepare> = {}, fn = slot): Order => ({
  ...head(slot, number),
  ...{ type: 'PrepareSlot', handle: handle(fn), arq: 'request' },
  ...more,
})
const release = (slot: string, number: number, more: Partial<Extract<Order, { type: 'ReleaseSlot' }>> = {}): Order => ({
  ...head(slot, number),
  ...{ type: 'ReleaseSlot', handle: handle(slot) },
  ...more,
})
const program = (number: number): Order => ({ ...head('u', number), type: 'Program', image: 'i' })
const probe = (number: number): Order => ({ ...head('u', number), type: 'Probe' })

const lab = async (
  more: Partial<OrdersOptions> & { readonly driver?: Partial<Driver>; readonly cleaningMs?: number } = {},
) => {
  const [clock, log, disk] = [handClock(), memoryLog(), memoryDisk()]
  const ledger = await openLedger({ disk, path: '/l', host: 'h1', clock, log, boot: 1 })
  const calls: string[] = []
  const driver: Driver = {
    name: 'd',
    discover: async () => [],
    prepare: async (_io, { uuid }) => void calls.push(`prepare ${uuid}`),
    release: async (_io, { uuid }) => void calls.push(`release ${uuid}`),
    ...more.driver,
  }
  const done: Entry[] = []
  const ended: unknown[] = []
  let changes = 0
  const policies = new Map(
    more.cleaningMs === undefined
      ? []
      : [['d', { driver: 'd', kind: 'command' as const, command: ['/x'] as [string], limitMs: more.cleaningMs }]],
  )
  const orders = new Orders({
    host: 'h1',
    boot: 1,
    ledger,
    clock,
    log,
    limits: DEFAULTS.limits,
    tracer: untraced,
    ended: (...outcome) => void ended.push(outcome),
    seen: async () => undefined,
    deviceOf: () => 'card',
    otherCard: () => null,
    shares: () => [],
    survivors: await Survivors.open({ tools: null, host: 'h1', clock, log, limitMs: 1 }),
    onDone: (entry) => void done.push(entry),
    changed: () => void changes++,
    tools: {
      drivers: new Map([['d', driver]]),
      io: recordedHostIo({}, 'h1'),
      images: filesOf(),
      tracer: untraced,
      look: async () => ({ driver: 'd', status: 'failed', error: 'no sysfs' }),
      keepFunctions: async () => undefined,
      cleaner: { policies, clean: async () => null },
      clock,
    },
    ...more,
  })
  const accept = async (...all: readonly Order[]) => {
    for (const one of all) {
      await orders.accept(one, { meant: null, sentAt: clock.now() })
      await quiet(40)
    }
  }
  return {
    ...{ clock, log, ledger, orders, calls, done, ended, accept, began: clock.now() },
    changes: () => changes,
    results: () => done.map(({ slot, number, result }) => [`${slot}${number}`, result]),
    said: (message: string) => log.said.filter((one) => one.message === message).map(({ detail }) => detail),
  }
}
const failed = (reason: string, final = false) => ({ status: 'failed', reason, final })
/** Work that ends when told, or with its signal. */
const gated = () => {
  const signals: AbortSignal[] = []
  const gates: PromiseWithResolvers<void>[] = []
  const work = (signal: AbortSignal, heeds = true): Promise<void> => {
    const gate = Promise.withResolvers<void>()
    signals.push(signal)
    gates.push(gate)
    if (heeds) signal.addEventListener('abort', () => gate.reject(signal.reason as Error), { once: true })
    return gate.promise
  }
  const pass = async (at = 0) => {
    gates[at]!.resolve()
    await quiet(40)
  }
  return { work, signals, pass }
}

test('an order is noted before its driver is called, and its result after it', async () => {
  const { work, pass } = gated()
  const it = await lab({ driver: { prepare: (_io, _slot, signal) => work(signal) } })
  await it.accept(prepare('a', 4))
  const noted = {
    ...{ slot: 'a', number: 4, type: 'PrepareSlot', driver: 'd', deployable: 'h1_card', deployableUuid: 'u' },
    ...{ handle: handleKey(handle('a')), arq: 'request', startedAt: it.began, sent: false, prepared: true },
  }
  expect(it.ledger.get('a')).toEqual({ ...noted, state: 'in-hand', finishedAt: it.began })
  expect([it.orders.inHand, it.done, it.ended]).toEqual([1, [], []])
  await it.clock.pass(250)
  await pass()
  const entry = { ...noted, state: 'done', finishedAt: it.began + 250, result: { status: 'done' } }
  expect([it.ledger.get('a'), it.done, it.ended]).toEqual([entry, [entry], [['PrepareSlot', 'done', 250]]])
  expect([it.orders.inHand, it.changes()]).toEqual([0, 0])
})

test.each<[string, Order, boolean]>([
  ['a preparation with an image', prepare('a', 1, { bitstream: 'i' }), true],
  ['a preparation that expects an image', prepare('a', 1, { expects: 'i' }), true],
  ['a preparation without an image', prepare('a', 1), false],
  ['a release', release('a', 1), false],
  ['a programming', program(1), true],
  ['a probe', probe(1), true],
])('after %s that failed the inventory is looked at anew only where it may have changed', async (_, order, changes) => {
  const fails = () => Promise.reject(new Error('no'))
  const it = await lab({ driver: { prepare: fails, release: fails, program: fails } })
  await it.accept(order)
  expect(it.done[0]!.result?.status).toBe('failed')
  expect([it.changes(), it.ended]).toEqual([changes ? 1 : 0, [[order.type, 'failed', 0]]])
  const { slot, number, type } = order
  expect(it.said('order.failed')).toEqual([{ slot, number, type, reason: expect.stringMatching(/^no( sysfs)?$/) }])
})
test.each<[unknown, string]>([
  [new Error('no'), 'no'],
  [new Error(''), 'failed without a reason'],
  ['text', 'text'],
])('a driver that fails is told with its reason: case %#', async (thrown, reason) => {
  const it = await lab({ driver: { prepare: () => Promise.reject(thrown) } })
  await it.accept(prepare('a', 1))
  expect(it.results()).toEqual([['a1', failed(reason)]])
})

describe('a newer order', () => {
  test('ends the one in hand with its number, waits for its end, and is the only one that is told', async () => {
    const { work, signals, pass } = gated()
    const it = await lab({ driver: { prepare: (_io, _slot, signal) => work(signal, false) } })
    await it.accept(prepare('a', 1), release('a', 2))
    expect([it.calls, (signals[0]!.reason as Error).message]).toEqual([[], 'order 2 for the same slot came after it'])
    await pass()
    expect([it.results(), it.calls]).toEqual([[['a2', { status: 'done' }]], ['release a']])
    expect(it.ended).toEqual([
      ['PrepareSlot', 'superseded', 0],
      ['ReleaseSlot', 'done', 0],
    ])
    expect(it.said('order.superseded')).toEqual([{ slot: 'a', number: 1, status: 'done' }])
    expect(it.orders.inHand).toBe(0)
  })
  test('is noted as it was given, whatever became of the older ones', async () => {
    const it = await lab()
    await it.accept(
      prepare('a', 3),
      prepare('a', 2),
      prepare('a', 3),
      release('a', 3),
      prepare('a', 3, { arq: 'other' }),
    )
    expect(it.calls).toEqual(['prepare a'])
    expect(it.results()).toEqual([
      ['a3', { status: 'done' }],
      ['a3', { status: 'done' }],
    ])
    expect(it.said('order.older')).toEqual([{ slot: 'a', number: 2, type: 'PrepareSlot', last: 3 }])
    expect(it.said('order.numberUsed')).toEqual([
      { slot: 'a', number: 3, type: 'ReleaseSlot', recorded: 'PrepareSlot' },
      { slot: 'a', number: 3, type: 'PrepareSlot', recorded: 'PrepareSlot' },
    ])
  })
})

test('an order for a card is not carried out on another one that has its place, and cleans nothing there', async () => {
  const card = (number: string): Card => ({ kind: {}, marks: { serial_number: number } })
  const atlas = new Atlas()
  const found = { name: 'h1_card', handles: [] }
  const device = { controlPath: { type: 'PCI', info: 'x' }, deployables: [found], card: card('a') }
  atlas.note({ driver: 'd', status: 'ok', devices: [device as unknown as ReportedDevice] })
  const { accept, calls, results } = await lab({ otherCard: atlas.otherCard })
  const other = { card: card('b') }
  await accept(release('s', 1, { ...other, clean: true }), release('t', 1, { card: card('a') }), release('u', 1))
  await accept(prepare('v', 1, other))
  expect(calls).toEqual(['release t', 'release u'])
  // a release is worth another try when the control knows where the card is, a preparation is not
  const reason = 'another card is in the place of h1_card'
  expect([results()[0], results().at(-1)]).toEqual([
    ['s1', failed(reason, false)],
    ['v1', failed(reason, true)],
  ])
})

describe('a wait for the device', () => {
  test('until its driver has been seen ends with the time of the order, of a release with its limit', async () => {
    const it = await lab({ seen: () => new Promise(() => undefined) })
    await it.accept(prepare('a', 1), prepare('b', 1, { deadline: it.began + 10 }), release('c', 1, { deadline: 1 }))
    await it.clock.pass(11)
    expect(it.results()).toEqual([['b1', failed('the device was busy for 11 ms')]])
    await it.clock.pass(60_000)
    expect(it.results().slice(1)).toEqual([
      ['a1', failed('the device was busy for 60000 ms')],
      ['c1', failed('the device was busy for 60000 ms')],
    ])
    expect(it.calls).toEqual([])
  })
  test('on which another order works ends likewise, and names it', async () => {
    const { work, pass } = gated()
    const it = await lab({
      driver: { prepare: (_io, { uuid }, signal) => (it.calls.push(uuid), work(signal, false)) },
      deviceOf: (_driver, deployable) => (deployable === 'h1_card' ? 'card' : null),
    })
    await it.accept(prepare('a', 1), prepare('b', 1), prepare('c', 1, { deployable: 'h1_other' }))
    expect(it.calls).toEqual(['a', 'c'])
    await it.clock.pass(60_001)
    expect(it.results()).toContainEqual(['b1', failed('card was busy for 60000 ms')])
    await pass()
    await it.accept(prepare('b', 2))
    expect(it.calls).toEqual(['a', 'c', 'b'])
  })
  test('is over when the functions turn out to be the same hardware', async () => {
    const seen = Promise.withResolvers<void>()
    let isKnown = false
    const it = await lab({
      seen: () => seen.promise,
      shares: (own) => (isKnown ? [own.replace(/.$/, own.endsWith('0') ? '1' : '0')] : []),
    })
    await it.accept(prepare('a', 1, {}, '0'), prepare('b', 1, {}, '1'))
    isKnown = true
    seen.resolve()
    await quiet(40)
    const reason =
      '0000:af:00.1, which is the same hardware as 0000:af:00.0, is prepared for slot b of accelerator request request since order 1, and is not given to a second slot'
    expect([it.results(), it.calls]).toEqual([
      [
        ['a1', failed(reason, true)],
        ['b1', { status: 'done' }],
      ],
      ['prepare b'],
    ])
  })
})

describe('an order that takes too long', () => {
  test.each<[string, Order, number, object]>([
    ['a preparation', prepare('a', 1), 60_000, {}],
    ['a release', release('a', 1), 60_000, {}],
    ['a release that is cleaned', release('a', 1), 65_000, { cleaningMs: 5000 }],
    ['a programming', program(1), 540_000, {}],
  ])('as %s is told to end after its limit', async (_, order, limitMs, more) => {
    const { work, signals } = gated()
    const it = await lab({
      ...more,
      driver: {
        prepare: (_io, _slot, signal) => work(signal),
        release: (_io, _slot, signal) => work(signal),
        program: (_io, _card, _path, signal) => work(signal),
      },
    })
    await it.accept({ ...order, deadline: it.began + 1e9 })
    await it.clock.pass(limitMs - 1)
    expect([it.done, signals[0]!.aborted]).toEqual([[], false])
    await it.clock.pass(1)
    expect(it.done.map(({ result }) => result)).toEqual([failed(`took longer than ${limitMs} ms`)])
  })
  test('and does not end then either is given up after the grace, and its device stays taken', async () => {
    const { work, pass } = gated()
    const it = await lab({ driver: { prepare: (_io, _slot, signal) => work(signal, false) } })
    await it.accept(prepare('a', 1))
    await it.clock.pass(64_999)
    expect(it.done).toEqual([])
    await it.clock.pass(1)
    expect(it.results()).toEqual([['a1', failed('took longer than 60000 ms')]])
    await it.accept(release('b', 1))
    await it.clock.pass(59_000)
    expect(it.calls).toEqual([])
    await pass()
    expect(it.calls).toEqual(['release b'])
  })
})

describe('a stop', () => {
  test('lets orders end in time, takes no further ones, and tells what has ended', async () => {
    const { work, pass } = gated()
    const it = await lab({ driver: { prepare: (_io, _slot, signal) => work(signal) } })
    await it.accept(prepare('a', 1))
    const stopped = it.orders.stop(5000)
    await expect(it.accept(prepare('b', 1))).rejects.toThrow('the host stops')
    await pass()
    await stopped
    expect([it.results(), it.ledger.get('b')]).toEqual([[['a1', { status: 'done' }]], undefined])
  })
  test('ends orders that do not end in time; they stay in hand, and nothing of them is told', async () => {
    const { work, signals } = gated()
    const it = await lab({ driver: { program: (_io, _card, _path, signal) => work(signal) } })
    await it.accept(program(1))
    const stopped = it.orders.stop(5000)
    await it.clock.pass(4999)
    expect(signals[0]!.aborted).toBe(false)
    await it.clock.pass(1)
    await stopped
    expect([(signals[0]!.reason as Error).message, it.done, it.changes()]).toEqual(['the host stops', [], 0])
    expect([it.ledger.get('u')?.state, it.ended]).toEqual(['in-hand', [['Program', 'stopped', 5000]]])
  })
  test('at once waits for nothing', async () => {
    const { work, signals } = gated()
    const it = await lab({ driver: { prepare: (_io, _slot, signal) => work(signal, false) } })
    await it.accept(prepare('a', 1))
    await it.orders.stop(0)
    expect(signals[0]!.aborted).toBe(true)
  })
})

test('as many orders as allowed are in hand; a further one comes again, and answers cost nothing', async () => {
  const { work, pass } = gated()
  const it = await lab({
    limits: { ...DEFAULTS.limits, inHandMax: 2 },
    driver: { prepare: (_io, _slot, signal) => work(signal) },
  })
  await it.accept(prepare('a', 1), prepare('b', 1))
  await expect(it.accept(prepare('c', 1))).rejects.toThrow('2 orders are in hand')
  await it.accept(prepare('a', 1))
  let isIdle = false
  void it.orders.idle().then(() => (isIdle = true))
  await pass(0)
  expect([isIdle, it.orders.inHand]).toEqual([false, 1])
  await pass(1)
  expect([isIdle, it.orders.inHand]).toEqual([true, 0])
})

test('FENCE-4 a release takes the slots with it that it names, but those with an order in hand', async () => {
  const { work, signals } = gated()
  const calls: string[] = []
  const it = await lab({
    deviceOf: (_driver, deployable) => deployable,
    driver: {
      release: async (_io, { uuid }, signal) => (calls.push(uuid), uuid === 'd' ? work(signal) : undefined),
    },
  })
  await it.accept(prepare('a', 1, {}, '0'))
  for (const slot of ['b', 'c', 'd']) await it.ledger.write({ ...it.ledger.get('a')!, slot, number: 9 })
  await it.accept(release('d', 10, { deployable: 'h1_other', handle: handle('0') }))
  await it.accept(release('a', 2, { handle: handle('0'), also: ['b', 'd', 'elsewhere'] }))
  expect([signals.length, calls]).toEqual([1, ['d', 'b', 'a']])
  expect(['a', 'b', 'c', 'd'].map((slot) => it.ledger.get(slot)?.prepared)).toEqual([false, false, true, true])
})

test('the work on an order is a part of its trace, which its entry and its driver go on with', async () => {
  const parts: unknown[] = []
  const tracer: Tracer = {
    ...untraced,
    part: (...given) => ({
      trace: '00-own-01',
      end: (...how) => void parts.push([...given, ...how]),
    }),
  }
  const it = await lab({ tracer })
  await it.accept(prepare('a', 1, { trace: '00-cause-01' }), prepare('b', 1, { trace: '00-cause-02' }, 'a'))
  expect(it.ledger.get('a')?.trace).toBe('00-own-01')
  expect(parts).toEqual([
    ['consumer', 'order PrepareSlot', '00-cause-01', undefined, { 'accelerando.outcome': 'done' }],
    [
      ...['consumer', 'order PrepareSlot', '00-cause-02', expect.stringContaining('is prepared for slot a')],
      { 'accelerando.outcome': 'failed' },
    ],
  ])
})

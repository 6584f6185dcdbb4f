import { randomBytes, randomUUID } from 'node:crypto'
import { createRequire } from 'node:module'
import { describe, expect, test } from 'vitest'
import type { InProcessOptions } from '../../src/bus/inProcess/inProcess.ts'
import { inProcessBus } from '../../src/bus/inProcess/inProcess.ts'
import { partitionOf } from '../../src/bus/murmur2.ts'
import type { Delivered } from '../../src/bus/port.ts'
import { systemClock } from '../../src/vocabulary/clock.ts'
import { busContract } from '../contracts/bus.contract.ts'
import { handClock, quiet } from '../support/lab.ts'

busContract('in process', async (limits) =>
  inProcessBus({ clock: systemClock, retry: { firstMs: 2, maxMs: 20 }, ...limits }),
)

const TOPIC = 'host.reports.v1'
const say = (key: string, value: string | number) => ({ topic: TOPIC, key, value: String(value), headers: {} })
const SMALL = { room: { count: 4, bytes: 1e6 }, retain: { count: 2, bytes: 1e6 } }

const start = (options: Partial<InProcessOptions> = {}) => {
  const clock = handClock()
  const bus = inProcessBus({ clock, partitions: 1, ...options })
  const listen = async (group: string, taking?: (message: Delivered) => Promise<void>, window = 1) => {
    const heard: string[] = []
    const take = async (message: Delivered): Promise<void> => {
      await taking?.(message)
      heard.push(`${message.key}${message.value}`)
    }
    return { heard, ...(await bus.consume({ topic: TOPIC, group, from: 'earliest', take, window })) }
  }
  return { clock, bus, listen }
}
const never = () => new Promise<void>(() => {})

test('a key lands on the partition that Kafka gives it', () => {
  const load = createRequire(import.meta.url)
  const kafka = load('kafkajs').Partitioners.DefaultPartitioner()
  const partitionMetadata = Array.from({ length: 12 }, (_, partitionId) => ({ partitionId, leader: 1 }))
  const keys = [
    '',
    'a',
    'host-1',
    'grüße',
    '✓✓✓',
    ...Array.from({ length: 300 }, () => randomUUID()),
    ...Array.from({ length: 200 }, (_, size) => randomBytes(size % 40).toString('base64')),
  ]
  for (const key of keys)
    expect(partitionOf(key, 12)).toBe(
      kafka({ topic: 't', partitionMetadata, message: { key: Buffer.from(key), value: null } }),
    )
})

test('INPROCESS-2 each of two members of a group takes only the partition of its own key', async () => {
  const { bus } = start({ partitions: 12 })
  const [one, other] = ['a', 'b'] as const
  expect(partitionOf(one, 12)).not.toBe(partitionOf(other, 12))
  const heard: string[] = []
  const member = (onlyKey: string, name: string) =>
    bus.consume({
      topic: TOPIC,
      group: 'shared',
      from: 'earliest',
      onlyKey,
      take: async ({ key, value }) => void heard.push(`${name} took ${key}${value}`),
    })
  await member(one, 'first')
  const second = await member(other, 'second')
  await bus.publish([say(one, 1), say(other, 1), say(one, 2), say(other, 2)])
  await quiet()
  expect(heard.toSorted()).toEqual(['first took a1', 'first took a2', 'second took b1', 'second took b2'])
  // what nobody of the group takes any more waits for the next member with its key
  await second.stop()
  await bus.publish([say(one, 3), say(other, 3)])
  await quiet()
  expect(heard.slice(4)).toEqual(['first took a3'])
  await member(other, 'third')
  await quiet()
  expect(heard.slice(5)).toEqual(['third took b3'])
  await bus.stop()
})

describe('bounds', () => {
  test('BUS-5 publish waits while a reader is behind, in turn, and goes on when it has read', async () => {
    const { bus, listen, clock } = start({ room: SMALL })
    let open = never()
    const gates: (() => void)[] = []
    open = new Promise((resolve) => gates.push(resolve))
    const { heard } = await listen('slow', () => open)
    await bus.publish([1, 2, 3, 4].map((number) => say('k', number)))
    const stored: number[] = []
    const waiting = [
      bus.publish([say('k', 5), say('k', 6)]).then(() => stored.push(6)),
      bus.publish([say('k', 7)]).then(() => stored.push(7)),
    ]
    await quiet()
    expect(stored).toEqual([])
    gates[0]!()
    await Promise.all(waiting)
    await clock.pass(1)
    expect(stored).toEqual([6, 7])
    expect(heard).toEqual(['k1', 'k2', 'k3', 'k4', 'k5', 'k6', 'k7'])
  })

  test('BUS-5 publish rejects when there is no room in time, and leaves its place in the queue', async () => {
    const { bus, listen, clock } = start({ room: SMALL, publishTimeoutMs: 1000 })
    await listen('stuck', never)
    await bus.publish([1, 2, 3, 4].map((number) => say('k', number)))
    const late = expect(bus.publish([say('k', 5)])).rejects.toThrow('no room on the bus within 1000 ms')
    await clock.pass(1001)
    await late
    bus.kill('stuck')
    await bus.publish([say('k', 6)])
    const { heard } = await listen('fresh')
    await quiet()
    expect(heard).not.toContain('k5')
    expect(heard.at(-1)).toBe('k6')
  })

  test('PARTITION-3 a group that is gone does not block the others: it loses the oldest', async () => {
    const { bus, listen } = start({ room: SMALL })
    const gone = await listen('gone', never)
    const alive = await listen('alive')
    bus.kill('gone')
    for (const number of [1, 2, 3, 4, 5, 6, 7, 8]) {
      await bus.publish([say('k', number)])
      await quiet()
    }
    expect(alive.heard).toHaveLength(8)
    expect(gone.heard).toEqual([])
    const back = await listen('gone')
    await quiet()
    expect(back.heard.at(-1)).toBe('k8')
    expect(back.heard.length).toBeLessThan(8)
  })

  test('CURSOR-1 a group that lost its oldest messages is at the first that it has not taken', async () => {
    const { bus, listen } = start({ room: SMALL })
    await listen('gone', async ({ value }) => (value === '1' ? never() : undefined), 10)
    await bus.publish([say('hangs', 1), say('k', 2), say('k', 3), say('k', 4)])
    await quiet()
    expect(bus.lag(TOPIC, 'gone')).toBe(4)
    bus.kill('gone')
    await bus.publish([say('k', 5)])
    await listen('gone', never)
    await quiet()
    expect(bus.lag(TOPIC, 'gone')).toBe(1)
  })

  test('PARTITION-2 what all have read is kept up to the limit only, and what nobody reads too', async () => {
    const { bus, listen } = start({ room: SMALL })
    await bus.publish([1, 2, 3, 4, 5, 6, 7, 8, 9].map((number) => say('k', number)))
    const { heard } = await listen('late')
    await quiet()
    expect(heard).toEqual(['k8', 'k9'])
    expect(bus.lag(TOPIC, 'late')).toBe(0)
  })

  test('after a stop nothing is published, and who waits is told', async () => {
    const { bus, listen } = start({ room: SMALL })
    await listen('stuck', never)
    await bus.publish([1, 2, 3, 4].map((number) => say('k', number)))
    const waiting = expect(bus.publish([say('k', 5)])).rejects.toThrow('stopped')
    bus.kill('stuck')
    const other = bus.stop()
    await waiting.catch(() => {})
    await other
    await expect(bus.publish([say('k', 6)])).rejects.toThrow('stopped')
  })
})

describe('a killed member', () => {
  test('CURSOR-4 what it had in hand comes to the next one, and its late success does not count', async () => {
    const { bus, listen, clock } = start()
    const gates: (() => void)[] = []
    const first = await listen('group', () => new Promise((resolve) => gates.push(resolve)))
    await bus.publish([say('k', 1), say('k', 2)])
    await quiet()
    bus.kill('group')
    let fails = true
    const second = await listen('group', async () => {
      if (fails) throw new Error('not yet')
    })
    await quiet()
    gates[0]!()
    await quiet()
    expect(first.heard).toEqual(['k1'])
    expect(bus.lag(TOPIC, 'group')).toBe(2)
    fails = false
    await second.stop()
    const third = await listen('group')
    await bus.publish([say('k', 3)])
    await clock.pass(5000)
    expect(third.heard).toEqual(['k1', 'k2', 'k3'])
  })
})

describe('trouble for a simulation', () => {
  const keys = ['a', 'b', 'c']
  const batch = Array.from({ length: 30 }, (_, number) => say(keys[number % 3]!, number))
  const ofKey = (heard: readonly string[], key: string) =>
    heard.filter((one) => one.startsWith(key)).map((one) => Number(one.slice(1)))

  test('another key may come first; the order of a key stays', async () => {
    let turn = 0
    const { bus, listen } = start({ mangle: (candidates) => ({ index: turn++ % candidates.length }) })
    const { heard } = await listen('group')
    await bus.publish(batch)
    await quiet(100)
    expect(heard).toHaveLength(30)
    expect(heard).not.toEqual(batch.map(({ key, value }) => `${key}${value}`))
    for (const key of keys) expect(ofKey(heard, key)).toEqual(ofKey(heard, key).toSorted((x, y) => x - y))
  })

  test('a delayed message holds back its own key only, in a window too', async () => {
    for (const window of [1, 8]) {
      const { bus, listen, clock } = start({
        mangle: ([first]) => ({ index: 0, ...(first!.value === '0' ? { delayMs: 500 } : {}) }),
      })
      const { heard } = await listen('group', undefined, window)
      await bus.publish(batch.slice(0, 6))
      await clock.pass(499)
      expect(heard).toEqual(['b1', 'c2', 'b4', 'c5'])
      await clock.pass(2)
      expect(heard.slice(4)).toEqual(['a0', 'a3'])
    }
  })

  test('a message may come once more, later', async () => {
    const { bus, listen, clock } = start({
      mangle: ([first]) => ({ index: 0, ...(first!.value === '1' ? { againAfterMs: 100 } : {}) }),
    })
    const { heard } = await listen('group')
    await bus.publish(batch.slice(0, 4))
    await clock.pass(99)
    expect(heard).toEqual(['a0', 'b1', 'c2', 'a3'])
    await clock.pass(2)
    expect(heard).toEqual(['a0', 'b1', 'c2', 'a3', 'b1'])
    expect(bus.lag(TOPIC, 'group')).toBe(0)
  })
})

test('CURSOR-2 CURSOR-3 a failed message comes again after a growing time; in a window its key waits for it', async () => {
  const { bus, listen, clock } = start({ retry: { firstMs: 100, maxMs: 300 } })
  let tries = 0
  const { heard } = await listen(
    'group',
    async ({ key, value }) => {
      if (key === 'a' && value === '1' && ++tries < 5) throw new Error('no')
    },
    2,
  )
  await bus.publish([say('a', 1), say('b', 2)])
  await quiet()
  await bus.publish([say('a', 3), say('b', 4)])
  await quiet()
  expect([tries, heard]).toEqual([1, ['b2', 'b4']])
  for (const [ms, expected] of [
    [100, 2],
    [200, 3],
    [300, 4],
    [299, 4],
    [1, 5],
  ] as const) {
    await clock.pass(ms)
    expect(tries).toBe(expected)
  }
  expect(heard).toEqual(['b2', 'b4', 'a1', 'a3'])
})

describe('who leaves', () => {
  const two = () => {
    const keys = Array.from({ length: 40 }, (_, at) => `k${at}`)
    const of = (partition: number) => keys.filter((key) => partitionOf(key, 2) === partition)
    return { first: of(0)[0]!, second: of(1)[0]!, third: of(1)[1]! }
  }
  test('leaves what is not begun to the other members, which need no new message to go on', async () => {
    const { bus, listen } = start({ partitions: 2 })
    const { first, second, third } = two()
    const one = await listen('shared', undefined, 10)
    const other = await listen('shared', never)
    await bus.publish([say(first, 1), say(second, 2), say(third, 3)])
    await quiet()
    expect(one.heard).toEqual([`${first}1`])
    void other.stop()
    await quiet()
    expect(one.heard).toEqual([`${first}1`, `${third}3`])
  })
  test('lets a publisher go on that waited for it', async () => {
    const { bus, listen } = start({ room: SMALL })
    const slow = await listen('slow', never)
    await bus.publish([1, 2, 3, 4].map((number) => say('k', number)))
    let stored = false
    const waiting = bus.publish([say('k', 5)]).then(() => (stored = true))
    await quiet()
    expect(stored).toBe(false)
    void slow.stop()
    await quiet()
    expect(stored).toBe(true)
    await waiting
  })
  test('twice takes nobody else along', async () => {
    const { bus, listen } = start()
    const [one, other] = [await listen('shared'), await listen('shared')]
    await one.stop()
    await one.stop()
    await bus.publish([say('k', 1)])
    await quiet()
    expect(other.heard).toEqual(['k1'])
  })
})

describe('a start of a consumer that keeps its own place', () => {
  const listenAt = (bus: ReturnType<typeof inProcessBus>, group: string, onlyKey: string, heard: string[] = []) =>
    bus.consume({
      topic: TOPIC,
      group,
      from: 'earliest',
      onlyKey,
      offsetStore: { from: null, moved: () => undefined },
      take: async ({ key, value }) => void heard.push(`${key}${value}`),
    })
  const lags = (bus: ReturnType<typeof inProcessBus>, ...groups: readonly string[]) =>
    groups.map((group) => bus.lag(TOPIC, group))
  test('replaces its own earlier group, and no other', async () => {
    const { bus, listen } = start()
    await (await listenAt(bus, 'a-1', 'a')).stop()
    await (await listenAt(bus, 'b-1', 'b')).stop()
    await (await listen('plain')).stop()
    await bus.publish([say('a', 1), say('a', 2)])
    expect(lags(bus, 'a-1', 'b-1', 'plain')).toEqual([2, 2, 2])
    const heard: string[] = []
    const again = await listenAt(bus, 'a-2', 'a', heard)
    await quiet()
    expect(heard).toEqual(['a1', 'a2'])
    expect(lags(bus, 'a-1', 'b-1', 'plain')).toEqual([0, 2, 2])
    await again.stop()
    await bus.publish([say('a', 3)])
    expect(lags(bus, 'a-1', 'a-2', 'b-1', 'plain')).toEqual([0, 1, 3, 3])
  })
  test('keeps a group of its own name, and one that still has members', async () => {
    const { bus } = start()
    const heard: string[] = []
    await bus.publish([say('a', 0)])
    const former = await listenAt(bus, 'a-1', 'a')
    await quiet()
    await former.stop()
    await bus.publish([say('a', 1)])
    const living = await listenAt(bus, 'a-1', 'a', heard)
    await quiet()
    await listenAt(bus, 'a-2', 'a')
    await bus.publish([say('a', 2)])
    await quiet()
    expect(heard).toEqual(['a1', 'a2'])
    await living.stop()
  })
  test('no longer holds what its earlier group had not read', async () => {
    const { bus, listen } = start({ room: SMALL })
    await (await listenAt(bus, 'a-1', 'a')).stop()
    await bus.publish([1, 2, 3].map((number) => say('a', number)))
    const reading = await listen('reads')
    await quiet()
    expect(reading.heard).toEqual(['a1', 'a2', 'a3'])
    const second = await listenAt(bus, 'a-2', 'a')
    await quiet()
    const late = await listen('late')
    await quiet()
    expect(late.heard).toEqual(['a2', 'a3'])
    await second.stop()
  })
})

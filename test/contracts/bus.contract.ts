/** What every bus keeps, whatever it is made of. A suite may share topics with others: keys and groups are its own. */
import { randomUUID } from 'node:crypto'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Bus, Delivered, StepAside, StoredOffset } from '../../src/bus/port.ts'
import type { BusRecord } from '../../src/wire/envelope.ts'
import { until } from '../support/lab.ts'

const TOPIC = 'host.orders.v1'

type Limits = { readonly stopTimeoutMs?: number }

export const busContract = (name: string, make: (limits?: Limits) => Promise<Bus>): void => {
  describe(`bus: ${name}`, () => {
    let bus: Bus
    let mark: string
    beforeEach(async () => {
      bus = await make()
      mark = randomUUID()
    })
    afterEach(() => bus.stop())

    const say = (key: string, value: string | number): BusRecord => ({
      topic: TOPIC,
      key: `${mark}/${key}`,
      value: JSON.stringify(value),
      headers: { mark },
    })
    const listen = async (
      group: string,
      options: { readonly onlyKey?: string; readonly window?: number } = {},
      from: 'earliest' | 'latest' = 'earliest',
    ) => {
      const heard: Delivered[] = []
      const take = async (message: Delivered): Promise<void> => {
        if (message.headers['mark'] === mark) heard.push(message)
      }
      const consumer = await bus.consume({ topic: TOPIC, group: `${mark}-${group}`, from, take, ...options })
      return { heard, stop: consumer.stop }
    }
    const values = (heard: readonly Delivered[], key?: string): unknown[] =>
      heard
        .filter((message) => key === undefined || message.key === `${mark}/${key}`)
        .map(({ value }) => JSON.parse(value))
    const numbers = (count: number, from = 0): number[] => Array.from({ length: count }, (_, index) => from + index)

    test('BUS-1 messages of a key arrive in the order of publishing, over many publishes', async () => {
      const { heard } = await listen('all')
      const keys = ['a', 'b', 'c', 'd', 'e']
      for (const number of numbers(20))
        await bus.publish(keys.flatMap((key) => [say(key, 2 * number), say(key, 2 * number + 1)]))
      await until(() => heard.length >= 200)
      await until(() => keys.every((key) => new Set(values(heard, key)).size === 40))
      // a publish that a broker's moment of weakness made twice comes twice
      for (const key of keys) expect([...new Set(values(heard, key))]).toEqual(numbers(40))
    })

    test('a record comes as it was published', async () => {
      const { heard } = await listen('all')
      await bus.publish([{ ...say('ä', 'grüße ✓'), headers: { mark, 'x-one': 'ü' } }])
      await until(() => heard.length === 1)
      expect(heard[0]).toMatchObject({
        topic: TOPIC,
        key: `${mark}/ä`,
        value: '"grüße ✓"',
        headers: { mark, 'x-one': 'ü' },
      })
      expect(heard[0]!.partition).toBeGreaterThanOrEqual(0)
    })

    test('each group gets every message; members of one group share them', async () => {
      const [one, two, lone] = [await listen('shared'), await listen('shared'), await listen('lone')]
      await bus.publish(numbers(100).map((number) => say(`k${number}`, number)))
      await until(() => lone.heard.length === 100 && one.heard.length + two.heard.length >= 100)
      const shared = [...one.heard, ...two.heard]
      expect(new Set(values(shared)).size).toBe(100)
      const partitions = (heard: readonly Delivered[]) => new Set(heard.map(({ partition }) => partition))
      expect(one.heard.length * two.heard.length).toBeGreaterThan(0)
      expect([...partitions(one.heard)].filter((index) => partitions(two.heard).has(index))).toEqual([])
    })

    test('BUS-2 who begins at the earliest gets what was published before, who begins at the latest does not', async () => {
      await bus.publish([say('k', 1)])
      const [early, late] = [await listen('early'), await listen('late', {}, 'latest')]
      await bus.publish([say('k', 2)])
      await until(() => early.heard.length === 2 && late.heard.length === 1)
      expect(values(late.heard)).toEqual([2])
    })

    test('BUS-2 a group that comes back goes on where it was', async () => {
      const first = await listen('again')
      await bus.publish(numbers(5).map((number) => say('k', number)))
      await until(() => first.heard.length === 5)
      await first.stop()
      await bus.publish(numbers(5, 5).map((number) => say('k', number)))
      const second = await listen('again', {}, 'latest')
      await until(() => values(second.heard).includes(9))
      // a message may come twice, none is left out
      expect(values(second.heard).slice(-5)).toEqual(numbers(5, 5))
    })

    test('BUS-3 one message of a key is in hand at a time, and several partitions are served at once', async () => {
      let [inHand, most, overlaps] = [0, 0, 0]
      const busy = new Set<string>()
      const take = async ({ key, headers }: Delivered): Promise<void> => {
        if (headers['mark'] !== mark) return
        if (busy.has(key)) overlaps++
        busy.add(key)
        most = Math.max(most, ++inHand)
        await new Promise((resolve) => setTimeout(resolve, 5))
        busy.delete(key)
        inHand--
        done++
      }
      let done = 0
      await bus.consume({ topic: TOPIC, group: `${mark}-slow`, from: 'earliest', take })
      await bus.publish(numbers(60).map((number) => say(`k${number % 20}`, number)))
      await until(() => done >= 60)
      expect(overlaps).toBe(0)
      expect(most).toBeGreaterThan(1)
    })

    test('BUS-3 with a window several of a partition are in hand, begun in order', async () => {
      const begun: unknown[] = []
      const open: (() => void)[] = []
      const take = async ({ value, headers }: Delivered): Promise<void> => {
        if (headers['mark'] !== mark) return
        begun.push(JSON.parse(value))
        await new Promise<void>((resolve) => open.push(resolve))
      }
      await bus.consume({ topic: TOPIC, group: `${mark}-wide`, from: 'earliest', window: 4, take })
      await bus.publish(numbers(6).map((number) => say('k', number)))
      await until(() => begun.length === 4)
      open[2]!()
      open[0]!()
      await until(() => begun.length >= 5)
      expect(begun.slice(0, 5)).toEqual(numbers(5))
      while (open.length > 0) {
        open.shift()!()
        await new Promise((resolve) => setTimeout(resolve, 2))
      }
    })

    test('BUS-6 a take that has stepped aside holds up nobody, and its message comes again when it fails', async () => {
      const heard: unknown[] = []
      const gate = Promise.withResolvers<void>()
      let bad = 0
      const take = async ({ value, headers }: Delivered, stepAside: StepAside): Promise<void> => {
        if (headers['mark'] !== mark) return
        if (value === '0' && ++bad === 1) {
          if (!stepAside()) throw new Error('there is room for it')
          await gate.promise
          throw new Error('not now')
        }
        heard.push(JSON.parse(value))
      }
      await bus.consume({ topic: TOPIC, group: `${mark}-aside`, from: 'earliest', window: 2, take })
      await bus.publish(numbers(30).map((number) => say('k', number)))
      await until(() => heard.length >= 29)
      expect([heard, bad]).toEqual([numbers(29, 1), 1])
      gate.resolve()
      await until(() => heard.length >= 30)
      expect([heard.at(-1), bad]).toEqual([0, 2])
    })

    test('BUS-4 with a window a take that fails keeps back later messages of its own key only', async () => {
      const heard: string[] = []
      let failing = true
      const take = async ({ key, value, headers, partition }: Delivered): Promise<void> => {
        if (headers['mark'] !== mark) return
        if (key.endsWith('/bad') && failing) throw new Error('not now')
        heard.push(`${partition} ${key.slice(mark.length + 1)} ${value}`)
      }
      await bus.publish([say('bad', 1), say('bad', 2), ...numbers(400).map((number) => say(`k${number}`, 0))])
      await bus.consume({ topic: TOPIC, group: `${mark}-narrow`, from: 'earliest', window: 4, take })
      await until(() => heard.length >= 400)
      failing = false
      await until(() => heard.length >= 402)
      expect(heard.slice(400).map((one) => one.split(' ').slice(1).join(' '))).toEqual(['bad 1', 'bad 2'])
    })

    test('BUS-4 a take that fails is tried again, in order, and other partitions go on', async () => {
      const heard: string[] = []
      let failures = 0
      const take = async ({ key, value, headers }: Delivered): Promise<void> => {
        if (headers['mark'] !== mark) return
        if (key.endsWith('/bad') && value === '1' && ++failures <= 3) throw new Error('not now')
        heard.push(`${key.slice(mark.length + 1)}${value}`)
      }
      await bus.consume({ topic: TOPIC, group: `${mark}-retry`, from: 'earliest', take })
      await bus.publish([say('bad', 1), say('bad', 2), ...numbers(30).map((number) => say(`k${number}`, 0))])
      await until(() => heard.length >= 32)
      expect(failures).toBe(4)
      expect(heard.filter((one) => one.startsWith('bad'))).toEqual(['bad1', 'bad2'])
    })

    test('what was in hand and failed at a stop comes to the next one of the group', async () => {
      let begun = 0
      const take = async ({ headers }: Delivered): Promise<void> => {
        if (headers['mark'] !== mark) return
        begun++
        throw new Error('going down')
      }
      const first = await bus.consume({ topic: TOPIC, group: `${mark}-down`, from: 'earliest', take })
      await bus.publish([say('k', 1), say('k', 2)])
      await until(() => begun > 0)
      await first.stop()
      const second = await listen('down')
      await until(() => second.heard.length >= 2)
      expect(values(second.heard)).toEqual([1, 2])
    })

    test('stop waits for the message in hand', async () => {
      const { promise, resolve } = Promise.withResolvers<void>()
      let [begun, ended] = [false, false]
      const take = async ({ headers }: Delivered): Promise<void> => {
        if (headers['mark'] !== mark) return
        begun = true
        await promise
        ended = true
      }
      const consumer = await bus.consume({ topic: TOPIC, group: `${mark}-wait`, from: 'earliest', take })
      await bus.publish([say('k', 1)])
      await until(() => begun)
      setTimeout(resolve, 20)
      await consumer.stop()
      expect(ended).toBe(true)
    })

    test('a stop does not wait for ever for a message in hand, and may be told twice', async () => {
      const hurried = await make({ stopTimeoutMs: 50 })
      let begun = 0
      const take = async ({ headers }: Delivered): Promise<void> => {
        if (headers['mark'] !== mark) return
        begun++
        await new Promise(() => {})
      }
      const consumer = await hurried.consume({ topic: TOPIC, group: `${mark}-stuck`, from: 'earliest', take })
      await hurried.publish([say('k', 1), say('k', 2)])
      await until(() => begun === 1)
      // without the limit it would be ten seconds at the least
      let stopped = false
      const stop = async (): Promise<void> => {
        await Promise.all([consumer.stop(), consumer.stop()])
        await Promise.all([hurried.stop(), hurried.stop()])
        stopped = true
      }
      void stop()
      await until(() => stopped, 'the stop', 8000)
      expect(begun).toBe(1)
    })

    test('after its stop a bus takes nothing and gives nothing', async () => {
      const { heard } = await listen('ended')
      const other = await make()
      await bus.stop()
      await expect(bus.publish([say('k', 1)])).rejects.toThrow('the bus is stopped')
      await expect(listen('late')).rejects.toThrow('the bus is stopped')
      await other.publish([say('k', 2)])
      await other.stop()
      expect(heard).toEqual([])
    })

    test('a batch without messages is published at once', async () => {
      await expect(bus.publish([])).resolves.toBeUndefined()
    })

    test('a member with one key reads only the partition of that key', async () => {
      const { heard } = await listen('host', { onlyKey: `${mark}/host-1` })
      const everyone = await listen('everyone')
      await bus.publish(numbers(40).map((number) => say(`host-${number}`, number)))
      await until(() => everyone.heard.length === 40 && heard.some(({ key }) => key === `${mark}/host-1`))
      expect(new Set(heard.map(({ partition }) => partition)).size).toBe(1)
      const there = everyone.heard.filter(({ partition }) => partition === heard[0]!.partition)
      await until(() => heard.length === there.length)
      expect(values(heard)).toEqual(values(there))
    })

    const settle = async (group: string, from: StoredOffset | null) => {
      const heard: Delivered[] = []
      const places: StoredOffset[] = []
      const take = async (message: Delivered): Promise<void> => {
        if (message.headers['mark'] === mark) heard.push(message)
      }
      const place = { from, moved: (to: StoredOffset) => void places.push(to) }
      const asked = {
        topic: TOPIC,
        group: `${mark}-${group}`,
        from: 'earliest',
        onlyKey: `${mark}/k`,
        window: 8,
      } as const
      const { stop } = await bus.consume({ ...asked, offsetStore: place, take })
      return { heard, places, stop }
    }

    test('a consumer that keeps its own place goes on from there in a group that is new', async () => {
      const first = await settle('boot-1', null)
      await bus.publish(numbers(5).map((number) => say('k', number)))
      await until(() => first.places.at(-1)?.offset === (first.heard.at(4)?.offset ?? -1) + 1)
      expect(values(first.heard)).toEqual(numbers(5))
      expect(first.places.map(({ offset }) => offset)).toEqual(
        first.places.map(({ offset }) => offset).toSorted((a, b) => a - b),
      )
      await first.stop()
      await bus.publish(numbers(5, 5).map((number) => say('k', number)))
      const second = await settle('boot-2', first.places.at(-1)!)
      await until(() => second.heard.length === 5)
      expect(values(second.heard)).toEqual(numbers(5, 5))
      expect(second.places.at(-1)).toMatchObject({ bus: first.places[0]!.bus, partition: second.heard[0]!.partition })
    })

    test('a place of another bus or of another partition is not used, nor one past the end of everything', async () => {
      await bus.publish(numbers(3).map((number) => say('k', number)))
      const first = await settle('boot-1', null)
      await until(() => first.heard.length === 3 && first.places.length > 0)
      const place = first.places.at(-1)!
      const others = [
        { ...place, bus: 'another' },
        { ...place, partition: place.partition + 1 },
      ]
      for (const [index, other] of others.entries()) {
        const next = await settle(`other-${index}`, other)
        await until(() => next.heard.length === 3)
        expect(values(next.heard)).toEqual(numbers(3))
        await next.stop()
      }
      const ahead = await settle('ahead', { ...place, offset: place.offset + 1_000_000 })
      await bus.publish([say('k', 3)])
      await until(() => values(ahead.heard).includes(3))
    })

    test('a place is one partition of one key', async () => {
      const place = { from: null, moved: () => {} }
      const take = async (): Promise<void> => {}
      const asked = bus.consume({ topic: TOPIC, group: `${mark}-none`, from: 'earliest', offsetStore: place, take })
      await expect(asked).rejects.toThrow('onlyKey')
    })

    test('a tombstone is a record without a value', async () => {
      const { heard } = await listen('all')
      const record = { topic: TOPIC, key: `${mark}/gone`, headers: { mark } }
      await expect(bus.publish([{ ...record, value: 'x', tombstone: true }])).rejects.toThrow('tombstone')
      await bus.publish([{ ...record, value: '', tombstone: true }, say('gone', 1)])
      await until(() => heard.length === 2)
      expect(heard[0]).toMatchObject({ key: `${mark}/gone`, value: '', tombstone: true })
      expect(heard[1]).not.toHaveProperty('tombstone')
    })

    test('what no topic is for is refused, and nothing of the batch is stored', async () => {
      const { heard } = await listen('all')
      await expect(bus.publish([say('k', 1), { ...say('k', 2), topic: 'no.such.topic' }])).rejects.toThrow(
        'no.such.topic',
      )
      await expect(bus.publish([say('k', 'x'.repeat(1024 * 1024))])).rejects.toThrow(/message/)
      const none = (topic: string) => ({ ...say('k', 2), topic })
      await expect(bus.publish([say('k', 1), none('no.first'), none('no.second')])).rejects.toThrow('no.first')
      await bus.publish([say('k', 3)])
      await until(() => values(heard).includes(3))
      expect(values(heard)).toEqual([3])
    })
  })
}

/**
 * The limits of the bus within one process where nobody sets others: how much it keeps, how long it waits, and how far
 * it looks ahead.
 */
import { describe, expect, test } from 'vitest'
import { type InProcessOptions, inProcessBus } from '../../src/bus/inProcess/inProcess.ts'
import { ASIDE_MAX, type Delivered, type StepAside } from '../../src/bus/port.ts'
import { partitionOf } from '../../src/bus/murmur2.ts'
import { handClock, quiet } from '../support/lab.ts'

const TOPIC = 'host.reports.v1'
const MIB = 1024 * 1024
const say = (key: string, value = '') => ({ topic: TOPIC, key, value, headers: {} })
const never = () => new Promise<void>(() => {})
type Take = (message: Delivered, stepAside: StepAside) => Promise<void>

const start = (options: Partial<InProcessOptions> = {}) => {
  const hand = handClock()
  let timers = 0
  const clock = {
    ...hand,
    after: (ms: number, run: () => void) => {
      timers++
      let open = true
      const end = () => {
        if (open) timers--
        open = false
      }
      const cancel = hand.after(ms, () => {
        end()
        run()
      })
      return () => {
        end()
        cancel()
      }
    },
  }
  const bus = inProcessBus({ clock, ...options })
  const heard: Delivered[] = []
  const listen = (take: Take = async () => {}, window = 1, group = 'group') =>
    bus.consume({
      topic: TOPIC,
      group,
      from: 'earliest',
      window,
      take: (message, stepAside) => {
        heard.push(message)
        return take(message, stepAside)
      },
    })
  const lag = () => bus.lag(TOPIC, 'group')
  return { bus, clock, heard, listen, lag, timers: () => timers }
}
/** The milliseconds until it ends, well or badly; null: not within an hour. */
const endsAfter = async ({ clock }: ReturnType<typeof start>, work: Promise<unknown>) => {
  const begun = clock.now()
  let ended: number | null = null
  const end = () => void (ended = clock.now() - begun)
  void work.then(end, end)
  for (const ms of [...Array.from({ length: 60 }, () => 1000), 3_540_000]) if (ended === null) await clock.pass(ms)
  return ended
}

describe('a partition', () => {
  test('is one of twelve', async () => {
    const { bus, heard, listen } = start()
    await listen(undefined, 1000)
    const keys = Array.from({ length: 100 }, (_, n) => `host-${n}`)
    await bus.publish(keys.map((key) => say(key)))
    await quiet()
    const places = new Map(heard.map(({ key, partition }) => [key, partition]))
    expect(keys.map((key) => places.get(key))).toEqual(keys.map((key) => partitionOf(key, 12)))
    expect(new Set(places.values()).size).toBe(12)
  })
  test('takes 8192 messages that wait for a reader, and no more', async () => {
    const world = start()
    await world.listen(never)
    await world.bus.publish(Array.from({ length: 8192 }, () => say('k')))
    const refused = expect(world.bus.publish([say('k')])).rejects.toThrow('no room on the bus within 30000 ms')
    await world.clock.pass(30_000)
    await refused
    expect(world.lag()).toBe(8192)
  })
  test('takes 16 MiB that wait for a reader: the message that reaches them is the last', async () => {
    const world = start()
    await world.listen(never)
    // a message of one KiB less than half a MiB of characters, and one that fills up what is missing
    const large = 'x'.repeat((MIB - 400 - 2) / 2)
    for (let n = 0; n < 15; n++) await world.bus.publish([say('k', large)])
    await world.bus.publish([say('k', large.slice(1))])
    await world.bus.publish([say('k')])
    expect(await endsAfter(world, world.bus.publish([say('k')]))).toBe(30_000)
    expect(world.lag()).toBe(17)
  })
  test('keeps 512 messages, or one MiB, that nobody has to read any more', async () => {
    for (const [value, kept] of [
      ['', 512],
      ['x'.repeat((MIB / 4 - 400 - 2) / 2), 4],
      ['x'.repeat((MIB / 4 - 400) / 2), 3],
    ] as const) {
      const { bus, heard, listen } = start()
      for (let n = 0; n < 700; n++) await bus.publish([say('k', value)])
      await listen(undefined, 1000)
      await quiet(800)
      expect(heard).toHaveLength(kept)
    }
  })
})

describe('who waits', () => {
  test('a consumer that stops waits ten seconds for what is in hand', async () => {
    const world = start()
    const consumer = await world.listen(never)
    await world.bus.publish([say('k')])
    await quiet()
    expect(await endsAfter(world, consumer.stop())).toBe(10_000)
    expect(await endsAfter(world, consumer.stop())).toBe(10_000)
  })
  test('a consumer that stops ends with what is in hand, and at once when it has nothing or was killed', async () => {
    const world = start()
    const gates: (() => void)[] = []
    const hold = () => new Promise<void>((resolve) => gates.push(resolve))
    const [busy, idle] = [await world.listen(hold, 2), await world.listen(never, 1, 'idle')]
    await world.bus.publish([say('k'), say('k')])
    await quiet()
    expect(gates).toHaveLength(2)
    const stopping = busy.stop()
    let stopped = false
    void stopping.then(() => (stopped = true))
    gates[0]!()
    await quiet()
    expect(stopped).toBe(false)
    gates[1]!()
    await quiet()
    expect(stopped).toBe(true)
    expect(world.timers()).toBe(0)
    // nobody of that group reads the other topic
    await world.bus.publish([{ ...say('k'), topic: 'arq.events.v1' }])
    world.bus.kill('idle')
    world.bus.kill('nobody')
    expect([world.bus.lag('nowhere', 'idle'), world.bus.lag(TOPIC, 'nobody')]).toEqual([0, 0])
    expect(await endsAfter(world, idle.stop())).toBe(0)
    // whoever has stopped is not waited for again when the bus stops
    expect(await endsAfter(world, world.bus.stop())).toBe(0)
  })
  test('a message that fails comes again after 20 ms, then after twice as long, at most 2 s', async () => {
    const { bus, clock, heard, listen } = start()
    await listen(async () => {
      throw new Error('no')
    })
    await bus.publish([say('k')])
    await quiet()
    for (const [n, ms] of [20, 40, 80, 160, 320, 640, 1280, 2000, 2000].entries()) {
      await clock.pass(ms - 1)
      expect(heard).toHaveLength(n + 1)
      await clock.pass(1)
      expect(heard).toHaveLength(n + 2)
    }
  })
  test('a bus that stops waits for what is in hand, and tells the publishers that wait', async () => {
    const world = start({ partitions: 1, room: { room: { count: 1, bytes: MIB }, retain: { count: 1, bytes: MIB } } })
    let end = () => {}
    await world.listen(() => new Promise((resolve) => (end = resolve)))
    await world.bus.publish([say('k')])
    const told: string[] = []
    const publishing = world.bus.publish([say('k')]).catch((error: Error) => told.push(error.message))
    await quiet()
    const stopping = world.bus.stop().then(() => told.push('stopped'))
    await quiet()
    expect(told).toEqual(['the bus is stopped'])
    end()
    await Promise.all([publishing, stopping])
    expect(told).toEqual(['the bus is stopped', 'stopped'])
    expect(world.timers()).toBe(0)
  })
  test('nothing is left to be done when the bus has stopped', async () => {
    const { bus, clock, heard, listen, timers } = start()
    await listen(async () => {
      throw new Error('no')
    })
    await bus.publish([say('k')])
    await quiet()
    expect(timers()).toBe(1)
    await bus.stop()
    expect(timers()).toBe(0)
    await clock.pass(60_000)
    expect(heard).toHaveLength(1)
    await expect(listen()).rejects.toThrow('the bus is stopped')
    await expect(bus.publish([])).rejects.toThrow('the bus is stopped')
  })
})

describe('how far is looked ahead', () => {
  test('BUS-6 so many may step aside, and one that has ended makes room for another', async () => {
    const { bus, listen } = start({ partitions: 1 })
    const [answers, ends]: readonly [boolean[], (() => void)[]] = [[], []]
    await listen((_, stepAside) => {
      answers.push(stepAside())
      answers.push(stepAside())
      return new Promise((resolve) => ends.push(resolve))
    }, 2)
    await bus.publish(Array.from({ length: ASIDE_MAX + 5 }, () => say('k')))
    await quiet(400)
    // two more are in hand, which may not
    expect(answers.map(Number).join('')).toBe(`${'1'.repeat(2 * ASIDE_MAX)}0000`)
    ends[0]!()
    await quiet(5)
    expect(answers).toHaveLength(2 * ASIDE_MAX + 4)
    ends[ASIDE_MAX]!()
    await quiet(5)
    expect(answers.slice(2 * ASIDE_MAX + 4)).toEqual([true, true, false, false])
  })
})

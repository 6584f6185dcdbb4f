/** One partition in the hands of one member of a group on Kafka. */
import { createRequire } from 'node:module'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { Lane } from '../../src/bus/kafka/lane.ts'
import { mendTimer } from '../../src/bus/kafka/timer.ts'
import type { Delivered, StepAside } from '../../src/bus/port.ts'
import { handClock, quiet, until } from '../support/lab.ts'

const message = (offset: number, key = 'k'): Delivered => ({
  topic: 't',
  key,
  value: String(offset),
  headers: {},
  partition: 0,
  offset,
})
const open = (window: number) => {
  const clock = handClock()
  const begun: number[] = []
  const ends = new Map<number, { readonly ok: () => void; readonly fail: () => void }>()
  const positions: number[] = []
  const asides = new Map<number, StepAside>()
  const take = ({ offset }: Delivered, stepAside: StepAside): Promise<void> => {
    begun.push(offset)
    asides.set(offset, stepAside)
    return new Promise((ok, fail) => ends.set(offset, { ok, fail: () => fail(new Error('no')) }))
  }
  const retry = { firstMs: 100, maxMs: 300 }
  const moved = (): void => void positions.push(lane.position)
  const lane: Lane = new Lane({ clock, window, retry, take, failed: () => {}, moved })
  const end = async (offset: number, how: 'ok' | 'fail' = 'ok'): Promise<void> => {
    ends.get(offset)![how]()
    await quiet()
  }
  const aside = (offset: number): boolean => asides.get(offset)!()
  return { clock, lane, begun, positions, end, aside }
}

describe('a lane', () => {
  test('CURSOR-1 the position is the oldest that is not taken, and goes over what a compacted topic lacks', async () => {
    const { lane, begun, positions, end } = open(3)
    lane.put([message(4), message(9), message(10)], 20)
    await quiet()
    expect([begun, lane.position]).toEqual([[4, 9, 10], 4])
    await end(9)
    await end(4)
    await end(10)
    expect(positions).toEqual([4, 10, 20])
    expect(lane.size).toEqual({ count: 0, bytes: 0 })
  })
  test('what it has already is passed over when it comes again', async () => {
    const { lane, begun, end } = open(1)
    lane.put([message(1), message(2)], 3)
    await quiet()
    await end(1)
    lane.put([message(1), message(2), message(3)], 4)
    await quiet()
    await end(2)
    await end(3)
    expect([begun, lane.position]).toEqual([[1, 2, 3], 4])
  })
  test('CURSOR-2 with a window of one nothing is begun while one waits for its next try, whose time grows', async () => {
    const { clock, lane, begun, end } = open(1)
    lane.put([message(1, 'a'), message(2, 'b')], 3)
    await quiet()
    for (const ms of [100, 200, 300, 300]) {
      await end(1, 'fail')
      await clock.pass(ms - 1)
      expect(begun.at(-1)).toBe(1)
      const before = begun.length
      await clock.pass(1)
      expect(begun.length).toBe(before + 1)
    }
    await end(1)
    expect(begun.at(-1)).toBe(2)
  })
  test('CURSOR-3 with a window one that failed holds back its own key only', async () => {
    const { clock, lane, begun, end } = open(2)
    lane.put([message(1, 'a'), message(2, 'b'), message(3, 'a'), message(4, 'b')], 5)
    await quiet()
    await end(1, 'fail')
    await end(2)
    expect(begun).toEqual([1, 2, 4])
    await clock.pass(100)
    expect(begun).toEqual([1, 2, 4, 1])
    await end(1)
    expect(begun).toEqual([1, 2, 4, 1, 3])
  })
  test('CURSOR-5 messages that have stepped aside make room for others, and the position waits for them', async () => {
    const { lane, begun, end, aside } = open(2)
    lane.put([message(1, 'a'), message(2, 'a'), message(3, 'b'), message(4, 'c'), message(5, 'd')], 6)
    await quiet()
    expect(begun).toEqual([1, 2])
    expect([aside(1), aside(1), aside(2)]).toEqual([true, true, true])
    await quiet()
    expect(begun).toEqual([1, 2, 3, 4])
    await end(3)
    await end(4)
    expect([begun, lane.position, lane.inHand]).toEqual([[1, 2, 3, 4, 5], 1, 3])
    await end(2, 'fail')
    await end(1)
    expect([lane.position, aside(1), lane.inHand]).toEqual([2, false, 1])
  })
  test('CURSOR-5 a bounded number of them, and none with a window of one', async () => {
    const { lane, begun, aside } = open(2)
    lane.put(
      Array.from({ length: 400 }, (_, offset) => message(offset, `k${offset}`)),
      400,
    )
    let stepped = 0
    for (let offset = 0; offset < 400; offset++) {
      await quiet()
      if (!begun.includes(offset)) break
      if (aside(offset)) stepped++
    }
    expect([stepped, begun.length]).toEqual([256, 258])
    const narrow = open(1)
    narrow.lane.put([message(1), message(2)], 3)
    await quiet()
    expect([narrow.aside(1), narrow.begun]).toEqual([false, [1]])
  })
  test('with a window what comes later under the key of one that failed waits for it, other keys do not', async () => {
    const { clock, lane, begun, end } = open(4)
    lane.put([message(1, 'a')], 2)
    await quiet()
    await end(1, 'fail')
    lane.put([message(2, 'a'), message(3, 'b'), message(4, 'a')], 5)
    await quiet()
    expect(begun).toEqual([1, 3])
    await clock.pass(100)
    expect(begun).toEqual([1, 3, 1])
    await end(3)
    expect([begun, lane.position]).toEqual([[1, 3, 1], 1])
    await end(1)
    expect(begun).toEqual([1, 3, 1, 2, 4])
  })
  test('closed, it begins nothing more, and is done when nothing is in hand', async () => {
    const { clock, lane, begun, end } = open(2)
    lane.put([message(1), message(2), message(3)], 4)
    await quiet()
    await end(1, 'fail')
    let done = false
    void lane.close().then(() => (done = true))
    await clock.pass(1000)
    expect([begun, done]).toEqual([[1, 2], false])
    await end(2)
    expect([begun, done, lane.position]).toEqual([[1, 2], true, 1])
  })
  test('closed while nothing is in hand, it is done at once, also when something waits for its next try', async () => {
    const idle = open(1)
    await idle.lane.close()
    const { clock, lane, begun, end } = open(1)
    lane.put([message(1), message(2)], 3)
    await quiet()
    await end(1, 'fail')
    await lane.close()
    await clock.pass(1000)
    expect(begun).toEqual([1])
    lane.put([message(3)], 4)
    await quiet()
    expect(begun).toEqual([1])
  })
  test('closed with several in hand, it is done after the last of them, whatever comes of it', async () => {
    const { clock, lane, end, begun } = open(3)
    lane.put([message(1), message(2), message(3)], 4)
    await quiet()
    let done = false
    void lane.close().then(() => (done = true))
    await end(1)
    await end(2)
    expect([done, lane.inHand]).toEqual([false, 1])
    await end(3, 'fail')
    expect([done, lane.inHand, lane.position]).toEqual([true, 0, 3])
    await clock.pass(1000)
    expect(begun).toEqual([1, 2, 3])
  })
  test('it knows how much it has, and where it is, before anything came and when only gaps came', async () => {
    const { lane, end } = open(1)
    expect([lane.position, lane.next, lane.size, lane.inHand]).toEqual([-1, -1, { count: 0, bytes: 0 }, 0])
    lane.put([], 5)
    expect([lane.position, lane.next]).toEqual([5, 5])
    lane.put([{ ...message(5, 'ab'), value: 'abc' }, message(6)], 7)
    expect(lane.size).toEqual({ count: 2, bytes: 2 * 5 + 400 + 2 * 2 + 400 })
    lane.put([message(4)], 5)
    expect([lane.size.count, lane.next]).toEqual([2, 7])
    await quiet()
    expect(lane.inHand).toBe(1)
    await end(5)
    expect(lane.size).toEqual({ count: 1, bytes: 404 })
  })
  test('headers count as much as a value', () => {
    const { lane } = open(1)
    lane.put([{ ...message(1), headers: { name: 'x'.repeat(1000) } }], 2)
    expect(lane.size.bytes).toBe(2 * (2 + 'name'.length + 1000) + 400)
  })
  test('one that throws at once is one that failed, and is told with its error', async () => {
    const clock = handClock()
    const failures: string[] = []
    const failed = ({ offset }: Delivered, error: unknown): void => void failures.push(`${offset}: ${String(error)}`)
    const take = (): Promise<void> => {
      throw new Error('at once')
    }
    const lane = new Lane({ clock, window: 1, retry: { firstMs: 10, maxMs: 10 }, take, failed, moved: () => {} })
    lane.put([message(1)], 2)
    await clock.pass(10)
    expect(failures).toEqual(['1: Error: at once', '1: Error: at once'])
    await lane.close()
  })
})

describe('the timer of kafkajs', () => {
  afterEach(() => vi.restoreAllMocks())
  test('is mended in the version that is installed', () => expect(mendTimer()).toBe(true))
  type Queue = { readonly prototype: { readonly scheduleCheckPendingRequests: (this: object) => void } }
  const load = createRequire(import.meta.url)
  const { prototype } = load('kafkajs/src/network/requestQueue') as Queue
  const queue = (pending: number, throttledUntil: number) => {
    const made = { pending: Array(pending).fill(0), throttledUntil, throttleCheckTimeoutId: null, checks: 0 }
    const checkPendingRequests = (): void => void made.checks++
    const asked = Object.assign(made, { checkPendingRequests })
    prototype.scheduleCheckPendingRequests.call(asked)
    return asked
  }
  test('is not set while nothing waits', () => {
    expect(queue(0, -1).throttleCheckTimeoutId).toBeNull()
  })
  test('looks again in a moment when something waits, or when the time of a throttled broker is over', async () => {
    const [waiting, throttled, later] = [queue(1, -1), queue(0, Date.now() + 5), queue(1, Date.now() + 60_000)]
    await until(() => waiting.checks === 1 && throttled.checks === 1)
    expect([waiting.throttleCheckTimeoutId, throttled.throttleCheckTimeoutId]).toEqual([null, null])
    expect(later.checks).toBe(0)
    clearTimeout(later.throttleCheckTimeoutId!)
  })
  test('is set for ten milliseconds, or for what is left of the time of a throttled broker', () => {
    vi.spyOn(Date, 'now').mockReturnValue(1000)
    const set = vi.spyOn(globalThis, 'setTimeout').mockReturnValue(7 as never)
    const asked = (
      [
        [1, 900],
        [1, 1000],
        [0, 1000],
        [0, 1001],
        [1, 1500],
      ] as const
    ).map(([pending, until]) => queue(pending, until))
    expect(set.mock.calls.map(([, ms]) => ms)).toEqual([10, 10, 1, 500])
    expect(asked.map(({ throttleCheckTimeoutId }) => throttleCheckTimeoutId)).toEqual([7, 7, null, 7, 7])
  })
  test('is set once', () => {
    const asked = queue(1, Date.now() + 60_000)
    const first: unknown = asked.throttleCheckTimeoutId
    prototype.scheduleCheckPendingRequests.call(asked)
    expect(asked.throttleCheckTimeoutId).toBe(first)
    clearTimeout(asked.throttleCheckTimeoutId!)
  })
})

/** One partition in the hands of one member of a group on Kafka. */
import { describe, expect, test } from 'vitest'
import { Lane } from '../../src/bus/kafka/lane.ts'
import { mendTimer } from '../../src/bus/kafka/timer.ts'
import type { Delivered } from '../../src/bus/port.ts'
import { handClock, quiet } from '../support/lab.ts'

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
  const take = ({ offset }: Delivered): Promise<void> => {
    begun.push(offset)
    return new Promise((ok, fail) => ends.set(offset, { ok, fail: () => fail(new Error('no')) }))
  }
  const retry = { firstMs: 100, maxMs: 300 }
  const moved = (): void => void positions.push(lane.position)
  const lane: Lane = new Lane({ clock, window, retry, take, failed: () => {}, moved })
  const end = async (offset: number, how: 'ok' | 'fail' = 'ok'): Promise<void> => {
    ends.get(offset)![how]()
    await quiet()
  }
  return { clock, lane, begun, positions, end }
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
    expect(begun).toEqual([1, 2])
    await clock.pass(100)
    expect(begun).toEqual([1, 2, 1])
    await end(1)
    expect(begun).toEqual([1, 2, 1, 3, 4])
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
})

test('the installed kafkajs is the one whose timer is mended', () => expect(mendTimer()).toBe(true))

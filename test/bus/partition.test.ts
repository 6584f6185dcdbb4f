/** What one partition in memory keeps, forgets and makes wait, message by message. */
import { describe, expect, test } from 'vitest'
import { Partition, type Room } from '../../src/bus/inProcess/partition.ts'

/** Each weighs 404 bytes and two for each character of its value. */
const say = (value: string | number) => ({ topic: 't', key: 'k1', value: String(value), headers: { h: '1' } })
const wide = (count: number) => ({ count, bytes: 1e6 })
const opened = (room: Room) => {
  const partition = new Partition('t', 3, room)
  const told: string[] = []
  const put = (...values: readonly (string | number)[]) =>
    partition.put({ records: values.map(say), stored: () => told.push(`stored ${values.join(' ')}`) })
  const reader = (name: string, live = true) => {
    const one = { position: 0, live, wake: () => void told.push(`${name} wakes`) }
    partition.join(one)
    return {
      reads: (position: number) => {
        one.position = position
        partition.moved()
      },
      dies: () => void (one.live = false),
      leaves: () => partition.leave(one),
    }
  }
  /** What is kept, and what has been said since this was asked last. */
  const now = () => {
    const kept = Array.from({ length: partition.end - partition.base }, (_, n) => partition.at(partition.base + n)!)
    expect(partition.at(partition.end)).toBe(undefined)
    expect(partition.at(partition.base - 1)).toBe(undefined)
    return [kept.map(({ value, offset }) => `${offset}:${value}`).join(' '), ...told.splice(0)]
  }
  return { partition, put, reader, now }
}

test('a message is a copy of its record, with its place', () => {
  const { partition } = opened({ room: wide(4), retain: wide(4) })
  const record = say('a')
  partition.put({ records: [record], stored: () => {} })
  record.headers.h = '2'
  expect(partition.at(0)).toEqual({ topic: 't', key: 'k1', value: 'a', headers: { h: '1' }, partition: 3, offset: 0 })
  expect([partition.topic, partition.index]).toEqual(['t', 3])
})

describe('counted', () => {
  const ROOM: Room = { room: wide(4), retain: wide(2) }
  test('PARTITION-1 what a living reader has not read stays, and writers wait in turn, with what does not fit', () => {
    const { put, reader, now } = opened(ROOM)
    const one = reader('one')
    put('a', 'b', 'c')
    expect(now()).toEqual(['0:a 1:b 2:c', 'stored a b c', 'one wakes'])
    put('d', 'e', 'f')
    expect(now()).toEqual(['0:a 1:b 2:c 3:d', 'one wakes'])
    put('g')
    expect(now()).toEqual(['0:a 1:b 2:c 3:d'])
    one.reads(1)
    expect(now()).toEqual(['1:b 2:c 3:d 4:e', 'one wakes'])
    one.reads(4)
    expect(now()).toEqual(['4:e 5:f 6:g', 'stored d e f', 'stored g', 'one wakes'])
    one.reads(7)
    expect(now()).toEqual(['5:f 6:g'])
    one.reads(7)
    expect(now()).toEqual(['5:f 6:g'])
  })
  test('PARTITION-2 what nobody reads is kept up to the limit', () => {
    const { put, now } = opened(ROOM)
    put('a', 'b')
    expect(now()).toEqual(['0:a 1:b', 'stored a b'])
    put('c', 'd', 'e')
    expect(now()).toEqual(['3:d 4:e', 'stored c d e'])
  })
  test('PARTITION-3 of a reader without members as much is kept as there is room for', () => {
    const { put, reader, now } = opened(ROOM)
    const [gone, alive] = [reader('gone'), reader('alive')]
    gone.dies()
    put('a', 'b', 'c')
    alive.reads(3)
    expect(now()).toEqual(['0:a 1:b 2:c', 'stored a b c', 'gone wakes', 'alive wakes'])
    put('d')
    // it is full: the oldest goes, and no more than that
    expect(now()).toEqual(['1:b 2:c 3:d', 'stored d', 'gone wakes', 'alive wakes'])
    put('e')
    expect(now()).toEqual(['2:c 3:d 4:e', 'stored e', 'gone wakes', 'alive wakes'])
    put('f', 'g')
    // what the living one has not read is not touched
    expect(now()).toEqual(['3:d 4:e 5:f 6:g', 'stored f g', 'gone wakes', 'alive wakes'])
    put('h')
    expect(now()).toEqual(['3:d 4:e 5:f 6:g'])
    alive.reads(4)
    expect(now()).toEqual(['4:e 5:f 6:g 7:h', 'stored h', 'gone wakes', 'alive wakes'])
    alive.reads(8)
    expect(now()).toEqual(['5:f 6:g 7:h'])
    gone.leaves()
    gone.leaves()
    expect(now()).toEqual(['6:g 7:h'])
    put('i')
    expect(now()).toEqual(['7:h 8:i', 'stored i', 'alive wakes'])
  })
  test('whoever withdraws makes room for those behind, also from the middle', () => {
    const { put, reader, now } = opened(ROOM)
    const one = reader('one')
    const first = put('a', 'b', 'c', 'd', 'e')
    const [second] = [put('f'), put('g')]
    expect(now()).toEqual(['0:a 1:b 2:c 3:d', 'one wakes'])
    second()
    expect(now()).toEqual(['0:a 1:b 2:c 3:d'])
    one.reads(1)
    expect(now()).toEqual(['1:b 2:c 3:d 4:e', 'stored a b c d e', 'one wakes'])
    const third = put('h', 'i')
    first()
    expect(now()).toEqual(['1:b 2:c 3:d 4:e'])
    one.reads(3)
    expect(now()).toEqual(['3:d 4:e 5:g 6:h', 'stored g', 'one wakes'])
    put('j')
    one.reads(4)
    third()
    expect(now()).toEqual(['4:e 5:g 6:h 7:i', 'stored h i', 'one wakes'])
  })
  test('the first of those who wait withdraws, and the next one is taken at once', () => {
    const { put, reader, now } = opened(ROOM)
    const one = reader('one')
    put('a', 'b', 'c')
    const first = put('d', 'e')
    put('f')
    now()
    one.dies()
    first()
    expect(now()).toEqual(['2:c 3:d 4:f', 'stored f', 'one wakes'])
  })
})

describe('weighed', () => {
  const heavy = (bytes: number) => ({ count: 1e6, bytes })
  const WEIGHT = 2 * ('k1'.length + 'abc'.length) + 400
  test('it is full with the message that reaches the size', () => {
    for (const [bytes, fit] of [
      [2 * WEIGHT, 2],
      [2 * WEIGHT + 1, 3],
      [1, 1],
    ] as const) {
      const { put, reader, partition } = opened({ room: heavy(bytes), retain: heavy(bytes) })
      reader('one')
      put('abc', 'abc', 'abc', 'abc')
      expect([bytes, partition.end]).toEqual([bytes, fit])
    }
  })
  test('what is forgotten weighs nothing any more, and the last message always stays', () => {
    const { put, now } = opened({ room: heavy(10 * WEIGHT), retain: heavy(2 * WEIGHT) })
    put('abc', 'abc')
    put('abc')
    expect(now()).toEqual(['1:abc 2:abc', 'stored abc abc', 'stored abc'])
    for (let n = 0; n < 20; n++) put('abc')
    expect(now()[0]).toEqual('21:abc 22:abc')
    put('a'.repeat(3 * WEIGHT))
    expect(now()[0]).toEqual(`23:${'a'.repeat(3 * WEIGHT)}`)
  })
})

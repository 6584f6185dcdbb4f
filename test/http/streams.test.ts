/** Long answers in pieces, by a clock that the test moves: how many are made at a time, and what ends one. */
import { describe, expect, test } from 'vitest'
import { createStreams, STREAM_LIMITS, type Pieces } from '../../src/http/streams.ts'
import { handClock, quiet } from '../support/lab.ts'

const LIMITS = { pieceMs: 100, stallMs: 1000, wholeMs: 5000 }
/** Pieces that come when they are told to. */
const byHand = () => {
  const asked: ((piece: string | null) => void)[] = []
  let returned = false
  const pieces = {
    next: () =>
      new Promise<IteratorResult<string, undefined>>((resolve) =>
        asked.push((piece) =>
          resolve(piece === null ? { done: true, value: undefined } : { done: false, value: piece }),
        ),
      ),
    return: async () => {
      returned = true
      throw new Error('it cannot be ended')
    },
  }
  return { pieces: pieces as unknown as Pieces, asked, isReturned: () => returned }
}
const open = (limits: Partial<typeof LIMITS> = {}) => {
  const clock = handClock()
  /** The limits that were reached, in ms. */
  const reached: number[] = []
  const after: typeof clock.after = (ms, run) =>
    clock.after(ms, () => {
      reached.push(ms)
      run()
    })
  const streams = createStreams({ after }, { ...LIMITS, ...limits })
  const start = (cutsConnection = false) => {
    const made = byHand()
    const ended: (string | null)[] = []
    let broken = 0
    const breakOff = cutsConnection ? () => void broken++ : null
    const stream = streams.open({ pieces: made.pieces, ended: (why) => void ended.push(why), breakOff })
    const reader = stream.getReader()
    const read = async () => Buffer.from((await reader.read()).value ?? []).toString()
    return { ...made, stream, reader, read, ended, broken: () => broken }
  }
  return { clock, start, reached }
}

test('the limits of the service', () => {
  expect(STREAM_LIMITS).toEqual({ stallMs: 30_000, wholeMs: 600_000 })
})

test('STREAM-1 two pieces are made at a time, in the order of asking, whatever becomes of those before', async () => {
  const { start, clock } = open({ pieceMs: 700 })
  const all = Array.from({ length: 5 }, () => start())
  const reads = all.map(({ read }) => read().catch((error: unknown) => String(error)))
  const made = () => all.map(({ asked }) => asked.length)
  await quiet()
  expect(made()).toEqual([1, 1, 0, 0, 0])
  all[1]!.asked[0]!('b')
  await quiet()
  expect(made()).toEqual([1, 1, 1, 0, 0])
  // the first and the third are too late
  await clock.pass(700)
  expect(made()).toEqual([1, 1, 1, 1, 1])
  for (const one of all.slice(3)) one.asked[0]!(null)
  await quiet()
  const again = Array.from({ length: 3 }, () => start())
  for (const { read } of again) void read()
  await quiet()
  expect(again.map(({ asked }) => asked.length)).toEqual([1, 1, 0])
  expect(await Promise.all(reads)).toEqual([
    'Error: broken off: the next piece was not there within 700 ms',
    'b',
    'Error: broken off: the next piece was not there within 700 ms',
    '',
    '',
  ])
})
test('STREAM-2 a piece is made when it is asked for, and not before', async () => {
  const { start } = open()
  const one = start()
  await quiet()
  expect(one.asked.length).toBe(0)
  const first = one.read()
  await quiet()
  one.asked[0]!('ä')
  expect(await first).toBe('ä')
  await quiet()
  expect(one.asked.length).toBe(1)
})

describe('an answer ends once', () => {
  test('with its last piece: then nothing of it is left to wait for', async () => {
    const { start, clock, reached } = open()
    const one = start(true)
    const last = one.reader.read()
    await quiet()
    one.asked[0]!(null)
    expect(await last).toEqual({ done: true, value: undefined })
    await clock.pass(10_000)
    expect([one.ended, one.broken(), one.isReturned(), reached]).toEqual([[null], 0, true, []])
  })
  test('with its client', async () => {
    const { start, clock, reached } = open()
    const one = start(true)
    await one.reader.cancel()
    await clock.pass(10_000)
    expect([one.ended, one.broken(), one.isReturned(), reached]).toEqual([['the client left'], 0, true, []])
  })
  test.each([true, false])(
    'with a client that asks for nothing for too long; its connection is cut: %s',
    async (cuts) => {
      const { start, clock } = open()
      const one = start(cuts)
      await clock.pass(999)
      const first = one.read()
      await quiet()
      one.asked[0]!('a')
      await first
      await clock.pass(999)
      expect(one.ended).toEqual([])
      await clock.pass(1)
      const why = 'the client took nothing for 1000 ms'
      expect([one.ended, one.broken()]).toEqual([[why], cuts ? 1 : 0])
      if (!cuts) await expect(one.reader.read()).rejects.toThrow(`broken off: ${why}`)
    },
  )
  test('after a time as a whole, also while a piece is made, which then comes too late', async () => {
    const { start, clock, reached } = open({ pieceMs: 9000, stallMs: 20_000 })
    const one = start(true)
    await clock.pass(4999)
    const late = one.read()
    await quiet()
    expect(one.ended).toEqual([])
    await clock.pass(1)
    expect([one.ended, one.broken()]).toEqual([['it took longer than 5000 ms'], 1])
    one.asked[0]!('late')
    await clock.pass(30_000)
    expect([one.ended, one.broken(), reached]).toEqual([['it took longer than 5000 ms'], 1, [5000]])
    expect(await Promise.race([late, quiet().then(() => 'nothing is read')])).toBe('nothing is read')
  })
  test('while a piece is made nobody counts how long the client takes', async () => {
    const { start, clock } = open({ pieceMs: 3000 })
    const one = start()
    const first = one.read()
    await clock.pass(2999)
    one.asked[0]!('a')
    expect([await first, one.ended]).toEqual(['a', []])
  })
})

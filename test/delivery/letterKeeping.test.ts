/** Dead letters: which marks are kept before their letters, what is counted of others, and how reading begins again. */
import { describe, expect, test } from 'vitest'
import { letterBox, uuidOf } from '../../src/delivery/deadLetters/box.ts'
import { openDeadLetters } from '../../src/delivery/deadLetters/keeper.ts'
import { type Follow, createReading } from '../../src/delivery/deadLetters/reading.ts'
import type { BusRecord } from '../../src/wire/envelope.ts'
import { handledRecord } from '../../src/wire/handledLetter.ts'
import { deadLetterRecord } from '../../src/wire/message.ts'
import { handClock, memoryLog, quiet } from '../support/lab.ts'
import { NOVA, value } from '../support/plane.ts'

const OF = { topic: 'host.reports.v1', key: 'h1', value: 'no JSON', headers: {} }
const letterOf = (id: string, more: Partial<typeof OF> = {}) =>
  deadLetterRecord({ ...OF, ...more }, 'bad', { id, time: 1 })
const markOf = (id: string, command = 'c') =>
  handledRecord({ ...OF, reason: '' }, { id, time: 1 }, { how: 'dropped', by: 'a', reason: 'b', command })

describe('BOX-2 marks that are read before their letters', () => {
  const marked = (box: ReturnType<typeof letterBox>, ...ids: readonly string[]) => {
    for (const id of ids) box.take(letterOf(id))
    return ids.map((id) => box.get(uuidOf({ id }))!.handled !== undefined)
  }
  const boxOf = (earlyMax: number) => letterBox({ now: () => 9 }, 10, 1e6, earlyMax)
  test('give way in the order in which their letters were marked last', () => {
    const box = boxOf(2)
    for (const id of ['a', 'b', 'a', 'c']) box.take(markOf(id))
    expect(marked(box, 'a', 'b', 'c')).toEqual([true, false, true])
  })
  test('make room when their letter is read', () => {
    const box = boxOf(2)
    for (const message of [markOf('b'), markOf('a'), letterOf('a'), markOf('c')]) box.take(message)
    expect(marked(box, 'a', 'b', 'c')).toEqual([true, true, true])
  })
  test('are kept of four thousand letters', () => {
    const box = letterBox({ now: () => 9 })
    for (let n = 0; n <= 4000; n++) box.take(markOf(`${n}`))
    expect(marked(box, '0', '1')).toEqual([false, true])
  })
})
test('a command that comes again and again displaces no other', () => {
  const box = letterBox({ now: () => 9 })
  box.take(letterOf('a'))
  for (const command of ['first', ...Array<string>(40).fill('again')]) box.take(markOf('a', command))
  expect(['first', 'again'].map((command) => box.isDone(uuidOf({ id: 'a' }), command))).toEqual([true, true])
})

describe('a keeper', () => {
  const never: Follow = (_take, _caughtUp, signal) =>
    new Promise((resolve) => signal.addEventListener('abort', () => resolve()))
  const open = (follow: Follow | null) =>
    openDeadLetters({
      bus: { publish: async (_batch: readonly BusRecord[]) => {} },
      clock: handClock(),
      log: memoryLog(),
      follow,
    })
  test('LETTERS-5 counts of what it has stored only letters, and no marks', async () => {
    const { bus, count, stop } = open(never)
    await bus.publish([{ ...OF }, { ...letterOf('x'), topic: 'arq.events.v1' }])
    expect(count()).toEqual({ count: 0, lastAt: null })
    await bus.publish([letterOf('a'), markOf('a')])
    await bus.publish([{ ...OF }, letterOf('b')])
    expect(count().count).toBe(2)
    await stop()
  })
  test('lets a letter be dropped that cannot be sent again', async () => {
    const letters = open(null)
    const id = uuidOf({ id: 'cut' })
    await letters.bus.publish([letterOf('cut', { value: 'x'.repeat(70_000) })])
    const note = { by: 'op', reason: 'x' }
    expect(value(await letters.drop(NOVA, id, note))).toMatchObject({ state: 'dropped', cut: true })
    expect(letters.count().count).toBe(0)
  })
  test('goes on with a page after the last letter of the one before', async () => {
    const letters = open(null)
    await letters.bus.publish(['a', 'b', 'c'].map((id) => letterOf(id)))
    const { items, next } = value(await letters.list({ state: 'open', limit: 2 }))
    expect([items.map(({ id }) => id), next]).toEqual([['c', 'b'], { value: 1, key: uuidOf({ id: 'b' }) }])
  })
})

describe('LETTERS-1 a reading', () => {
  const open = ({ fails = false } = {}) => {
    const clock = handClock()
    const began = clock.monotonic()
    const begun: number[] = []
    const last: { end: PromiseWithResolvers<void>; caughtUp: () => void } = {
      end: Promise.withResolvers(),
      caughtUp: () => {},
    }
    const follow: Follow = (_take, caughtUp, signal) => {
      begun.push(clock.monotonic() - began)
      Object.assign(last, { end: Promise.withResolvers(), caughtUp })
      signal.addEventListener('abort', () => last.end.resolve())
      if (fails) last.end.reject(new Error('away'))
      return last.end.promise
    }
    const reading = createReading({ clock, log: memoryLog(), follow }, { take: () => null })
    reading.begin()
    return { clock, reading, begun, last }
  }
  test('that fails for long is begun again after pauses that grow to half a minute', async () => {
    const { clock, reading, begun } = open({ fails: true })
    await clock.pass(100_000)
    const pauses = begun.slice(1).map((at, n) => (at - begun[n]!) / 1000)
    expect(pauses).toEqual([1, 2, 4, 8, 16, 30, 30])
    await reading.stop()
  })
  test('that failed once and ends without an error after it was at the end is waited for again', async () => {
    const { clock, reading, last } = open()
    last.end.reject(new Error('away'))
    await clock.pass(1000)
    last.caughtUp()
    expect(await reading.readToEnd()).toEqual({ ok: true, value: null })
    last.end.resolve()
    await quiet()
    const asked = reading.readToEnd()
    await clock.pass(1000)
    last.caughtUp()
    expect(await asked).toEqual({ ok: true, value: null })
    await reading.stop()
  })
})

/** The parts of the dead letters: their order, what of them is counted, how each is shown, and what is refused. */
import { describe, expect, test } from 'vitest'
import { type Bus, Unpublishable } from '../../src/bus/port.ts'
import { createAges } from '../../src/delivery/deadLetters/ages.ts'
import { KEPT_MAX, LETTERS_MAX, type Letter, letterBox, uuidOf } from '../../src/delivery/deadLetters/box.ts'
import { type Retried, refusalOf, retryLetters } from '../../src/delivery/deadLetters/handle.ts'
import { openDeadLetters } from '../../src/delivery/deadLetters/keeper.ts'
import { createReading } from '../../src/delivery/deadLetters/reading.ts'
import { detailOf, stateOf } from '../../src/delivery/deadLetters/shown.ts'
import type { BusRecord } from '../../src/wire/envelope.ts'
import { handledRecord } from '../../src/wire/handledLetter.ts'
import { deadLetterRecord } from '../../src/wire/message.ts'
import { handClock, memoryLog, quiet } from '../support/lab.ts'
import { NOVA, value } from '../support/plane.ts'

const REPORTS = 'host.reports.v1'
const LETTER: Letter = {
  id: `${REPORTS}/3/8`,
  time: 5000,
  topic: REPORTS,
  key: 'k',
  reason: 'r',
  value: 'vé',
  headers: { h: '1' },
  cut: false,
  retriedAt: null,
}

test('items are in the order of their times, and of equal times in that of being added', () => {
  const ages = createAges<string>()
  expect([ages.oldest(), ages.all()]).toEqual([null, []])
  for (const [item, time] of [
    ['c', 3],
    ['a1', 1],
    ['b', 2],
    ['a2', 1],
    ['c2', 3],
    ['a3', 1],
  ] as const)
    ages.add(item, time)
  expect([ages.all().join(' '), ages.oldest()]).toEqual(['a1 a2 a3 b c c2', { item: 'a1', time: 1 }])
  for (const [item, time] of [
    ['a2', 1],
    ['b', 3],
    ['c2', 3],
    ['none', 9],
    ['none', 0],
  ] as const)
    ages.remove(item, time)
  expect(ages.all().join(' ')).toBe('a1 a3 b c')
  ages.remove('a1', 1)
  expect(ages.oldest()).toEqual({ item: 'a3', time: 1 })
})

describe('a box', () => {
  const of = { topic: 'ttt', key: 'kk', value: 'vvvvv', headers: { hhh: 'iiii' } }
  const record = (id: string) => ({ ...deadLetterRecord(of, 'rrrr', { id, time: 1 }), time: 1 })
  test('counts the characters of all parts of its letters, and keeps one however long it is', () => {
    const size = 3 + 2 + 5 + 3 + 4 + 4
    const kept = (most: number) => {
      const box = letterBox({ now: () => 9 }, 10, most)
      const taken = ['a', 'b'].map((id) => box.take(record(id)))
      expect(taken).toEqual(['letter', 'letter'])
      return box.all().map(({ id }) => id)
    }
    expect([kept(2 * size), kept(2 * size - 1), kept(1)]).toEqual([['a', 'b'], ['b'], ['b']])
  })
  test('forgets the characters of a letter with the letter', () => {
    let now = 1
    const box = letterBox({ now: () => now }, 10, 42)
    for (const id of ['a', 'b']) box.take(record(id))
    now = 5
    box.forget(5)
    for (const id of ['c', 'd', 'd']) box.take(record(id))
    expect(box.all().map(({ id }) => id)).toEqual(['c', 'd'])
  })
  test('takes no other message, and knows nothing of letters that it does not hold', () => {
    const box = letterBox({ now: () => 9 })
    const { topic, key } = record('a')
    expect([box.take({ topic, key, value: null }), box.take({ topic, key, value: '{' })]).toEqual([null, null])
    expect(box.take(handledRecord({ ...of, reason: '' }, { id: 'a', time: 1 }))).toBe('mark')
    expect([box.all(), box.get(uuidOf({ id: 'a' })), box.isDone(uuidOf({ id: 'a' }), 'c')]).toEqual([[], null, false])
  })
  test('gives each letter whole, with its last mark', () => {
    const box = letterBox({ now: () => 9 })
    box.take({ ...record('a'), time: 4 })
    const { uuid, ...whole } = { uuid: uuidOf({ id: 'a' }), ...of, reason: 'rrrr', id: 'a', time: 4, cut: false }
    expect([box.get(uuid), box.all()]).toEqual([{ ...whole, retriedAt: null }, [{ ...whole, retriedAt: null }]])
    const handled = { how: 'dropped', by: 'op', reason: 'x' } as const
    box.take(handledRecord({ ...of, reason: '' }, { id: 'a', time: 7 }, handled))
    expect(box.get(uuid)).toEqual({ ...whole, retriedAt: '1970-01-01T00:00:00.007Z', handled })
    box.take(handledRecord({ ...of, reason: '' }, { id: 'a', time: 8 }))
    expect(box.get(uuid)).toEqual({ ...whole, retriedAt: '1970-01-01T00:00:00.008Z' })
    const timeless: BusRecord = deadLetterRecord(of, 'rrrr', { id: 'b', time: 3 })
    box.take(timeless)
    expect(box.get(uuidOf({ id: 'b' }))).toMatchObject({ time: 3 })
  })
  test('holds as many as an operator can be told', () => expect([LETTERS_MAX, KEPT_MAX]).toEqual([10_000, 33_554_432]))
})

describe('a letter', () => {
  test('is shown whole, with its place and its size in bytes', () => {
    expect(detailOf(LETTER)).toEqual({
      uuid: uuidOf(LETTER),
      id: `${REPORTS}/3/8`,
      state: 'open',
      at: 5000,
      topic: REPORTS,
      key: 'k',
      place: { partition: 3, offset: 8 },
      reason: 'r',
      bytes: 3,
      cut: false,
      refusal: null,
      handled: null,
      value: 'vé',
      headers: { h: '1' },
    })
  })
  test('is in the state of its last mark', () => {
    const retriedAt = '1970-01-01T00:00:07Z'
    const handled = { how: 'dropped', by: 'op', reason: 'x', request: 'req-1' } as const
    expect([stateOf(LETTER), stateOf({ ...LETTER, retriedAt }), stateOf({ ...LETTER, retriedAt, handled })]).toEqual([
      'open',
      'replayed',
      'dropped',
    ])
    expect(detailOf({ ...LETTER, retriedAt, handled }).handled).toEqual({
      at: 7000,
      by: 'op',
      reason: 'x',
      request: 'req-1',
    })
    const { request: _, ...older } = handled
    expect(detailOf({ ...LETTER, retriedAt, handled: older }).handled).toEqual({
      at: 7000,
      by: 'op',
      reason: 'x',
      request: null,
    })
    expect(detailOf({ ...LETTER, retriedAt }).handled).toEqual({ at: 7000, by: null, reason: null, request: null })
  })
  test.each([
    `${REPORTS}/3`,
    `${REPORTS}/3/8/9`,
    `${REPORTS}/x/8`,
    `${REPORTS}/3/8x`,
    `${REPORTS}/x3/8`,
    'host.orders.v1/3/8',
    `x${REPORTS}/3/8`,
    '3/8',
  ])('with the id %s has no place on its topic', (id) => expect(detailOf({ ...LETTER, id }).place).toBe(null))
  test.each([
    [true, REPORTS, 'it was too long to be kept whole, so it cannot be sent again'],
    [false, 'host.orders.v1', null],
    [false, 'dead-letters.v1', 'it is a dead letter itself'],
    [
      false,
      'arq.state.v1',
      'only reports and orders of hosts are sent again: what arq.state.v1 says is in the journal',
    ],
    [false, 'other.v1', 'other.v1 is not a topic of accelerando'],
  ])('DEADLETTER-2 cut: %s, of %s is refused: %s', (cut, topic, why) => expect(refusalOf({ cut, topic })).toBe(why))
  test('DEADLETTER-1 is sent as it was before it is marked; one that cannot be sent is passed over', async () => {
    const sent: BusRecord[] = []
    const told: Retried[] = []
    const bus = { publish: async (batch: readonly BusRecord[]) => void sent.push(...batch) }
    const cut = { ...LETTER, cut: true }
    await retryLetters(bus, { now: () => 7 }, [cut, LETTER], (one) => told.push(one))
    expect(told).toEqual([
      { letter: cut, refused: 'it was too long to be kept whole, so it cannot be sent again' },
      { letter: LETTER, refused: null },
    ])
    expect(sent).toEqual([
      { topic: REPORTS, key: 'k', value: 'vé', headers: { h: '1' } },
      handledRecord(LETTER, { id: LETTER.id, time: 7 }),
    ])
  })
})

describe('a refusal of the keeper', () => {
  const letter = deadLetterRecord({ topic: REPORTS, key: 'k', value: 'v', headers: {} }, 'bad', {
    id: `${REPORTS}/0/1`,
    time: 1,
  })
  const open = (error: Error) => {
    let fails = false
    const publish: Bus['publish'] = async () => {
      if (fails) throw error
    }
    const letters = openDeadLetters({ bus: { publish }, clock: handClock(), log: memoryLog(), follow: null })
    return { letters, break: () => void (fails = true) }
  }
  const [id, note] = [uuidOf({ id: `${REPORTS}/0/1` }), { by: 'op', reason: 'x' }]
  test.each([
    [new Unpublishable('too long'), { kind: 'conflict', reason: 'the bus does not take it: too long' }],
    [
      new Error('away'),
      {
        kind: 'unavailable',
        reason: 'the bus does not answer, and the message may have been sent all the same: away',
        retryAfterSeconds: 5,
      },
    ],
  ])('says what the bus said: %s', async (error, fault) => {
    const world = open(error)
    await world.letters.bus.publish([letter])
    world.break()
    for (const verb of ['replay', 'drop'] as const)
      expect(await world.letters[verb](NOVA, id, note)).toEqual({ ok: false, fault })
    await expect(world.letters.bus.publish([letter])).rejects.toThrow(error.message)
    expect(world.letters.count().count).toBe(1)
  })
  test('names the letter, the state and the marker', async () => {
    const { letters } = open(new Error('away'))
    await letters.bus.publish([letter])
    expect(await letters.get(uuidOf({ id: 'x' }))).toEqual({
      ok: false,
      fault: { kind: 'not_found', resource: 'dead_letter', id: uuidOf({ id: 'x' }) },
    })
    value(await letters.replay(NOVA, id, note))
    const state = { kind: 'bad_state', resource: 'dead_letter', id, state: 'replayed', allowed: ['open'] }
    expect(await letters.drop(NOVA, id, note)).toEqual({ ok: false, fault: state })
    expect(await letters.list({ state: 'open', limit: 1, marker: uuidOf({ id: 'x' }) })).toEqual({
      ok: false,
      fault: { kind: 'not_found', resource: 'marker', id: uuidOf({ id: 'x' }) },
    })
  })
})

describe('LETTERS-2 a reading', () => {
  const open = () => {
    const clock = handClock()
    const log = memoryLog()
    const ends: PromiseWithResolvers<void>[] = []
    const caughtUps: (() => void)[] = []
    const signals: AbortSignal[] = []
    const follow = async (_: unknown, caughtUp: () => void, signal: AbortSignal) => {
      const end = Promise.withResolvers<void>()
      ends.push(end)
      caughtUps.push(caughtUp)
      signals.push(signal)
      return end.promise
    }
    const reading = createReading({ clock, log, follow }, { take: () => null })
    return { clock, log, reading, ends, caughtUps, signals }
  }
  const fault = (reason: string) => ({ ok: false, fault: { kind: 'unavailable', reason, retryAfterSeconds: 5 } })
  test('that fails again and again is begun anew after longer and longer pauses, and sooner once it was at the end', async () => {
    const { clock, reading, ends, caughtUps, log } = open()
    reading.begin()
    const begunAfter = async (ms: number) => {
      ends.at(-1)!.reject(new Error('away'))
      await clock.pass(ms - 1)
      const before = ends.length
      await clock.pass(1)
      return ends.length - before
    }
    expect([await begunAfter(1000), await begunAfter(2000), await begunAfter(4000)]).toEqual([1, 1, 1])
    expect(await reading.readToEnd()).toEqual(fault('the dead letters cannot be read: away'))
    expect([reading.wasCurrent(), log.said.length, log.said[0]]).toMatchObject([
      false,
      3,
      { level: 'warn', message: 'deadLetters.unread', detail: { reason: 'away' } },
    ])
    caughtUps.at(-1)!()
    expect([await reading.readToEnd(), reading.wasCurrent()]).toEqual([{ ok: true, value: null }, true])
    expect(await begunAfter(1000)).toBe(1)
    expect([reading.wasCurrent(), await reading.readToEnd()]).toEqual([
      true,
      fault('the dead letters cannot be read: away'),
    ])
    ends.at(-1)!.resolve()
    await reading.stop()
  })
  test('that ends without an error is not at the end of the topic: a question waits for the next one', async () => {
    const { clock, reading, ends, caughtUps } = open()
    const asked = reading.readToEnd()
    ends[0]!.resolve()
    await quiet()
    expect(await asked).toEqual(fault('the dead letters are still being read'))
    await clock.pass(1000)
    const again = reading.readToEnd()
    caughtUps[1]!()
    expect(await again).toEqual({ ok: true, value: null })
    ends[1]!.resolve()
    await reading.stop()
  })
  test('that is stopped is told so, waited for at most two seconds, and not begun again', async () => {
    const { clock, reading, ends, signals } = open()
    reading.begin()
    let over = false
    const stopped = reading.stop().then(() => (over = true))
    await clock.pass(1999)
    expect([signals[0]!.aborted, over]).toEqual([true, false])
    await clock.pass(1)
    await stopped
    ends[0]!.reject(new Error('late'))
    await clock.pass(60_000)
    expect(ends).toHaveLength(1)
    const never = open()
    await never.reading.stop()
    expect(never.ends).toHaveLength(0)
  })
  test('of a bus inside the process is always at its end', async () => {
    const reading = createReading({ clock: handClock(), log: memoryLog(), follow: null }, { take: () => null })
    expect([reading.wasCurrent(), await reading.readToEnd()]).toEqual([true, { ok: true, value: null }])
    await reading.stop()
  })
})

/** When the journal is read for streams of events, how much at a time, and when a stream speaks, to the millisecond. */
import { describe, expect, test } from 'vitest'
import { DEFAULTS } from '../../src/delivery/events/options.ts'
import type { Page, Pages } from '../../src/delivery/events/pages.ts'
import { BEGINNING, type EventPosition } from '../../src/delivery/events/position.ts'
import { Reader } from '../../src/delivery/events/reader.ts'
import type { Stream } from '../../src/delivery/events/stream.ts'
import { silent } from '../../src/log.ts'
import { handClock, quiet } from '../support/lab.ts'
import { earlier, entryAt, openStream, placeOf } from './streamLab.ts'

describe('the journal is read', () => {
  /** `journaled`: how many rows there are; one read finds all of them. */
  const open = ({ exclusive = false } = {}) => {
    const clock = handClock()
    const began = clock.monotonic()
    const reads: number[] = []
    const listeners = new Set<() => void>()
    const onAppended = (listener: () => void) => {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    }
    const journal = { exclusive, incarnation: 0, onAppended, listeners }
    const way = {
      journaled: 0,
      newest: 0,
      fails: false,
      archived: false,
      start: 'there' as 'there' | 'unknown',
      unreadable: false,
      during: () => {},
    }
    const pages = {
      earlier,
      newest: async () => (way.unreadable ? Promise.reject(new Error('away')) : placeOf(way.newest)),
      start: async (place: EventPosition) => (way.start === 'unknown' ? way.start : { place, rest: [] }),
      after: async (place: EventPosition, rows: number): Promise<Page | null> => {
        reads.push(clock.monotonic() - began)
        expect(rows).toBe(500)
        if (way.fails) throw new Error('away')
        way.during()
        if (way.archived) return null
        const end = way.journaled > Number(place.position) ? placeOf(way.journaled) : place
        return { entries: end === place ? [] : [entryAt(way.journaled)], end, last: true }
      },
    }
    const reader = new Reader({ ...DEFAULTS, clock, log: silent, journal }, pages)
    const moves: number[] = []
    reader.onMoved(() => moves.push(clock.monotonic() - began))
    return { clock, reader, reads, journal, way, moves }
  }
  test('every 170 ms, and every 40 ms for two seconds after rows were found: twenty of them always', async () => {
    const { clock, reader, reads, way, moves } = open()
    await reader.enter()
    await clock.pass(300)
    way.journaled = 1
    await clock.pass(2500)
    // 2000 ms after rows were found it is quiet again; the last short pause began 20 ms before
    const often = Array.from({ length: 51 }, (_, n) => 340 + n * 40)
    expect(reads).toEqual([0, 170, ...often, 2510, 2680])
    expect([moves, reader.bytes, reader.ring.head, reader.ring.end]).toEqual([[340], 10, placeOf(1), 1])
    reader.leave()
    reader.stop()
  })
  test('every 520 ms where no other process writes, and sooner after an append, but not more often than every 20 ms', async () => {
    const { clock, reader, reads, journal } = open({ exclusive: true })
    await reader.enter()
    await clock.pass(1100)
    expect(reads).toEqual([0, 520, 1040])
    const append = () => journal.listeners.forEach((listener) => listener())
    append()
    await quiet()
    expect(reads.slice(3)).toEqual([1100])
    // each append ends a rest, and none the 20 ms after a read
    for (let n = 0; n < 10; n++) {
      append()
      await clock.pass(5)
    }
    await clock.pass(400)
    expect(reads.slice(3)).toEqual([1100, 1120, 1140, 1160])
    reader.stop()
    expect(journal.listeners.size).toBe(0)
    await clock.pass(5000)
    expect(reads).toHaveLength(7)
  })
  test('after a failure in a tenth of a second, then in twice as long each time, up to five seconds', async () => {
    const { clock, reader, reads, way } = open()
    way.fails = true
    await reader.enter()
    await clock.pass(16_000)
    expect(reads).toEqual([0, 100, 300, 700, 1500, 3100, 6300, 11_300])
    way.fails = false
    await clock.pass(400)
    way.fails = true
    await clock.pass(260)
    expect(reads.slice(8)).toEqual([16_300, 16_470, 16_570])
    reader.stop()
  })
  test('after a failure at once when this control appends, since the journal is there again', async () => {
    const { clock, reader, reads, journal, way } = open({ exclusive: true })
    way.fails = true
    await reader.enter()
    await clock.pass(6400)
    way.fails = false
    journal.listeners.forEach((listener) => listener())
    await clock.pass(50)
    expect(reads.slice(6)).toEqual([6300, 6400])
    reader.stop()
  })
  test('for half a minute after the last stream has ended, unless another has begun', async () => {
    const { clock, reader, reads, way } = open({ exclusive: true })
    way.unreadable = true
    await expect(reader.enter()).rejects.toThrow('away')
    way.unreadable = false
    await Promise.all([reader.enter(), reader.enter()])
    reader.leave()
    await clock.pass(10_000)
    reader.leave()
    await clock.pass(29_999)
    await reader.enter()
    await clock.pass(60_000)
    reader.leave()
    await clock.pass(10_000)
    await reader.enter()
    reader.leave()
    expect(reader.generation).toBe(1)
    const before = reads.length
    await clock.pass(29_999)
    expect([reader.ring.end, reads.length > before]).toEqual([0, true])
    await clock.pass(1)
    expect(() => reader.ring).toThrow('nobody reads the journal for streams')
    expect(reader.bytes).toBe(0)
  })
  test('READER-3 from its end, and every stream is told, where rows are in the archive or are gone', async () => {
    const { clock, reader, way, journal, moves } = open()
    await reader.enter()
    expect(reader.generation).toBe(1)
    await clock.pass(10)
    Object.assign(way, { archived: true, newest: 7 })
    const again = reader.onMoved(() => void (way.archived = false))
    await clock.pass(170)
    again()
    expect([reader.generation, reader.ring.head, moves]).toEqual([2, placeOf(7), [170]])
    // another server with the row that was told last, from which the rows of a read under way may be
    way.journaled = 8
    way.during = () => {
      journal.incarnation = 1
      way.during = () => void (way.journaled = 9)
    }
    await clock.pass(170)
    expect([reader.generation, reader.ring.head, moves.length]).toEqual([2, placeOf(9), 2])
    Object.assign(way, { start: 'unknown', newest: 5, journaled: 5, during: () => {} })
    await clock.pass(200)
    expect(reader.generation).toBe(2)
    journal.incarnation = 2
    await clock.pass(200)
    expect([reader.generation, reader.ring.head, moves.length]).toEqual([3, placeOf(5), 3])
    reader.stop()
  })
})

const idsIn = (portion: Awaited<ReturnType<Stream['next']>>) =>
  portion.kind === 'events' ? portion.events.map(({ id }) => id) : portion.kind

describe('a stream', () => {
  test('speaks at once and every ten seconds, and its caller is identified before that', async () => {
    const { clock, stream, identified, way } = openStream()
    const at = clock.now()
    expect(await stream.next()).toEqual({ kind: 'beat', id: '0', newest: '0', at })
    await clock.pass(999)
    const second = stream.next()
    let over = false
    void second.then(() => (over = true))
    await clock.pass(9000)
    expect([over, identified]).toEqual([false, []])
    await clock.pass(1)
    expect([await second, identified]).toEqual([{ kind: 'beat', id: '0', newest: '0', at: at + 10_000 }, [10_000]])
    way.ending = 'expired'
    const third = stream.next()
    await clock.pass(10_000)
    expect([await third, await stream.closed]).toEqual([{ kind: 'bye', why: 'expired', retryMs: 2000 }, 'expired'])
  })
  test('has its caller identified a second after the last time, and not before', async () => {
    const { clock, stream, identified, ring } = openStream()
    await stream.next()
    for (const [n, ms] of [999, 1, 999, 1].entries()) {
      await clock.pass(ms)
      ring.add([entryAt(n + 1)], placeOf(n + 1))
      expect(idsIn(await stream.next())).toEqual([`a${n + 1}`])
    }
    expect(identified).toEqual([1000, 2000])
    stream.close('left')
  })
  test('ends after an hour, and half a minute after its client has read the last time', async () => {
    const { clock, stream } = openStream()
    const until = clock.now() + 3_600_000
    let last = await stream.next()
    for (let n = 0; n < 400 && last.kind === 'beat'; n++) {
      const next = stream.next()
      await clock.pass(10_000)
      last = await next
    }
    expect([last, clock.now()]).toEqual([{ kind: 'bye', why: 'lifetime', retryMs: 2000 }, until])
    const idle = openStream()
    await idle.clock.pass(15_000)
    await idle.stream.next()
    let ended: string | null = null
    void idle.stream.closed.then((why) => (ended = why))
    await idle.clock.pass(29_999)
    expect(ended).toBe(null)
    await idle.clock.pass(1)
    expect(ended).toBe('stalled')
  })
  test('sends 64 KiB at a time, of the ring and of the journal; what it does not show counts nothing', async () => {
    const entries = [1, 2, 0, 3, 4].map((n) => entryAt(n, 32_768))
    const { stream, ring } = openStream()
    ring.add(entries, placeOf(4))
    await stream.next()
    expect([idsIn(await stream.next()), idsIn(await stream.next()), stream.sent]).toEqual([
      ['a1', 'a2'],
      ['a3', 'a4'],
      4,
    ])
    const far = openStream({ rest: entries })
    await far.stream.next()
    expect([idsIn(await far.stream.next()), idsIn(await far.stream.next())]).toEqual([
      ['a1', 'a2'],
      ['a3', 'a4'],
    ])
    for (const each of [stream, far.stream]) each.close('left')
  })
  test('reads a hundred rows of the journal at a time, and tells where some of them are in the archive', async () => {
    const asked: unknown[] = []
    const answers: (Page | null)[] = [{ entries: [entryAt(1)], end: placeOf(2), last: false }, null]
    const after: Pages['after'] = async (...asking) => {
      asked.push(asking)
      return answers.shift()!
    }
    const { stream } = openStream({}, { after, oldest: async () => placeOf(4) }, placeOf(9))
    await stream.next()
    expect(idsIn(await stream.next())).toEqual(['a1'])
    expect(await stream.next()).toEqual({
      kind: 'reset',
      why: 'archived',
      oldest: placeOf(4).id,
      id: placeOf(9).id,
    })
    expect(asked).toEqual([
      [BEGINNING, 100, null],
      [placeOf(2), 100, null],
    ])
    stream.close('left')
  })
  test('that has ended says why it did, whatever comes afterwards, and leaves nothing to be done', async () => {
    const answer = Promise.withResolvers<Page>()
    const { stream, clock } = openStream({}, { after: () => answer.promise }, placeOf(9))
    await stream.next()
    const next = stream.next()
    await quiet()
    stream.close('stopping')
    stream.close('left')
    answer.reject(new Error('away'))
    const bye = { kind: 'bye', why: 'stopping', retryMs: 2000 }
    expect([await next, await stream.next(), await stream.closed, clock.pending()]).toEqual([bye, bye, 'stopping', 0])
  })
  test('tells no place after events of the ring that it has not sent', async () => {
    const { stream, ring, clock } = openStream()
    await stream.next()
    ring.add(
      [1, 2, 3].map((n) => entryAt(n, 32_768)),
      placeOf(3),
    )
    expect(idsIn(await stream.next())).toEqual(['a1', 'a2'])
    await clock.pass(10_000)
    expect(await stream.next()).toMatchObject({ kind: 'beat', id: placeOf(2).id, newest: placeOf(3).id })
    expect(idsIn(await stream.next())).toEqual(['a3'])
    stream.close('left')
  })
  test('tells no place after events that it has read and not sent', async () => {
    const answer = Promise.withResolvers<Page>()
    const { stream, clock } = openStream({}, { after: () => answer.promise }, placeOf(9))
    await stream.next()
    const next = stream.next()
    await clock.pass(10_000)
    answer.resolve({ entries: [entryAt(1)], end: placeOf(2), last: true })
    expect(await next).toMatchObject({ kind: 'beat', id: '0' })
    expect(idsIn(await stream.next())).toEqual(['a1'])
    stream.close('left')
  })
  test.each([
    ['goes on with the ring after an empty page where the journal is whole', true, 'beat'],
    ['tells of a gap after an empty page where the journal is not whole', false, 'reset'],
  ])('%s', async (_, isWhole, kind) => {
    const after: Pages['after'] = async (place) => ({ entries: [], end: place, last: true })
    const parts = { after, oldest: async () => placeOf(4), isWholeAfter: async () => isWhole }
    const { stream, clock } = openStream({}, parts, placeOf(9))
    await stream.next()
    const next = stream.next()
    await quiet()
    await clock.pass(10_000)
    expect(await next).toMatchObject({ kind, id: placeOf(9).id })
    stream.close('left')
  })
})

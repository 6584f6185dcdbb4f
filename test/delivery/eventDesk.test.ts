/** Who is refused a stream or a page of events and with which words, what is counted, and how much one page reads. */
import { describe, expect, test } from 'vitest'
import type { FeedRow } from '../../src/actors/runtime/ports.ts'
import { Unreadable } from '../../src/actors/runtime/unreadable.ts'
import { openEvents } from '../../src/delivery/events/events.ts'
import type { EventsOptions } from '../../src/delivery/events/options.ts'
import { silent } from '../../src/vocabulary/log.ts'
import { handClock, quiet } from '../support/lab.ts'
import { OPERATOR, SAME_CALLER, clientOf, valueOf } from './eventsLab.ts'

const ASKED = { after: null, filter: {} }
const rowAt = (n: number): FeedRow => ({
  key: 'arq/a',
  version: n,
  commandId: `c${n}`,
  events: [],
  at: n,
  cause: {},
  position: String(n),
})

/** Events over a journal of so many rows, each without a fact, or with one. */
const open = (options: Partial<EventsOptions> = {}, count = 0, facts = 0) => {
  const feeds: (readonly [string, number])[] = []
  const way = { away: false, gate: Promise.resolve(), count }
  const reads = async <Value>(value: Value): Promise<Value> => {
    if (way.away) throw new Unreadable('away')
    return value
  }
  const listeners = new Set<() => void>()
  const events = openEvents({
    journal: {
      feed: async (after, limit) => {
        feeds.push([after, limit])
        await way.gate
        const left = Math.min(limit, way.count - Number(after))
        return reads(Array.from({ length: left }, (_, n) => rowAt(Number(after) + n + 1)))
      },
      recall: async () => new Map(),
      onAppended: (listener) => {
        listeners.add(listener)
        return () => void listeners.delete(listener)
      },
      exclusive: true,
    },
    landmarks: {
      newest: () => reads(way.count === 0 ? null : rowAt(way.count)),
      at: (position) => reads(Number(position) <= way.count ? rowAt(Number(position)) : null),
      horizon: () => reads(''),
      isBefore: (one, other) => Number(one) < Number(other),
    },
    lettersOf: ({ position, at }) =>
      Array.from({ length: facts }, () => ({
        channel: 'hostEvents' as const,
        key: 'h1',
        source: '/control',
        type: 'fact.HostSeen',
        data: { entity: 'host/h1', version: 1, event: { type: 'HostSeen' } },
        id: position,
        time: at,
      })),
    clock: handClock(),
    log: silent,
    ...options,
  })
  return { events, feeds, way, listeners }
}

describe('a stream is refused', () => {
  const unavailable = (reason: string) => ({ ok: false, fault: { kind: 'unavailable', reason, retryAfterSeconds: 5 } })
  test('in so many words: too many in the process, of the project or of the caller, an id that is none, a stop', async () => {
    const { events } = open({ streamsMax: 2, streamsPerCaller: 1 })
    const asks = (caller = OPERATOR, asked: { after: string | null; filter: object } = ASKED) =>
      events.open(caller, asked, SAME_CALLER)
    valueOf(await asks())
    expect(await asks()).toEqual({
      ok: false,
      fault: {
        kind: 'crowded',
        reason: 'This caller has 1 streams of events open, which is as many as it may have.',
        retryAfterSeconds: 5,
      },
    })
    const invalid = { ok: false, fault: { kind: 'invalid', field: 'after', rule: 'it must be the id of an event' } }
    for (const after of ['', 'x', '1', '1.1', '1-1-x', ' 0']) {
      expect(await asks(OPERATOR, { ...ASKED, after })).toEqual(invalid)
      expect(await events.page(OPERATOR, { ...ASKED, after }, 10)).toEqual(invalid)
    }
    valueOf(await asks({ ...OPERATOR, projectId: 'another' }))
    const reason = 'The project has 1 of the 2 places for streams of events, which is its share.'
    const crowded = { ok: false, fault: { kind: 'crowded', reason, retryAfterSeconds: 5 } }
    expect(await asks({ ...OPERATOR, userId: 'another' })).toEqual(crowded)
    const full = unavailable('all 2 places for streams of events are taken')
    expect(await asks({ ...OPERATOR, projectId: 'a third' })).toEqual(full)
    events.stop()
    expect(await asks({ ...OPERATOR, userId: 'another' })).toEqual(unavailable('this process is stopping'))
  })
  test('to a caller of another user or another project never for the streams of the first', async () => {
    const { events } = open({ streamsPerCaller: 1 })
    for (const more of [{}, { projectId: 'another' }, { userId: 'another' }])
      valueOf(await events.open({ ...OPERATOR, ...more }, ASKED, SAME_CALLER))
    expect(events.state().open).toBe(3)
    events.stop()
  })
  test('and takes no place where the store cannot be read, at its beginning or where it is to begin', async () => {
    const { events, way } = open({ streamsMax: 1, streamsPerCaller: 1 })
    const asks = (after: string | null) => events.open(OPERATOR, { after, filter: {} }, SAME_CALLER)
    const away = {
      ok: false,
      fault: { kind: 'unavailable', reason: 'the journal does not answer', retryAfterSeconds: 1 },
    }
    way.away = true
    for (let n = 0; n < 2; n++) expect(await asks(null)).toEqual(away)
    way.away = false
    const first = valueOf(await asks(null))
    first.close('left')
    await quiet()
    // the journal is read already, so only the place that is asked for is looked up
    way.away = true
    for (let n = 0; n < 2; n++) expect(await asks('0')).toEqual(away)
    way.away = false
    valueOf(await asks('0')).close('left')
    await quiet()
    expect(events.state()).toMatchObject({ open: 0, ended: { left: 2 } })
    events.stop()
  })
  test('and a page after an event of another journal as well', async () => {
    const { events } = open({}, 3)
    const reason =
      'the journal does not hold this event: it is of another cloud, or of a state of the database that is gone'
    for (const after of ['9-0-000000000000', '3-0-000000000000'])
      expect(await events.page(OPERATOR, { after, filter: {} }, 10)).toEqual({
        ok: false,
        fault: { kind: 'conflict', reason },
      })
  })
})

describe('the journal is read', () => {
  test('only while somebody is there: not half a minute after a failed beginning, and again for the next stream', async () => {
    const clock = handClock()
    const { events, way, feeds, listeners } = open({ clock }, 0, 1)
    const read = async (ms: number) => {
      const before = feeds.length
      await clock.pass(ms)
      return { reads: feeds.length > before, listens: listeners.size > 0 }
    }
    expect(await read(60_000)).toEqual({ reads: false, listens: false })
    valueOf(await events.open(OPERATOR, ASKED, SAME_CALLER)).close('left')
    way.away = true
    await events.open(OPERATOR, { ...ASKED, after: '0' }, SAME_CALLER)
    way.away = false
    expect(await read(29_999)).toEqual({ reads: true, listens: true })
    await clock.pass(1)
    expect(await read(60_000)).toEqual({ reads: false, listens: false })
    const next = clientOf(valueOf(await events.open(OPERATOR, ASKED, SAME_CALLER)))
    await next.take()
    way.count = 1
    for (const listener of listeners) listener()
    await clock.pass(20)
    expect(await next.takeUntil(1)).toHaveLength(1)
    events.stop()
  })
  test('for one page up to ten times, five hundred rows each, and its end is told', async () => {
    const { events, feeds } = open({}, 5400)
    const first = valueOf(await events.page(OPERATOR, ASKED, 10))
    expect([first.events, first.more, first.next.slice(0, 7)]).toEqual([[], true, '5000-0-'])
    expect(feeds).toEqual(['', ...Array.from({ length: 9 }, (_, n) => String((n + 1) * 500))].map((at) => [at, 500]))
    feeds.length = 0
    const second = valueOf(await events.page(OPERATOR, { ...ASKED, after: first.next }, 10))
    expect([second.events, second.more, second.next.slice(0, 7), feeds]).toEqual([
      [],
      false,
      '5400-0-',
      [['5000', 500]],
    ])
  })
  test('for two pages of a project at a time; sixteen others wait, and those of other projects do not', async () => {
    const { events, feeds, way } = open({}, 3)
    const gate = Promise.withResolvers<void>()
    way.gate = gate.promise
    const pages = Array.from({ length: 18 }, () => events.page(OPERATOR, ASKED, 10))
    await quiet()
    expect(feeds).toHaveLength(2)
    const reason = 'The project has 2 of the 6 places for reads of recorded events, which is its share.'
    const crowded = { ok: false, fault: { kind: 'crowded', reason, retryAfterSeconds: 5 } }
    expect(await events.page(OPERATOR, ASKED, 10)).toEqual(crowded)
    const other = events.page({ ...OPERATOR, projectId: 'another', isAdmin: false }, ASKED, 10)
    await quiet()
    expect(feeds).toHaveLength(3)
    gate.resolve()
    expect((await Promise.all([...pages, other])).map((page) => valueOf(page).more)).toEqual(Array(19).fill(false))
  })
  test('for a page no further once nobody waits for it', async () => {
    const { events, feeds } = open({}, 5400)
    const isOver = () => feeds.length === 3
    expect(await events.page({ ...OPERATOR, isOver }, ASKED, 10)).toMatchObject({ ok: false })
    expect(feeds).toHaveLength(3)
  })
  test('for a project without building what it may not see', async () => {
    let built = 0
    const lettersOf = () => (built++, [])
    const { events } = open({ lettersOf }, 5000)
    const asked = events.page({ ...OPERATOR, projectId: 'another', isAdmin: false }, ASKED, 10)
    expect(valueOf(await asked)).toMatchObject({ events: [], more: true })
    expect(built).toBeLessThanOrEqual(10)
  })
})

test('events that were sent are counted, also of streams that have ended', async () => {
  const clock = handClock()
  const { events, way, listeners } = open({ clock }, 1, 2)
  const [first, second] = [
    clientOf(valueOf(await events.open(OPERATOR, ASKED, SAME_CALLER))),
    clientOf(valueOf(await events.open(OPERATOR, { ...ASKED, after: '0' }, SAME_CALLER))),
  ]
  way.count = 3
  for (const listener of listeners) listener()
  await clock.pass(20)
  await first.takeUntil(4)
  expect(events.state()).toMatchObject({ open: 2, sent: 4 })
  await second.takeUntil(6)
  first.stream.close('left')
  await quiet()
  expect(events.state()).toMatchObject({ open: 1, sent: 10, ended: { left: 1 } })
  second.stream.close('left')
  await quiet()
  expect(events.state()).toMatchObject({ open: 0, sent: 10, ended: { left: 2 } })
  events.stop()
})

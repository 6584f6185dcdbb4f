/** The dead letters of a control: read from the topic, shown, sent again, dropped. */
import { describe, expect, test } from 'vitest'
import { openDeadLetters } from '../../src/delivery/deadLetters/keeper.ts'
import { type Taken, uuidOf } from '../../src/delivery/deadLetters/box.ts'
import { type Bus, Unpublishable } from '../../src/bus/port.ts'
import type { BusRecord } from '../../src/wire/envelope.ts'
import { handledRecord } from '../../src/wire/handledLetter.ts'
import { deadLetterRecord, readDeadLetter } from '../../src/wire/message.ts'
import { handClock, memoryLog, quiet } from '../support/lab.ts'
import { NOVA, value } from '../support/plane.ts'

const REPORTS = 'host.reports.v1'
const DAY_MS = 24 * 3_600_000
/** The time of the clock. */
const NOW = handClock().now()
/** A moment in the minute before. */
const at = (n: number): number => NOW - 60_000 + n * 1000
const letterOf = (n: number, more: Partial<BusRecord> = {}, time = at(n)): BusRecord =>
  deadLetterRecord({ topic: REPORTS, key: 'h1', value: `no JSON ${n}`, headers: { one: '1' }, ...more }, 'bad', {
    id: `${REPORTS}/0/${n}`,
    time,
  })
const NOTE = { by: 'operator-7', reason: 'the host is mended' }
const uuid = (n: number) => uuidOf({ id: `${REPORTS}/0/${n}` })
const OPEN = { state: 'open', limit: 10 } as const

/** `follow` null: the bus is inside the process. */
type Follow = NonNullable<Parameters<typeof openDeadLetters>[0]['follow']>
const start = (follow: Follow | null = null, refuses: (record: BusRecord) => Error | null = () => null) => {
  const sent: BusRecord[] = []
  const [clock, log] = [handClock(), memoryLog()]
  const publish = async (batch: readonly BusRecord[]) => {
    for (const record of batch) {
      const error = refuses(record)
      if (error !== null) throw error
      sent.push(record)
    }
  }
  const letters = openDeadLetters({ bus: { publish }, clock, log, follow })
  const ids = async (asked: Parameters<typeof letters.list>[0] = OPEN) =>
    value(await letters.list(asked)).items.map(({ id }) => id.slice(REPORTS.length + 1))
  return { letters, sent, clock, log, ids, bury: (...some: readonly BusRecord[]) => letters.bus.publish(some) }
}

describe('letters of the bus inside the process', () => {
  test('are listed with the newest first, page by page, by state and by topic', async () => {
    const { letters, bury, ids } = start()
    await bury(letterOf(1), letterOf(2), letterOf(3, { topic: 'host.orders.v1' }))
    expect(await ids()).toEqual(['0/3', '0/2', '0/1'])
    expect(await ids({ ...OPEN, limit: 2 })).toEqual(['0/3', '0/2'])
    expect(await ids({ ...OPEN, marker: uuid(2) })).toEqual(['0/1'])
    expect(await ids({ ...OPEN, topic: REPORTS })).toEqual(['0/2', '0/1'])
    expect(await ids({ state: 'dropped', limit: 10 })).toEqual([])
    expect(value(await letters.list({ ...OPEN, limit: 3 })).next).toBe(null)
    expect(value(await letters.list({ ...OPEN, limit: 2 })).next).not.toBe(null)
    expect(await letters.list({ ...OPEN, marker: uuid(9) })).toMatchObject({
      ok: false,
      fault: { kind: 'not_found', resource: 'marker' },
    })
  })
  test('a page goes on after its marker, also when the marker was handled meanwhile', async () => {
    const { letters, bury, ids } = start()
    await bury(letterOf(1), letterOf(2), letterOf(3))
    value(await letters.drop(NOVA, uuid(2), NOTE))
    expect(await ids({ ...OPEN, marker: uuid(2) })).toEqual(['0/1'])
  })
  test('LETTERS-4 are forgotten once they are older than their topic keeps messages', async () => {
    const { letters, bury, clock, ids } = start()
    await bury(letterOf(0))
    await clock.pass(27 * DAY_MS)
    await bury(letterOf(1, {}, clock.now()))
    expect(await ids()).toEqual(['0/1', '0/0'])
    await clock.pass(DAY_MS + 1)
    expect(letters.count()).toMatchObject({ count: 1 })
    expect(await ids()).toEqual(['0/1'])
    expect(await letters.get(uuid(0))).toMatchObject({ fault: { kind: 'not_found' } })
  })
  test('LETTERS-4 of a host whose clock is behind by more than that are shown as long as others', async () => {
    const { bury, clock, ids } = start()
    await bury(letterOf(1, {}, NOW - 60 * DAY_MS))
    expect(await ids()).toEqual(['0/1'])
    await clock.pass(28 * DAY_MS + 1)
    expect(await ids()).toEqual([])
  })
  test('tell their place where they have one, their size, and whether they can be sent again', async () => {
    const { letters, bury } = start()
    const long = deadLetterRecord({ topic: REPORTS, key: 'h1', value: 'ä'.repeat(40_000), headers: {} }, 'bad', {
      id: 'host/h1/4/dead',
      time: at(5),
    })
    await bury(letterOf(7), long)
    expect(value(await letters.get(uuid(7)))).toMatchObject({
      place: { partition: 0, offset: 7 },
      bytes: 9,
      at: at(7),
      refusal: null,
      value: 'no JSON 7',
      headers: { one: '1' },
      handled: null,
    })
    const cut = value(await letters.get(uuidOf({ id: 'host/h1/4/dead' })))
    expect(cut).toMatchObject({ place: null, bytes: 65_536, cut: true, refusal: expect.stringContaining('too long') })
    expect(await letters.get(uuid(1))).toMatchObject({ ok: false, fault: { kind: 'not_found' } })
  })
  test('are counted until somebody has handled them; marks are no letters', async () => {
    const { letters, bury } = start()
    expect(letters.count()).toEqual({ count: 0, lastAt: null })
    await bury(letterOf(1), letterOf(2))
    expect(letters.count()).toEqual({ count: 2, lastAt: at(2) })
    value(await letters.drop(NOVA, uuid(2), NOTE))
    expect(letters.count()).toEqual({ count: 1, lastAt: at(1) })
    value(await letters.replay(NOVA, uuid(1), NOTE))
    expect(letters.count()).toEqual({ count: 0, lastAt: null })
  })
})

describe('what is done with a letter', () => {
  test('DEADLETTER-1 its message is sent as it was, then the letter is marked with who did it and why', async () => {
    const { letters, bury, sent, ids, log } = start()
    await bury(letterOf(1))
    const after = value(await letters.replay(NOVA, uuid(1), NOTE))
    expect(after).toMatchObject({ state: 'replayed', handled: NOTE })
    expect(sent[1]).toEqual({ topic: REPORTS, key: 'h1', value: 'no JSON 1', headers: { one: '1' } })
    expect(sent[2]!.key).toBe(sent[0]!.key)
    expect(readDeadLetter(sent[2]!)).toMatchObject({
      value: { id: `${REPORTS}/0/1`, body: { value: '', handled: { how: 'replayed', ...NOTE } } },
    })
    expect(await ids()).toEqual([])
    expect(await ids({ state: 'replayed', limit: 10 })).toEqual(['0/1'])
    expect(log.said.map(({ message }) => message)).toEqual(['deadLetter.replayed'])
  })
  test('DEADLETTER-3 a dropped letter stays on the topic with a mark, and can still be sent again', async () => {
    const { letters, bury, sent, ids } = start()
    await bury(letterOf(1))
    expect(value(await letters.drop(NOVA, uuid(1), NOTE))).toMatchObject({ state: 'dropped', handled: NOTE })
    expect(sent).toHaveLength(2)
    expect(await ids({ state: 'dropped', limit: 10 })).toEqual(['0/1'])
    value(await letters.drop(NOVA, uuid(1), { by: 'another', reason: 'again' }))
    expect(sent, 'a repetition changes nothing').toHaveLength(2)
    expect(value(await letters.replay(NOVA, uuid(1), NOTE)).state).toBe('replayed')
    expect(await letters.drop(NOVA, uuid(1), NOTE)).toMatchObject({ fault: { kind: 'bad_state', state: 'replayed' } })
  })
  test('a program that reads no more than the older mark takes a dropped letter for one that was sent again', async () => {
    const { letters, bury, sent } = start()
    await bury(letterOf(1))
    value(await letters.drop(NOVA, uuid(1), NOTE))
    expect(readDeadLetter(sent[1]!)).toMatchObject({ value: { body: { retriedAt: expect.any(String) } } })
  })
  test('LETTERS-3 the same command is carried out once, also when it comes twice at once; another sends again', async () => {
    const { letters, bury, sent } = start()
    await bury(letterOf(1))
    const caller = { ...NOVA, commandId: 'c1' }
    const both = [letters.replay(caller, uuid(1), NOTE), letters.replay(caller, uuid(1), NOTE)]
    expect((await Promise.all(both)).map((one) => value(one).state)).toEqual(['replayed', 'replayed'])
    expect(sent.filter(({ topic }) => topic === REPORTS)).toHaveLength(1)
    value(await letters.replay({ ...NOVA, commandId: 'c2' }, uuid(1), NOTE))
    expect(sent.filter(({ topic }) => topic === REPORTS)).toHaveLength(2)
  })
  test('LETTERS-6 a second operator waits for the first for 10 s, and is refused then', async () => {
    const clock = handClock()
    const stored = Promise.withResolvers<void>()
    let isSlow = false
    const publish: Bus['publish'] = async () => (isSlow ? stored.promise : undefined)
    const letters = openDeadLetters({ bus: { publish }, clock, log: memoryLog(), follow: null })
    await letters.bus.publish([letterOf(1)])
    isSlow = true
    const [first, second] = [letters.replay(NOVA, uuid(1), NOTE), letters.drop(NOVA, uuid(1), NOTE)]
    await clock.pass(10_000)
    expect(await second).toEqual({
      ok: false,
      fault: { kind: 'unavailable', reason: 'the dead letter is being handled', retryAfterSeconds: 5 },
    })
    stored.resolve()
    expect(value(await first).state).toBe('replayed')
    expect(await letters.drop(NOVA, uuid(1), NOTE)).toMatchObject({ fault: { kind: 'bad_state', state: 'replayed' } })
  })
  test('LETTERS-3 a command is known as long as it is that of one of the last 32 marks', async () => {
    const { letters, bury, sent } = start()
    await bury(letterOf(1))
    const replay = async (n: number) =>
      value(await letters.replay({ ...NOVA, commandId: `c${n}` }, uuid(1), NOTE)).state
    const times = () => sent.filter(({ topic }) => topic === REPORTS).length
    for (let n = 1; n <= 32; n++) await replay(n)
    for (let n = 1; n <= 32; n++) expect(await replay(n)).toBe('replayed')
    expect(times()).toBe(32)
    await replay(33)
    await replay(1)
    expect(times()).toBe(34)
  })
  test('the mark names the request', async () => {
    const { letters, bury } = start()
    await bury(letterOf(1))
    const caller = { ...NOVA, requestId: 'req-7' }
    expect(value(await letters.drop(caller, uuid(1), NOTE)).handled).toMatchObject({ ...NOTE, request: 'req-7' })
  })
  test.each(['arq.state.v1', 'arq.events.v1', 'dead-letters.v1', 'other.v1'])(
    'DEADLETTER-2 a letter that names %s is refused, although the control may write to it',
    async (topic) => {
      const { letters, bury, sent } = start()
      await bury(letterOf(1, { topic }))
      expect(value(await letters.get(uuid(1))).refusal).toContain(topic === 'dead-letters.v1' ? 'itself' : topic)
      expect(await letters.replay(NOVA, uuid(1), NOTE)).toMatchObject({ ok: false, fault: { kind: 'conflict' } })
      expect(sent).toHaveLength(1)
    },
  )
  test('DEADLETTER-2 a message that was cut is refused, and nothing is sent', async () => {
    const { letters, bury, sent } = start()
    await bury(letterOf(1, { value: 'x'.repeat(70_000) }))
    expect(await letters.replay(NOVA, uuid(1), NOTE)).toMatchObject({
      fault: { kind: 'conflict', reason: expect.stringContaining('too long') },
    })
    expect(sent).toHaveLength(1)
  })
  test.each([
    ['is away', new Error('away'), 'unavailable'],
    ['never takes it', new Unpublishable('too long'), 'conflict'],
  ])('a bus that %s: the letter stays open, and the refusal says so', async (_, error, kind) => {
    const { letters, bury, ids } = start(null, ({ topic }) => (topic === REPORTS ? error : null))
    await bury(letterOf(1))
    expect(await letters.replay(NOVA, uuid(1), NOTE)).toMatchObject({ ok: false, fault: { kind } })
    expect(await ids()).toEqual(['0/1'])
  })
})

describe('letters of a topic', () => {
  /** A topic that is read when the test says so. */
  const topic = () => {
    const reads: { readonly take: (message: Taken) => void; readonly caughtUp: () => void }[] = []
    let breakOff: (error: Error) => void = () => {}
    const follow: Follow = async (take, caughtUp, signal) => {
      reads.push({ take, caughtUp })
      const { promise, resolve, reject } = Promise.withResolvers<void>()
      signal.addEventListener('abort', () => resolve())
      breakOff = reject
      return promise
    }
    return { follow, reads, breakOff: (why: string) => breakOff(new Error(why)) }
  }
  test('LETTERS-1 it is read only when somebody asks, and once', async () => {
    const { follow, reads } = topic()
    const { letters, bury } = start(follow)
    await bury(letterOf(1))
    expect(reads).toHaveLength(0)
    expect(letters.count(), 'those of this process').toMatchObject({ count: 1 })
    letters.count()
    expect(reads).toHaveLength(1)
    await letters.stop()
  })
  test('LETTERS-2 a question waits until the topic is read, and is refused when that takes too long', async () => {
    const { follow, reads } = topic()
    const { letters, clock, ids } = start(follow)
    const [late, asked] = [letters.list(OPEN), letters.get(uuid(1))]
    await clock.pass(6000)
    expect(await late).toMatchObject({
      fault: { kind: 'unavailable', reason: 'the dead letters are still being read' },
    })
    await asked
    const listed = ids()
    reads[0]!.take({ ...letterOf(1), time: at(5) })
    reads[0]!.take({ ...letterOf(2), time: at(6) })
    reads[0]!.take({
      ...handledRecord({ topic: REPORTS, key: 'h1', reason: '' }, { id: `${REPORTS}/0/2`, time: at(9) }),
      time: at(9),
    })
    reads[0]!.caughtUp()
    expect(await listed).toEqual(['0/1'])
    expect(letters.count()).toEqual({ count: 1, lastAt: at(5) })
    expect(value(await letters.get(uuid(2)))).toMatchObject({
      state: 'replayed',
      handled: { at: at(9), by: null, reason: null, request: null },
    })
    await letters.stop()
  })
  test('a read that breaks off is told with its reason, and begun again; nothing is doubled', async () => {
    const { follow, reads, breakOff } = topic()
    const { letters, clock, ids } = start(follow)
    const first = ids()
    reads[0]!.take(letterOf(1))
    reads[0]!.caughtUp()
    expect(await first).toEqual(['0/1'])
    breakOff('Not authorized to access group')
    await quiet()
    expect(await letters.list(OPEN)).toMatchObject({
      fault: { reason: 'the dead letters cannot be read: Not authorized to access group' },
    })
    await clock.pass(1000)
    expect(reads).toHaveLength(2)
    reads[1]!.take(letterOf(1))
    reads[1]!.take(letterOf(2))
    reads[1]!.caughtUp()
    expect(await ids()).toEqual(['0/2', '0/1'])
    await letters.stop()
  })
  test('LETTERS-5 while a further read breaks off, those that were read are counted', async () => {
    const { follow, reads, breakOff } = topic()
    const { letters, ids } = start(follow)
    const first = ids()
    reads[0]!.take(letterOf(1))
    reads[0]!.caughtUp()
    await first
    breakOff('away')
    await quiet()
    expect(letters.count()).toEqual({ count: 1, lastAt: at(1) })
    await letters.stop()
  })
  test('LETTERS-5 a control that cannot read them counts its own, until a day has passed without one', async () => {
    const { follow } = topic()
    const { letters, bury, clock } = start(follow)
    await bury(letterOf(1))
    await clock.pass(DAY_MS - 1)
    expect(letters.count()).toEqual({ count: 1, lastAt: NOW })
    await clock.pass(1)
    expect(letters.count()).toEqual({ count: 0, lastAt: null })
    await letters.stop()
  })
  test('a mark or a letter with a moment that is none leaves the list and the number as they are', async () => {
    const { follow, reads } = topic()
    const { letters, ids } = start(follow)
    const listed = ids()
    reads[0]!.take(letterOf(1))
    const mark = handledRecord({ topic: REPORTS, key: 'h1', reason: '' }, { id: `${REPORTS}/0/1`, time: at(2) })
    for (const moment of ['then', '2026-13-01T00:00:00Z', '+275760-09-13T00:00:00.000Z'])
      reads[0]!.take({ ...mark, value: mark.value.replace(/"retriedAt":"[^"]*"/, `"retriedAt":"${moment}"`) })
    for (const [n, time] of [Number.NaN, Number.POSITIVE_INFINITY, -1, 1e300].entries())
      reads[0]!.take({ ...letterOf(n + 2), time })
    reads[0]!.caughtUp()
    expect(await listed).toContain('0/1')
    for (const { at: time } of value(await letters.list(OPEN)).items)
      expect(new Date(time).toISOString()).toMatch(/^\d{4}-/)
    expect(letters.count().count).toBeGreaterThan(0)
    await letters.stop()
  })
})

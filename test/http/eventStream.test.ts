/** SSE: the bytes of a stream of events, and how it ends, by a clock that the test moves. */
import { describe, expect, test } from 'vitest'
import type { Portion, StreamEnding } from '../../src/actors/events.ts'
import { EVENT_STREAM, STREAM_HEADERS, eventBody } from '../../src/http/eventStream.ts'
import { handClock, quiet } from '../support/lab.ts'

const event = (n: number) => ({ id: `${n}-1-a`, type: 'accelerando.fact.Bound', text: `{"n":"é${n}"}` })
const open = (portions: readonly Portion[], cuts = true) => {
  const clock = handClock()
  const closed = Promise.withResolvers<StreamEnding>()
  const left = [...portions]
  const never = new Promise<Portion>(() => {})
  const [ended, closedAs]: [string[], string[]] = [[], []]
  let [broken, asked] = [0, 0]
  const close = (why: StreamEnding) => {
    closedAs.push(why)
    closed.resolve(why)
  }
  const next = async () => {
    asked++
    return left.shift() ?? never
  }
  const body = eventBody({
    stream: { closed: closed.promise, close, next },
    clock,
    breakOff: cuts ? () => void broken++ : null,
    ended: (why) => void ended.push(why),
  })
  const reader = body.getReader()
  const read = async () => {
    const { value, done } = await reader.read()
    return done ? null : new TextDecoder().decode(value)
  }
  return { clock, reader, read, close, ended, closedAs, broken: () => broken, asked: () => asked }
}
const BYE = { kind: 'bye', why: 'lifetime', retryMs: 3000 } as const

test('a stream is neither stored nor gathered on its way, and its connection ends with it', () => {
  expect(EVENT_STREAM).toBe('text/event-stream')
  expect(STREAM_HEADERS).toEqual({
    'content-type': 'text/event-stream',
    'cache-control': 'no-store',
    'x-accel-buffering': 'no',
    connection: 'close',
  })
})
describe('SSE-2 what is sent', () => {
  test('says first when to come back, then events as they are on Kafka, and messages of other names', async () => {
    const events = [event(1), event(2)]
    const { read } = open([
      { kind: 'beat', id: '0', newest: '9', at: 7 },
      { kind: 'events', events },
      { kind: 'events', events: events.slice(0, 1) },
      { kind: 'reset', why: 'archived', oldest: '3', id: '4' },
      BYE,
    ])
    const first = 'id: 1-1-a\nevent: accelerando.fact.Bound\ndata: {"n":"é1"}\n\n'
    expect([await read(), await read(), await read(), await read(), await read(), await read(), await read()]).toEqual([
      'retry: 2000\n\n',
      'id: 0\nevent: beat\ndata: {"at":"1970-01-01T00:00:00.007Z","newest":"9"}\n\n',
      `${first}id: 2-1-a\nevent: accelerando.fact.Bound\ndata: {"n":"é2"}\n\n`,
      first,
      'id: 4\nevent: reset\ndata: {"reason":"archived","oldest":"3","newest":"4"}\n\n',
      'retry: 3000\nevent: bye\ndata: {"reason":"lifetime"}\n\n',
      null,
    ])
  })
  test('is encoded once, however often it is sent', async () => {
    let read = 0
    const shared = {
      ...event(1),
      get text() {
        read++
        return '{}'
      },
    }
    const portions = () => [{ kind: 'events', events: [shared] }] as const
    for (const stream of [open(portions()), open(portions())]) {
      await stream.read()
      expect(await stream.read()).toBe('id: 1-1-a\nevent: accelerando.fact.Bound\ndata: {}\n\n')
    }
    expect(read).toBe(1)
  })
  test('SSE-1 is made only when the client has read what was before', async () => {
    const { read, asked } = open([{ kind: 'beat', id: '0', newest: '0', at: 0 }])
    await quiet()
    expect(asked()).toBe(0)
    await read()
    await quiet()
    expect(asked()).toBe(0)
    await read()
    expect(asked()).toBe(1)
  })
})
describe('SSE-3 a stream that ends', () => {
  test.each([true, false])('is broken off when nobody reads its end within a second; connection: %s', async (cuts) => {
    const { clock, close, read, reader, broken, ended } = open([BYE], cuts)
    await read()
    close('stopping')
    await clock.pass(999)
    expect([broken(), ended]).toEqual([0, ['stopping']])
    await clock.pass(1)
    expect(broken()).toBe(cuts ? 1 : 0)
    if (!cuts) await expect(reader.read()).rejects.toThrow('broken off: stopping')
  })
  test('is broken off at once when its client has read nothing for long, and only once', async () => {
    const { clock, close, broken } = open([BYE])
    close('stalled')
    await quiet()
    expect(broken()).toBe(1)
    await clock.pass(10_000)
    expect(broken()).toBe(1)
  })
  test('and was read to its end is not broken off', async () => {
    const { clock, close, read, broken } = open([BYE])
    await read()
    await read()
    expect(await read()).toBe(null)
    close('lifetime')
    await clock.pass(10_000)
    expect(broken()).toBe(0)
  })
  test('because its client has left is told so, and nothing is broken off', async () => {
    const { clock, reader, broken, closedAs, ended } = open([BYE])
    await reader.cancel()
    await clock.pass(10_000)
    expect([closedAs, ended, broken()]).toEqual([['left'], ['left'], 0])
  })
  test('because a portion cannot be written ends with an error: no other portion follows the gap', async () => {
    const { reader, read, closedAs, asked } = open([{ kind: 'beat', id: '1', newest: '1', at: Number.NaN }, BYE])
    await read()
    await expect(reader.read()).rejects.toThrow('broken off: Invalid time value')
    expect([closedAs, asked()]).toEqual([['failed'], 1])
  })
  test('while a portion is made says nothing more', async () => {
    const portion = Promise.withResolvers<Portion>()
    const { clock, close, reader, read, broken } = open([portion.promise as never])
    await read()
    const further = reader.read().then(
      ({ value }) => new TextDecoder().decode(value),
      (error: Error) => error.message,
    )
    await quiet()
    close('stalled')
    await quiet()
    portion.resolve(BYE)
    await clock.pass(10_000)
    expect(broken()).toBe(1)
    expect(await Promise.race([further, quiet().then(() => 'nothing is read')])).toBe('nothing is read')
  })
})

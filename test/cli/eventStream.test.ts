/** The stream of events against a scripted service: what is asked again, what is said meanwhile, and what ends it. */
import { expect, test } from 'vitest'
import { createFrames } from '../../src/cli/operators/eventText.ts'
import { type ReceivedEvent, eventLine, follow, takePages } from '../../src/cli/operators/events.ts'
import { type Script, openScripted, refuses } from './scriptedService.ts'

const service = openScripted()

const followed = async (after: string | null, ...scripted: readonly Script[]) => {
  service.answers(scripted)
  const [taken, warned, end]: [ReceivedEvent[], string[], AbortController] = [[], [], new AbortController()]
  const wanted = { flags: { api: service.api() }, query: { kind: 'arq', project: 'a&b' }, after }
  const failed = await follow(
    wanted,
    (event) => {
      taken.push(event)
      if (event.id === 'last') end.abort()
    },
    (line) => void warned.push(line),
    end.signal,
  ).catch((error: unknown) => String(error))
  return { taken, warned, failed }
}

test('a stream that ends or is not available is asked for again from the last event on; a refusal ends it', async () => {
  const { taken, warned, failed } = await followed(
    null,
    (response) => {
      response.writeHead(200)
      response.write('id: e1\nevent: accelerando.arq.Bound\ndata: {"subject": "q1"}\n\n')
      response.write('id: e2\nevent: beat\ndata: {}\n\n')
      response.write('id: e3\nevent: reset\ndata: too old\n\n')
      response.write('event: accelerando.arq.Odd\ndata: {"subject": "q2"}\n\n')
      response.end('event: accelerando.arq.Cut\ndata: {"subject"')
    },
    refuses(503, 'starting'),
    refuses(403, 'no such right'),
  )
  expect(taken).toEqual([
    { id: 'e1', event: { subject: 'q1' } },
    { id: '', event: { subject: 'q2' } },
  ])
  const path = '/v2/events?kind=arq&project=a%26b'
  expect(service.asked().map(({ url, headers }) => [url, headers['last-event-id'], headers['accept']])).toEqual([
    [path, undefined, 'text/event-stream'],
    [path, 'e3', 'text/event-stream'],
    [path, 'e3', 'text/event-stream'],
  ])
  expect(service.asked()[0]!.headers['openstack-api-version']).toBe('accelerator latest, accelerando latest')
  expect(warned).toEqual([
    'events were missed, and it goes on with newer ones: too old',
    `GET ${path.slice(3)}: 503 starting; it is tried again`,
  ])
  expect(failed).toContain(`GET ${path.slice(3)}: 403 no such right`)
})
test('it begins after the event that is named, and nothing is taken after the end', async () => {
  const event = (id: string) => `id: ${id}\nevent: accelerando.x\ndata: {}\n\n`
  const { taken, warned, failed } = await followed('e0', (response) => {
    response.writeHead(200).end(event('one') + event('last') + event('more'))
  })
  expect(taken.map(({ id }) => id)).toEqual(['one', 'last'])
  expect([service.asked()[0]!.headers['last-event-id'], warned, failed]).toEqual(['e0', [], undefined])
})

const pages = async (max: number, after: string | null, sizes: readonly number[]) => {
  let count = 0
  service.answers(
    sizes.map((size, at) => (response) => {
      const events = Array.from({ length: size }, () => ({ id: String(++count), event: {} }))
      response.end(JSON.stringify({ events, next: `n${at + 1}`, more: at + 1 < sizes.length }))
    }),
  )
  const taken: string[] = []
  await takePages(
    { flags: { api: service.api() }, query: { kind: 'arq' }, after },
    max,
    ({ id }) => void taken.push(id),
  )
  return { taken: taken.length, urls: service.asked().map(({ url }) => url!.slice('/v2/events?'.length)) }
}
test.each<readonly [string, number, string | null, readonly number[], number, readonly string[]]>([
  ['to their end', 5000, null, [500, 2], 502, ['limit=500&kind=arq', 'limit=500&kind=arq&after=n1']],
  ['after an event', 5000, 'e7', [0], 0, ['limit=500&kind=arq&after=e7']],
  ['up to a number', 501, null, [500, 1, 9], 501, ['limit=500&kind=arq', 'limit=1&kind=arq&after=n1']],
  ['up to a number, of a service that sends more', 2, null, [3, 1], 2, ['limit=2&kind=arq']],
  ['as few as none', 0, null, [], 0, []],
])('pages are taken %s', async (_, max, after, sizes, taken, urls) => {
  expect(await pages(max, after, sizes)).toEqual({ taken, urls })
})
test('an event is one line with its id at the end, and no position', () => {
  const envelope = { specversion: '1.0', id: 'm1', source: '/s', type: 't', datacontenttype: 'application/json' }
  const data = { entity: 'arq/q1', event: { type: 'Bound', host: 'h1' }, cause: { by: 'kim', requestId: 'req-1' } }
  const event = { ...envelope, time: '2026-01-01T00:00:00.000Z', position: '5.1', data }
  expect(eventLine({ id: '5-1-a', event })).toBe('2026-01-01T00:00:00.000Z  arq/q1  Bound host=h1  by kim req-1  5-1-a')
})

const framesOf = (...texts: readonly string[]) => {
  const frames = createFrames()
  return { found: texts.flatMap(frames.take), retryMs: frames.retryMs() }
}
test.each([
  ['one blank behind a colon is none of the value', 'event:e\ndata:  x', [{ id: null, event: 'e', data: ' x' }]],
  ['a value may have colons', 'event: e\ndata: a:b: c', [{ id: null, event: 'e', data: 'a:b: c' }]],
  [
    'a remark and a line without a colon are passed over',
    ': x\nevent: e\nodd\ndata: d',
    [{ id: null, event: 'e', data: 'd' }],
  ],
  ['an event without data is none', 'id: 1\nevent: e', []],
  ['data without an event are none', 'id: 1\ndata: d', []],
])('%s', (_, text, found) => expect(framesOf(`${text}\n\n`)).toEqual({ found, retryMs: 2000 }))
test.each([
  ['retry: 0', 0],
  ['retry: 7', 7],
  ['retry: -1', 2000],
  ['retry: 1.5', 2000],
  ['retry: soon', 2000],
])('%j: the pause is %i ms', (text, retryMs) => expect(framesOf(`${text}\n\n`)).toEqual({ found: [], retryMs }))
test('what never ends is no stream of events', () => {
  const most = 8 * 1024 * 1024
  const frames = createFrames()
  expect(frames.take('x'.repeat(most))).toEqual([])
  expect(() => frames.take('x')).toThrow('the stream sends something else than events')
})

/** How what an action has recorded is looked for: what the API is asked, how long, and what is then said. */
import { describe, expect, it, test } from 'vitest'
import { handClock } from '../support/lab.ts'
import { uiOver, uuid } from './drawing.ts'
import { MAY, type Facts } from './samples.ts'
import { SAME } from './world.ts'

type Answer = Response | { readonly events: readonly object[]; readonly next: string; readonly more: boolean }
const page = (events: readonly object[], next = 'n', more = false): Answer => ({ events, next, more })
const AT = '2026-03-01T12:00:00.000Z'
const event = (id: string, fact: Facts, subject = 's1') => ({
  ...{ id, event: { type: 'accelerando.fact.X', subject, time: AT, data: { entity: 'arq/s1', event: fact } } },
})
const line = (id: string, facts: string, subject = 's1') => ({ id, kind: 'arq', type: 'X', subject, at: AT, facts })
const order = (id: string, number: number, host: string, subject = 's1') =>
  event(id, { type: 'OrderSent', order: { number, host } }, subject)
const answer = (id: string, number: number, subject = 's1') => event(id, { type: 'OrderDone', number }, subject)
const refused = () => Response.json({ errors: [{ detail: 'no', code: 'x' }] }, { status: 403 })

const REQUEST = `req-${uuid(1)}`
type Done = { readonly tone: string; readonly text: string; readonly recorded?: Facts } | null
/** Over an API that gives one page of events after the other; the last one again and again. */
const over = (pages: readonly Answer[], clock = handClock()) => {
  const asked: string[] = []
  let last = 0
  const fetch = (request: Request): Response => {
    const path = request.url.slice(request.url.indexOf('/v2') + '/v2'.length)
    if (path === '/permissions') return Response.json(MAY)
    if (!path.startsWith('/events?')) return new Response('', { status: 404 })
    asked.push(path)
    last = clock.now()
    const given = pages[Math.min(asked.length, pages.length) - 1]!
    return given instanceof Response ? given.clone() : Response.json(given)
  }
  return { ui: uiOver(fetch, { clock }), asked, lastAt: () => last }
}
/** As a browser renews the page: without waiting for anything. */
const noteAt = async (place: string, pages: readonly Answer[] = [page([])]) => {
  const { ui, asked } = over(pages)
  const shown = await ui.request(`/ui/${place}`, { headers: { accept: 'application/json' } })
  return { done: ((await shown.json()) as { done: Done }).done, asked }
}
const noted = (pages: readonly Answer[], since = '7-0') =>
  noteAt(`hosts/x?done=retire&request=${REQUEST}&since=${since}`, pages)
const OWN = `&limit=50&request=${REQUEST}`
const ANSWERS = `&limit=500&subject=s1&type=${encodeURIComponent('OrderDone,OrderFailed,Programmed,ProgramFailed,NovaTold')}`
const ALL = `events?after=7-0&request=${REQUEST}`
const SAID = `Retire: recorded under ${REQUEST}`

describe('what was recorded', () => {
  test('that waits for nobody is shown as it is', async () => {
    const { done, asked } = await noted([page([event('7-1', { type: 'A', a: 1 }), event('7-2', { type: 'B' })])])
    expect(asked).toEqual([`/events?after=7-0${OWN}`])
    expect(done).toEqual({
      ...{ tone: 'good', text: `${SAID}.` },
      recorded: {
        events: { ok: true, value: [line('7-1', '{"a":1}'), line('7-2', '{}')] },
        ...{ cut: false, all: ALL, follow: null },
      },
    })
  })
  test('is shown with the answers, each event once, in the order in which it came', async () => {
    const { done, asked } = await noted([
      page([order('7-1', 1, 'h1'), order('7-2', 2, 'h2', 's2')]),
      page([answer('7-3', 1), answer('7-4', 2, 's2'), answer('7-5', 1)]),
    ])
    const both = ANSWERS.replace('=s1', `=${encodeURIComponent('s1,s2')}`)
    expect(asked).toEqual([`/events?after=7-0${OWN}`, `/events?after=7-1${both}`])
    expect(done!.text).toBe(`${SAID}, and host h1, host h2 has answered.`)
    expect(done!.recorded!['events']).toMatchObject({
      value: [{ id: '7-1' }, { id: '7-2' }, line('7-3', '{"number":1}'), line('7-4', '{"number":2}', 's2')],
    })
  })
  const failed = (id: string, number: number, reason: string) => event(id, { type: 'OrderFailed', number, reason })
  const toldAs = (endings: Facts, note?: string) => event('7-2', { type: 'NovaTold', endings, ...(note && { note }) })
  const ASKED = event('7-1', { type: 'ResendAsked' })
  it.each<[string, readonly Answer[], string, string]>([
    [
      'by whom it is not answered, each once',
      [page([order('7-1', 1, 'h1'), order('7-2', 2, 'h2'), order('7-3', 3, 'h2')]), page([answer('7-4', 1)])],
      '; host h2 has not answered yet.',
      'busy',
    ],
    [
      'in the words of each host that failed, when all have answered',
      [
        page([order('7-1', 1, 'h1'), order('7-2', 2, 'h1'), order('7-3', 3, 'h2'), order('7-4', 4, 'h3')]),
        page([failed('7-5', 1, 'down'), failed('7-6', 2, 'down'), failed('7-7', 3, 'hot'), answer('7-8', 4)]),
      ],
      '; host h1 answered: down; host h2 answered: hot.',
      'bad',
    ],
    [
      'not to be answered by an order of another number, or about something else',
      [page([order('7-1', 1, 'h1')]), page([answer('7-2', 2), answer('7-3', 1, 's2'), event('7-4', { number: 1 })])],
      '; host h1 has not answered yet.',
      'busy',
    ],
    [
      'to have been programmed',
      [page([order('7-1', 1, 'h1')]), page([event('7-2', { type: 'Programmed', number: 1 })])],
      ', and host h1 has answered.',
      'good',
    ],
    [
      'why it was not programmed',
      [page([order('7-1', 1, 'h1')]), page([event('7-2', { type: 'ProgramFailed', number: 1, reason: 'no image' })])],
      '; host h1 answered: no image.',
      'bad',
    ],
    ['to wait for Nova', [page([ASKED]), page([answer('7-2', 1)])], '; Nova has not answered yet.', 'busy'],
    [
      'to be taken by Nova, also of a server that is gone',
      [page([ASKED]), page([toldAs({ a: 'delivered', b: 'gone' }, 'x')])],
      ', and Nova has answered.',
      'good',
    ],
    [
      'to be refused by Nova, with its reason',
      [page([ASKED]), page([toldAs({ a: 'delivered', b: 'refused' }, '400')])],
      '; Nova answered: 400.',
      'bad',
    ],
    [
      'not to be taken by Nova, without a reason',
      [page([ASKED]), page([toldAs({})])],
      '; Nova answered: it has not taken everything.',
      'bad',
    ],
  ])('is said %s', async (_, pages, text, tone) => {
    expect((await noted(pages)).done).toMatchObject({ tone, text: `${SAID}${text}` })
  })
  test('links to the place where the first missing answer will be', async () => {
    const { done } = await noted([page([order('7-1', 1, 'h1'), order('7-2', 2, 'h2')]), page([answer('7-4', 1)])])
    expect(done!.recorded).toMatchObject({ follow: 'events?after=7-2&subject=s1' })
  })
  test('is looked for on four pages at most, of which the first 50 events are shown', async () => {
    const many = (from: number, count: number) => Array.from({ length: count }, (_, at) => event(`8-${from + at}`, {}))
    const some = await noted([page(many(0, 20), 'a', true), page(many(20, 29), 'b')])
    expect([some.asked.length, some.done!.recorded!['cut']]).toEqual([2, false])
    const all = await noted([page(many(0, 20), 'a', true), page(many(20, 31), 'b', true)])
    expect([all.asked.length, all.done!.recorded!['cut']]).toEqual([2, true])
    expect(all.done!.recorded!['events']).toMatchObject({ value: { length: 50, 49: { id: '8-49' } } })
    expect((await noted([page([], 'a', true)])).asked).toHaveLength(4)
    const answers = [page([order('7-1', 1, 'h1')]), page([answer('7-2', 9)], 'a', true)]
    expect((await noted(answers)).asked).toHaveLength(5)
  })
  test('that cannot be read says why, unless a part of it was read', async () => {
    const none = (await noted([refused()])).done!
    expect([none.text, none.recorded!['events']]).toMatchObject([`${SAID}.`, { ok: false, error: { text: 'no' } }])
    const part = (await noted([page([event('7-1', {})], 'a', true), refused()])).done!
    expect(part.recorded!['events']).toMatchObject({ ok: true, value: [{ id: '7-1' }] })
  })
  test.each(['', ' 7-1', '../x', 'x'.repeat(81)])('after %j, which is no event, is not looked for', async (since) => {
    const { done, asked } = await noted([page([])], encodeURIComponent(since))
    expect([asked, done!.recorded]).toMatchObject([[], { events: null, follow: null }])
  })
  test('is waited for until nothing is missing, every 200 ms and for three seconds at most', async () => {
    const waited = async (...pages: readonly Answer[]) => {
      const clock = handClock()
      const begun = clock.now()
      const { ui, asked, lastAt } = over(pages, clock)
      const whole = Promise.resolve(ui.request(`/ui/hosts/x?done=retire&request=${REQUEST}&since=7-0`))
      await clock.pass(4000)
      const text = /recorded under \S+?([;.,][^<]*)/.exec(await (await whole).text())![1]
      return [text, lastAt() - begun, asked.length]
    }
    const none = page([])
    expect(await waited(none)).toEqual(['; no event of it can be read so far.', 3000, 16])
    expect(await waited(none, none, page([event('7-1', {})]))).toEqual(['.', 400, 3])
    const [sent, done] = [page([order('7-1', 1, 'h1')]), page([answer('7-2', 1)])]
    expect(await waited(sent, none, sent, done)).toEqual([', and host h1 has answered.', 200, 4])
    expect(await waited(refused())).toEqual(['.', 0, 1])
  })
})

test('an action of which the service keeps no event says only under which request it is recorded', async () => {
  const { done } = await noteAt(`letters/x?done=drop&request=${REQUEST}&since=7-1`)
  expect(done).toEqual({ tone: 'good', text: `Drop: recorded under ${REQUEST}.` })
})
test('an action that has an ending says how it ended', async () => {
  const text = 'Nothing was repaired: another control works on this host. Try again in a moment.'
  expect((await noteAt('drift?done=repair&ended=busy')).done).toEqual({ tone: 'busy', text })
})
test.each([
  `drift?done=repair&ended=lost&request=${REQUEST}`,
  `letters/x?done=drop&request=${REQUEST}0`,
  `letters/x?done=drop&request=x${REQUEST}`,
  'letters/x?done=drop',
  `letters/x?request=${REQUEST}`,
  `hosts/x?done=drop&request=${REQUEST}`,
])('nothing is said to be done at %s', async (place) => expect((await noteAt(place)).done).toBeNull())

describe('the newest event, before which a form was shown', () => {
  const STREAM = { 'content-type': 'text/event-stream; charset=utf-8' }
  const BEAT = `: ${'x'.repeat(97)}\n`
  /** Over a stream of these pieces. */
  const sinceOf = async (stream: () => Response | Promise<Response>) => {
    let signal: AbortSignal | null = null
    const ui = uiOver((request) => {
      if (request.url.endsWith('/permissions')) return Response.json(MAY)
      if (!request.url.endsWith('/events')) return new Response('', { status: 404 })
      signal = request.signal
      return stream()
    })
    const html = await (await ui.request('/ui/profiles/new/do/create', { headers: SAME })).text()
    return [/name="since" value="([^"]*)"/.exec(html)?.[1], signal!.aborted]
  }
  const pieces = (texts: readonly string[]) => () =>
    new Response(
      new ReadableStream({
        start: (stream) => {
          for (const text of texts) stream.enqueue(new TextEncoder().encode(text))
          stream.close()
        },
      }),
      { headers: STREAM },
    )
  test.each([
    ['at the beginning of the stream', ['id: 7-1\nevent: message\n\n'], '7-1'],
    ['after a hint and a sign of life', ['retry: 1000\n\nevent: beat\nid:7-2\ndata: {}\n\n'], '7-2'],
    ['in pieces', ['i', 'd: 7', '-3', '\n'], '7-3'],
    ['as the first of two', ['id: 7-4\n\nid: 7-5\n\n'], '7-4'],
    ['within what is read', [...Array.from({ length: 79 }, () => BEAT), 'id: 7-6\n'], '7-6'],
    ['in vain where there is none', ['retry: 1000\n\n'], undefined],
    ['in vain within a line', ['data: id: 7-1\n'], undefined],
    ['in vain behind too much', [...Array.from({ length: 80 }, () => BEAT), 'id: 7-1\n'], undefined],
  ])('is read %s, and nothing is read on', async (_, texts, id) =>
    expect(await sinceOf(pieces(texts))).toEqual([id, true]),
  )
  test.each<[string, () => Response | Promise<Response>]>([
    ['no stream', () => new Response('id: 7-1\n', { headers: { 'content-type': 'text/html' } })],
    ['a refusal', refused],
    ['cut off', () => Promise.reject(new Error('cut'))],
  ])('is not known where the answer is %s, and the form is shown all the same', async (_, stream) => {
    expect((await sinceOf(stream))[0]).toBeUndefined()
  })
})

/** How what an action has recorded is looked for: what the API is asked, how long, and what is then said. */
import * as v from 'valibot'
import { describe, expect, test } from 'vitest'
import type { Event } from '../../src/ui/answerShapes.ts'
import type { Api } from '../../src/ui/api.ts'
import { doneIn } from '../../src/ui/done.ts'
import { type Loaded, loaded, pageError } from '../../src/ui/loaded.ts'
import { eventIdBefore, eventIdIn, recordedBy } from '../../src/ui/recorded.ts'
import { handClock } from '../support/lab.ts'
import { uuid } from './drawing.ts'

type Page = { readonly events: readonly Event[]; readonly next: string; readonly more: boolean }
const page = (events: readonly Event[], next = 'n', more = false): Loaded<Page> => loaded({ events, next, more })
const event = (id: string, fact: object, subject = 's1'): Event => ({
  id,
  event: { type: 'accelerando.fact.X', subject, time: 't', data: { entity: 'arq/s1', event: fact } },
})
const line = (id: string, facts: string, subject = 's1') => ({ id, kind: 'arq', type: 'X', subject, at: 't', facts })
const order = (id: string, number: number, host: string, subject = 's1') =>
  event(id, { type: 'OrderSent', order: { number, host } }, subject)
const answer = (id: string, number: number, subject = 's1') => event(id, { type: 'OrderDone', number }, subject)

/** An API that gives one page after the other, and notes what it is asked; the last one again and again. */
const paged = (...pages: readonly Loaded<Page>[]) => {
  const asked: string[] = []
  const get: Api['get'] = async (path, schema) => {
    asked.push(path)
    const given = pages[Math.min(asked.length, pages.length) - 1]!
    return given.ok ? loaded(v.parse(schema, given.value)) : given
  }
  return { api: { get } as Api, asked }
}
const OWN = '&limit=50&request=r%201'
const ANSWERS = `&limit=500&subject=s1&type=${encodeURIComponent('OrderDone,OrderFailed,Programmed,ProgramFailed,NovaTold')}`
const noted = async (pages: readonly Loaded<Page>[], { since = '7-0', waits = false } = {}) => {
  const { api, asked } = paged(...pages)
  const done = await recordedBy({ api, clock: handClock() }, 'Retire', { request: 'r 1', since, waits })
  return { done, asked }
}
const ALL = 'events?after=7-0&request=r%201'

describe('what was recorded', () => {
  test('that waits for nobody is shown as it is', async () => {
    expect(await noted([page([event('7-1', { type: 'A', a: 1 }), event('7-2', { type: 'B' })])])).toEqual({
      asked: [`/events?after=7-0${OWN}`],
      done: {
        tone: 'good',
        text: 'Retire: recorded under r 1.',
        recorded: { events: loaded([line('7-1', '{"a":1}'), line('7-2', '{}')]), cut: false, all: ALL, follow: null },
      },
    })
  })
  test('is shown with the answers, each event once, in the order in which it came', async () => {
    const { done, asked } = await noted([
      page([order('7-1', 1, 'h1'), order('7-2', 2, 'h2', 's2')]),
      page([answer('7-3', 1), answer('7-4', 2, 's2'), answer('7-5', 1)]),
    ])
    expect(asked).toEqual([
      `/events?after=7-0${OWN}`,
      `/events?after=7-1${ANSWERS.replace('=s1', `=${encodeURIComponent('s1,s2')}`)}`,
    ])
    expect(done.text).toBe('Retire: recorded under r 1, and host h1, host h2 has answered.')
    expect(done.recorded?.events).toEqual(
      loaded([
        line('7-1', '{"order":{"number":1,"host":"h1"}}'),
        line('7-2', '{"order":{"number":2,"host":"h2"}}', 's2'),
        line('7-3', '{"number":1}'),
        line('7-4', '{"number":2}', 's2'),
      ]),
    )
  })
  test('is said to be unanswered by those whose answer is missing, each once, with the place of the first', async () => {
    const orders = [order('7-1', 1, 'h1'), order('7-2', 2, 'h2'), order('7-3', 3, 'h2')]
    const { done } = await noted([page(orders), page([answer('7-4', 1)])])
    expect(done).toMatchObject({
      tone: 'busy',
      text: 'Retire: recorded under r 1; host h2 has not answered yet.',
      recorded: { follow: 'events?after=7-2&subject=s1', cut: false },
    })
  })
  test('is said to have failed in the words of each host, each once, when all have answered', async () => {
    const failed = (id: string, number: number, reason: string) => event(id, { type: 'OrderFailed', number, reason })
    const orders = [order('7-1', 1, 'h1'), order('7-2', 2, 'h1'), order('7-3', 3, 'h2'), order('7-4', 4, 'h3')]
    const answers = [failed('7-5', 1, 'down'), failed('7-6', 2, 'down'), failed('7-7', 3, 'hot'), answer('7-8', 4)]
    const { done } = await noted([page(orders), page(answers)])
    expect(done).toMatchObject({
      tone: 'bad',
      text: 'Retire: recorded under r 1; host h1 answered: down; host h2 answered: hot.',
    })
  })
  test('is looked for on four pages at most, of which the first 50 events are shown', async () => {
    const many = (from: number, count: number) => Array.from({ length: count }, (_, at) => event(`8-${from + at}`, {}))
    const some = await noted([page(many(0, 20), 'a', true), page(many(20, 29), 'b')])
    expect([some.asked, some.done.recorded?.cut]).toEqual([[`/events?after=7-0${OWN}`, `/events?after=a${OWN}`], false])
    const all = await noted([page(many(0, 20), 'a', true), page(many(20, 31), 'b', true)])
    expect([all.asked.length, all.done.recorded?.cut]).toEqual([2, true])
    expect(all.done.recorded?.events).toMatchObject({ ok: true, value: { length: 50, 49: { id: '8-49' } } })
    expect((await noted([page([], 'a', true)])).asked).toHaveLength(4)
  })
  test('that cannot be read says why, unless a part of it was read', async () => {
    const error = pageError('forbidden', 'no')
    expect(await noted([error])).toEqual({
      asked: [`/events?after=7-0${OWN}`],
      done: {
        tone: 'good',
        text: 'Retire: recorded under r 1.',
        recorded: { events: error, cut: false, all: ALL, follow: null },
      },
    })
    const part = await noted([page([event('7-1', {})], 'a', true), error])
    expect(part.done.recorded?.events).toMatchObject({ ok: true, value: [{ id: '7-1' }] })
    expect((await noted([page([order('7-1', 1, 'h1')]), error])).done.recorded?.events).toEqual(error)
  })
  test('without the event before it is not looked for', async () => {
    expect(await noted([page([])], { since: '' })).toEqual({
      asked: [],
      done: {
        tone: 'good',
        text: 'Retire: recorded under r 1.',
        recorded: { events: null, cut: false, all: 'events?after=0&request=r%201', follow: null },
      },
    })
  })
  test('is waited for until nothing is missing, every 200 ms and for three seconds at most', async () => {
    const clock = handClock()
    const asking = async (...pages: readonly Loaded<Page>[]) => {
      const { api, asked } = paged(...pages)
      const begun = clock.now()
      let endedMs = -1
      const said = recordedBy({ api, clock }, 'Retire', { request: 'r 1', since: '7-0', waits: true })
      void said.then(() => (endedMs = clock.now() - begun))
      await clock.pass(4000)
      return [(await said).text, endedMs, asked.length]
    }
    const none = page([])
    expect(await asking(none)).toEqual(['Retire: recorded under r 1; no event of it can be read so far.', 3000, 16])
    expect(await asking(none, none, page([event('7-1', {})]))).toEqual(['Retire: recorded under r 1.', 400, 3])
    const [sent, done] = [page([order('7-1', 1, 'h1')]), page([answer('7-2', 1)])]
    expect(await asking(sent, none, sent, done)).toEqual([
      'Retire: recorded under r 1, and host h1 has answered.',
      200,
      4,
    ])
    expect(await asking(pageError('away', 'no'))).toEqual(['Retire: recorded under r 1.', 0, 1])
  })
  test('leaves no timer behind once it is found', async () => {
    const timers = new Set<object>()
    const after = (): (() => void) => {
      const timer = {}
      timers.add(timer)
      return () => void timers.delete(timer)
    }
    const { api } = paged(page([event('7-1', {})]))
    await recordedBy({ api, clock: { after } }, 'Retire', { request: 'r 1', since: '7-0', waits: true })
    expect(timers.size).toBe(0)
  })
})

test.each([
  ['7-1', '7-1'],
  ['a.B_c-0', 'a.B_c-0'],
  ['x'.repeat(80), 'x'.repeat(80)],
  ['x'.repeat(81), ''],
  ['7-1\n', ''],
  [' 7-1', ''],
  ['', ''],
  [7, ''],
])('the id of an event in an address: %j', (text, id) => expect(eventIdIn(text)).toBe(id))

describe('the event before a change', () => {
  const before = async (form: string, change: string, found: Loaded<Page> = page([])) => {
    const { api, asked } = paged(found)
    return [await eventIdBefore(api, 'r 1', { form, change }), asked]
  }
  const looked = [`/events?after=7-5${OWN}`]
  test('is the newest one before it, or before its form was shown if the form had been sent before', async () => {
    expect(await before('7-1', '7-5', page([event('7-6', {})]))).toEqual(['7-5', looked])
    expect(await before('7-1', '7-5')).toEqual(['7-1', looked])
    expect(await before('7-1', '7-5', pageError('away', 'no'))).toEqual(['7-1', looked])
  })
  test('is the one that is known', async () => {
    expect(await before('', '7-5')).toEqual(['7-5', []])
    expect(await before('7-1', '')).toEqual(['7-1', []])
    expect(await before('', '')).toEqual(['', []])
  })
})

describe('the note after an action', () => {
  const noteAt = (here: string, query: Record<string, string>) =>
    doneIn({ api: paged(page([])).api, clock: handClock() }, here, { query, waits: false })
  const request = `req-${uuid(1)}`
  test('of which the service keeps no event says only under which request it is recorded', async () => {
    const said = { tone: 'good', text: `Drop: recorded under ${request}.` }
    expect(await noteAt('letters/x', { done: 'drop', request, since: '7-1' })).toEqual(said)
  })
  test('that has an ending says how it ended', async () => {
    const text = 'Nothing was repaired: another control works on this host. Try again in a moment.'
    expect(await noteAt('drift', { done: 'repair', ended: 'busy' })).toEqual({ tone: 'busy', text })
    expect(await noteAt('drift', { done: 'repair', ended: 'lost', request })).toBeNull()
  })
  test.each([
    ['letters/x', { done: 'drop', request: `${request}0` }],
    ['letters/x', { done: 'drop', request: `x${request}` }],
    ['letters/x', { done: 'drop' }],
    ['letters/x', { request }],
    ['hosts/x', { done: 'drop', request }],
    ['', { done: 'drop', request }],
  ])('is none at %s with %j', async (here, query) => expect(await noteAt(here, query)).toBeNull())
})

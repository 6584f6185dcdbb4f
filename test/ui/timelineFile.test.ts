/** What a file with a timeline may contain: nothing in it makes the console, or the command, fail or work for long. */
import { describe, expect, it, test } from 'vitest'
import type { Clock } from '../../src/vocabulary/clock.ts'
import { handClock } from '../support/lab.ts'
import { ROLES, SAME, consoleOf, signIn } from './world.ts'

const MAY = { user_id: 'u', user_name: null, project_id: 'p', project_name: null, permissions: {} }
const asked: string[] = []
const fresh = (clock?: Clock) => consoleOf(() => Response.json(MAY), null, { clock })
const closed = consoleOf((request) => {
  asked.push(new URL(request.url).pathname)
  return ROLES[request.headers.get('x-auth-token') ?? ''] === undefined
    ? Response.json({ error: { message: 'who are you' } }, { status: 401 })
    : Response.json(MAY)
}, signIn)

type Fields = Readonly<Record<string, unknown>>
const step = (more: Fields = {}) => ({
  at: '2026-11-24T00:00:00.000Z',
  step: 'created',
  took_ms: null,
  cause: null,
  request_id: null,
  detail: {},
  event: null,
  ...more,
})
const timeline = (...steps: readonly object[]) => ({
  arq: '00000000-0000-4000-8000-000000000001',
  project_id: 'p1',
  deleted: false,
  total_ms: 0,
  steps,
})
const opened = async (json: string, query = '', ui = fresh()) => {
  const body = new FormData()
  body.set('file', new File([json], 'kept.json'))
  const answer = await ui.request(`/ui/timeline${query}`, { method: 'POST', body, headers: SAME })
  return { status: answer.status, html: await answer.text() }
}
/** As JSON: to write it would exhaust the stack. */
const nested = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth)
const with_ = (field: 'event' | 'detail', json: string): string =>
  JSON.stringify(timeline(step({ [field]: 'HERE' }))).replace('"HERE"', () => json)
const fieldsOf = (count: number): Fields =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [`field_${at}`, at]))
const LONE = '\uD800'

describe('is refused, with the field and the rule:', () => {
  it.each<[string, string, string]>([
    [
      'an event deeper than 32 levels',
      with_('event', nested(34)),
      'steps.0.event: it must not be nested deeper than 32',
    ],
    ['an event deeper than the stack', with_('event', nested(200_000)), 'steps.0.event: it must not be nested deeper'],
    [
      'a detail deeper than that',
      with_('detail', `{"a": ${nested(200_000)}}`),
      'steps.0.detail: it must not be nested',
    ],
    [
      'too many details',
      JSON.stringify(timeline(step({ detail: fieldsOf(51) }))),
      'steps.0.detail: at most 50 are shown',
    ],
    [
      'more than is drawn',
      JSON.stringify(
        timeline(
          ...Array.from({ length: 200 }, () =>
            step({ event: JSON.parse(`${'['.repeat(31)}${'[],'.repeat(999)}[]${']'.repeat(31)}`) }),
          ),
        ),
      ),
      'steps: with their indentation they must not be larger than 16 MiB',
    ],
    ...(['step', 'cause', 'request_id'] as const).map((field): [string, string, string] => [
      `half of a character as ${field}`,
      JSON.stringify(timeline(step({ [field]: LONE }))),
      `steps.0.${field}: it holds half of a surrogate pair`,
    ]),
    ['or in a detail', JSON.stringify(timeline(step({ detail: { host: LONE } }))), 'steps.0.detail: it holds half'],
    [
      'or in the name of one',
      JSON.stringify(timeline(step({ detail: { [LONE]: 1 } }))),
      'steps.0.detail: it holds half',
    ],
    ['or in an event', JSON.stringify(timeline(step({ event: { a: [LONE] } }))), 'steps.0.event: it holds half'],
    ['or as the project', JSON.stringify({ ...timeline(step()), project_id: LONE }), 'project_id: it holds half'],
  ])('%s', async (_, json, why) => {
    const { status, html } = await opened(json, '?r=1')
    expect([status, html.includes(why)]).toEqual([400, true])
  })
})

const OBJECTS = Object.getOwnPropertyNames(Object.prototype)
test('a step or a detail may have a name that every object has', async () => {
  const steps = OBJECTS.map((name) => step({ step: name, detail: JSON.parse(`{"${name}": "h1"}`) }))
  const { status, html } = await opened(JSON.stringify(timeline(...steps)))
  expect(status).toBe(200)
  for (const name of OBJECTS) expect(html).toContain(`<td>${name}</td>`)
  expect(html).not.toContain('href="function')
})
test('moments in any order, and numbers of any size, are shown', async () => {
  const at = (moment: string, detail: Fields = {}) => step({ at: moment, step: 'bind accepted', detail })
  const steps = [
    at('2026-11-24T00:00:09.000Z', { order: 1e308 }),
    step({ step: 'bound', took_ms: -1e308, detail: { host_work_ms: -1e308 } }),
    at('9999-11-24T00:00:00.000Z', { next_at: '0000-01-01T00:00:00Z' }),
  ]
  expect((await opened(JSON.stringify(timeline(...steps)))).status).toBe(200)
})
test('an event of 32 levels, 50 details, and 5000 steps are shown', async () => {
  expect((await opened(with_('event', nested(33)), '?r=1')).status).toBe(200)
  expect((await opened(JSON.stringify(timeline(step({ detail: fieldsOf(50) }))))).status).toBe(200)
  const many = Array.from({ length: 5000 }, () => step())
  expect((await opened(JSON.stringify(timeline(...many)))).status).toBe(200)
})

test('of a file from somebody who is not signed in nothing is read', async () => {
  const send = async (headers: Readonly<Record<string, string>>) => {
    let read = 0
    const body = new ReadableStream<Uint8Array>(
      {
        pull: (stream) => {
          read += 1
          stream.close()
        },
      },
      { highWaterMark: 0 },
    )
    const type = { 'content-type': 'multipart/form-data; boundary=x' }
    const request = { method: 'POST', body, duplex: 'half', headers: { ...SAME, ...type, ...headers } }
    const answer = await closed.request('/ui/timeline', request as RequestInit)
    return [answer.status, read]
  }
  expect(await send({})).toEqual([303, 0])
  expect(asked).toEqual([])
  expect(await send({ cookie: 'accelerando-token=token-of-nobody' })).toEqual([303, 0])
  expect((await send({ cookie: 'accelerando-token=token-of-admin' }))[1]).toBe(1)
})

test('one after the other is opened to a user, and the next after a large one when others had their time', async () => {
  const clock = handClock()
  const ui = fresh(clock)
  const [small, large] = [with_('event', '"x"'), with_('event', JSON.stringify('x'.repeat(1024 * 1024)))]
  for (let n = 0; n < 3; n++) expect((await opened(small, '', ui)).status).toBe(200)
  expect((await opened(large, '', ui)).status).toBe(200)
  const { status, html } = await opened(small, '', ui)
  expect([status, html]).toEqual([429, expect.stringContaining('you opened another one a moment ago')])
  await clock.pass(4100)
  const both = await Promise.all([opened(small, '', ui), opened(small, '', ui)])
  expect(both.map((one) => one.status)).toEqual(expect.arrayContaining([200, 429]))
})
test('too many values are refused before they are built', async () => {
  const { status, html } = await opened('['.repeat(2 * 1024 * 1024))
  expect([status, html]).toEqual([400, expect.stringContaining('it holds more than 1000000 values')])
})

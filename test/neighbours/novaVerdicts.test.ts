/** What each answer of Nova means for each event of the request, word for word. */
import { expect, test } from 'vitest'
import type { NovaEvent } from '../../src/actors/neighbours.ts'
import { allAs, again, faultText, noteOf, verdictsOf } from '../../src/neighbours/novaAnswer.ts'

const event = (server: string, tag: string): NovaEvent => ({
  name: 'accelerator-request-bound',
  server_uuid: server,
  tag,
  status: 'completed',
})
const EVENTS = [event('s1', 't1'), event('s1', 't2'), event('s2', 't1')]
const answer = (status: number, body: unknown) => ({
  status,
  text: typeof body === 'string' ? body : JSON.stringify(body),
})
const of = (...args: Parameters<typeof answer>) => verdictsOf(EVENTS, answer(...args))
const all = (judged: object) => EVENTS.map(({ tag }) => ({ tag, ...judged }))
const coded = (codes: readonly unknown[]) => ({
  events: EVENTS.map((one, at) => ({
    ...one,
    server_uuid: one.server_uuid.toUpperCase(),
    code: codes[at],
  })).toReversed(),
})

const UNMENTIONED = { outcome: 'retry', code: 207, note: 'the answer does not mention the event' }
test('each element of an answer is judged by its code, and matched by server and tag in any spelling', () => {
  for (const status of [200, 207]) {
    expect(of(status, coded([200, 422, 404]))).toEqual([
      { tag: 't1', outcome: 'delivered', code: 200 },
      { tag: 't2', outcome: 'delivered', code: 422, note: 'the server is on no host yet' },
      {
        tag: 't1',
        outcome: 'gone',
        code: 404,
        note: 'Nova knows no such server; a token without the admin role is answered the same',
      },
    ])
    expect(of(status, coded([400, 500, 201]))).toEqual([
      { tag: 't1', outcome: 'refused', code: 400, note: 'Nova finds the event malformed' },
      { tag: 't2', outcome: 'retry', code: 500, note: 'Nova could not take the event' },
      { tag: 't1', outcome: 'retry', code: 201, note: 'Nova could not take the event' },
    ])
  }
})
test('an event that the answer does not judge is delivered by 200, and told again after 207', () => {
  const others = coded([404, '404', null])
  expect(of(200, others)).toEqual([
    { tag: 't1', outcome: 'gone', code: 404, note: expect.any(String) },
    { tag: 't2', outcome: 'delivered', code: 200 },
    { tag: 't1', outcome: 'delivered', code: 200 },
  ])
  expect(of(207, others).slice(1)).toEqual([
    { tag: 't2', ...UNMENTIONED },
    { tag: 't1', ...UNMENTIONED },
  ])
  for (const body of ['', '7', 'null', '[]', '{"events": {}}'])
    expect([of(200, body), of(207, body)]).toEqual([all({ outcome: 'delivered', code: 200 }), all(UNMENTIONED)])
})
test('the page of a proxy is no answer of Nova', () => {
  for (const code of [200, 207])
    expect(of(code, '<html>')).toEqual(all({ outcome: 'retry', code, note: 'the answer is not JSON' }))
})

test.each([
  [401, 'the token for Nova is missing or has ended: why'],
  [403, 'the account for Nova needs the roles admin and service: why'],
  [404, 'no such path: does the URL of Nova hold its version?: why'],
  [406, 'Nova does not speak microversion 2.82: why'],
  [500, 'why'],
  [202, 'why'],
])('%i is tried again, with what may be wrong', (code, note) => {
  expect(of(code, { fault: { message: 'why' } })).toEqual(all({ outcome: 'retry', code, note }))
})
test('an answer without words is named too', () => {
  expect(of(503, '')).toEqual(all({ outcome: 'retry', code: 503, note: 'Nova gave no answer that counts' }))
  expect(of(401, '')).toEqual(all({ outcome: 'retry', code: 401, note: 'the token for Nova is missing or has ended' }))
  expect(of(400, '')).toEqual(all({ outcome: 'refused', code: 400, note: 'Nova refused the request' }))
  expect(of(400, { badRequest: { message: 'a\n b' } })).toEqual(all({ outcome: 'refused', code: 400, note: 'a b' }))
})

test('the words of a fault are its messages; of anything else, the text', () => {
  expect(faultText('{"a": {"message": "one"}, "b": {"message": "two"}}')).toBe('one; two')
  for (const text of ['no JSON', '{"a": {"message": 7}}', '{"a": "one"}', '7']) expect(faultText(text)).toBe(text)
})
test('a note is one line of at most 300 characters', () => {
  expect(noteOf(' a\n\t\u0007b  c ')).toBe('a b c')
  expect([noteOf('x'.repeat(300)), noteOf('x'.repeat(301))]).toEqual(['x'.repeat(300), 'x'.repeat(300)])
  expect(again(500, ' a\nb ')).toEqual({ outcome: 'retry', code: 500, note: 'a b' })
  expect(allAs(EVENTS, again(0, 'n'))).toEqual(all({ outcome: 'retry', code: 0, note: 'n' }))
})

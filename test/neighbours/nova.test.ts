import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { NovaEvent } from '../../src/actors/neighbours.ts'
import { Unanswered } from '../../src/neighbours/openstack/send.ts'
import { type NovaAt, novaAt } from '../support/novaClients.ts'
import { json, scriptedNova, withCodes } from './scriptedNova.ts'
import type { ScriptedNova } from './scriptedNova.ts'

let nova: ScriptedNova
beforeEach(async () => {
  nova = await scriptedNova()
})
afterEach(() => nova.close())

const event = (): NovaEvent => ({
  name: 'accelerator-request-bound',
  server_uuid: randomUUID(),
  tag: randomUUID(),
  status: 'completed',
})
const some = (count: number): NovaEvent[] => Array.from({ length: count }, event)
const tell = (events: readonly NovaEvent[], more: Partial<NovaAt> = {}) =>
  novaAt({ url: nova.url, timeoutMs: 2000, ...more }).notify(events, 'req-1')
const outcomes = async (events: readonly NovaEvent[]) =>
  (await tell(events)).map(({ outcome, code }) => [outcome, code])

test('the request is the one Nova wants', async () => {
  nova.answers = withCodes(200, () => 200)
  const events = [{ ...event(), extra: 'not for Nova' } as NovaEvent, { ...event(), status: 'failed' as const }]
  await tell(events, {
    url: `${nova.url}/`,
    headers: { 'X-Auth-Token': 'abc', 'openstack-api-version': 'compute 2.1' },
  })
  const [asked, ...more] = nova.asked
  expect(more).toEqual([])
  expect(asked).toMatchObject({
    method: 'POST',
    path: '/v2.1/os-server-external-events',
    headers: {
      'openstack-api-version': 'compute 2.82',
      'x-openstack-nova-api-version': '2.82',
      'x-openstack-request-id': 'req-1',
      'content-type': 'application/json',
      'x-auth-token': 'abc',
    },
  })
  expect(asked?.body).toEqual({
    events: events.map(({ name, server_uuid, tag, status }) => ({ name, server_uuid, tag, status })),
  })
})

test.each(['r'.repeat(201), '', 'req\n1', ' req', 'r\u00e4q'])(
  'a request id that no header can carry is left out, and keeps no event back: %j',
  async (id) => {
    nova.answers = withCodes(200, () => 200)
    expect(await novaAt({ url: nova.url, timeoutMs: 2000 }).notify(some(1), id)).toMatchObject([
      { outcome: 'delivered' },
    ])
    expect(nova.asked[0]!.headers).not.toHaveProperty('x-openstack-request-id')
  },
)

describe('200', () => {
  test('everything is delivered', async () => {
    nova.answers = withCodes(200, () => 200)
    const events = some(2)
    expect(await tell(events)).toEqual(events.map(({ tag }) => ({ tag, outcome: 'delivered', code: 200 })))
  })
  test.each(['', '{}', '{"events": null}'])('also when the answer is "%s"', async (body) => {
    nova.answers = json(200, body)
    expect(await outcomes(some(1))).toEqual([['delivered', 200]])
  })
  test('but not by the page of some proxy', async () => {
    nova.answers = json(200, '<html>please log in</html>')
    expect(await tell(some(1))).toMatchObject([{ outcome: 'retry', code: 200, note: 'the answer is not JSON' }])
  })
})

describe('207 is judged element by element', () => {
  test.each([
    [200, 'delivered'],
    [422, 'delivered'],
    [404, 'gone'],
    [400, 'refused'],
    [503, 'retry'],
  ])('%i is %s', async (code, outcome) => {
    nova.answers = withCodes(207, () => code)
    expect(await outcomes(some(2))).toEqual([
      [outcome, code],
      [outcome, code],
    ])
  })
  test('mixed, by tag and server, whatever the order', async () => {
    const codes = [200, 422, 404, 400]
    const events = some(4)
    const elements = events.map((one, at) => ({ ...one, code: codes[at] })).toReversed()
    nova.answers = json(207, { events: elements })
    const expected = ['delivered', 'delivered', 'gone', 'refused'].map((outcome, at) => [outcome, codes[at]])
    expect(await outcomes(events)).toEqual(expected)
  })
  test('an event of another server with the same tag is another event', async () => {
    const [one, other] = some(2) as [NovaEvent, NovaEvent]
    nova.answers = json(207, { events: [{ ...other, tag: one.tag, code: 200 }] })
    expect(await outcomes([one])).toEqual([['retry', 207]])
  })
  test('one that is not mentioned, or not well, is told again', async () => {
    const events = some(3)
    nova.answers = json(207, { events: [{ ...events[0], code: 200 }, null, { ...events[1], code: '200' }] })
    expect((await outcomes(events)).map(([outcome]) => outcome)).toEqual(['delivered', 'retry', 'retry'])
  })
  test('a missing server may be a missing role', async () => {
    nova.answers = withCodes(207, () => 404)
    expect((await tell(some(1)))[0]?.note).toContain('admin role')
  })
  test.each(['', 'nonsense', '[]'])('an answer that is "%s" judges nothing', async (body) => {
    nova.answers = json(207, body)
    expect(await outcomes(some(1))).toEqual([['retry', 207]])
  })
})

describe('the whole request', () => {
  test('400 is refused, in the words of Nova', async () => {
    nova.answers = json(400, { badRequest: { code: 400, message: 'Invalid input\nfor field' } })
    expect(await tell(some(1))).toMatchObject([{ outcome: 'refused', code: 400, note: 'Invalid input for field' }])
  })
  test.each([401, 403, 404, 406, 409, 413, 429, 500, 502, 503, 302, 202])('%i is tried again', async (status) => {
    nova.answers = json(status, { fault: { message: 'no' } })
    const [verdict] = await tell(some(1))
    expect(verdict).toMatchObject({ outcome: 'retry', code: status })
    expect(verdict?.note).toMatch(/no$/)
  })
  test('403 says which roles are needed', async () => {
    nova.answers = json(403, { forbidden: { message: 'Policy forbids' } })
    expect((await tell(some(1)))[0]?.note).toContain('admin and service: Policy forbids')
  })
  test.each([
    [401, 'the token for Nova is missing or has ended'],
    [404, 'does the URL of Nova hold its version?'],
    [406, 'Nova does not speak microversion 2.82'],
  ])('%i says what may be wrong', async (status, hint) => {
    nova.answers = json(status, { fault: { message: 'no' } })
    expect((await tell(some(1)))[0]?.note).toContain(hint)
  })
  test('notes are bounded', async () => {
    nova.answers = json(500, 'x'.repeat(10_000))
    expect((await tell(some(1)))[0]?.note).toHaveLength(300)
  })
})

describe('nobody answers', () => {
  test('in time', async () => {
    nova.answers = () => {}
    const [verdict] = await tell(some(1), { timeoutMs: 50 })
    expect(verdict).toMatchObject({ outcome: 'retry', code: 0, note: 'no answer within 50 ms' })
  })
  test('at that address', async () => {
    await nova.close()
    const [verdict] = await tell(some(1))
    expect(verdict).toMatchObject({ outcome: 'retry', code: 0 })
    expect(verdict?.note).toContain('ECONNREFUSED')
  })
})

describe('many events', () => {
  test('of which one makes Nova refuse the request are judged apart, and only that one is refused', async () => {
    const events = some(100)
    const bad = events[37]!.tag
    nova.answers = (response, asked) =>
      asked.body.events.some(({ tag }) => tag === bad)
        ? json(400, { badRequest: { message: 'no such field' } })(response, asked)
        : withCodes(200, () => 200)(response, asked)
    const verdicts = await tell(events)
    expect(verdicts.map(({ tag }) => tag)).toEqual(events.map(({ tag }) => tag))
    expect(verdicts.filter(({ outcome }) => outcome !== 'delivered')).toMatchObject([{ tag: bad, outcome: 'refused' }])
    expect(nova.asked.length).toBeLessThan(20)
  })
  test('that are refused with 409 are told together again', async () => {
    nova.answers = json(409, {})
    expect((await outcomes(some(2))).map(([outcome]) => outcome)).toEqual(['retry', 'retry'])
    expect(nova.asked).toHaveLength(1)
  })
  test('go in requests of a hundred', async () => {
    nova.answers = withCodes(200, () => 200)
    const events = some(250)
    const verdicts = await tell(events)
    expect(verdicts.map(({ tag }) => tag)).toEqual(events.map(({ tag }) => tag))
    expect(nova.asked.map(({ body }) => body.events.length)).toEqual([100, 100, 50])
  })
  test('are not sent on to a Nova that cannot be reached', async () => {
    const calls: unknown[] = []
    const send = (request: unknown) => {
      calls.push(request)
      return Promise.reject(new Unanswered('no route'))
    }
    const verdicts = await tell(some(250), { send })
    expect(calls).toHaveLength(1)
    expect(verdicts).toHaveLength(250)
    expect(verdicts.every(({ outcome, note }) => outcome === 'retry' && note === 'no route')).toBe(true)
  })
  test('none: nothing is asked', async () => {
    expect(await tell([])).toEqual([])
    expect(nova.asked).toEqual([])
  })
})

describe('the token file', () => {
  let folder: string
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'nova-token-'))
  })
  afterEach(() => rmSync(folder, { recursive: true }))

  test('is read anew for each request', async () => {
    nova.answers = withCodes(200, () => 200)
    const tokenFile = join(folder, 'token')
    for (const token of ['one', 'two']) {
      writeFileSync(tokenFile, `${token}\n`)
      await tell(some(1), { tokenFile })
    }
    expect(nova.asked.map(({ headers }) => headers['x-auth-token'])).toEqual(['one', 'two'])
  })
  test('that is missing now may be there later', async () => {
    const [verdict] = await tell(some(1), { tokenFile: join(folder, 'none') })
    expect(verdict).toMatchObject({ outcome: 'retry', code: 0 })
    expect(verdict?.note).toContain('ENOENT')
  })
  test.each([
    ['a table, as a command without -c id prints it', '+----+\n| id | hidden |\n+----+\n'],
    ['several values', '2026-01-01T00:00:00+0000\nhidden\n0123456789abcdef\n'],
    ['a line with a character that no header can hold', 'hidden\u2026'],
    ['nothing', '\n'],
    ['more than a token has', 'hidden'.repeat(10_000)],
  ])('that holds %s is not sent, and not quoted', async (_, content) => {
    const tokenFile = join(folder, 'token')
    writeFileSync(tokenFile, content)
    const [verdict] = await tell(some(1), { tokenFile })
    expect(verdict).toMatchObject({
      outcome: 'retry',
      code: 0,
      note: 'nova.token_file has to hold a token and nothing else: one word of ASCII characters in one line',
    })
    expect(nova.asked).toEqual([])
  })
})

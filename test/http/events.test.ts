/** GET /v2/events over a connection: server-sent events, pages, and how a stream differs from a request. */
import { request } from 'node:http'
import type { IncomingMessage } from 'node:http'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { listen } from '../../src/cli/programs/listen.ts'
import type { Listening } from '../../src/cli/programs/listen.ts'
import { createApp } from '../../src/http/app.ts'
import { type Identify, noauth } from '../../src/http/identity.ts'
import type { Control } from '../../src/actors/control.ts'
import { memoryStores } from '../support/memoryStore/memory.ts'
import { published, createEvents, createWriter } from '../delivery/eventsLab.ts'
import { memoryLog, until } from '../support/lab.ts'

const store = memoryStores({ exclusive: false })()
const { create } = createWriter(store)
const log = memoryLog()
const spans: string[] = []
let events: ReturnType<typeof createEvents>
let api: Listening
/** Who calls, as the next request or the next look at a stream finds it. */
let identify: Identify

beforeEach(async () => {
  log.said.length = 0
  spans.length = 0
  events = createEvents(store, { random: () => 0, streamsPerCaller: 3, identifiedForMs: 0 })
  identify = noauth
  const tracer = {
    enter: (name: string) => ({ trace: 'a'.repeat(20), end: () => void spans.push(name) }),
  }
  const app = createApp({
    control: {} as Control,
    events,
    identify: (header, line) => identify(header, line),
    log,
    options: { answerMs: 300, policy: { enforceNewDefaults: true, rules: {} } },
    tracer: tracer as never,
  })
  api = await listen(app, { host: '127.0.0.1', port: 0 })
})
afterEach(async () => {
  events.stop()
  await api.close(0)
})

const STREAM = { accept: 'text/event-stream' }
const asked = async (path: string, headers: Readonly<Record<string, string>> = STREAM, method = 'GET') => {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
  const sent = request({ host: '127.0.0.1', port: api.port, path, headers, method }, resolve).on('error', reject).end()
  const answer = await promise
  const read = { text: '', ended: false }
  answer.on('data', (bytes: Buffer) => void (read.text += bytes.toString('utf8')))
  answer.on('end', () => void (read.ended = true))
  answer.on('error', () => {})
  const sees = (what: string) => until(() => read.text.includes(what), what)
  return { answer, read, sees, leave: () => sent.destroy() }
}
const dataOf = (text: string): readonly string[] =>
  [...text.matchAll(/^event: accelerando.*\ndata: (.*)$/gm)].map(([, data]) => data!)

test('a stream begins with its place, and tells events as they are on Kafka', async () => {
  const { answer, read, sees, leave } = await asked('/v2/events')
  expect(answer.statusCode).toBe(200)
  expect(answer.headers).toMatchObject({
    'content-type': 'text/event-stream',
    'cache-control': 'no-store',
    'x-accel-buffering': 'no',
    'x-openstack-request-id': expect.stringMatching(/^req-/),
  })
  await sees('event: beat')
  expect(read.text).toMatch(/^retry: 2000\n\nid: 0\nevent: beat\ndata: \{"at":"[^"]+","newest":"0"\}\n\n/)
  const arq = await create('p1')
  await sees(arq)
  await sees('\n\n')
  expect(read.text).toMatch(/\nid: 1-1-[0-9a-f]{12}\nevent: accelerando\.fact\.ArqCreated\ndata: \{"specversion"/)
  expect(dataOf(read.text)).toEqual((await published(store)).slice(-1))
  leave()
  await until(() => events.state().open === 0)
  expect(events.state().ended.left).toBe(1)
})

test('it outlasts the limits of a request, whose log entry and span end when it begins', async () => {
  const { read, sees, leave } = await asked('/v2/events')
  await sees('event: beat')
  expect(spans).toEqual(['GET /v2/events'])
  const entries = () => log.said.filter(({ message }) => message.startsWith('http.')).map(({ message }) => message)
  expect(entries()).toEqual(['http.answered'])
  await new Promise((resolve) => setTimeout(resolve, 500))
  expect(read.ended).toBe(false)
  leave()
  await until(() => entries().length === 2)
  expect(log.said.at(-1)).toMatchObject({ message: 'http.stream_ended', detail: { reason: 'left' } })
})

test('the header of a client that comes back counts instead of its first address', async () => {
  const [one, two] = [await create('p1'), await create('p1')]
  const page = await asked('/v2/events?limit=1000', {})
  await until(() => page.read.ended)
  const { events: all } = JSON.parse(page.read.text) as { events: { id: string; event: { subject: string } }[] }
  const idOf = (arq: string) => all.find(({ event }) => event.subject === arq)!.id
  const { read, sees, leave } = await asked('/v2/events?after=0', { ...STREAM, 'last-event-id': idOf(one) })
  await sees(two)
  expect(dataOf(read.text)).toHaveLength(1)
  leave()
})

test('without asking for a stream one gets a page', async () => {
  await create('p1')
  const { answer, read } = await asked('/v2/events?after=0&limit=1', { accept: '*/*' })
  await until(() => read.ended)
  expect(answer.headers['content-type']).toBe('application/json')
  const [first] = await published(store)
  expect(JSON.parse(read.text)).toEqual({
    events: [{ id: expect.stringMatching(/^1-1-/), event: JSON.parse(first!) }],
    next: expect.stringMatching(/^1-1-/),
    more: true,
  })
})

test('a page and a stream tell only what was recorded under the requests that are asked for', async () => {
  const under = (request: string) => createWriter(store, request).create('p1')
  const [one, other, wanted] = ['req-one', 'req-other', 'req-wanted']
  const uuids = [await under(one), await under(other), await under(wanted)]
  const page = await asked(`/v2/events?limit=1000&request=${one},${wanted}`, {})
  await until(() => page.read.ended)
  const { events: found } = JSON.parse(page.read.text) as { events: { event: { subject: string } }[] }
  expect(found.map(({ event }) => event.subject)).toEqual([uuids[0], uuids[2]])
  const { read, sees, leave } = await asked(`/v2/events?after=0&request=${wanted}`)
  await sees(uuids[2]!)
  const [later, last] = [await under(other), await under(wanted)]
  await sees(last)
  await until(() => dataOf(read.text).length === 2)
  for (const left of [uuids[0]!, uuids[1]!, later]) expect(read.text).not.toContain(left)
  leave()
})

const MEMBER = { userId: 'u2', projectId: 'p2', roles: ['member', 'reader'], serviceRoles: [] }
const REVOKED = {
  ok: false,
  fault: { kind: 'unauthenticated', challenge: 'Keystone uri="http://keystone/v3"' },
} as const
test.each<[when: string, now: Awaited<ReturnType<Identify>>, reason: string]>([
  ['its token is revoked', REVOKED, 'expired'],
  ['its role is taken away', { ...MEMBER, roles: [] }, 'rights'],
  ['it becomes an administrator', { ...MEMBER, roles: ['admin', 'member', 'reader'] }, 'rights'],
  ['its token has the scope of another project', { ...MEMBER, projectId: 'p3' }, 'rights'],
  ['its token has no project any more', { ...MEMBER, projectId: null }, 'rights'],
  [
    'nobody can say who it is',
    { ok: false, fault: { kind: 'unavailable', reason: 'the identity service does not answer', retryAfterSeconds: 1 } },
    'failed',
  ],
])('a stream ends when %s, and tells nothing more', async (_, now, reason) => {
  identify = () => MEMBER
  const { read, sees } = await asked('/v2/events')
  await sees('event: beat')
  await sees(await create('p2'))
  identify = () => ({ ...MEMBER, roles: ['reader', 'member', 'other'] })
  await sees(await create('p2'))
  identify = () => now
  const after = await create('p2')
  await until(() => read.ended)
  expect(read.text).toMatch(new RegExp(`event: bye\\ndata: \\{"reason":"${reason}"\\}\\n\\n$`))
  expect(read.text).not.toContain(after)
})

test('HEAD has the headers of the stream and opens none', async () => {
  const { answer, read } = await asked('/v2/events', STREAM, 'HEAD')
  await until(() => read.ended)
  expect([answer.statusCode, answer.headers['content-type'], read.text]).toEqual([200, 'text/event-stream', ''])
  await until(() => events.state().open === 0)
})

test.each([
  ['/v2/events?after=x', {}, 'Invalid after: it must be the id of an event, as it was received'],
  ['/v2/events', { 'last-event-id': 'x' }, 'Invalid Last-Event-ID: it must be the id of an event, as it was received'],
  [
    '/v2/events?kind=cat',
    {},
    'Invalid kind: it must be among arq, deployable, device, host, instance, placement, profile',
  ],
  [`/v2/events?host=${'h,'.repeat(101)}`, {}, 'Invalid host: at most 100 may be listed'],
  [`/v2/events?request=${'r,'.repeat(100)}r`, {}, 'Invalid request: at most 100 may be listed'],
])('what is no such argument is refused: %#', async (path, headers, detail) => {
  const { answer, read } = await asked(path, { ...STREAM, ...headers })
  await until(() => read.ended)
  expect(answer.statusCode).toBe(400)
  expect(JSON.parse(read.text)).toMatchObject({ errors: [{ detail }] })
})

test('one stream more than a caller may have is answered 429', async () => {
  const open = await Promise.all([1, 2, 3].map(() => asked('/v2/events')))
  const { answer } = await asked('/v2/events')
  expect([answer.statusCode, answer.headers['retry-after']]).toEqual([429, '5'])
  const other = { 'x-user-id': 'u2', 'x-project-id': 'p1', 'x-roles': 'reader' }
  const allowed = await asked('/v2/events', { ...STREAM, ...other })
  expect(allowed.answer.statusCode).toBe(200)
  for (const { leave } of [...open, allowed]) leave()
})

test('an older event than there is: a stream says reset, a page is answered 409', async () => {
  const id = '999-1-000000000000'
  const stream = await asked(`/v2/events?after=${id}`)
  await stream.sees('event: reset\ndata: {"reason":"unknown","oldest":"0","newest":"')
  stream.leave()
  expect((await asked(`/v2/events?after=${id}`, {})).answer.statusCode).toBe(409)
})

test('a stop says goodbye, and the server does not wait for streams', async () => {
  const { read, sees } = await asked('/v2/events')
  await sees('event: beat')
  events.stop()
  const began = performance.now()
  await api.close(5000)
  expect(performance.now() - began).toBeLessThan(2000)
  await until(() => read.ended)
  expect(read.text).toMatch(/retry: 2000\nevent: bye\ndata: \{"reason":"stopping"\}\n\n$/)
})

test('a client that reads nothing holds little memory, and is cut off', async () => {
  events.stop()
  await api.close(0)
  events = createEvents(store, { stallMs: 200 })
  api = await listen(createApp({ control: {} as Control, events, identify: noauth, log }), {
    host: '127.0.0.1',
    port: 0,
  })
  const { promise, resolve } = Promise.withResolvers<IncomingMessage>()
  const sent = request({ host: '127.0.0.1', port: api.port, path: '/v2/events', headers: STREAM }, resolve).end()
  sent.on('error', () => {})
  ;(await promise).on('error', () => {}).pause()
  const wide = createWriter(store)
  for (let n = 0; n < 60; n++)
    await wide.write([
      `device/${n}-${performance.now()}`,
      { type: 'Noted', text: 'x'.repeat(200_000) } as { type: string },
    ])
  await until(() => events.state().ended.stalled + events.state().ended.slow === 1)
  await until(() => log.said.some(({ message }) => message === 'http.stream_ended'))
  expect(events.state().open).toBe(0)
})

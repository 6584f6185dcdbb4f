/** How long the console waits for the API, how long it keeps a token, and what it passes on to a browser unchanged. */
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { createUi } from '../../src/ui/app.ts'
import { hashOf, loadAssets } from '../../src/ui/assets.ts'
import { POLICY } from '../../src/ui/document.ts'
import { handClock, memoryLog } from '../support/lab.ts'
import { NOW, ago, noAssets, uuid } from './drawing.ts'
import { SAME } from './world.ts'

const MAY = { user_id: 'u1', user_name: null, project_id: 'p1', project_name: null, permissions: {} }
type Given = Partial<Parameters<typeof createUi>[0]>
/** Over an API that says what its caller may do, and answers all else as it is told. */
const over = (answer: (request: Request, path: string) => Response | Promise<Response>, given: Given = {}) =>
  createUi({
    fetch: (request) => {
      const path = new URL(request.url).pathname.slice('/v2'.length)
      return path === '/permissions' ? Response.json(MAY) : answer(request, path)
    },
    assets: noAssets,
    signIn: null,
    barred: () => null,
    clock: { ...handClock(), now: () => NOW },
    ids: { uuid: () => uuid(1) },
    log: memoryLog(),
    ...given,
  })
const refusal = (status: number) => Response.json({ errors: [{ detail: 'not now', code: 'x' }] }, { status })

// in a process of its own, since Node warns once in a process
test('nobody is warned that Node calls what strips types experimental; other warnings are given afterwards', async () => {
  const assets = new URL('../../src/ui/assets.ts', import.meta.url).href
  const program = `await (await import('${assets}')).loadAssets(); process.emitWarning('another')`
  const { stderr } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', program])
  expect(stderr.split('\n')[0]).toMatch(/Warning: another$/)
})
test('errors in a browser name the lines of the source', async () => {
  const { scripts, get } = await loadAssets()
  const own = scripts('home').filter((name) => name !== 'preact.js')
  const linesOf = (text: string): number => text.split('\n').length
  const source = (name: string) => readFileSync(new URL(`../../src/ui/${name.replace(/js$/, 'ts')}`, import.meta.url))
  expect(own.map((name) => [name, linesOf(get(name)!.plain.toString())])).toEqual(
    own.map((name) => [name, linesOf(source(name).toString())]),
  )
})
test('the files have a hash of their names and texts', () => {
  const digest = createHash('sha256').update('a.js\x001\x00b.js\x002\x00').digest('hex')
  expect(
    hashOf([
      ['a.js', '1'],
      ['b.js', '2'],
    ]),
  ).toBe(digest.slice(0, 12))
})
test('the pages have this content policy, to the letter', () => {
  expect(POLICY.split('; ')).toEqual([
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self'",
    "connect-src 'self'",
    "form-action 'self'",
    "base-uri 'self'",
    "frame-ancestors 'none'",
  ])
})

test.each([
  ['/ui/hosts', 8000],
  ['/ui/system/support-bundle', 90_000],
])('%s is waited for no longer than %d ms, and then says so', async (path, ms) => {
  const clock = handClock()
  const answer = Promise.resolve(over(() => new Promise(() => {}), { clock }).request(path))
  let isOver = false
  void answer.then(() => (isOver = true))
  await clock.pass(ms - 1)
  expect(isOver).toBe(false)
  await clock.pass(1)
  const { status } = await answer
  expect([status, await (await answer).text()]).toEqual([
    503,
    expect.stringContaining('The API did not answer in time.'),
  ])
})
test.each([
  [401, 401, 'You are not signed in'],
  [403, 403, 'You may not see this'],
  [404, 404, 'There is no such thing'],
  [409, 409, 'The service refused'],
  [500, 502, 'This could not be read'],
  [503, 503, 'No answer at present'],
])('a page whose list is refused with %d has the status %d, and says what that means', async (given, status, said) => {
  const answer = await over(() => refusal(given)).request('/ui/hosts')
  expect([answer.status, await answer.text()]).toEqual([status, expect.stringContaining(said)])
})

test.each([
  [0, 1],
  [999, 1],
  [1999, 1],
  [2000, 2],
])(
  'a token that lives %d ms is kept in cookies that end after %d s, also while the browser stays open',
  async (lifeMs, seconds) => {
    const signIn = {
      identity: 'http://keystone',
      withPassword: async () => ({ ok: true, token: 't1', lifeMs }) as const,
      revoke: async () => ({ ok: true }) as const,
    }
    const form = { method: 'POST', headers: SAME, body: new URLSearchParams({ user: 'kim' }) }
    const answer = await over(() => refusal(404), { signIn }).request('/ui/sign-in', form)
    const ages = answer.headers.getSetCookie().map((cookie) => /Max-Age=([^;]*)/.exec(cookie)?.[1])
    expect([answer.status, ages]).toEqual([303, [String(seconds), String(seconds)]])
  },
)

test('the message of a dead letter is a file of its name, which is not kept', async () => {
  const letter = {
    uuid: uuid(7),
    id: 't/1',
    state: 'open',
    stored_at: ago(1),
    topic: 't',
    partition: null,
    offset: null,
    key: '',
    reason: '',
    size_bytes: 3,
    cut: false,
    replay_refusal: null,
    handled: null,
    headers: {},
    value: 'a\u0000b',
  }
  const answer = await over(() => Response.json(letter)).request(`/ui/letters/${uuid(7)}/bytes`)
  expect([answer.status, await answer.text(), Object.fromEntries(answer.headers)]).toEqual([
    200,
    'a\u0000b',
    {
      'content-type': 'application/octet-stream',
      'content-disposition': `attachment; filename="dead-letter-${uuid(7)}"`,
      'cache-control': 'no-store',
      'content-security-policy': POLICY,
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'same-origin',
    },
  ])
})

test('the stream goes on after the event that the browser has seen last, and ends when nobody listens', async () => {
  const asked: Request[] = []
  const ui = over((request) => (asked.push(request), new Response('', { status: 404 })))
  const stop = new AbortController()
  const headers = { 'last-event-id': '7-1' }
  await ui.request(new Request('http://localhost/ui/stream', { headers, signal: stop.signal }))
  await ui.request('/ui/stream')
  expect(asked.map((request) => request.headers.get('last-event-id'))).toEqual(['7-1', null])
  stop.abort()
  expect(asked.map(({ signal }) => signal.aborted)).toEqual([true, false])
})

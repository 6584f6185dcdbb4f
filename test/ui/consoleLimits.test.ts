/** How long the console keeps a token, and what it passes on to a browser unchanged. */
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { loadAssets } from '../../src/ui/assets.ts'
import { POLICY, uiOver, uuid } from './drawing.ts'
import { MAY, letter } from './samples.ts'
import { SAME } from './world.ts'

type Given = Parameters<typeof uiOver>[1]
/** Over an API that says what its caller may do, and answers all else as it is told. */
const over = (answer: (request: Request) => Response, given: Given = {}) =>
  uiOver((request) => (request.url.endsWith('/permissions') ? Response.json(MAY) : answer(request)), given)
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
  const message = letter(7, { uuid: uuid(7), value: 'a\u0000b' })
  const answer = await over(() => Response.json(message)).request(`/ui/letters/${uuid(7)}/bytes`)
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

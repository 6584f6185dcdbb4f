/** Signing out of the console, over HTTP, with a Keystone that follows a script. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { openConsole } from '../../src/cli/programs/console.ts'
import { urlOf } from '../../src/cli/programs/listen.ts'
import { memoryLog } from '../support/lab.ts'
import { type UiWorld, apiOf, openUiWorld } from './world.ts'

type Asked = { readonly method: string; readonly path: string; readonly headers: Readonly<Record<string, unknown>> }
const asked: Asked[] = []
/** Status of the answer to a DELETE; 0: the connection is cut. */
let revoking = 204
const keystone = createServer((request, response) => {
  request.resume()
  asked.push({ method: request.method!, path: request.url!, headers: request.headers })
  if (request.method === 'DELETE') {
    if (revoking === 0) return request.socket.destroy()
    return response.writeHead(revoking).end()
  }
  const token = { expires_at: new Date(Date.now() + 3_600_000).toISOString(), user: { id: 'u1' } }
  response.writeHead(201, { 'x-subject-token': 'token-of-admin' }).end(JSON.stringify({ token }))
})
const log = memoryLog()
const closing: (() => unknown)[] = []
let world: UiWorld
let site: string
beforeAll(async () => {
  await new Promise<void>((resolve) => keystone.listen(0, '127.0.0.1', resolve))
  world = await openUiWorld()
  const authUrl = `http://127.0.0.1:${(keystone.address() as AddressInfo).port}/v3`
  const listening = await openConsole({
    config: {
      auth: 'keystone',
      keystone: { challengeUrl: authUrl, ca: null, session: { authUrl, timeoutMs: 5000 } },
      http: { trustedHosts: [], anyHost: true },
      uiListen: { host: '127.0.0.1', port: 0, chosen: true },
    } as never,
    api: { fetch: apiOf(world, { tokens: true }) },
    log,
    open: { add: (close) => void closing.push(close) },
  })
  site = `${urlOf(listening)}/ui/`
})
afterAll(async () => {
  for (const close of closing) await close()
  await world.close()
  keystone.closeAllConnections()
  await new Promise((resolve) => keystone.close(resolve))
})
afterEach(() => {
  asked.length = 0
  log.said.length = 0
  revoking = 204
})

const post = (place: string, fields: Readonly<Record<string, string>>, cookie = '') =>
  fetch(`${site}${place}`, {
    method: 'POST',
    redirect: 'manual',
    headers: { origin: new URL(site).origin, cookie },
    body: new URLSearchParams(fields),
  })
/** The cookies as a browser would send them afterwards. */
const kept = (answer: Response, before = ''): string => {
  const jar = new Map(before.split('; ').flatMap((one) => (one === '' ? [] : [one.split('=') as [string, string]])))
  for (const set of answer.headers.getSetCookie()) {
    const [pair = '', ...attributes] = set.split('; ')
    const [name = '', value = ''] = pair.split('=')
    expect(attributes.filter((one) => !one.startsWith('Max-Age'))).toEqual(['HttpOnly', 'SameSite=Strict'])
    if (attributes.includes('Max-Age=0')) jar.delete(name)
    else jar.set(name, value)
  }
  return [...jar].map((pair) => pair.join('=')).join('; ')
}
const ACCOUNT = { user: 'admin', password: 'right', project: 'p' }
const signedIn = async (fields: Readonly<Record<string, string>>, before = '') => {
  const answer = await post('sign-in', fields, before)
  expect(answer.status).toBe(303)
  const cookie = kept(answer, before)
  asked.length = 0
  return cookie
}
/** What the page says to which the sign-out leads. */
const left = async (cookie: string) => {
  const answer = await post('sign-out', {}, cookie)
  expect([answer.status, kept(answer, cookie)]).toEqual([303, ''])
  const html = await (await fetch(new URL(answer.headers.get('location')!, site))).text()
  return /<p class="done"[^>]*>.*?<\/svg>(.*?)<\/p>/.exec(html)?.[1]
}

test('a token that was got for a password is revoked', async () => {
  const cookie = await signedIn(ACCOUNT)
  expect(await left(cookie)).toMatch(
    /^You are signed out, and your token was revoked\. Services that have checked it lately, this one among them,/,
  )
  expect(asked).toMatchObject([
    {
      method: 'DELETE',
      path: '/v3/auth/tokens',
      headers: { 'x-auth-token': 'token-of-admin', 'x-subject-token': 'token-of-admin' },
    },
  ])
  expect(log.said.filter(({ level }) => level === 'warn')).toEqual([])
})

test('a token that was pasted is not, and the page says so', async () => {
  const cookie = await signedIn({ token: 'token-of-admin' })
  expect(await left(cookie)).toMatch(/^You are signed out here\. The token that you had pasted was not revoked/)
  expect(asked).toEqual([])
})

test('a token that is pasted after one with a password counts as pasted', async () => {
  const first = await signedIn(ACCOUNT)
  const cookie = await signedIn({ token: 'token-of-member' }, first)
  expect(cookie).toBe('accelerando-token=token-of-member')
  await left(cookie)
  expect(asked).toEqual([])
})

test('a token that another console put beside what an earlier one left counts as pasted', async () => {
  const [, issued] = (await signedIn(ACCOUNT)).split('; ')
  expect(issued).toMatch(/^accelerando-issued=/)
  expect(await left(`accelerando-token=token-of-member; ${issued}`)).toMatch(/was not revoked/)
  expect(asked).toEqual([])
})

test.each([
  [500, 'Keystone revoked no token: it answered 500.'],
  [0, expect.stringMatching(/^Keystone does not answer: /)],
])(
  'where Keystone answers %s, the user is signed out and told so, and the log has the cause',
  async (status, reason) => {
    const cookie = await signedIn(ACCOUNT)
    revoking = status
    expect(await left(cookie)).toMatch(/^You are signed out here, but your token could not be revoked/)
    expect(log.said.filter(({ level }) => level === 'warn')).toEqual([
      { level: 'warn', detail: { reason }, message: 'ui.tokenNotRevoked' },
    ])
  },
)

test('without a token there is nothing to revoke, and no other site can sign anybody out', async () => {
  expect(await left('')).toBeUndefined()
  const foreign = await fetch(`${site}sign-out`, {
    method: 'POST',
    redirect: 'manual',
    headers: { origin: 'https://evil.example', cookie: await signedIn(ACCOUNT) },
  })
  expect([foreign.status, foreign.headers.getSetCookie()]).toEqual([403, []])
  expect(asked).toEqual([])
})

test('the page of signing in takes no other text from its address', async () => {
  for (const out of ['You owe us money', 'constructor', '__proto__'])
    expect(await (await fetch(`${site}sign-in?out=${encodeURIComponent(out)}`)).text()).not.toContain('class="done"')
})

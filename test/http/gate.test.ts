/**
 * Where nobody is authenticated, a page of another site must not reach the service through a browser on the same
 * machine.
 */
import { request } from 'node:http'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Listening, listen } from '../../src/cli/programs/listen.ts'
import { adminApp } from '../../src/http/admin.ts'
import { createApp } from '../../src/http/app.ts'
import type { AppParts } from '../../src/http/app.ts'
import { ROUTES } from '../../src/http/routes/all.ts'
import { Registry } from 'prom-client'
import { openWorld, WORLD_HOST } from '../support/world.ts'
import { strictApp } from './app.ts'
import { expectRefusal, send } from './steps.ts'

type Headers = Readonly<Record<string, string>>
/** Whether a request with these headers is served. */
const judge = async (headers: Headers, trustedHosts: readonly string[] = [], anyHost = false): Promise<boolean> => {
  const got = await send(strictApp({ trustedHosts, anyHost }).app, 'GET /v2', { headers })
  expect([200, 403]).toContain(got.status)
  return got.status === 200
}

describe('the host that a request was addressed to', () => {
  test.each(['localhost', 'LOCALHOST:6666', '127.0.0.1', '127.0.0.1:6666', '127.8.9.1:1', '[::1]', '[::1]:6666'])(
    '%s is this machine',
    async (host) => expect(await judge({ host })).toBe(true),
  )
  test.each([
    'evil.example',
    'evil.example:6666',
    '127.0.0.1.evil.example',
    'evil.127.0.0.1',
    'localhost.evil.example',
    '128.0.0.1',
    '[::2]',
    '::1',
    '',
    'localhost:x',
    'a@localhost',
    'localhost/',
  ])('"%s" is not', async (host) => expect(await judge({ host })).toBe(false))
  test('or it is a configured name, with any port', async () => {
    for (const host of ['control.example', 'CONTROL.example:6666'])
      expect(await judge({ host }, ['Control.example'])).toBe(true)
    expect(await judge({ host: 'other.example' }, ['control.example'])).toBe(false)
  })
  test('does not matter to who sends none, and to a service that is reachable under any name', async () => {
    expect(await judge({})).toBe(true)
    expect(await judge({ host: 'control.example' }, [], true)).toBe(true)
  })
})

describe('the page that a request comes from', () => {
  const host = '127.0.0.1:6666'
  test.each([
    ['another site', 'http://evil.example', false],
    ['another port of this machine', 'http://127.0.0.1:3000', false],
    ['a page without an origin', 'null', false],
    ['something that is no origin', 'x', false],
    ['nothing at all', '', false],
    ['the service itself', 'http://127.0.0.1:6666', true],
  ])('%s: %s', async (_, origin, served) => {
    expect(await judge({ host, origin })).toBe(served)
    expect(await judge({ host, origin }, [], true)).toBe(served)
  })
  test('is the service itself with the port that the scheme implies', async () => {
    expect(await judge({ host: 'control.example', origin: 'https://control.example' }, ['control.example'])).toBe(true)
    expect(await judge({ host: 'control.example:443', origin: 'https://control.example' }, ['control.example'])).toBe(
      true,
    )
  })
  test('cannot be named after a host that nobody has named', async () => {
    for (const origin of ['http://undefined', 'http://evil.example', 'data:text/plain,x', 'file:///x'])
      expect(await judge({ origin }, ['cloud.example'])).toBe(false)
    for (const origin of ['file://', 'file:///page.html', 'file://localhost/page.html'])
      expect([await judge({ host: 'localhost', origin }), await judge({ origin })]).toEqual([false, false])
    expect(await judge({ origin: 'https://[2001:db8::1]:8443' }, ['2001:DB8::1'])).toBe(true)
    expect(await judge({ host: '[2001:DB8::1]:443' }, ['2001:db8::1'])).toBe(true)
  })
  test.each([
    ['http://evil.example', 'The Origin header names another site than the one that was addressed.', {}],
    [undefined, 'A browser sent this for a page of another site.', { 'sec-fetch-site': 'cross-site' }],
    [
      undefined,
      'The Host header names neither this machine nor a host of api.trusted_hosts.',
      { host: 'evil.example' },
    ],
  ])('that is refused is told why: %s', async (origin, rule, more: Headers) => {
    const headers: Headers = { host, ...(origin && { origin }), ...more }
    const got = await send(strictApp().app, 'GET /v2', { headers })
    expect([got.status, got.fault]).toEqual([403, rule])
  })
  test('may be a configured one, when a proxy changes the host', async () =>
    expect(await judge({ host, origin: 'https://cloud.example' }, ['cloud.example'])).toBe(true))
  test('is told by browsers also without a name', async () => {
    for (const site of ['cross-site', ' Cross-Site '])
      expect(await judge({ host, 'sec-fetch-site': site }, [], true)).toBe(false)
    for (const site of ['same-origin', 'none', 'same-site'])
      expect(await judge({ host, 'sec-fetch-site': site })).toBe(true)
  })
})

const FOREIGN: readonly Headers[] = [
  { origin: 'http://evil.example' },
  { host: 'evil.example:6666', origin: 'http://evil.example:6666' },
  { 'sec-fetch-site': 'cross-site' },
]
const lines = [
  ...ROUTES.map(({ method, path }) => `${method} ${path.replace(/:\w+/g, 'x')}`),
  'GET /nothing',
  'PUT /v2',
]
describe('what comes from elsewhere is refused before anything of it is read', () => {
  test.each(lines)('%s', async (line) => {
    const identified: string[] = []
    const identify: AppParts['identify'] = (header) => {
      identified.push(String(header('host')))
      throw new Error('the caller was asked for')
    }
    const { app, asked } = strictApp({}, { identify })
    for (const headers of FOREIGN) {
      const got = await send(app, line, { ...(line.startsWith('P') ? { raw: '{' } : {}), headers })
      expectRefusal(got, 403)
      expect(got.fault).toMatch(/^(The (Host|Origin) header names|A browser sent this)/)
    }
    expect([asked, identified]).toEqual([[], []])
  })
  test('a name of the public endpoint is configured by it', async () => {
    const { app } = strictApp({ publicEndpoint: 'https://cloud.example/' })
    expect((await send(app, 'GET /v2', { headers: { host: 'cloud.example' } })).status).toBe(200)
  })
})

test('an application that is told nothing about callers is not built', () => {
  const { app: _, ...parts } = { app: null, control: null, log: null }
  expect(() => createApp(parts as unknown as AppParts)).toThrow('nothing says who is calling')
})

describe('over a socket', () => {
  let world: Awaited<ReturnType<typeof openWorld>>
  let listening: Listening
  beforeAll(async () => {
    world = await openWorld()
    listening = await listen(world.app, { host: '127.0.0.1', port: 0 })
  })
  afterAll(async () => {
    await listening.close(0)
    await world.close()
  })
  const post = (path: string, headers: Headers, text: string) =>
    new Promise<number>((resolve, reject) => {
      const sent = request({ port: listening.port, method: 'POST', path, headers }, (answer) => {
        answer.resume().on('end', () => resolve(answer.statusCode!))
      })
      sent.on('error', reject).end(text)
    })
  const retired = async () => {
    const { json } = await send(world.app, `GET /v2/hosts/${WORLD_HOST}`)
    return json.retired !== null
  }
  const path = `/v2/hosts/${WORLD_HOST}/retire`
  const reason = JSON.stringify({ reason: 'a page said so' })

  test('a page of another site cannot retire a host with a form', async () => {
    expect(await post(path, { origin: 'http://evil.example' }, reason)).toBe(403)
    expect(await post(path, { origin: 'null' }, reason)).toBe(403)
    expect(await post(path, { host: `evil.example:${listening.port}` }, reason)).toBe(403)
    expect(await retired()).toBe(false)
  })
  test('a client that sends no such headers can', async () => {
    expect(await post(path, {}, reason)).toBe(200)
    expect(await retired()).toBe(true)
  })
})

test('an admin listener for other machines is read under any name, and its doors are shut to them', async () => {
  const readiness = () => ({ notReady: null, detail: {} })
  const app = adminApp({ anyHost: true, metrics: new Registry(), readiness, doors: { stop: async () => null } })
  const headers = { host: 'control-1:6671' }
  expect((await app.request('/metrics', { headers })).status).toBe(200)
  expect((await send(app, 'POST /doors/stop', { headers })).status).toBe(403)
})
test('the admin listener of this machine is shut to pages of other sites', async () => {
  let opened = 0
  const app = adminApp({
    anyHost: false,
    metrics: new Registry(),
    readiness: () => ({ notReady: null, detail: {} }),
    doors: { stop: async () => ++opened },
  })
  for (const headers of FOREIGN) {
    const got = await send(app, 'POST /doors/stop', { headers })
    expect([got.status, got.json]).toEqual([403, { error: expect.stringMatching(/^(The|A) /) }])
    expect(got.headers.get('content-type')).toBe('application/json')
    for (const path of ['/metrics', '/healthz', '/readyz'])
      expect((await send(app, `GET ${path}`, { headers })).status).toBe(403)
  }
  expect((await app.request('/metrics')).status).toBe(200)
  expect(opened).toBe(0)
  expect((await send(app, 'POST /doors/stop')).status).toBe(200)
})

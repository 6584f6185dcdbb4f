/** The listener of the console: whom it bars, and whether and how people sign in there. */
import { createServer, get } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterEach, expect, test } from 'vitest'
import { closer } from '../../src/cli/closer.ts'
import { openConsole } from '../../src/cli/programs/console.ts'
import { urlOf } from '../../src/cli/programs/listen.ts'
import { silent } from '../../src/log.ts'

const open = closer(silent)
afterEach(() => open.close())
const opened = async (more: object = {}) =>
  openConsole({
    config: {
      auth: 'noauth',
      keystone: null,
      http: { trustedHosts: ['console.example.org'], anyHost: false },
      uiListen: { host: '127.0.0.1', port: 0, chosen: true },
      ...more,
    } as never,
    api: { fetch: async () => Response.json({}) },
    log: silent,
    open,
  })
const page = async (port: number, path: string, host: string) => {
  const { promise, resolve, reject } = Promise.withResolvers<readonly [number | undefined, string]>()
  get({ host: '127.0.0.1', port, path, headers: { host } }, (answer) => {
    void text(answer).then((html) => resolve([answer.statusCode, html]))
  }).on('error', reject)
  return promise
}

test('a page that is asked for under a foreign name is refused with the reason', async () => {
  const { port } = await opened()
  const [status, said] = await page(port, '/ui/', 'evil.example.org')
  expect(status).toBe(403)
  expect(said).toContain('The Host header names neither this machine nor a host of api.trusted_hosts.')
  expect((await page(port, '/ui/', 'console.example.org'))[0]).not.toBe(403)
})
test('people sign in with their own domain at the Keystone that is shown to them', async () => {
  const bodies: unknown[] = []
  const keystone = createServer((request, response) => {
    void text(request).then((body) => {
      bodies.push(JSON.parse(body))
      response.writeHead(401, { connection: 'close' }).end()
    })
  })
  await new Promise<void>((resolve) => keystone.listen(0, '127.0.0.1', resolve))
  const authUrl = `http://127.0.0.1:${(keystone.address() as AddressInfo).port}/v3`
  const account = { challengeUrl: 'https://id.example.org/v3', ca: null, session: { authUrl, timeoutMs: 5000 } }
  const listening = await opened({ auth: 'keystone', keystone: account })
  const site = `${urlOf(listening)}/ui/`
  expect(await (await fetch(`${site}sign-in`)).text()).toContain('https://id.example.org/v3')
  await fetch(`${site}sign-in`, {
    method: 'POST',
    redirect: 'manual',
    headers: { origin: new URL(site).origin },
    body: new URLSearchParams({ user: 'kim', password: 'secret', project: 'alpha', domain: 'people' }),
  })
  expect(bodies).toMatchObject([
    {
      auth: {
        identity: { password: { user: { name: 'kim', password: 'secret', domain: { name: 'people' } } } },
        scope: { project: { name: 'alpha', domain: { name: 'people' } } },
      },
    },
  ])
  keystone.close()
})

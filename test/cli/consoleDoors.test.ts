/** The listener of the console: whom it bars, and whether and how people sign in there. */
import { createServer, get } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterEach, expect, onTestFinished, test } from 'vitest'
import { closer } from '../../src/cli/closer.ts'
import { loadConfig } from '../../src/cli/config/config.ts'
import { openConsole } from '../../src/cli/programs/console.ts'
import { urlOf } from '../../src/cli/programs/listen.ts'
import { silent } from '../../src/log.ts'

const open = closer(silent)
afterEach(() => open.close())
const opened = async (env: Readonly<Record<string, string>>) => {
  const given = { ACCELERANDO_UI_LISTEN: '127.0.0.1:0', ACCELERANDO_API_TRUSTED_HOSTS: 'console.example.org', ...env }
  const loaded = loadConfig({ flags: {}, env: given, readFile: () => '', osHostname: 'h' })
  const config = loaded.ok ? loaded.config : expect.fail(loaded.problems.join('\n'))
  return openConsole({ config, api: { fetch: async () => Response.json({}) }, log: silent, open })
}
const page = async (port: number, path: string, host: string) => {
  const { promise, resolve, reject } = Promise.withResolvers<readonly [number | undefined, string]>()
  get({ host: '127.0.0.1', port, path, headers: { host } }, (answer) => {
    void text(answer).then((html) => resolve([answer.statusCode, html]))
  }).on('error', reject)
  return promise
}

test('a page that is asked for under a foreign name is refused with the reason', async () => {
  const { port } = await opened({ ACCELERANDO_AUTH: 'noauth' })
  const [status, said] = await page(port, '/ui/', 'evil.example.org')
  expect(status).toBe(403)
  expect(said).toContain('The Host header names neither this machine nor a host of api.trusted_hosts.')
  expect((await page(port, '/ui/find?q=x', 'console.example.org'))[0]).toBe(302)
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
  onTestFinished(() => void keystone.close())
  const authUrl = `http://127.0.0.1:${(keystone.address() as AddressInfo).port}/v3`
  const account = { AUTH_URL: authUrl, WWW_AUTHENTICATE_URI: 'https://id.example.org/v3', USERNAME: 'service' }
  const more = { PASSWORD: 'planted', PROJECT_NAME: 'service' }
  const names = Object.entries({ ...account, ...more }).map(([name, value]) => [
    `ACCELERANDO_KEYSTONE_AUTHTOKEN_${name}`,
    value,
  ])
  const listening = await opened({ ACCELERANDO_AUTH: 'keystone', ...Object.fromEntries(names) })
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
})

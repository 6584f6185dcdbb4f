/** With which code a command ends that cannot sign in. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { commandHere } from '../support/commandHere.ts'
import { describeWith } from '../support/needs.ts'
import { certificates, OPENSSL, tlsProxy } from '../support/tls.ts'
import { type KeystoneDouble, keystoneDouble } from '../neighbours/openstack/keystoneDouble.ts'

let keystone: KeystoneDouble
beforeAll(async () => {
  keystone = await keystoneDouble()
})
afterAll(() => keystone.close())
const listed = (authUrl: string) =>
  commandHere(['host', 'list'], {
    OS_AUTH_URL: authUrl,
    OS_USERNAME: 'nobody',
    OS_PASSWORD: 'wrong',
    OS_PROJECT_NAME: 'demo',
    OS_USER_DOMAIN_NAME: 'Default',
    OS_PROJECT_DOMAIN_NAME: 'Default',
  })

test('4: Keystone refuses the credentials', async () => {
  const { code, out, err } = await listed(keystone.authUrl)
  expect([code, out]).toEqual([4, ''])
  expect(err).toContain('it refuses the credentials')
})
test('4: the same at an address that still names v2.0', async () => {
  const { code, err } = await listed(keystone.authUrl.replace(/v3$/, 'v2.0/'))
  expect([code, err]).toEqual([4, expect.stringContaining('it refuses the credentials')])
})
test('8: nobody answers at its address', async () => {
  const { code, out, err } = await listed('http://127.0.0.1:1/v3')
  expect([code, out]).toEqual([8, ''])
  expect(err).toContain('Keystone at http://127.0.0.1:1/v3: ')
})

/** An API without authentication, behind TLS of a private CA, and the files that name this CA. */
const behindTls = async (openssl: string) => {
  const tls = certificates(openssl)
  const api = createServer(({ url = '' }, response) => response.end(url.includes('readyz') ? '{}' : '{"hosts":[]}'))
  await new Promise<void>((resolve) => api.listen(0, '127.0.0.1', resolve))
  const front = await tlsProxy(`http://127.0.0.1:${(api.address() as AddressInfo).port}`, tls)
  const folder = mkdtempSync(join(tmpdir(), 'accelerando-'))
  const [ca, clouds] = [join(folder, 'ca.pem'), join(folder, 'clouds.yaml')]
  writeFileSync(ca, tls.ca)
  writeFileSync(clouds, `clouds: {mine: {auth_type: none, auth: {endpoint: "${front.url}/v2"}, cacert: "${ca}"}}`)
  const close = async () => {
    await front.close()
    await new Promise((resolve) => api.close(resolve))
    rmSync(folder, { recursive: true })
  }
  return { url: front.url, ca, clouds, close }
}
describeWith(OPENSSL, 'an API behind the certificate of a private CA', (openssl) => {
  test('is trusted where OS_CACERT or the entry of clouds.yaml names the CA, by doctor too', async () => {
    const { url, ca, clouds, close } = await behindTls(openssl)
    const ends = async (words: readonly string[], env: NodeJS.ProcessEnv) => (await commandHere(words, env)).code
    expect(await ends(['host', 'list', '--api', `${url}/v2`], {})).toBe(8)
    expect(await ends(['host', 'list', '--api', `${url}/v2`], { OS_CACERT: ca })).toBe(0)
    expect(await ends(['host', 'list'], { OS_CLOUD: 'mine', OS_CLIENT_CONFIG_FILE: clouds })).toBe(0)
    expect(await ends(['doctor', '--api', url], { OS_CACERT: ca })).toBe(0)
    await close()
  })
  test('names the file of the CA that cannot be read', async () => {
    const { code, err } = await commandHere(['host', 'list'], { OS_CACERT: '/nowhere/ca.pem' })
    expect([code, err]).toEqual([2, expect.stringContaining('OS_CACERT: /nowhere/ca.pem: ENOENT')])
  })
})

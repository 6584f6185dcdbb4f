/**
 * A cloud whose services are reached over TLS only, with certificates of a CA of its own: what `doctor` says, and what
 * the API does.
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { commandHere } from '../support/commandHere.ts'
import { embeddedStoreIn } from '../support/embedded.ts'
import { describeWith, needs } from '../support/needs.ts'
import { type Service, startService, tempFolder } from '../support/program.ts'
import { type Held, signIn } from '../support/signIn.ts'
import { certificates, OPENSSL, tlsProxy, type TlsProxy } from '../support/tls.ts'
import { CLOUD, type RiggedCloud, START_MS, startCloud } from './rig.ts'

type Endpoint = { readonly id: string; readonly url: string }
type Finding = { readonly check: string; readonly verdict: string; readonly says: string; readonly advice?: string }

/** What needs no front: nobody asks for it here. */
const UNUSED = /:(\d+)\/v2(\.1)?$/
const PART = { ...CLOUD, find: () => (needs(OPENSSL).lacking === undefined ? CLOUD.find() : OPENSSL.find()) }

describeWith(PART, 'a cloud over TLS', (rig) => {
  const folder = tempFolder('tls')
  const fronts = new Map<string, TlsProxy>()
  let cloud: RiggedCloud
  let admin: Held
  let authUrl: string
  let caFile: string
  const own = { ACCELERANDO_KEYSTONE_AUTHTOKEN_PASSWORD: 'rig-secret' }

  const config = (name: string, more: readonly string[]): string => {
    const file = join(folder.path, name)
    const account = [`auth_url = "${authUrl}"`, 'username = "cyborg"', 'project_name = "service"', ...more]
    writeFileSync(file, `[keystone_authtoken]\n${account.join('\n')}\n[placement]\nenabled = true\n`)
    return file
  }
  const keystone = async (method: string, path: string, body?: unknown): Promise<unknown> => {
    const answer = await fetch(`${cloud.authUrl}${path}`, {
      method,
      headers: { 'content-type': 'application/json', 'x-auth-token': admin.token },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(20_000),
    })
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status}`)
    return answer.json()
  }

  beforeAll(async () => {
    const tls = certificates(needs(OPENSSL).at!)
    caFile = join(folder.path, 'ca.pem')
    writeFileSync(caFile, tls.ca)
    cloud = await startCloud(rig, 3600)
    admin = await signIn(cloud.authUrl, 'admin', { project: 'admin' })
    const front = async (url: string): Promise<string> => {
      const made = fronts.get(url) ?? (await tlsProxy(url, tls))
      fronts.set(url, made)
      return made.url
    }
    authUrl = await front(cloud.authUrl)
    const { endpoints } = (await keystone('GET', '/endpoints')) as { readonly endpoints: readonly Endpoint[] }
    // Placement and Glance themselves look for Keystone in the catalogue, and do not know this CA
    for (const { id, url } of endpoints.filter((one) => one.url !== cloud.authUrl && !UNUSED.test(one.url)))
      await keystone('PATCH', `/endpoints/${id}`, { endpoint: { url: await front(url) } })
  }, START_MS)
  afterAll(async () => {
    for (const { close } of fronts.values()) await close()
    await cloud?.stop()
    folder.remove()
  })

  const findings = async (file: string): Promise<readonly Finding[]> => {
    const { out } = await commandHere(['doctor', '--config', file, '--json'], own)
    return JSON.parse(out) as readonly Finding[]
  }

  test('is found well with the file of the CA, every service of it', async () => {
    const found = await findings(config('with-ca.toml', [`cafile = "${caFile}"`]))
    expect(found.map(({ check, verdict }) => `${check} ${verdict}`)).toEqual([
      'keystone ok',
      'roles of the account ok',
      'clock of keystone ok',
      'placement ok',
      'images ok',
      // nobody listens there
      'nova problem',
      'own endpoint warning',
      'requests of a project warning',
    ])
    expect(found).toContainEqual({
      check: 'placement',
      verdict: 'ok',
      says: expect.stringContaining('it answers, in version'),
    })
  })
  test('is refused without it, and the option is named', async () => {
    const found = await findings(config('without-ca.toml', []))
    expect(found.map(({ check, verdict }) => `${check} ${verdict}`)).toEqual([
      'keystone problem',
      'requests of a project warning',
    ])
    expect(found[0]!.says).toContain(
      'its certificate is not signed by a CA that is trusted here (keystone_authtoken.cafile)',
    )
    expect(found[0]!.advice).toContain('cafile')
  })
  test('validates the tokens of the API, and those that nobody gave out', { timeout: 120_000 }, async () => {
    const data = join(folder.path, 'data')
    await embeddedStoreIn(join(data, 'store'))
    const listen = ['--listen', '127.0.0.1:0', '--admin-listen', '127.0.0.1:0', '--data', data, '--demo-hosts', '1']
    const file = config('served.toml', [`cafile = "${caFile}"`])
    const args = ['start', '--auth', 'keystone', '--config', file, ...listen]
    const service: Service = await startService({ args, env: own }, 120_000)
    try {
      const { token } = await signIn(cloud.authUrl, 'alpha-member', { project: 'alpha' })
      const status = async (given: string) =>
        (await fetch(`${service.base}/accelerator_requests`, { headers: { 'x-auth-token': given } })).status
      expect(await status(token)).toBe(200)
      expect(await status('invented')).toBe(401)
    } finally {
      await service.end('SIGTERM')
    }
  })
})

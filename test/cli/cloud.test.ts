/** The cloud of a program: who a caller is, which services are missed, with which account Nova is asked. */
import { randomUUID } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { loadConfig } from '../../src/cli/config/config.ts'
import { openCloud } from '../../src/cli/programs/cloud.ts'
import { SERVICE } from '../contracts/keystone.contract.ts'
import { type KeystoneDouble, keystoneDouble } from '../neighbours/openstack/keystoneDouble.ts'
import { closing } from '../support/closing.ts'
import { handClock, memoryLog, until } from '../support/lab.ts'
import { tempFolder } from '../support/program.ts'
import { signIn } from '../support/signIn.ts'

type Env = Readonly<Record<string, string>>
const folder = tempFolder('cloud')
const open = closing()
let keystone: KeystoneDouble
let nova: Server
let url: string
/** What Nova was asked, with which token, and what it answers. */
let asked: string[]
let status: number
beforeEach(async () => {
  ;[asked, status] = [[], 200]
  keystone = await keystoneDouble()
  nova = createServer((request, response) => {
    const token = String(request.headers['x-auth-token'] ?? 'none')
    asked.push(`${request.method} ${request.url} ${keystone.isLive(token) ? 'of the session' : token}`)
    response.writeHead(status).end()
  })
  await new Promise<void>((resolve) => nova.listen(0, '127.0.0.1', resolve))
  url = `http://127.0.0.1:${(nova.address() as AddressInfo).port}/v2.1`
})
afterEach(async () => {
  await open.close()
  nova.closeAllConnections()
  nova.close()
  await keystone.close()
})
const ALONE: Env = { ACCELERANDO_AUTH: 'noauth' }
const account = (): Env => ({
  ACCELERANDO_AUTH: 'keystone',
  ACCELERANDO_KEYSTONE_AUTHTOKEN_AUTH_URL: keystone.authUrl,
  ACCELERANDO_KEYSTONE_AUTHTOKEN_USERNAME: SERVICE.username,
  ACCELERANDO_KEYSTONE_AUTHTOKEN_PASSWORD: SERVICE.password,
  ACCELERANDO_KEYSTONE_AUTHTOKEN_PROJECT_NAME: SERVICE.project,
})
const opened = (env: Env) => {
  const loaded = loadConfig({ flags: {}, env, readFile: () => '', osHostname: 'h' })
  if (!loaded.ok) return expect.fail(loaded.problems.join('\n'))
  const [clock, log] = [handClock(), memoryLog()]
  const cloud = openCloud({ config: loaded.config, clock, log, open })
  const event = { name: 'accelerator-request-bound', tag: randomUUID(), status: 'completed' } as const
  return {
    clock,
    cloud,
    logged: () => log.said.map(({ detail, message }) => `${message} ${String(detail['neighbour'])}`),
    tell: () => cloud.nova!.notify([{ ...event, server_uuid: randomUUID() }], 'req-1'),
    identified: (headers: Env) => cloud.identify((name) => headers[name], { method: 'GET', path: '/v2/devices' }),
  }
}

describe('a caller', () => {
  test('who shows no token is sent to the address of Keystone for callers', async () => {
    const at = 'https://id.example.org'
    const { identified } = opened({ ...account(), ACCELERANDO_KEYSTONE_AUTHTOKEN_WWW_AUTHENTICATE_URI: at })
    expect(await identified({})).toMatchObject({
      fault: { kind: 'unauthenticated', challenge: `Keystone uri="${at}"` },
    })
  })
  test('is a service where the account of its service token has one of the configured roles', async () => {
    const { token } = await signIn(keystone.authUrl, 'alpha-member', { project: 'alpha' })
    const { token: service } = await signIn(keystone.authUrl, 'cyborg', { project: 'service' })
    const both = { 'x-auth-token': token, 'x-service-token': service }
    expect(await opened(account()).identified(both)).toMatchObject({
      roles: expect.arrayContaining(['member']),
      serviceRoles: expect.arrayContaining(['service']),
    })
    const others = { ACCELERANDO_KEYSTONE_AUTHTOKEN_SERVICE_TOKEN_ROLES: 'operator' }
    expect(await opened({ ...account(), ...others }).identified(both)).toMatchObject({
      fault: { kind: 'unauthenticated' },
    })
  })
  test('is who the headers say without authentication, although the service has an account in a cloud', async () => {
    const headers = { 'x-user-id': 'kim', 'x-roles': 'reader' }
    expect(await opened({ ...account(), ...ALONE }).identified(headers)).toMatchObject({
      userId: 'kim',
      roles: ['reader'],
    })
    expect(keystone.asked).toEqual([])
  })
})

describe('services that the catalogue lacks', () => {
  const lacked = ({ cloud }: ReturnType<typeof opened>) =>
    ['placement', 'compute'].filter((service) => cloud.session!.lacks(service))
  test('are named once at the start, and again when a later catalogue has them', async () => {
    keystone.lifeMs = 100_000
    const it = opened(account())
    await until(() => it.logged().length === 2)
    expect(it.logged()).toEqual(['neighbour.absent placement', 'neighbour.absent compute'])
    expect(lacked(it)).toEqual(['placement', 'compute'])
    await it.clock.pass(60_000)
    expect(it.logged()).toHaveLength(2)
    keystone.services = { placement: keystone.authUrl, compute: keystone.authUrl }
    const found = async () => {
      await it.clock.pass(30_000)
      return it.logged().slice(2)
    }
    await expect.poll(found).toEqual(['neighbour.present placement', 'neighbour.present compute'])
    expect(lacked(it)).toEqual([])
  })
  test('are only those that the configuration uses: no Placement that is off, no Nova with an address of its own', async () => {
    const it = opened({ ...account(), ACCELERANDO_PLACEMENT_ENABLED: 'false', ACCELERANDO_NOVA_URL: url })
    await it.clock.pass(60_000)
    expect([it.logged(), keystone.asked, it.cloud.placement]).toEqual([[], [], null])
  })
  test('are none as long as the catalogue could not be read', async () => {
    keystone.mood = 'broken'
    const it = opened(account())
    await until(() => it.logged().includes('keystone.noToken undefined'))
    expect(lacked(it)).toEqual([])
    keystone.mood = 'well'
    const later = async () => {
      await it.clock.pass(30_000)
      return lacked(it)
    }
    await expect.poll(later).toContain('placement')
  })
})

describe('Nova', () => {
  const EVENT = 'POST /v2.1/os-server-external-events'
  const at = (env: Env) => opened({ ACCELERANDO_NOVA_URL: url, ...env })
  test('is asked at the configured address with the token of the session, also after that was revoked', async () => {
    keystone.services = { compute: 'http://127.0.0.1:1/v2.1' }
    const { tell, cloud } = at(account())
    await tell()
    await cloud.novaServers!.blind()
    expect(asked).toEqual([`${EVENT} of the session`, 'GET /v2.1/servers?all_tenants=true&limit=1 of the session'])
    keystone.revokeAll()
    status = 401
    await tell()
    expect(asked.at(-1)).toBe(`${EVENT} of the session`)
    expect(asked).toHaveLength(4)
  })
  test('is asked with a token of its own in place of that of the session', async () => {
    const file = join(folder.path, 'token')
    writeFileSync(file, 'own\n')
    await at({ ...account(), ACCELERANDO_NOVA_TOKEN_FILE: file }).tell()
    await at({ ...account(), ACCELERANDO_NOVA_HEADERS: '{"X-Auth-Token": "named"}' }).tell()
    expect(asked).toEqual([`${EVENT} own`, `${EVENT} named`])
    folder.remove()
  })
  test.each<[string, () => Env]>([
    ['with an account in the cloud', account],
    ['without one', () => ALONE],
  ])('that does not answer is named, and recovers by itself: %s', async (_, env) => {
    const { tell, cloud, clock } = at(env())
    expect([cloud.novaFailing(), cloud.whyFailing()]).toEqual([null, null])
    status = 503
    for (let n = 0; n < 3; n++) await tell()
    expect(cloud.whyFailing()).toBe('compute: it answers 503')
    status = 404
    const later = async () => {
      await clock.pass(15_000)
      return cloud.whyFailing()
    }
    await expect.poll(later).toBe(null)
  })
  test('that refuses its token is named until it takes it, after the services of the session that do not answer', async () => {
    keystone.services = { placement: url }
    const { tell, cloud } = at({ ...account(), ACCELERANDO_NOVA_HEADERS: '{"X-Auth-Token": "named"}' })
    status = 401
    await tell()
    expect(cloud.novaFailing()).toBe('it answers 401: it refuses the token, or wants one')
    status = 200
    await tell()
    expect(cloud.novaFailing()).toBeNull()
    status = 503
    for (let n = 0; n < 3; n++) await cloud.session!.call({ service: 'placement', method: 'GET', path: '/' })
    for (let n = 0; n < 3; n++) await tell()
    expect(cloud.whyFailing()).toBe('placement: it answers 503; compute: it answers 503')
  })
  test('where there is none, and no cloud, nobody is told, and nothing is written to Placement', () => {
    const { cloud } = opened(ALONE)
    const { nova: receiver, novaServers, placement, session } = cloud
    expect([receiver, novaServers, placement, session]).toEqual([null, null, null, null])
    expect([cloud.novaFailing(), cloud.whyFailing()]).toEqual([null, null])
  })
})

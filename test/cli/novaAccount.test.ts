/** With which account, and where, a program asks Nova; and what it says of a Nova that it cannot use. */
import { randomUUID } from 'node:crypto'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { writeFileSync } from 'node:fs'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { closer } from '../../src/cli/closer.ts'
import { loadConfig } from '../../src/cli/config/config.ts'
import { examineCloud, examineNova } from '../../src/cli/doctor/cloud.ts'
import { openCloud } from '../../src/cli/programs/cloud.ts'
import { neighboursOf } from '../../src/cli/programs/neighbours.ts'
import { silent } from '../../src/log.ts'
import { SERVICE } from '../contracts/keystone.contract.ts'
import { type KeystoneDouble, keystoneDouble } from '../neighbours/openstack/keystoneDouble.ts'
import { handClock } from '../support/lab.ts'
import { tempFolder } from '../support/program.ts'

let keystone: KeystoneDouble
let nova: Server
let url: string
/** The tokens that Nova was asked with, and the paths. */
let asked: string[]
let status: number
const folder = tempFolder('nova-account')
const open = closer(silent)
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

type Env = Readonly<Record<string, string>>
const account = (): Env => ({
  ACCELERANDO_AUTH: 'keystone',
  ACCELERANDO_KEYSTONE_AUTHTOKEN_AUTH_URL: keystone.authUrl,
  ACCELERANDO_KEYSTONE_AUTHTOKEN_USERNAME: SERVICE.username,
  ACCELERANDO_KEYSTONE_AUTHTOKEN_PASSWORD: SERVICE.password,
  ACCELERANDO_KEYSTONE_AUTHTOKEN_PROJECT_NAME: SERVICE.project,
})
const configOf = (env: Env) => {
  const loaded = loadConfig({ flags: {}, env, readFile: () => '', osHostname: 'h' })
  if (!loaded.ok) throw new Error(loaded.problems.join('\n'))
  return loaded.config
}
const opened = (env: Env) => {
  const clock = handClock()
  const cloud = openCloud({ config: configOf({ ACCELERANDO_NOVA_URL: url, ...env }), clock, log: silent, open })
  const event = { name: 'accelerator-request-bound', tag: randomUUID(), status: 'completed' } as const
  return {
    clock,
    cloud,
    tell: () => cloud.nova!.notify([{ ...event, server_uuid: randomUUID() }], 'req-1'),
    said: () => neighboursOf(cloud, { whyFailing: () => null, source: () => 'absent' }).nova,
  }
}
const EVENT = 'POST /v2.1/os-server-external-events'

test('at the configured address with the token of the session, not at the address in the catalogue', async () => {
  keystone.services = { compute: 'http://127.0.0.1:1/v2.1' }
  const { tell, cloud } = opened(account())
  await tell()
  await cloud.novaServers!.blind()
  expect(asked).toEqual([`${EVENT} of the session`, 'GET /v2.1/servers?all_tenants=true&limit=1 of the session'])
})
test('a token of the session that was revoked is replaced', async () => {
  const { tell } = opened(account())
  await tell()
  keystone.revokeAll()
  status = 401
  await tell()
  expect(asked).toHaveLength(3)
  expect(asked.at(-1)).toBe(`${EVENT} of the session`)
})
test('a token of its own is used in place of that of the session', async () => {
  const file = join(folder.path, 'token')
  writeFileSync(file, 'own\n')
  await opened({ ...account(), ACCELERANDO_NOVA_TOKEN_FILE: file }).tell()
  await opened({ ...account(), ACCELERANDO_NOVA_HEADERS: '{"X-Auth-Token": "named"}' }).tell()
  expect(asked).toEqual([`${EVENT} own`, `${EVENT} named`])
})
test.each<[string, () => Env]>([
  ['with an account in the cloud', account],
  ['without one', () => ({ ACCELERANDO_AUTH: 'noauth' })],
])('a Nova at a configured address that does not answer is named, and recovers by itself: %s', async (_, env) => {
  const { tell, said, cloud, clock } = opened(env())
  expect([said(), cloud.whyFailing()]).toEqual(['in use', null])
  status = 503
  for (let n = 0; n < 3; n++) await tell()
  expect([said(), cloud.whyFailing()]).toEqual(['it answers 503', 'compute: it answers 503'])
  status = 404
  const later = async () => {
    await clock.pass(15_000)
    return said()
  }
  await expect.poll(later).toBe('in use')
  expect(cloud.whyFailing()).toBe(null)
})
test('a Nova that refuses the token of its own is named', async () => {
  status = 401
  const { tell, said, cloud } = opened({ ACCELERANDO_AUTH: 'noauth' })
  await tell()
  expect(said()).toContain('it answers 401')
  expect(cloud.whyFailing()).toContain('compute: it answers 401')
})
test.each<[string, Env, boolean]>([
  ['with the token of the session', {}, true],
  ['with a token of its own', { ACCELERANDO_NOVA_HEADERS: '{"X-Auth-Token": "named"}' }, false],
])('doctor asks once, as the service does: %s', async (_, more, ofSession) => {
  const config = configOf({ ...account(), ACCELERANDO_NOVA_URL: url, ...more })
  const options = { ...config, clock: handClock() }
  const [alone, cloud] = [await examineNova(url, options), await examineCloud(config.keystone!, options)]
  const of = (found: readonly { readonly check: string }[]) => found.filter(({ check }) => check === 'nova').length
  expect([of(alone), of(cloud)]).toEqual(ofSession ? [0, 1] : [1, 0])
  expect(asked).toEqual([`GET /v2.1/ ${ofSession ? 'of the session' : 'named'}`])
})

test('a Nova beside the session is told after the services of the session that do not answer', async () => {
  keystone.services = { placement: url }
  const { tell, cloud } = opened({ ...account(), ACCELERANDO_NOVA_HEADERS: '{"X-Auth-Token": "named"}' })
  const place = () => cloud.session!.call({ service: 'placement', method: 'GET', path: '/' })
  status = 503
  for (let n = 0; n < 3; n++) await place()
  expect(cloud.whyFailing()).toBe('placement: it answers 503')
  for (let n = 0; n < 3; n++) await tell()
  expect([cloud.novaFailing(), cloud.whyFailing()]).toEqual([
    'it answers 503',
    'placement: it answers 503; compute: it answers 503',
  ])
})
test('without a Nova and without a cloud nobody is told, and nothing is written to Placement', () => {
  const cloud = openCloud({ config: configOf({ ACCELERANDO_AUTH: 'noauth' }), clock: handClock(), log: silent, open })
  const { nova: receiver, novaServers, placement, session } = cloud
  expect([receiver, novaServers, placement, session]).toEqual([null, null, null, null])
  expect([cloud.novaFailing(), cloud.whyFailing()]).toEqual([null, null])
})
test('a token that is taken is no problem any more', async () => {
  status = 401
  const { tell, said } = opened({ ACCELERANDO_AUTH: 'noauth' })
  await tell()
  expect(said()).toBe('it answers 401: it refuses the token, or wants one')
  status = 200
  await tell()
  expect(said()).toBe('in use')
})

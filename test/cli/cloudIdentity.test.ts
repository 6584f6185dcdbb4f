/** Who a caller is: with an account in a cloud its Keystone says it, as configured; else the headers do. */
import { afterEach, beforeEach, expect, test } from 'vitest'
import { closer } from '../../src/cli/closer.ts'
import { loadConfig } from '../../src/cli/config/config.ts'
import { openCloud } from '../../src/cli/programs/cloud.ts'
import { silent } from '../../src/log.ts'
import { SERVICE } from '../contracts/keystone.contract.ts'
import { type KeystoneDouble, keystoneDouble } from '../neighbours/openstack/keystoneDouble.ts'
import { handClock } from '../support/lab.ts'
import { signIn } from '../support/signIn.ts'

let keystone: KeystoneDouble
const open = closer(silent)
beforeEach(async () => {
  keystone = await keystoneDouble()
})
afterEach(async () => {
  await open.close()
  await keystone.close()
})
const identified = (env: Readonly<Record<string, string>>) => {
  const account = {
    ACCELERANDO_KEYSTONE_AUTHTOKEN_AUTH_URL: keystone.authUrl,
    ACCELERANDO_KEYSTONE_AUTHTOKEN_USERNAME: SERVICE.username,
    ACCELERANDO_KEYSTONE_AUTHTOKEN_PASSWORD: SERVICE.password,
    ACCELERANDO_KEYSTONE_AUTHTOKEN_PROJECT_NAME: SERVICE.project,
  }
  const loaded = loadConfig({ flags: {}, env: { ...account, ...env }, readFile: () => '', osHostname: 'h' })
  if (!loaded.ok) return expect.fail(loaded.problems.join('\n'))
  const { identify } = openCloud({ config: loaded.config, clock: handClock(), log: silent, open })
  return (headers: Readonly<Record<string, string>>) =>
    identify((name) => headers[name], { method: 'GET', path: '/v2/devices' })
}
const KEYSTONE = { ACCELERANDO_AUTH: 'keystone' }

test('who shows no token is sent to the address of Keystone for callers', async () => {
  const ask = identified({ ...KEYSTONE, ACCELERANDO_KEYSTONE_AUTHTOKEN_WWW_AUTHENTICATE_URI: 'https://id.example.org' })
  expect(await ask({})).toMatchObject({
    fault: { kind: 'unauthenticated', challenge: 'Keystone uri="https://id.example.org"' },
  })
})
test('a service token counts where its account has one of the configured roles', async () => {
  const { token } = await signIn(keystone.authUrl, 'alpha-member', { project: 'alpha' })
  const { token: service } = await signIn(keystone.authUrl, 'cyborg', { project: 'service' })
  const both = { 'x-auth-token': token, 'x-service-token': service }
  expect(await identified(KEYSTONE)(both)).toMatchObject({
    roles: expect.arrayContaining(['member']),
    serviceRoles: expect.arrayContaining(['service']),
  })
  const others = { ACCELERANDO_KEYSTONE_AUTHTOKEN_SERVICE_TOKEN_ROLES: 'operator' }
  expect(await identified({ ...KEYSTONE, ...others })(both)).toMatchObject({ fault: { kind: 'unauthenticated' } })
})
test('without authentication the headers count, although the service has an account in a cloud', async () => {
  const headers = { 'x-user-id': 'kim', 'x-roles': 'reader' }
  expect(await identified({ ACCELERANDO_AUTH: 'noauth' })(headers)).toMatchObject({ userId: 'kim', roles: ['reader'] })
  expect(keystone.asked).toEqual([])
})

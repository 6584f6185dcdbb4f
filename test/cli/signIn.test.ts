/** With which code a command ends that cannot sign in. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { commandHere } from '../support/commandHere.ts'
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
test('8: nobody answers at its address', async () => {
  const { code, out, err } = await listed('http://127.0.0.1:1/v3')
  expect([code, out]).toEqual([8, ''])
  expect(err).toContain('Keystone at http://127.0.0.1:1/v3: ')
})

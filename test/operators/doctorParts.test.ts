/** What `doctor` looks at: only what this service is configured to use. */
import { afterEach, beforeEach, expect, test } from 'vitest'
import { systemClock } from '../../src/clock.ts'
import { loadConfig } from '../../src/cli/config/config.ts'
import { examine } from '../../src/cli/doctor/doctor.ts'
import { SERVICE } from '../contracts/keystone.contract.ts'
import { type KeystoneDouble, keystoneDouble } from '../neighbours/openstack/keystoneDouble.ts'

let keystone: KeystoneDouble
beforeEach(async () => {
  keystone = await keystoneDouble()
})
afterEach(() => keystone.close())

const looksAt = async (env: Readonly<Record<string, string>>) => {
  const account = {
    ACCELERANDO_AUTH: 'keystone',
    ACCELERANDO_KEYSTONE_AUTHTOKEN_AUTH_URL: keystone.authUrl,
    ACCELERANDO_KEYSTONE_AUTHTOKEN_USERNAME: SERVICE.username,
    ACCELERANDO_KEYSTONE_AUTHTOKEN_PASSWORD: SERVICE.password,
    ACCELERANDO_KEYSTONE_AUTHTOKEN_PROJECT_NAME: SERVICE.project,
  }
  const loaded = loadConfig({ flags: {}, env: { ...account, ...env }, readFile: () => '', osHostname: 'h' })
  if (!loaded.ok) throw new Error(loaded.problems.join('\n'))
  const found = await examine({
    ...loaded.config,
    api: null,
    novaConf: [],
    hardware: false,
    mend: false,
    clock: systemClock,
  })
  return found.map(({ check, verdict }) => `${check}: ${verdict}`)
}

test('a cloud without an image service is a warning; without Placement, a problem', async () =>
  expect(await looksAt({})).toEqual(['placement: problem', 'images: warning']))
test('not Placement, where nothing is written there', async () =>
  expect(await looksAt({ ACCELERANDO_PLACEMENT_ENABLED: 'false' })).toEqual(['images: warning']))
test('not the image service, where a folder takes its place', async () =>
  expect(await looksAt({ ACCELERANDO_PLACEMENT_ENABLED: 'false', ACCELERANDO_IMAGES: '/tmp' })).toEqual([]))

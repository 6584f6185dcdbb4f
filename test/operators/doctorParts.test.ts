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

const KEYSTONE = ['keystone: ok', 'roles of the account: ok', 'clock of keystone: ok']
const LIMITS = 'requests of a project: warning'
const OTHERS = ['nova: warning', 'own endpoint: warning', LIMITS]
const NO_PLACEMENT = { ACCELERANDO_PLACEMENT_ENABLED: 'false' }

test('a cloud without image service, Nova and this service is a warning each; without Placement, a problem', async () =>
  expect(await looksAt({})).toEqual([...KEYSTONE, 'placement: problem', 'images: warning', ...OTHERS]))
test('not Placement, where nothing is written there', async () =>
  expect(await looksAt(NO_PLACEMENT)).toEqual([...KEYSTONE, 'images: warning', ...OTHERS]))
test('not the image service, where a folder takes its place', async () =>
  expect(await looksAt({ ...NO_PLACEMENT, ACCELERANDO_IMAGES: '/tmp' })).toEqual([...KEYSTONE, ...OTHERS]))
test('Nova at its address, where one is configured, and not in the catalogue', async () => {
  keystone.services = { compute: keystone.authUrl }
  const nova = { ACCELERANDO_NOVA_URL: 'http://127.0.0.1:9/v2.1', ACCELERANDO_IMAGES: '/tmp' }
  expect(await looksAt({ ...NO_PLACEMENT, ...nova })).toEqual([
    ...KEYSTONE,
    'nova: problem',
    'own endpoint: warning',
    LIMITS,
  ])
})
test('only Keystone, and once, where it refuses the credentials: accounts are locked after many refusals', async () => {
  expect(await looksAt({ ACCELERANDO_KEYSTONE_AUTHTOKEN_PASSWORD: 'wrong' })).toEqual([
    'keystone: problem',
    'clock of keystone: ok',
    LIMITS,
  ])
  expect(keystone.asked).toEqual(['POST /v3/auth/tokens'])
})
test('and whether a project may create requests without end', async () => {
  const limited = await looksAt({ ...NO_PLACEMENT, ACCELERANDO_QUOTA_ARQS_PER_PROJECT: '1000' })
  expect(limited.at(-1)).toBe('requests of a project: ok')
})

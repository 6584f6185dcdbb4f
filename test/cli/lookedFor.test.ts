/** What a program says of services that the catalogue of its cloud lacks, without anybody having needed one. */
import { afterEach, beforeEach, expect, test } from 'vitest'
import { closer } from '../../src/cli/closer.ts'
import { loadConfig } from '../../src/cli/config/config.ts'
import { openCloud } from '../../src/cli/programs/cloud.ts'
import { neighboursOf } from '../../src/cli/programs/neighbours.ts'
import { silent } from '../../src/log.ts'
import { SERVICE } from '../contracts/keystone.contract.ts'
import { type KeystoneDouble, keystoneDouble } from '../neighbours/openstack/keystoneDouble.ts'
import { handClock, memoryLog, until } from '../support/lab.ts'

let keystone: KeystoneDouble
const open = closer(silent)
beforeEach(async () => {
  keystone = await keystoneDouble()
})
afterEach(async () => {
  await open.close()
  await keystone.close()
})

const opened = (env: Readonly<Record<string, string>> = {}) => {
  const account = {
    ACCELERANDO_AUTH: 'keystone',
    ACCELERANDO_KEYSTONE_AUTHTOKEN_AUTH_URL: keystone.authUrl,
    ACCELERANDO_KEYSTONE_AUTHTOKEN_USERNAME: SERVICE.username,
    ACCELERANDO_KEYSTONE_AUTHTOKEN_PASSWORD: SERVICE.password,
    ACCELERANDO_KEYSTONE_AUTHTOKEN_PROJECT_NAME: SERVICE.project,
  }
  const loaded = loadConfig({ flags: {}, env: { ...account, ...env }, readFile: () => '', osHostname: 'h' })
  if (!loaded.ok) throw new Error(loaded.problems.join('\n'))
  const [clock, log] = [handClock(), memoryLog()]
  const cloud = openCloud({ config: loaded.config, clock, log, open })
  const images = { whyFailing: () => null, source: () => 'absent' as const }
  return {
    clock,
    logged: () => log.said.map(({ detail, message }) => `${message} ${String(detail['neighbour'])}`),
    neighbours: () => neighboursOf(cloud, images),
  }
}

test('a Placement and a Nova that the catalogue lacks are absent, which is said once at the start', async () => {
  const { clock, logged, neighbours } = opened()
  await until(() => logged().length === 2)
  expect(logged()).toEqual(['neighbour.absent placement', 'neighbour.absent compute'])
  expect(neighbours()).toMatchObject({ keystone: 'in use', placement: 'absent', nova: 'absent' })
  await clock.pass(60_000)
  expect(logged()).toHaveLength(2)
})
test('they are in use as soon as a later catalogue has them', async () => {
  keystone.lifeMs = 100_000
  const { clock, logged, neighbours } = opened()
  await until(() => logged().length === 2)
  keystone.services = { placement: keystone.authUrl, compute: keystone.authUrl }
  const found = async () => {
    await clock.pass(30_000)
    return logged().slice(2)
  }
  await expect.poll(found).toEqual(['neighbour.present placement', 'neighbour.present compute'])
  expect(neighbours()).toMatchObject({ placement: 'in use', nova: 'in use' })
})
test('only what the configuration uses is looked for: no Placement that is off, and no Nova with an address of its own', async () => {
  const { clock, logged, neighbours } = opened({
    ACCELERANDO_PLACEMENT_ENABLED: 'false',
    ACCELERANDO_NOVA_URL: 'http://127.0.0.1:1/v2.1',
  })
  expect(neighbours()).toMatchObject({ keystone: 'in use', placement: 'absent', nova: 'in use' })
  await clock.pass(60_000)
  expect([logged(), keystone.asked]).toEqual([[], []])
})
test('a service whose catalogue could not be read is not called absent', async () => {
  keystone.mood = 'broken'
  const { clock, logged, neighbours } = opened()
  await until(() => logged().includes('keystone.noToken undefined'))
  expect(neighbours()).toMatchObject({ placement: 'in use', nova: 'in use' })
  keystone.mood = 'well'
  const later = async () => {
    await clock.pass(30_000)
    return neighbours().placement
  }
  await expect.poll(later).toBe('absent')
})

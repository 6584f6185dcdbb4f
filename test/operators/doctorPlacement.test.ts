/** What `doctor` says of Placement: it signs in as the service does. */
import { afterEach, beforeEach, expect, test } from 'vitest'
import { systemClock } from '../../src/clock.ts'
import { judgeAll } from '../../src/cli/doctor/check.ts'
import { lookAtPlacement, PLACEMENT_CHECKS } from '../../src/cli/doctor/neighbours.ts'
import { SERVICE, sessionOptions } from '../contracts/keystone.contract.ts'
import { type KeystoneDouble, keystoneDouble } from '../neighbours/openstack/keystoneDouble.ts'
import { type PlacementDouble, placementDouble } from '../neighbours/openstack/placementDouble.ts'
import { placementLab } from '../support/placementLab.ts'

let keystone: KeystoneDouble
let doubles: PlacementDouble[]
const start = async (options: { readonly highest?: number } = {}): Promise<PlacementDouble> => {
  const double = await placementDouble({ authUrl: keystone.authUrl, ...options })
  doubles.push(double)
  keystone.services = { placement: double.url }
  return double
}
beforeEach(async () => {
  doubles = []
  keystone = await keystoneDouble()
})
afterEach(() => Promise.all([keystone, ...doubles].map((one) => one.close())))

const said = async (credentials: Partial<typeof SERVICE | { username: string; project: string }> = {}) => {
  const session = { ...sessionOptions(keystone.authUrl), credentials: { ...SERVICE, ...credentials } }
  return judgeAll(PLACEMENT_CHECKS, await lookAtPlacement({ session, ca: null }, systemClock))
}
const problem = (says: string, advice: string) => [
  {
    check: 'placement',
    verdict: 'problem',
    says: expect.stringContaining(says),
    advice: expect.stringContaining(advice),
  },
]

test('a Placement that is well: the version, and how many providers are ours', async () => {
  await start()
  const lab = placementLab(sessionOptions(keystone.authUrl))
  await lab.setTraits((await lab.ours()).uuid, ['OWNER_CYBORG'])
  await lab.close()
  expect(await said()).toEqual([
    { check: 'placement', verdict: 'ok', says: 'it answers, in version 1.39; 1 provider of this service' },
  ])
})
test('devices that Nova shows below the same compute node', async () => {
  await start()
  const lab = placementLab(sessionOptions(keystone.authUrl))
  const [root, elsewhere] = [await lab.node('compute1'), await lab.node('compute2')]
  const provider = async (parent: string, name: string, trait: string) =>
    lab.setTraits(await lab.child(parent, name), [trait])
  await provider(root, 'c1_0000:af:00.0', 'OWNER_CYBORG')
  await provider(root, 'c1_0000:bf:00.0', 'OWNER_CYBORG')
  await provider(root, 'compute1_0000:AF:00.0', 'COMPUTE_MANAGED_PCI_DEVICE')
  await provider(elsewhere, 'compute2_0000:BF:00.0', 'COMPUTE_MANAGED_PCI_DEVICE')
  await lab.close()
  const [well, overlap] = await said()
  expect(well).toMatchObject({ verdict: 'ok' })
  expect(overlap).toEqual({
    check: 'overlap with nova',
    verdict: 'problem',
    says: '1 device shown by Nova as well: c1_0000:af:00.0',
    advice: expect.stringContaining('accelerando drift'),
  })
})
test('a Placement that has never heard of such devices', async () => {
  const { model } = await start()
  model.state.traits.delete('COMPUTE_MANAGED_PCI_DEVICE')
  expect(await said()).toMatchObject([{ check: 'placement', verdict: 'ok' }])
})
test('an account without the role', async () => {
  await start()
  const member = { username: 'alpha-member', project: 'alpha' }
  expect(await said(member)).toEqual(problem('needs the role admin or service', 'the role service, or admin'))
})
test('one that is too old', async () => {
  await start({ highest: 29 })
  expect(await said()).toEqual(problem('the versions 1.0 to 1.29', 'upgrade Placement'))
})
test('one that does not know the trait of this service', async () => {
  const { model } = await start()
  model.state.traits.delete('OWNER_CYBORG')
  expect(await said()).toEqual(problem('No such trait(s): OWNER_CYBORG', 'upgrade os-traits'))
})
test('one that is down, one that the catalogue lacks, and no token', async () => {
  await (await start()).close()
  expect(await said()).toEqual(problem('ECONNREFUSED', 'that Placement runs'))
  keystone.services = {}
  expect(await said()).toEqual(problem('the catalogue has no endpoint of placement', 'service catalogue'))
  keystone.mood = 'down'
  expect(await said()).toEqual(problem('', 'check the credentials'))
})

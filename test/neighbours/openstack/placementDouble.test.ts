/** The contract with Placement on its double; `test/cloud` runs it on the real one. */
import { afterAll, beforeAll, describe } from 'vitest'
import { driverNamesContract } from '../../contracts/driverNames.contract.ts'
import { placementContract } from '../../contracts/placement.contract.ts'
import { placementAsNovaContract } from '../../contracts/placementAsNova.contract.ts'
import { type KeystoneDouble, keystoneDouble } from './keystoneDouble.ts'
import { type PlacementDouble, placementDouble } from './placementDouble.ts'

describe('the double of Placement', () => {
  let keystone: KeystoneDouble
  let double: PlacementDouble
  beforeAll(async () => {
    keystone = await keystoneDouble()
    double = await placementDouble({ authUrl: keystone.authUrl })
    keystone.services = { placement: double.url }
  })
  afterAll(() => Promise.all([double.close(), keystone.close()]))
  placementContract(() => ({ authUrl: keystone.authUrl }))
  placementAsNovaContract(() => ({ authUrl: keystone.authUrl }))
  driverNamesContract(() => ({ authUrl: keystone.authUrl }))
})

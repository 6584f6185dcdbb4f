/** The client of Placement while something fails, on the doubles; `test/cloud` runs the same on the real services. */
import { afterEach, beforeEach } from 'vitest'
import { type FailingCloud, placementFaultsContract } from '../../contracts/placementFaults.contract.ts'
import { type FaultyProxy, faultyProxy } from '../faultyProxy.ts'
import { type KeystoneDouble, keystoneDouble } from './keystoneDouble.ts'
import { type PlacementDouble, placementDouble } from './placementDouble.ts'

let keystone: KeystoneDouble
let double: PlacementDouble
let proxy: FaultyProxy
beforeEach(async () => {
  keystone = await keystoneDouble()
  double = await placementDouble({ authUrl: keystone.authUrl })
  proxy = await faultyProxy(double.url)
  keystone.services = { placement: proxy.url }
})
afterEach(() => Promise.all([proxy, double, keystone].map((one) => one.close())))
placementFaultsContract((): FailingCloud => ({
  authUrl: keystone.authUrl,
  proxy,
  withoutKeystone: async (work) => {
    keystone.mood = 'down'
    try {
      await work()
    } finally {
      keystone.mood = 'well'
    }
  },
}))

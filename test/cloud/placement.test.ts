/** The contract with Placement on the real one. */
import { afterAll, beforeAll } from 'vitest'
import { driverNamesContract } from '../contracts/driverNames.contract.ts'
import { placementContract } from '../contracts/placement.contract.ts'
import { placementAsNovaContract } from '../contracts/placementAsNova.contract.ts'
import { describeWith } from '../support/needs.ts'
import { CLOUD, type RiggedCloud, START_MS, startCloud } from './rig.ts'

describeWith(CLOUD, 'a real Placement', (rig) => {
  let cloud: RiggedCloud
  beforeAll(async () => {
    cloud = await startCloud(rig, 3600)
  }, START_MS)
  afterAll(() => cloud?.stop())
  placementContract(() => ({ authUrl: cloud.authUrl }))
  placementAsNovaContract(() => ({ authUrl: cloud.authUrl }))
  driverNamesContract(() => ({ authUrl: cloud.authUrl }))
})

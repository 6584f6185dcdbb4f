/** The contract with Keystone, on the real one. */
import { afterAll, beforeAll } from 'vitest'
import { keystoneContract } from '../contracts/keystone.contract.ts'
import { describeWith } from '../support/needs.ts'
import { CLOUD, type RiggedCloud, START_MS, startCloud } from './rig.ts'

const TOKEN_SECONDS = 12

describeWith(CLOUD, 'a real Keystone', (rig) => {
  let cloud: RiggedCloud
  beforeAll(async () => {
    cloud = await startCloud(rig, TOKEN_SECONDS)
  }, START_MS)
  afterAll(() => cloud?.stop())
  keystoneContract(() => ({ authUrl: cloud.authUrl, lifeMs: TOKEN_SECONDS * 1000 }))
})

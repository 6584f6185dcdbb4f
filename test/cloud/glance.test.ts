/** The contract with Glance, on the real one. */
import { afterAll, beforeAll } from 'vitest'
import { glanceContract } from '../contracts/glance.contract.ts'
import { describeWith } from '../support/needs.ts'
import { CLOUD, type RiggedCloud, START_MS, startCloud } from './rig.ts'

describeWith(CLOUD, 'a real Glance', (rig) => {
  let cloud: RiggedCloud
  beforeAll(async () => {
    cloud = await startCloud(rig, 3600)
  }, START_MS)
  afterAll(() => cloud?.stop())
  glanceContract(() => ({ authUrl: cloud.authUrl, glanceUrl: cloud.glanceUrl, timeoutMs: 5000 }))
})

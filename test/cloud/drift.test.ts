/** Drift and its repair, and the checks of acceptance, and explain, on a real Placement. */
import { afterAll, beforeAll } from 'vitest'
import { driftContract } from '../contracts/drift.contract.ts'
import { driftOfNodesContract } from '../contracts/driftOfNodes.contract.ts'
import { driftOfNovaContract } from '../contracts/driftOfNova.contract.ts'
import { explainContract } from '../contracts/explain.contract.ts'
import { sessionOptions } from '../contracts/keystone.contract.ts'
import { placementChecksContract } from '../contracts/placementChecks.contract.ts'
import { describeWith } from '../support/needs.ts'
import { type PlacementLab, placementLab } from '../support/placementLab.ts'
import { CLOUD, type RiggedCloud, START_MS, startCloud } from './rig.ts'

describeWith(CLOUD, 'the reconciler beside a real Placement', (rig) => {
  let cloud: RiggedCloud
  let lab: PlacementLab
  beforeAll(async () => {
    cloud = await startCloud(rig, 3600)
    lab = placementLab(sessionOptions(cloud.authUrl))
  }, START_MS)
  afterAll(async () => {
    await lab?.close()
    await cloud?.stop()
  })
  driftContract(() => lab)
  driftOfNodesContract(() => lab)
  explainContract(() => lab)
  driftOfNovaContract(() => lab)
  placementChecksContract(() => lab)
})

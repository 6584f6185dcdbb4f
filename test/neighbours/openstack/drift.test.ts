/**
 * Drift and its repair, and the checks of acceptance, and explain, on the double without sockets; `test/cloud` runs the
 * same on a real Placement.
 */
import { driftContract } from '../../contracts/drift.contract.ts'
import { driftOfNodesContract } from '../../contracts/driftOfNodes.contract.ts'
import { driftOfNovaContract } from '../../contracts/driftOfNova.contract.ts'
import { explainContract } from '../../contracts/explain.contract.ts'
import { ignoredDriftContract } from '../../contracts/ignoredDrift.contract.ts'
import { placementChecksContract } from '../../contracts/placementChecks.contract.ts'
import { placementLabOn } from '../../support/placementLab.ts'
import { placementModel } from './placement/model.ts'
import { modelSession } from './placement/session.ts'

const lab = () => placementLabOn(modelSession(placementModel()))
driftContract(lab)
driftOfNodesContract(lab)
explainContract(lab)
ignoredDriftContract(lab)
driftOfNovaContract(lab)
placementChecksContract(lab)

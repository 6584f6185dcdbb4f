/**
 * Drift and its repair, and the checks of acceptance, and explain, once more over the embedded database and over
 * PostgreSQL.
 */
import { afterAll, beforeAll, describe } from 'vitest'
import { driftContract } from '../../contracts/drift.contract.ts'
import { driftOfNodesContract } from '../../contracts/driftOfNodes.contract.ts'
import { explainContract } from '../../contracts/explain.contract.ts'
import { placementChecksContract } from '../../contracts/placementChecks.contract.ts'
import { ignoredDriftContract } from '../../contracts/ignoredDrift.contract.ts'
import { describeWith } from '../../support/needs.ts'
import { placementLabOn } from '../../support/placementLab.ts'
import { type Pool, pglitePool, postgresPool } from '../../support/storePools.ts'
import { placementModel } from './placement/model.ts'
import { modelSession } from './placement/session.ts'

const lab = () => placementLabOn(modelSession(placementModel()))
const over = (pool: Pool): void => {
  // The first one takes longer than a test may.
  beforeAll(async () => (await pool.take(Date.now)).close())
  afterAll(pool.end)
  driftContract(lab, pool.take)
  driftOfNodesContract(lab, pool.take)
  ignoredDriftContract(lab, pool.take)
  explainContract(lab, pool.take)
  placementChecksContract(lab, pool.take)
}

describe('PGlite', () => over(pglitePool()))
describeWith('postgres', 'PostgreSQL', (bin) => over(postgresPool(bin)))

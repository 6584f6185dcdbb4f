/** The contract with Placement on the real one, and what `doctor` says of it. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { placementContract } from '../contracts/placement.contract.ts'
import { placementAsNovaContract } from '../contracts/placementAsNova.contract.ts'
import { describeWith } from '../support/needs.ts'
import { runProgram } from '../support/program.ts'
import { CLOUD, type RiggedCloud, START_MS, startCloud } from './rig.ts'

describeWith(CLOUD, 'a real Placement', (rig) => {
  let cloud: RiggedCloud
  beforeAll(async () => {
    cloud = await startCloud(rig, 3600)
  }, START_MS)
  afterAll(() => cloud?.stop())
  placementContract(() => ({ authUrl: cloud.authUrl }))
  placementAsNovaContract(() => ({ authUrl: cloud.authUrl }))

  test.each([
    ['cyborg', 'service', 0, /^ok +placement +it answers, in version 1\.39; \d+ providers? of this service$/m],
    ['alpha-member', 'alpha', 7, /^problem +placement +the account of this service needs the role admin or service/m],
  ])('doctor as %s of %s', async (username, project, code, line) => {
    const prefix = 'ACCELERANDO_KEYSTONE_AUTHTOKEN'
    const program = runProgram({
      args: ['doctor'],
      env: {
        [`${prefix}_AUTH_URL`]: cloud.authUrl,
        [`${prefix}_USERNAME`]: username,
        [`${prefix}_PASSWORD`]: 'rig-secret',
        [`${prefix}_PROJECT_NAME`]: project,
      },
    })
    expect([(await program.exited).code, program.stdout()]).toEqual([code, expect.stringMatching(line)])
  })
})

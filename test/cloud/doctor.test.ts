/**
 * What `doctor` says beside real services: Keystone, Placement and Glance answer, Nova does not, and this service does
 * once it has been started.
 */
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { embeddedStoreIn } from '../support/embedded.ts'
import { describeWith } from '../support/needs.ts'
import { runProgram, startService, tempFolder } from '../support/program.ts'
import { credentialOf, signIn } from '../support/signIn.ts'
import { CLOUD, type RiggedCloud, START_MS, startCloud } from './rig.ts'

const PREFIX = 'ACCELERANDO_KEYSTONE_AUTHTOKEN'
const RUN_MS = 60_000

describeWith(CLOUD, 'doctor beside a real cloud', (rig) => {
  const folder = tempFolder('doctor-cloud')
  let cloud: RiggedCloud
  beforeAll(async () => {
    cloud = await startCloud(rig, 3600)
  }, START_MS)
  afterAll(async () => {
    await cloud?.stop()
    folder.remove()
  })

  const account = (username: string, project: string, password = 'rig-secret') => ({
    [`${PREFIX}_AUTH_URL`]: cloud.authUrl,
    [`${PREFIX}_USERNAME`]: username,
    [`${PREFIX}_PASSWORD`]: password,
    [`${PREFIX}_PROJECT_NAME`]: project,
  })
  const doctor = async (env: Readonly<Record<string, string>>) => {
    const program = runProgram({ args: ['doctor'], env })
    const { code } = await program.exited
    return { code, text: program.stdout() }
  }
  const NOVA_IS_AWAY = /^problem +nova +the compute service of the catalogue does not answer: .*ECONNREFUSED.*$/m

  test(
    'the account of the service: token, roles, clock, Placement and images; Nova is away',
    async () => {
      const { code, text } = await doctor(account('cyborg', 'service'))
      expect(text).toMatch(/^ok +keystone +\S+ gives this service a token$/m)
      expect(text).toMatch(/^ok +roles of the account +admin and service$/m)
      expect(text).toMatch(/^ok +clock of keystone +\d+ ms (behind|ahead of) this machine/m)
      expect(text).toMatch(/^ok +placement +it answers, in version 1\.39; 0 providers of this service$/m)
      expect(text).toMatch(/^ok +images +the image service answers/m)
      expect(text).toMatch(NOVA_IS_AWAY)
      expect(text).toMatch(/^warning +own endpoint +http:\/\/\S+\/v2 in the catalogue does not answer/m)
      expect([code, text]).toEqual([7, expect.stringMatching(/^1 problem, 2 warnings, 5 ok$/m)])
    },
    RUN_MS,
  )
  test(
    'an application credential of it',
    async () => {
      const held = await signIn(cloud.authUrl, 'cyborg', { project: 'service' })
      const { id, secret } = await credentialOf(cloud.authUrl, held)
      const { text } = await doctor({
        [`${PREFIX}_AUTH_URL`]: cloud.authUrl,
        [`${PREFIX}_APPLICATION_CREDENTIAL_ID`]: id,
        [`${PREFIX}_APPLICATION_CREDENTIAL_SECRET`]: secret,
      })
      expect(text).toMatch(/^1 problem, 2 warnings, 5 ok$/m)
      expect(text).not.toContain(secret)
    },
    RUN_MS,
  )
  test(
    'an account with the role service only: Placement takes it, Nova would not',
    async () => {
      const { text } = await doctor(account('plain-service', 'service'))
      expect(text).toMatch(/^problem +roles of the account +it lacks admin: /m)
      expect(text).toMatch(/^ok +placement /m)
    },
    RUN_MS,
  )
  test(
    'an account of a project: it lacks both, and Placement refuses it',
    async () => {
      const { code, text } = await doctor(account('alpha-member', 'alpha'))
      expect(code).toBe(7)
      expect(text).toMatch(/^problem +roles of the account +it lacks admin and service: /m)
      expect(text).toMatch(/^problem +placement +the account of this service needs the role admin or service/m)
    },
    RUN_MS,
  )
  test(
    'a wrong password: only that is said',
    async () => {
      const { code, text } = await doctor(account('cyborg', 'service', 'wrong'))
      expect(code).toBe(7)
      expect(text).toMatch(
        /^problem +keystone +\S+: it gives this service no token \(401\): it refuses the credentials$/m,
      )
      expect(text).toMatch(/^1 problem, 1 warning, 1 ok$/m)
    },
    RUN_MS,
  )
  test('this service at the endpoint of the catalogue', async () => {
    const data = join(folder.path, 'data')
    await embeddedStoreIn(join(data, 'store'))
    const port = cloud.env['ACCELERATOR_PORT']
    const listen = ['--listen', `127.0.0.1:${port}`, '--admin-listen', '127.0.0.1:0', '--data', data]
    const env = account('cyborg', 'service')
    const service = await startService({ args: ['start', '--auth', 'keystone', ...listen], env }, 120_000)
    try {
      const { text } = await doctor(env)
      expect(text).toMatch(/^ok +own endpoint +http:\/\/\S+\/v2 in the catalogue answers$/m)
    } finally {
      await service.end('SIGTERM')
    }
  }, 180_000)
})

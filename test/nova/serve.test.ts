/** `npm run e2e:serve`: what checks from outside rely on, under both sets of rules. Part of `npm run e2e:nova`. */
import { type ChildProcess, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { createInterface } from 'node:readline'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Json } from '../e2e/client.ts'
import { describeWith } from '../support/needs.ts'
import { NOVA, type NovaCloud, RIG_MS, startNova } from './rig.ts'
import { type Users, openUsers, userOf } from './users.ts'

const READY_MS = 180_000
const STOP_MS = 90_000

type Serving = { readonly child: ChildProcess; readonly said: string[]; readonly base: string }
const served = (env: Readonly<Record<string, string | undefined>>): Promise<Serving> =>
  new Promise((resolve, reject) => {
    const child = spawn(process.execPath, ['test/nova/serve.ts'], {
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const said: string[] = []
    const fail = (why: string) => reject(new Error(`${why}; it said:\n${said.join('\n')}`))
    const timer = setTimeout(() => fail(`no ready line within ${READY_MS} ms`), READY_MS)
    child.once('exit', (code) => fail(`it ended with ${code}`))
    createInterface({ input: child.stdout }).on('line', (line) => {
      said.push(line)
      const base = /^ready (http:\S+)$/.exec(line)?.[1]
      if (base === undefined) return
      clearTimeout(timer)
      resolve({ child, said, base })
    })
  })
const stopped = (child: ChildProcess): Promise<number | null> =>
  new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`it runs ${STOP_MS} ms after SIGTERM`)), STOP_MS)
    child.once('exit', (code) => {
      clearTimeout(timer)
      resolve(code)
    })
    child.kill('SIGTERM')
  })

describeWith('postgres', 'the service for checks from outside', () =>
  describeWith('kafka', 'on several processes', () =>
    describeWith(NOVA, 'beside a real Nova', (rig) => {
      let cloud: NovaCloud
      beforeAll(async () => {
        cloud = await startNova(rig)
      }, RIG_MS)
      afterAll(() => cloud?.stop(), 120_000)

      describe.each([
        ['legacy', 200],
        ['strict', 403],
      ])('under %s rules', (mode, reading) => {
        let serving: Serving
        let users: Users
        const profiles = () => `${serving.base}/device_profiles`
        const made = (profile: Json) => users.admin.ask('POST', profiles(), [profile])
        beforeAll(async () => {
          serving = await served({ ...cloud.env, ACCELERANDO_POLICY_MODE: mode })
          users = await openUsers(cloud)
        }, READY_MS)

        test('it listens where the catalogue says', () => expect(serving.base).toBe(users.api))

        test('a server gets its accelerator, and gives it back', async () => {
          const server = await users.boot(await users.flavor({ 'resources:FPGA': '1' }))
          expect(server).toMatchObject({ status: 'ACTIVE', fault: null })
          expect(await users.arqsOf(server.id)).toMatchObject([{ state: 'Bound', instance_uuid: server.id }])
          await users.remove(server.id)
          expect(await users.listed('accelerator_requests', 'arqs')).toEqual([])
        })

        test('three mistakes in a profile are answered 500, as tests of existing clients expect', async () => {
          const profile = { name: `p-${randomUUID()}`, uuid: randomUUID(), groups: [{ 'resources:FPGA': '1' }] }
          expect((await made(profile)).status).toBe(201)
          const mistakes = [{ name: '' }, { name: 'n'.repeat(256) }, { name: `p-${randomUUID()}` }]
          for (const mistake of mistakes) expect((await made({ ...profile, ...mistake })).status).toBe(500)
          await users.admin.get(204, 'DELETE', `${profiles()}/${profile.uuid}`)
        })

        test('the rules are those of the mode', async () => {
          const bare = await userOf(cloud.authUrl, 'alpha-bare', 'alpha')
          expect((await bare.ask('GET', profiles())).status).toBe(reading)
        })

        test('SIGTERM stops all of it', { timeout: STOP_MS + 30_000 }, async () => {
          expect(await stopped(serving.child)).toBe(0)
          await expect(fetch(serving.base)).rejects.toThrow('fetch failed')
        })
      })
    }),
  ),
)

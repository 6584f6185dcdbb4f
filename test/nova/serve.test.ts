/** `npm run e2e:serve`: what checks from outside rely on, under both sets of rules. Part of `npm run e2e:nova`. */
import { type ChildProcess, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { createInterface } from 'node:readline'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { isRunning } from '../../infra/cluster/part.ts'
import { settingsOf } from '../cloud/settings.ts'
import type { Deployable, Json } from '../e2e/client.ts'
import { uploadImage } from '../support/imageUpload.ts'
import { describeWith } from '../support/needs.ts'
import { tempFolder } from '../support/program.ts'
import { signIn } from '../support/signIn.ts'
import { COMPUTES, NOVA, NOVA_RIG, type NovaCloud, RIG_MS, startNova } from './rig.ts'
import { type Users, openUsers, until, userOf } from './users.ts'

/** What checks from outside wait, and what this test waits until it says that it took too long. */
const READY_MS = 60_000
const WAIT_MS = 180_000
const STOP_MS = 90_000
const PORT = 16_666
const UNITS = 16
/** Control, Kafka and PostgreSQL, and a host for each compute. */
const PROGRAMS = ['control', 'kafka', 'postgres', ...COMPUTES]

type Serving = {
  readonly child: ChildProcess
  readonly said: readonly string[]
  readonly base: string
  readonly tookMs: number
}
const served = (env: Readonly<Record<string, string | undefined>>): Promise<Serving> =>
  new Promise((resolve, reject) => {
    const child = spawn(process.execPath, ['test/nova/serve.ts'], {
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const began = performance.now()
    const said: string[] = []
    const fail = (why: string) => reject(new Error(`${why}; it said:\n${said.join('\n')}`))
    const timer = setTimeout(() => fail(`no ready line within ${WAIT_MS} ms`), WAIT_MS)
    child.once('close', (code) => {
      clearTimeout(timer)
      fail(`it ended with ${code}`)
    })
    createInterface({ input: child.stdout }).on('line', (line) => {
      said.push(line)
      const base = /^ready (http:\S+)$/.exec(line)?.[1]
      if (base === undefined) return
      clearTimeout(timer)
      resolve({ child, said, base, tookMs: performance.now() - began })
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

/** The process ids of the programs by their names, as it says them when they are ready. */
const pidsOf = ({ said }: Serving): Readonly<Record<string, number>> =>
  Object.fromEntries(
    said.flatMap((line) => {
      const [, name, pid] = /^(\S+) +ready +pid (\d+)/.exec(line) ?? []
      return name === undefined ? [] : [[name, Number(pid)]]
    }),
  )

type Shown = Deployable & { readonly bitstream_id: string | null }

describeWith('postgres', 'the service for checks from outside', () =>
  describeWith('kafka', 'on several processes', () =>
    describeWith(NOVA, 'beside a real Nova', (rig) => {
      let cloud: NovaCloud
      beforeAll(async () => {
        cloud = await startNova(rig)
      }, RIG_MS)
      afterAll(() => cloud?.stop(), 120_000)

      test('the port is 16666 unless the cloud has another one', async () => {
        const plain = Object.fromEntries(
          Object.entries(process.env).filter(([name]) => !/^RIG_|_(PORT|RIG_DATA|URL)$/.test(name)),
        )
        const folder = tempFolder('settings')
        const settings = await settingsOf(NOVA_RIG, ['ACCELERATOR_PORT'], { ...plain, OPENSTACK_RIG_DATA: folder.path })
        folder.remove()
        expect(settings).toEqual({ ACCELERATOR_PORT: String(PORT) })
      })
      test('unknown rules are refused before anything is started', async () => {
        const begun = served({ ...cloud.env, ACCELERANDO_POLICY_MODE: 'lenient' })
        await expect(begun).rejects.toThrow(
          /it ended with 1; it said:\nserve: ACCELERANDO_POLICY_MODE: "lenient" is none of legacy, strict$/,
        )
      })

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
        }, WAIT_MS)

        test('it is ready within a minute', () => expect(serving.tookMs).toBeLessThanOrEqual(READY_MS))

        test('its store is new', async () => expect(await users.listed('device_profiles')).toEqual([]))

        test('each compute with a host has so many units', async () => {
          const places = await users.listed<Shown>('deployables')
          const unitsOn = (host: string) =>
            places
              .filter(({ name }) => name.startsWith(`${host}_`))
              .reduce((sum, { num_accelerators: units }) => sum + units, 0)
          for (const host of COMPUTES) expect(unitsOn(host)).toBeGreaterThanOrEqual(UNITS)
        })

        test('it listens where the catalogue says', () => expect(serving.base).toBe(users.api))

        test('a server gets its accelerator, and gives it back', async () => {
          const server = await users.boot(await users.flavor({ 'resources:FPGA': '1' }))
          expect(server).toMatchObject({ status: 'ACTIVE', fault: null })
          expect(await users.arqsOf(server.id)).toMatchObject([{ state: 'Bound', instance_uuid: server.id }])
          await users.remove(server.id)
          expect(await users.listed('accelerator_requests', 'arqs')).toEqual([])
        })

        test('a card is programmed with an image of Glance', async () => {
          const { token } = await signIn(cloud.authUrl, 'cyborg', { project: 'service' })
          const glance = cloud.image.replace(/\/v2$/, '')
          const image = await uploadImage(glance, token, {}, Buffer.from('{"function_uuid": "served"}'))
          for (const host of COMPUTES) {
            const card = async () =>
              (await users.listed<Shown>('deployables')).find(({ name }) => name.startsWith(`${host}_`))!
            const { uuid } = await card()
            const order = [{ op: 'replace', path: '/program', value: [{ image_uuid: image }] }]
            const { status } = await users.admin.ask('PATCH', `${serving.base}/deployables/${uuid}/program`, order)
            expect([200, 202]).toContain(status)
            await until(card, (shown) => shown.bitstream_id === image)
          }
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
          const pids = pidsOf(serving)
          expect(Object.keys(pids).toSorted()).toEqual(PROGRAMS.toSorted())
          expect(Object.values(pids).every(isRunning)).toBe(true)
          expect(await stopped(serving.child)).toBe(0)
          expect(Object.entries(pids).filter(([, pid]) => isRunning(pid))).toEqual([])
          await expect(fetch(serving.base)).rejects.toThrow('fetch failed')
        })
      })
    }),
  ),
)

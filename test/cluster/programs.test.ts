/** Three controls and two hosts over a real broker and a real database: who dies, and what becomes of the binds. */
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Arq, type Deployable } from '../e2e/client.ts'
import { type ControlMember, type TestCluster, type Member, controlMember, hostMember } from '../support/cluster.ts'
import { type Broker, freshPrefix, ownBroker } from '../support/kafka.ts'
import { type OwnServer, ownServer } from '../support/postgresOwn.ts'
import { describeWith } from '../support/needs.ts'
import { tempFolder } from '../support/program.ts'

const LONG = 90_000
const folder = tempFolder('cluster')
let database: OwnServer
let broker: Broker
let controls: readonly ControlMember[]
/** Its devices need its work at a bind. */
let works: Member
/** Its devices do not. */
let rests: Member
type Place = Deployable & { readonly hostname: string }
const places = new Map<string, Place>()
const profile = `fpga-${randomUUID()}`

/** Asks again until it holds; what it was last goes into the error. */
const until = async <Value>(
  ask: () => Promise<Value>,
  holds: (value: Value) => boolean,
  ms: number,
): Promise<Value> => {
  const end = performance.now() + ms
  for (;;) {
    const value = await ask().catch((error: unknown) => error as Value)
    if (holds(value)) return value
    if (performance.now() > end) throw new Error(`not within ${ms} ms; last: ${JSON.stringify(value) ?? String(value)}`)
    await sleep(50)
  }
}
const at = (index: number): ControlMember => controls[index % controls.length]!
const readyz = async (origin: string) => {
  const answer = await fetch(`${origin}/readyz`, { signal: AbortSignal.timeout(5000) })
  return { code: answer.status, ...((await answer.json()) as { readonly status: string; readonly reason?: string }) }
}

const accepted = async (control: ControlMember, hostname: string): Promise<string> => {
  const { rp_uuid: rp } = places.get(hostname)!
  const { client } = control
  const made = await client.wanted(201, 'POST', '/accelerator_requests', { device_profile_name: profile })
  const { uuid } = (made['arqs'] as readonly Arq[])[0]!
  const values = { hostname, device_rp_uuid: rp, instance_uuid: randomUUID() }
  const ops = Object.entries(values).map(([key, value]) => ({ op: 'add', path: `/${key}`, value }))
  await client.wanted(202, 'PATCH', '/accelerator_requests', { [uuid]: ops })
  return uuid
}
const shown = async (control: ControlMember, uuid: string): Promise<Arq> =>
  (await control.client.wanted(200, 'GET', `/accelerator_requests/${uuid}`)) as unknown as Arq
const ended = (control: ControlMember, uuid: string, ms = 30_000): Promise<Arq> =>
  until(
    () => shown(control, uuid),
    ({ state }) => state === 'Bound' || state === 'BindFailed',
    ms,
  )

const open = async (bin: string, rig: string): Promise<void> => {
  ;[database, broker] = await Promise.all([ownServer(bin), ownBroker(rig)])
  const testCluster: TestCluster = {
    database: (await database.freshDatabase()).url,
    brokers: broker.options.brokers,
    prefix: freshPrefix(),
    folder: folder.path,
  }
  controls = await Promise.all(['control-1', 'control-2', 'control-3'].map((name) => controlMember(testCluster, name)))
  works = hostMember(testCluster, 'compute1', { devices: 2, handles: 16, hostWork: true })
  rests = hostMember(testCluster, 'compute2', { devices: 2, handles: 16, hostWork: false })
  await Promise.all([...controls, works, rests].map((member) => member.start()))
  const { client } = at(0)
  await until(client.deployables, (found) => found.length === 4, 30_000)
  for (const place of await client.deployables()) {
    const hostname = place.name.split('_')[0]!
    places.set(hostname, { ...place, hostname })
  }
  await client.wanted(201, 'POST', '/device_profiles', [{ name: profile, groups: [{ 'resources:FPGA': '1' }] }])
}

describeWith('postgres', 'a service of several processes', (bin) =>
  describeWith('kafka', 'over Kafka', (rig) => {
    beforeAll(() => open(bin, rig), LONG)
    afterAll(async () => {
      const alive = [...controls, works, rests].filter((member) => member.running() !== null)
      await Promise.all(alive.map((member) => member.end('SIGKILL')))
      await Promise.all([database.end(), broker.kill()])
      folder.remove()
    }, LONG)

    test('a bind through each control is known to each other at once', async () => {
      for (const [index, hostname] of ['compute1', 'compute2', 'compute1'].entries()) {
        const uuid = await accepted(at(index), hostname)
        expect((await shown(at(index + 1), uuid)).state).toMatch(/^(BindStarted|Bound)$/)
        expect(await ended(at(index + 2), uuid)).toMatchObject({ state: 'Bound', hostname })
      }
    })

    test('a control that is killed takes no bind along that it has accepted', async () => {
      works.pause()
      const uuids = await Promise.all([0, 0, 0, 0].map((index) => accepted(at(index), 'compute1')))
      await at(0).end('SIGKILL')
      works.resume()
      for (const uuid of uuids) expect((await ended(at(1), uuid)).state).toBe('Bound')
      await at(0).start()
      for (const uuid of uuids) expect((await shown(at(0), uuid)).state).toBe('Bound')
    })

    test('a host that is killed with an order in hand carries it out when it is back', async () => {
      works.pause()
      const uuid = await accepted(at(1), 'compute1')
      await works.end('SIGKILL')
      await works.start()
      expect((await ended(at(2), uuid)).state).toBe('Bound')
    })

    test('without the broker, what needs no host is done, what does waits for it, and readiness says so', async () => {
      await broker.stop()
      const told = await until(
        () => readyz(at(0).admin),
        ({ reason = '' }) => reason.startsWith('kafka:'),
        20_000,
      )
      expect(told).toMatchObject({ code: 200, status: 'degraded' })
      expect(await readyz(at(0).origin)).toEqual({ code: 200, status: 'ready' })
      expect((await ended(at(0), await accepted(at(0), 'compute2'), 2000)).state).toBe('Bound')
      const waiting = await accepted(at(1), 'compute1')
      expect((await shown(at(2), waiting)).state).toBe('BindStarted')
      await broker.start()
      expect((await ended(at(2), waiting, 60_000)).state).toBe('Bound')
      for (const { admin } of controls)
        await until(
          () => readyz(admin),
          ({ status }) => status === 'ready',
          40_000,
        )
    })

    test('without the database, all is 503 and may be tried again, and goes on when it is back', async () => {
      await database.stop()
      for (const { origin, admin } of controls) {
        expect(
          await until(
            () => readyz(admin),
            ({ code }) => code === 503,
            20_000,
          ),
        ).toMatchObject({
          reason: expect.stringMatching(/^database: ./),
        })
        expect(await readyz(origin)).toMatchObject({ code: 503 })
      }
      const refused = await fetch(`${at(0).origin}/v2/device_profiles`)
      expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, expect.stringMatching(/^\d+$/)])
      await database.start()
      for (const { admin } of controls)
        await until(
          () => readyz(admin),
          ({ code }) => code === 200,
          20_000,
        )
      expect((await ended(at(1), await accepted(at(0), 'compute1'))).state).toBe('Bound')
    })

    test('told to end, a control is not ready at once, answers what comes, and leaves the work to the others', async () => {
      const leaving = at(0)
      const asked = performance.now()
      const exit = leaving.end('SIGTERM')
      const told = await until(
        () => readyz(leaving.admin),
        ({ code }) => code === 503,
        1000,
      )
      expect(told.reason).toBe('stopping')
      expect((await fetch(`${leaving.origin}/v2/device_profiles`)).status).toBe(200)
      const uuid = await accepted(leaving, 'compute1')
      expect(await exit).toMatchObject({ code: 0, signal: null })
      expect(performance.now() - asked).toBeLessThan(10_000)
      expect((await ended(at(1), uuid, 3000)).state).toBe('Bound')
      await leaving.start()
    })
  }),
)

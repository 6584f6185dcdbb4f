/**
 * What hosts measure: a device that fails is not given to anybody any more, until it is well again; and only that is
 * recorded.
 */
import type { Heartbeat } from '../../src/wire/reports.ts'
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { simulatedDriver } from '../../src/drivers/simulated/simulated.ts'
import { recordedHostIo } from '../drivers/recordedHostIo.ts'
import { handClock } from '../support/lab.ts'
import { describeWith } from '../support/needs.ts'
import { NOVA, TENANT, openPlane, value } from '../support/plane.ts'
import { type Pool, pglitePool, postgresPool } from '../support/storePools.ts'
import { memoryStore } from '../support/memoryStore/memory.ts'

type Measurements = NonNullable<Heartbeat['measured']>[number]
type MeasuredDevice = Measurements['devices'][number]

const HOST = 'h1'
const PLAN = {
  seed: 1,
  devices: [
    { kind: 'gpu' as const, handles: 1 },
    { kind: 'gpu' as const, handles: 1 },
  ],
}
const WHY = 'it has reported fatal PCI errors'

const open = async (pool: Pool) => {
  const clock = handClock()
  const store = await pool.take(clock.now)
  const lab = await openPlane({ clock, options: { sweepEveryMs: 1000 } }, store)
  await lab.shows(HOST, PLAN)
  const shown = await simulatedDriver(PLAN).discover(recordedHostIo({}, HOST))
  const paths = shown.map(({ controlPath }) => controlPath.info)
  const named = async () => {
    const { items } = value(await lab.control.devices.list({ hostname: HOST }, {}))
    return items.toSorted((one, other) => one.id - other.id)
  }
  let beats = 0
  const beat = async (...readings: readonly Partial<Measurements>[]) => {
    const measured = readings.map((one) => ({ driver: 'simulated_driver', at: clock.now(), devices: [], ...one }))
    const status = { drivers: {}, ordersInHand: 0, resultsWaiting: 0 }
    const body = {
      type: 'Heartbeat',
      host: HOST,
      bootId: randomUUID(),
      observedAt: clock.now(),
      status,
      measured,
    } as const
    value(await lab.plane.reports.take(body, `beat ${++beats}`))
  }
  const device = (n: number, health: MeasuredDevice['health'], more: Partial<MeasuredDevice> = {}): MeasuredDevice => ({
    controlPath: paths[n]!,
    health,
    reasons: health === 'bad' ? [WHY] : [],
    numbers: { temperature_celsius: 40 + n },
    ...more,
  })
  const events = async () =>
    (await store.journal.feed('', 10_000)).flatMap(({ key, events: all }) =>
      all
        .filter(({ type }) => type === 'HealthSet')
        .map((event) => `${key.split('/')[0]} ${String((event as { failing?: unknown }).failing)}`),
    )
  const failing = async () => (await named()).map((row) => row.failing)
  const close = async () => {
    await lab.plane.stop()
    await store.close()
  }
  return { ...lab, clock, beat, device, events, failing, named, close }
}
type Lab = Awaited<ReturnType<typeof open>>
const bind = async ({ control, named }: Lab, n: number, caller = NOVA) => {
  const name = `p-${randomUUID()}`
  value(await control.profiles.create(NOVA, { name, description: null, groups: [{ 'resources:PGPU': '1' }] }))
  const [arq] = value(await control.arqs.create(caller, name))
  const { items } = value(await control.deployables.list({ deviceUuid: (await named())[n]!.uuid }, {}))
  const target = { arq: arq!.uuid, hostname: 'node', deviceRpUuid: items[0]!.rp_uuid!, instanceUuid: randomUUID() }
  return { arq: arq!.uuid, answer: await control.arqs.bind(NOVA, [{ ...target, projectId: caller.projectId }]) }
}

const over = (pool: Pool): void => {
  let lab: Lab
  beforeAll(async () => (await pool.take(Date.now)).close())
  afterAll(pool.end)

  test('a device that fails is not given any more, says why, and is given again when it is well', async () => {
    lab = await open(pool)
    await lab.beat({ devices: [lab.device(0, 'ok'), lab.device(1, 'bad')] })
    expect(await lab.failing()).toEqual([null, WHY])
    expect(await lab.events()).toEqual([`deployable ${WHY}`, `device ${WHY}`])
    expect((await bind(lab, 1)).answer).toMatchObject({
      fault: { kind: 'conflict', reason: expect.stringContaining(`its device is failing: ${WHY}`) },
    })
    expect((await bind(lab, 0)).answer.ok).toBe(true)
    await lab.beat({ devices: [lab.device(0, 'ok'), lab.device(1, 'warning')] })
    expect(await lab.failing()).toEqual([null, null])
    expect((await bind(lab, 1)).answer.ok).toBe(true)
    await lab.close()
  })

  test('what is measured is shown, also by another process, with what holds the device, to those who may know (S10)', async () => {
    lab = await open(pool)
    const { arq } = await bind(lab, 1, TENANT)
    await lab.beat({ devices: [lab.device(0, 'ok'), lab.device(1, 'bad', { reasons: [WHY, 'a \u0000\ud800 word'] })] })
    await lab.clock.pass(20_000)
    const [, { uuid }] = (await lab.named()) as [unknown, { uuid: string }]
    // the measurements are stored in the background
    await expect
      .poll(async () => value(await lab.control.devices.health(NOVA, uuid)), { timeout: 10_000 })
      .toMatchObject({
        failing: { reason: expect.stringContaining(WHY) },
        measured: { health: 'bad', numbers: { temperature_celsius: 41 } },
        held: [{ state: 'held', arq }],
      })
    const foreign = { ...TENANT, projectId: 'p2' }
    expect(value(await lab.control.devices.health(TENANT, uuid)).held).toMatchObject([{ arq }])
    expect(value(await lab.control.devices.health(foreign, uuid)).held).toMatchObject([{ state: 'held', arq: null }])
    await lab.close()
  })

  test('a device and deployables that come later are as well as the device is recorded', async () => {
    lab = await open(pool)
    await lab.beat({ devices: [lab.device(0, 'bad')] })
    const devices = await lab.discovered(HOST, PLAN)
    const more = devices.map((one, n) =>
      n > 0
        ? one
        : {
            ...one,
            deployables: [...one.deployables, { ...one.deployables[0]!, name: `${HOST}_second`, handles: [] }],
          },
    )
    await lab.report(HOST, [{ driver: 'simulated_driver', status: 'ok', devices: more }])
    // the journal shows a row only when no older transaction of the server is open, and other tests use the same server
    await expect.poll(() => lab.events()).toEqual([`deployable ${WHY}`, `device ${WHY}`, `deployable ${WHY}`])
    await lab.beat({ devices: [lab.device(0, 'ok')] })
    await expect
      .poll(async () => (await lab.events()).slice(3))
      .toEqual(['deployable null', 'deployable null', 'device null'])
    await lab.close()
  })
}

describe('in memory', () => over({ take: async (now) => memoryStore({ now }), end: async () => {} }))
describe('PGlite', () => over(pglitePool()))
describeWith('postgres', 'PostgreSQL', (bin) => over(postgresPool(bin)))

describe('a reading', () => {
  const pool: Pool = { take: async (now) => memoryStore({ now }), end: async () => {} }
  test('writes nothing when nothing turns bad or good, however often it comes and whatever the numbers are', async () => {
    const lab = await open(pool)
    for (let n = 0; n < 20; n++) {
      await lab.beat({
        devices: [
          lab.device(0, 'warning', { numbers: { power_watts: n } }),
          lab.device(1, 'bad', { reasons: [`${n}`] }),
        ],
      })
      await lab.clock.pass(60_000)
    }
    expect(await lab.events()).toEqual(['deployable 0', 'device 0'])
    await lab.close()
  })
  test('that is whole and does not list a device any more makes it good; one with a complaint does not', async () => {
    const lab = await open(pool)
    await lab.beat({ devices: [lab.device(1, 'bad')] })
    await lab.beat({ complaint: 'no tool' })
    expect(await lab.failing()).toEqual([null, WHY])
    await lab.beat({ driver: 'other_driver' })
    expect(await lab.failing()).toEqual([null, WHY])
    await lab.beat({})
    expect(await lab.failing()).toEqual([null, null])
    await lab.close()
  })
  test('of a host that is not recorded is left alone', async () => {
    const lab = await open(pool)
    const status = { drivers: {}, ordersInHand: 0, resultsWaiting: 0 }
    const measured = [{ driver: 'd', at: 1, devices: [lab.device(0, 'bad')] }]
    value(
      await lab.plane.reports.take(
        { type: 'Heartbeat', host: 'nobody', bootId: randomUUID(), observedAt: 1, status, measured },
        'm',
      ),
    )
    await lab.clock.pass(20_000)
    expect(await lab.store.sharing.measuredOn('nobody')).toEqual([])
    expect(await lab.events()).toEqual([])
    await lab.close()
  })
  test('that met a store without an answer is made good by the next one (MEASURED-2)', async () => {
    const store = memoryStore()
    let down = false
    const page: typeof store.reads.page = (query) =>
      down ? Promise.reject(new Error('away')) : store.reads.page(query)
    const reads = { ...store.reads, page }
    const lab = await open({ take: async () => ({ ...store, reads }), end: async () => {} })
    down = true
    await lab.beat({ devices: [lab.device(1, 'bad')] })
    down = false
    expect(await lab.failing()).toEqual([null, null])
    await lab.beat({ devices: [lab.device(1, 'bad')] })
    expect(await lab.failing()).toEqual([null, WHY])
    await lab.close()
  })
  test('is compared again after a while, because another process may have recorded something else', async () => {
    const lab = await open(pool)
    const bad = { devices: [lab.device(1, 'bad')] }
    await lab.beat(bad)
    const other = await openPlane({ clock: lab.clock }, lab.store)
    const status = { drivers: {}, ordersInHand: 0, resultsWaiting: 0 }
    const measured = [{ driver: 'simulated_driver', at: 2, devices: [lab.device(1, 'ok')] }]
    const beat = { type: 'Heartbeat', host: HOST, bootId: randomUUID(), observedAt: 1, status, measured } as const
    value(await other.plane.reports.take(beat, 'of the other'))
    expect(await lab.failing()).toEqual([null, null])
    await lab.beat(bad)
    await lab.clock.pass(300_000)
    await lab.beat(bad)
    expect(await lab.failing()).toEqual([null, WHY])
    await other.plane.stop()
    await lab.close()
  })
})

/** What one host answers besides its inventory: its last report, the orders that wait for it, what it has measured. */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { createApp } from '../../src/http/app.ts'
import { Unreadable } from '../../src/actors/runtime/unreadable.ts'
import { noauth } from '../../src/http/identity.ts'
import { silent } from '../../src/vocabulary/log.ts'
import type { InventoryReport } from '../../src/wire/reports.ts'
import { handClock, quiet } from '../support/lab.ts'
import { openPlane } from '../support/plane.ts'
import { openTestStore } from '../support/stores.ts'
import { bindBody, speaker } from './cloud.ts'
import { as, service, version } from './steps.ts'
import { tell } from './toldControl.ts'

const GPU = { seed: 1, devices: [{ kind: 'gpu' as const, handles: 1 }] }
const FPGA = { seed: 2, devices: [{ kind: 'fpga' as const, handles: 4 }] }

const clock = handClock()
let plane: Awaited<ReturnType<typeof openPlane>>
let api: ReturnType<typeof speaker>
let tellsMeasurements = true
beforeAll(async () => {
  const store = await openTestStore(clock.now)
  const measuredOn: typeof store.sharing.measuredOn = async (host) => {
    if (!tellsMeasurements) throw new Unreadable('the measurements cannot be read: ECONNREFUSED')
    return store.sharing.measuredOn(host)
  }
  const sharing = { ...store.sharing, measuredOn }
  plane = await openPlane({ clock, options: { sweepEveryMs: 1000 }, sharing }, store, 'when told')
  const options = { additiveMicroversion: true }
  api = speaker(createApp({ control: plane.control, identify: noauth, log: silent, clock, options }))
})
afterAll(async () => {
  await plane.plane.stop()
  await plane.store.close()
})

const hostNow = async (name: string, query = '') => (await api.must(200, `GET /v2/hosts/${name}${query}`)).json
const iso = () => `${new Date(clock.now()).toISOString().slice(0, 19)}+00:00`

describe('the last report', () => {
  test('is the last one of which something was recorded: one that says the same again is not', async () => {
    const boot = randomUUID()
    const drivers: InventoryReport['drivers'] = [{ driver: 'd1', status: 'ok', devices: [] }]
    await plane.report('plain', drivers, boot)
    const first = (await hostNow('plain')).last_report
    expect(first).toEqual({ number: expect.any(Number), at: iso() })
    await clock.pass(60_000)
    await plane.report('plain', drivers, boot)
    expect((await hostNow('plain')).last_report).toEqual(first)
    await plane.report('plain', [{ driver: 'd1', status: 'failed', error: 'link down' }], boot)
    expect((await hostNow('plain')).last_report).toEqual({ number: first.number + 2, at: iso() })
  })
  test('keeps its moment when something else of the host is recorded', async () => {
    const { last_report: before } = await hostNow('plain')
    await clock.pass(60_000)
    await api.must(200, 'POST /v2/hosts/plain/retire', { body: { reason: 'a test' } })
    expect(await hostNow('plain')).toMatchObject({ last_report: before, retired: { at: iso() } })
  })
})

describe('the orders that wait', () => {
  const beginBind = async () => {
    const profile = await api.newProfile()
    const { arqs } = (await api.must(201, 'POST /v2/accelerator_requests', { body: { device_profile_name: profile } }))
      .json
    const { deployables } = (await api.must(200, 'GET /v2/deployables')).json
    const fpga = deployables.find(({ name }: { readonly name: string }) => name.startsWith('busy'))
    const body = bindBody(arqs, fpga.rp_uuid, randomUUID(), 'busy')
    await api.must(202, 'PATCH /v2/accelerator_requests', { body, headers: service })
    await plane.pump()
    return plane.orders.at(-1)!
  }
  test('are those of this host, with since when the oldest waits, however often it was sent', async () => {
    await plane.shows('busy', FPGA)
    await plane.shows('idle', GPU)
    expect((await hostNow('busy')).orders).toEqual({ waiting: 0, waiting_since: null })
    await beginBind()
    const since = iso()
    await clock.pass(20_000)
    await beginBind()
    expect((await hostNow('busy')).orders).toEqual({ waiting: 2, waiting_since: since })
    expect((await hostNow('idle')).orders).toEqual({ waiting: 0, waiting_since: null })
  })
  test('are counted as in the overview', async () => {
    const { hosts } = (await api.must(200, 'GET /v2/hosts')).json
    const each = await Promise.all(hosts.map(async ({ name }: { readonly name: string }) => hostNow(name)))
    const waiting = each.reduce((sum, { orders }) => sum + orders.waiting, 0)
    await clock.pass(60_001)
    expect([waiting, (await api.must(200, 'GET /v2/overview')).json.orders.waiting]).toEqual([2, 2])
  })
  test('are known of the past', async () => {
    const [then, before] = [new Date(clock.now()).toISOString(), await hostNow('busy')]
    await clock.pass(1000)
    for (const order of plane.orders.splice(0)) if (order.host === 'busy') await plane.answer(order)
    expect((await hostNow('busy')).orders.waiting).toBe(0)
    const past = await hostNow('busy', `?as_of=${then}`)
    expect(past).toMatchObject({ orders: before.orders, last_report: before.last_report, measured: [] })
  })
})

test('what was measured last is shown by device, and no device of which nothing was', async () => {
  await plane.shows('hot', { seed: 3, devices: [...GPU.devices, ...GPU.devices] })
  expect((await hostNow('hot')).measured).toEqual([])
  const [first] = await plane.discovered('hot', { seed: 3, devices: [...GPU.devices, ...GPU.devices] })
  const numbers = { temperature_celsius: 63, utilisation_percent: 87 }
  const device = { controlPath: first!.controlPath.info, health: 'warning' as const, reasons: ['why'], numbers }
  const heartbeat = {
    type: 'Heartbeat' as const,
    host: 'hot',
    bootId: randomUUID(),
    observedAt: clock.now(),
    status: { drivers: {}, ordersInHand: 0, resultsWaiting: 0 },
    measured: [{ driver: 'simulated_driver', at: clock.now(), devices: [device] }],
  }
  const at = iso()
  expect(await plane.plane.reports.take(heartbeat, 'a beat')).toMatchObject({ ok: true })
  await clock.pass(20_000)
  await quiet(200)
  const { measured } = await hostNow('hot')
  expect(measured).toEqual([
    { device_uuid: expect.any(String), measured_at: at, state: 'warning', reasons: ['why'], numbers },
  ])
  const { health } = (await api.must(200, `GET /v2/devices/${measured[0].device_uuid}`, { headers: version('latest') }))
    .json
  expect(health).toMatchObject({ measured_at: at, numbers })
})

test.each([
  ['admin', 'no key for 10.0.0.7'],
  ['manager', null],
])('what its drivers and playbooks say is for administrators: %s', async (role, said) => {
  const why = 'no key for 10.0.0.7'
  const run = {
    driver: 'd1',
    playbook: 'setup',
    status: 'failed',
    startedAt: 0,
    finishedAt: 1,
    reason: why,
    output: why,
  }
  const host = {
    name: 'h1',
    drivers: { d1: { status: 'failed', error: why } },
    created_at: 0,
    updated_at: null,
    last_seen_at: null,
    retired: null,
    playbooks: [run],
    probe: null,
    lastReport: null,
    orders: { waiting: 0, since: null },
    measured: [],
  }
  const { got } = await tell('GET /v2/hosts/h1', { 'hosts.get': host }, { headers: as(role) })
  expect(got.json).toMatchObject({
    drivers: { d1: { status: 'failed', error: said } },
    playbooks: [{ status: 'failed', reason: said, output: said }],
  })
})

test('measurements that the store does not tell are 503 of the host and of its device, and no error of the service', async () => {
  const device = (await api.must(200, 'GET /v2/devices')).json.devices[0]
  onTestFinished(() => void (tellsMeasurements = true))
  tellsMeasurements = false
  for (const path of [`/v2/hosts/${device.hostname}`, `/v2/devices/${device.uuid}`]) {
    const refused = await api.say(`GET ${path}`, { headers: version('2.4') })
    expect([path, refused.status]).toEqual([path, 503])
  }
  tellsMeasurements = true
  await hostNow(device.hostname)
})

/** What goes on after an import: hosts report, Nova unbinds and binds, and no guest notices anything. */
import { beforeEach, describe, expect, test } from 'vitest'
import { deployable, deployableKey } from '../../src/actors/deployable/decider.ts'
import type { ReportedDevice } from '../../src/vocabulary/hardware.ts'
import type { Store } from '../../src/persistence/store.ts'
import { NOVA, openPlane, value } from '../support/plane.ts'
import { openTestStore } from '../support/stores.ts'
import { NOW, importInto, violationsIn } from './recorded.ts'
import {
  arqRow,
  boundRow,
  deployableRow,
  handleRow,
  nameOf,
  pciText,
  profiles,
  simple,
  tablesOf,
  uuidOf,
} from './scenario.ts'

const HOST = 'compute-1'
const used = { host: HOST, bus: 'a1' }
const free = { host: HOST, bus: 'b1' }
const leaked = { host: HOST, bus: 'c1' }
const TABLES = tablesOf(profiles, simple(1, used, true), simple(2, free), simple(3, leaked, true), {
  extended_accelerator_requests: [boundRow(1, 1, nameOf(used)), arqRow(2)],
})

/** As this release's driver reports the card; JSON is spelled otherwise than upstream did. */
const shown = (bus: string): ReportedDevice => ({
  type: 'GPU',
  vendor: '10de',
  model: '20f1',
  stdBoardInfo: '{"controller": null, "product_id": "20f1"}',
  vendorBoardInfo: 'miss_vb_info',
  controlPath: { type: 'PCI', info: pciText(bus).replaceAll(' ', '') },
  deployables: [
    {
      name: nameOf({ host: HOST, bus }),
      numAccelerators: 1,
      driverName: 'NVIDIA',
      attributes: [
        { key: 'rc', value: 'CUSTOM_PCI' },
        { key: 'trait0', value: 'OWNER_CYBORG' },
        { key: 'trait1', value: 'CUSTOM_PCI_NVIDIA' },
      ],
      handles: [{ type: 'PCI', info: { bus, device: '00', domain: '0000', function: '0' } }],
      hostWork: true,
      programmable: false,
    },
  ],
})
const all = [shown('a1'), shown('b1'), shown('c1')]
type Plane = Awaited<ReturnType<typeof openPlane>>
type Opened = Plane & { readonly store: Store }
const opened = async (tables = TABLES): Promise<Opened> => {
  const store = await openTestStore(() => NOW)
  await importInto(store, tables)
  return { ...(await openPlane({}, store)), store }
}
const reports = (it: Plane, devices: readonly ReportedDevice[]) =>
  it.report(HOST, [{ driver: 'pci_driver', status: 'ok', devices }])
const handleOf = async (it: Plane, id: number) =>
  value(await it.plane.region.readCurrent(deployable, deployableKey(uuidOf('deployable', id)))).state.handles[
    uuidOf('handle', id)
  ]!
const arqs = async ({ control }: Plane) => value(await control.arqs.list(NOVA, {}, {})).items
const inventory = async ({ control }: Plane) => ({
  devices: value(await control.devices.list({}, {})).items.map(({ id, uuid }) => `${id} ${uuid}`),
  deployables: value(await control.deployables.list({}, {})).items.map(
    ({ id, uuid, device_id: device, rp_uuid: provider }) => `${id} ${uuid} of ${device}, ${provider}`,
  ),
})
const binding = (id: number, place: typeof used) => {
  const { rpUuid } = simple(id, place).deployables![0]!
  return { arq: uuidOf('arq', 2), hostname: HOST, deviceRpUuid: rpUuid!, instanceUuid: uuidOf('instance', 2) }
}

let it_: Opened
beforeEach(async () => void (it_ = await opened()))

describe('the first report of a host', () => {
  test('recognises its devices and orders nothing', async () => {
    const [before, had] = [await inventory(it_), await arqs(it_)]
    expect(value(await it_.control.hosts.list({})).items).toMatchObject([{ name: HOST, liveness: 'down' }])
    await reports(it_, all)
    await it_.pump()
    expect(await inventory(it_)).toEqual(before)
    expect(before.devices).toEqual([1, 2, 3].map((id) => `${id} ${uuidOf('device', id)}`))
    expect(await arqs(it_)).toEqual(had)
    expect(it_.orders).toEqual([])
    expect(value(await it_.control.hosts.list({})).items).toMatchObject([{ name: HOST, liveness: 'up' }])
    expect(await handleOf(it_, 1)).toMatchObject({ state: 'held', arq: uuidOf('arq', 1), unseen: false })
    expect(await violationsIn(it_.store, Date.now())).toEqual([])
  })
  test('says nothing new the second time', async () => {
    await reports(it_, all)
    const end = await it_.store.journalEnd()
    await reports(it_, all)
    expect(await it_.store.journalEnd()).toBe(end)
  })
  test('without a device that a guest uses leaves its request bound', async () => {
    for (let n = 0; n < 5; n++) await reports(it_, [])
    expect((await arqs(it_)).find(({ uuid }) => uuid === uuidOf('arq', 1))).toMatchObject({ state: 'Bound' })
    expect(await handleOf(it_, 1)).toMatchObject({ state: 'held' })
    // the others, which nobody uses, have left
    expect((await inventory(it_)).devices).toEqual([`1 ${uuidOf('device', 1)}`])
  })
})

describe('Nova', () => {
  const instance = uuidOf('instance', 1)
  test('finds the request of its instance, with the same attach handle', async () => {
    expect((await arqs(it_)).find((one) => one.instance_uuid === instance)).toMatchObject({
      uuid: uuidOf('arq', 1),
      state: 'Bound',
      hostname: HOST,
      profile_name: 'gpu',
      handle_uuid: uuidOf('handle', 1),
      handle_type: 'PCI',
      handle_info: { bus: 'a1', device: '00', domain: '0000', function: '0' },
    })
  })
  test('deletes the requests of its instance before any host reports; the handle is free', async () => {
    value(await it_.control.arqs.removeByInstance(NOVA, instance))
    await it_.pump()
    expect(it_.orders).toEqual([])
    expect(await handleOf(it_, 1)).toMatchObject({ state: 'free' })
    value(await it_.control.arqs.bind(NOVA, [binding(1, used)]))
  })
  test('deletes the requests of its instance after the host has reported; the host releases the handle', async () => {
    await reports(it_, all)
    value(await it_.control.arqs.removeByInstance(NOVA, instance))
    await it_.pump()
    expect(it_.orders.map(({ type, slot }) => `${type} ${slot}`)).toEqual([`ReleaseSlot ${uuidOf('handle', 1)}`])
    expect(await handleOf(it_, 1)).toMatchObject({ state: 'free' })
  })
  test('binds a request that was waiting', async () => {
    await reports(it_, all)
    value(await it_.control.arqs.bind(NOVA, [binding(2, free)]))
    await it_.pump()
    expect(await handleOf(it_, 2)).toMatchObject({ state: 'held', arq: uuidOf('arq', 2) })
    expect(await violationsIn(it_.store, Date.now())).toEqual([])
  })
})

test('what upstream leaked is given to nobody before an operator releases it', async () => {
  await reports(it_, all)
  expect(await handleOf(it_, 3)).toMatchObject({
    state: 'quarantined',
    quarantine: { by: 'import', reason: 'W3: upstream marked it as in use, and no request has it' },
  })
  const refused = await it_.control.arqs.bind(NOVA, [binding(3, leaked)])
  expect(refused).toMatchObject({ ok: false, fault: { kind: 'conflict' } })
})

test('new devices get numbers above those of upstream', async () => {
  await reports(it_, [...all, shown('d1')])
  const ids = value(await it_.control.devices.list({}, {})).items.map(({ id }) => id)
  expect(ids.toSorted((one, other) => one - other)).toEqual([1, 2, 3, 4])
})

test('what a guest has of a deployable that is left out stays with it when the host reports, and is free when Nova deletes its request', async () => {
  const twin = {
    deployables: [deployableRow(9, 1, nameOf(used))],
    attach_handles: [handleRow(9, 9, pciText('a1', '00', '1'), { inUse: true })],
  }
  const twins = tablesOf(profiles, simple(1, used, true), twin, {
    extended_accelerator_requests: [boundRow(1, 1, nameOf(used)), boundRow(9, 9, nameOf(used))],
  })
  const it = await opened(twins)
  await reports(it, [shown('a1')])
  const states = async () => (await arqs(it)).map(({ uuid, state }) => `${uuid} ${state}`)
  expect(await states()).toEqual([1, 9].map((id) => `${uuidOf('arq', id)} Bound`))
  value(await it.control.arqs.removeByInstance(NOVA, uuidOf('instance', 9)))
  await it.pump()
  expect(await states()).toEqual([`${uuidOf('arq', 1)} Bound`])
  expect(await handleOf(it, 1)).toMatchObject({ state: 'held', arq: uuidOf('arq', 1) })
  expect(await violationsIn(it.store, Date.now())).toEqual([])
})

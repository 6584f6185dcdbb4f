/** Devices as a driver reports them, and a control plane to which a host reports them. */
import type { InventoryReport } from '../../src/wire/reports.ts'
import type { ReportedDevice } from '../../src/vocabulary/hardware.ts'
import type { openPlane } from '../support/plane.ts'
import { value } from '../support/plane.ts'

type Deployable = ReportedDevice['deployables'][number]
const hex = (n: number) => n.toString(16).padStart(2, '0')
export const slot = (bus: number, fn = 0) => ({ domain: '0000', bus: hex(bus), device: '00', function: String(fn) })

/** As hosts name the function of a handle. */
export const functionText = ({ domain, bus, device, function: fn }: Readonly<Record<string, string>>) =>
  `${domain}:${bus}:${device}.${fn}`

export const part = (name: string, more: Partial<Deployable> = {}): Deployable => ({
  name,
  numAccelerators: 2,
  driverName: 'some',
  attributes: [
    { key: 'rc', value: 'FPGA' },
    { key: 'trait0', value: 'OWNER_CYBORG' },
    { key: 'trait1', value: 'CUSTOM_A' },
  ],
  handles: [
    { type: 'PCI', info: slot(1, 1) },
    { type: 'PCI', info: slot(1, 2) },
  ],
  hostWork: false,
  programmable: true,
  ...more,
})
/** A card on that bus, with one deployable. */
export const card = (bus: number, more: Partial<ReportedDevice> = {}): ReportedDevice => ({
  type: 'FPGA',
  vendor: '1bf2',
  model: 'some card',
  stdBoardInfo: '{"product_id": "0001", "controller": "x"}',
  vendorBoardInfo: null,
  controlPath: { type: 'PCI', info: JSON.stringify(slot(bus)) },
  deployables: [part(`h1_${bus}`, { handles: [1, 2].map((fn) => ({ type: 'PCI', info: slot(bus, fn) })) })],
  ...more,
})

/** Under another name than its own. */
export const named = (bus: number, name: string): ReportedDevice =>
  card(bus, { deployables: [{ ...card(bus).deployables[0]!, name }] })

type World = Awaited<ReturnType<typeof openPlane>>
type Section = InventoryReport['drivers'][number]
export const shown = (...devices: readonly ReportedDevice[]): Section => ({
  driver: 'some_driver',
  status: 'ok',
  devices: [...devices],
})
export const failed: Section = { driver: 'some_driver', status: 'failed', error: 'no answer' }

export const inventoryOf = ({ control, store, report }: World) => {
  const devices = async () => value(await control.devices.list({}, {})).items
  const deployables = async () => value(await control.deployables.list({}, {})).items
  const handles = async () => (await store.reads.page({ view: 'handles', where: {}, sort: 'uuid', limit: 1000 }))!
  const hosts = async () => value(await control.hosts.list({})).items
  const rows = async () => (await store.journal.feed('', 10_000)).length
  const shows = (...of: readonly ReportedDevice[]) => report('h1', [shown(...of)])
  return { devices, deployables, handles, hosts, rows, shows }
}

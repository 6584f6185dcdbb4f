/** What an import records of the devices of upstream that are kept, and of their hosts. Pure. */
import { spacedJson } from '../../vocabulary/spacedJson.ts'
import type { Attribute, DeviceStatus, Identity, KnownHandle } from '../deployable/messages.ts'
import type { DeviceFacts, DeviceIdentity } from '../device/decider.ts'
import { commandIdOf } from '../runtime/commandId.ts'
import { type UpstreamDevice, type UpstreamHandle, canonicalOf } from './devices.ts'
import { type Notes, openNotes } from './notes.ts'
import { uuidIn } from './readable.ts'
import type { AttributeRow, DeployableRow, DeviceRow } from './rows.ts'
import { type Grown, growTrees } from './trees.ts'

export type PlannedDeployable = {
  readonly identity: Identity
  readonly numAccelerators: number
  readonly driverName: string
  readonly bitstreamId: string | null
  readonly handles: readonly KnownHandle[]
  /** Of the driver. */
  readonly attributes: readonly Attribute[]
  readonly operators: readonly Attribute[]
}
export type PlannedDevice = {
  readonly identity: DeviceIdentity
  readonly facts: DeviceFacts
  readonly status: DeviceStatus
  /** By which its host knows it; null: it is retired. */
  readonly canonical: string | null
  /**
   * Its attach handles are mediated devices: whoever gives one up needs its host, also before that one has reported.
   */
  readonly hostWork: boolean
  readonly createdAt: number | null
  readonly deployables: readonly PlannedDeployable[]
}

/** Who shows a device, by what it attaches: a report of that driver without the device shows that it is missing. */
const DRIVERS = { PCI: 'pci_driver', TEST_PCI: 'fake_driver', MDEV: 'nvidia_gpu_driver' } as const
const driverOf = (handles: readonly UpstreamHandle[]): (typeof DRIVERS)[keyof typeof DRIVERS] => {
  const types = new Set(handles.map(({ known }) => known.type))
  return types.has('MDEV') ? DRIVERS.MDEV : types.has('TEST_PCI') ? DRIVERS.TEST_PCI : DRIVERS.PCI
}

const isOfDriver = (key: string): boolean => key === 'rc' || key.startsWith('trait')
/** Classes that upstream's drivers report; the next report of the host says what it really is. */
const CLASSES: Readonly<Record<string, string>> = {
  GPU: 'PGPU',
  FPGA: 'FPGA',
  NIC: 'CUSTOM_NIC',
  QAT: 'CUSTOM_QAT',
  SSD: 'CUSTOM_SSD',
}

const attributeOf = (row: AttributeRow, uuid: string): Attribute => ({
  uuid,
  key: row.key,
  value: row.value,
  origin: isOfDriver(row.key) ? 'driver' : 'operator',
  createdAt: row.createdAt ?? 0,
})
/** The newest of each key. */
const attributesOf = (rows: readonly AttributeRow[], notes: Notes): readonly Attribute[] => {
  const last = new Map(rows.map((row) => [row.key, row.id]))
  return rows.flatMap((row): Attribute[] => {
    const uuid = uuidIn(row.uuid)
    const isLast = last.get(row.key) === row.id
    if (!isLast) notes.leftOut('attributes', row, 'W17', `a newer attribute has the key ${row.key}`)
    else if (uuid === null) notes.leftOut('attributes', row, 'value', 'uuid is not a UUID')
    if (!isLast || uuid === null) return []
    if (!isOfDriver(row.key)) notes.repaired('attributes', row, 'W23', `${row.key} belongs to operators`)
    return [attributeOf(row, uuid)]
  })
}

const classed = (
  attributes: readonly Attribute[],
  device: UpstreamDevice,
  { deployable }: Grown,
  notes: Notes,
): readonly Attribute[] => {
  if (attributes.some(({ key }) => key === 'rc')) return attributes
  const value = CLASSES[device.row.type] ?? `CUSTOM_${device.row.type}`
  notes.repaired(
    'deployables',
    deployable.row,
    'class',
    `it has no attribute rc, and gets ${value} until its host reports it`,
  )
  const uuid = commandIdOf(`class of ${deployable.uuid}`)
  return [{ uuid, key: 'rc', value, origin: 'driver', createdAt: 0 }, ...attributes]
}

const deployableOf = (
  device: UpstreamDevice,
  grown: Grown,
  { live, mayHoldOther }: Uses,
  notes: Notes,
): PlannedDeployable => {
  const { deployable, rpUuid, tree, numAccelerators } = grown
  const { row, uuid, handles } = deployable
  const attributes = classed(attributesOf(deployable.attributes, notes), device, grown, notes)
  const keepsImage = row.bitstreamId !== null && handles.some((handle) => live.has(handle.row.id)) && !mayHoldOther(row)
  if (row.bitstreamId !== null && !keepsImage)
    notes.repaired('deployables', row, 'W21', `whether it still holds bitstream ${row.bitstreamId} is unknown`)
  const owner = { deviceUuid: device.uuid, deviceId: device.row.id, host: device.host, vendor: device.row.vendor }
  return {
    identity: { uuid, id: row.id, name: row.name, rpUuid, ...owner, ...(tree ? { tree } : {}) },
    numAccelerators,
    driverName: row.driverName ?? '',
    bitstreamId: keepsImage ? row.bitstreamId : null,
    handles: handles.map(({ known }) => known),
    attributes: attributes.filter(({ origin }) => origin === 'driver'),
    operators: attributes.filter(({ origin }) => origin === 'operator'),
  }
}

const CLEANING: ReadonlySet<string | null> = new Set(['pending_cleaning', 'cleaning', 'error'])
const statusOf = (row: DeviceRow, { doubtful }: Uses, notes: Notes): DeviceStatus => {
  const [isClean, isKnown] = [!CLEANING.has(row.state), !doubtful.has(row.id)]
  if (!isClean) notes.repaired('devices', row, 'cleaning', `in maintenance: its state is ${row.state}`)
  if (!isKnown)
    notes.repaired('devices', row, 'handle lost', 'in maintenance: a guest may use what cannot be read of it')
  return isClean && isKnown && row.status !== 'maintaining' ? 'enabled' : 'maintaining'
}

export type Uses = {
  /** Ids of the attach handles that requests are bound to. */
  readonly live: ReadonlySet<number>
  /** Ids of the devices of which it is not known what is used. */
  readonly doubtful: ReadonlySet<number>
  /** Whether a bind that did not succeed may have loaded another image into the deployable than is recorded. */
  readonly mayHoldOther: (row: DeployableRow) => boolean
}
export const planDevice = (device: UpstreamDevice, uses: Uses, notes: Notes): PlannedDevice => {
  const { row } = device
  const driver = driverOf(device.deployables.flatMap(({ handles }) => handles))
  return {
    identity: { uuid: device.uuid, id: row.id, host: device.host },
    facts: {
      driver,
      type: row.type,
      vendor: row.vendor,
      model: row.model,
      stdBoardInfo: row.stdBoardInfo,
      vendorBoardInfo: row.vendorBoardInfo,
      controlPath: device.controlPath ?? spacedJson({}),
    },
    status: statusOf(row, uses, notes),
    canonical: canonicalOf(device),
    hostWork: driver === DRIVERS.MDEV,
    createdAt: row.createdAt,
    deployables: growTrees(device, notes).map((grown) => deployableOf(device, grown, uses, notes)),
  }
}

/** Recorded and retired at once, so notes about its rows would not help an operator. */
export const planRetired = (device: UpstreamDevice): PlannedDevice => {
  const silent = openNotes()
  const unused: Uses = { live: new Set(), doubtful: new Set(), mayHoldOther: () => false }
  return { ...planDevice({ ...device, deployables: [] }, unused, silent), canonical: null }
}

/** Facts as they are recorded, for specs that need some to begin with. */
import type { Said } from '../spec.ts'
import type { Order } from '../../src/wire/orders.ts'

/** A UUID that can be told from others at a glance. */
export const id = (n: number): string => `00000000-0000-4000-8000-${n.toString(16).padStart(12, '0')}`

export const ARQ = id(0xa1)
export const OTHER = id(0xa2)
export const REQUEST = 'req-1'
/** Of an operator. */
export const WORD = { by: 'op', reason: 'the card was exchanged' }
export const FPGA = { 'resources:FPGA': '1' }

export const created: Said = {
  type: 'ArqCreated',
  uuid: ARQ,
  projectId: 'p1',
  profileUuid: id(0xb1),
  profileName: 'p',
  groupId: 0,
  group: FPGA,
}
export const bond = {
  hostname: 'node-1',
  deviceRpUuid: id(0xc1),
  instanceUuid: id(0xc2),
  deployable: id(0xd1),
  host: 'h1',
  handle: { uuid: id(0xe1), type: 'PCI' as const, info: { domain: '0000', bus: '01', device: '00', function: '0' } },
  order: 1,
}

export const identity = {
  uuid: id(0xd1),
  id: 2,
  name: 'h1_card',
  rpUuid: id(0xc1),
  deviceUuid: id(0xd0),
  deviceId: 1,
  host: 'h1',
  vendor: '1bf2',
}
export const handle = (n: number) => ({
  uuid: id(0xe0 + n),
  type: 'PCI' as const,
  info: { bus: hex(n), device: '00', domain: '0000', function: '0' },
  canonical: `PCI:${n}`,
})
const hex = (n: number) => n.toString(16).padStart(2, '0')

export const describing = (more: object = {}) => ({
  driver: 'simulated_driver',
  numAccelerators: 2,
  driverName: 'simulated',
  hostWork: true,
  programmable: true,
  attributes: [{ uuid: id(0xf1), key: 'rc', value: 'FPGA', origin: 'driver' as const, createdAt: 0 }],
  handles: [handle(1), handle(2)],
  ...more,
})
export const recorded = (more: object = {}): Said => ({
  type: 'DeployableRecorded',
  identity,
  description: describing(more),
  status: 'enabled',
  bitstreamId: null,
})

const head = (slot: string, number: number) => ({
  host: 'h1',
  slot,
  number,
  driver: 'simulated_driver',
  deployable: 'h1_card',
  deployableUuid: identity.uuid,
  deadline: 9000,
})
const slotOf = ({ type, info }: ReturnType<typeof handle>) => ({ type, info })
export const prepareOrder = (n: number, number: number, arq = ARQ, bitstream?: string): Order => ({
  ...head(handle(n).uuid, number),
  type: 'PrepareSlot',
  handle: slotOf(handle(n)),
  arq,
  requestId: REQUEST,
  ...(bitstream === undefined ? {} : { bitstream }),
})
export const releaseOrder = (n: number, number: number): Order => ({
  ...head(handle(n).uuid, number),
  type: 'ReleaseSlot',
  handle: slotOf(handle(n)),
})

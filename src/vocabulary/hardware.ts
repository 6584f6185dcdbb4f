/** The description of a host's hardware, shared by drivers, reports on the bus, and the API. */
import * as v from 'valibot'
import type { DeepReadonly } from './deepReadonly.ts'
import { HOST_CLEANINGS } from './cleaning.ts'
import { Card } from './card.ts'
import { count } from './fields.ts'

export const DEVICE_TYPES = ['GPU', 'FPGA', 'AICHIP', 'QAT', 'NIC', 'SSD'] as const
export type DeviceType = (typeof DEVICE_TYPES)[number]
export const HANDLE_TYPES = ['PCI', 'MDEV', 'TEST_PCI'] as const
export type HandleType = (typeof HANDLE_TYPES)[number]

/** The kind of a node in a device's tree (data-model.md 8). It is only shown. */
export const DEPLOYABLE_KINDS = ['root', 'region', 'pf', 'vf', 'mdev type'] as const
export type DeployableKind = (typeof DEPLOYABLE_KINDS)[number]

const text = (max: number) => v.pipe(v.string(), v.maxLength(max))
const name = (max: number) => v.pipe(v.string(), v.minLength(1), v.maxLength(max))

/** One unit that can be attached to a guest. All values of `info` are strings (Nova calls string methods on them). */
export const ReportedHandle = v.object({
  type: v.picklist(HANDLE_TYPES),
  info: v.record(text(100), text(1000)),
  /**
   * For an SR-IOV virtual function: the address of its physical function, as `dddd:bb:dd.f`. Absent for hosts before
   * release 0.3.0.
   */
  physfn: v.optional(name(100)),
  /**
   * Handles of a deployable with the same number form one accelerator and are granted together. Absent for hosts before
   * release 0.3.0.
   */
  set: v.optional(count),
})
const ReportedAttribute = v.object({
  key: name(255),
  value: text(65535),
  /**
   * The index in the list, from 0, of the earlier attribute that this one describes. Absent: this one describes the
   * deployable.
   */
  parent: v.optional(count),
})
export const ReportedDeployable = v.object({
  // `<host>_...`; a name longer than Placement accepts (200) refuses its device, not the whole report
  name: name(1000),
  /**
   * The name of the deployable of the same device that is above this one in the tree. Absent: this one is a root, which
   * has a resource provider.
   */
  parent: v.optional(name(1000)),
  /** Absent: `root` if there is no parent. */
  kind: v.optional(v.picklist(DEPLOYABLE_KINDS)),
  /** The accelerators of this deployable and of those below it. */
  numAccelerators: count,
  driverName: name(100),
  /** In driver order: `rc` names the resource class, keys starting with `trait` are Placement traits. */
  attributes: v.pipe(v.array(ReportedAttribute), v.maxLength(1000)),
  handles: v.pipe(v.array(ReportedHandle), v.maxLength(4096)),
  /** A bind needs `prepare` and an unbind needs `release` on the host. */
  hostWork: v.boolean(),
  /** Whether `program` is supported for the deployable. */
  programmable: v.boolean(),
  /** The bitstream that the card itself reports, if the driver can read it. */
  bitstreamId: v.optional(text(100)),
  /**
   * What was known of that image when it was loaded: the digest of its bytes as `<algorithm>:<hex>`, and its function
   * by the word of the image store. Hosts before release 0.4.0 do not report it.
   */
  bitstream: v.optional(v.object({ digest: v.optional(text(200)), functionId: v.optional(text(65_535)) })),
  /**
   * How it is cleaned between requests, as the host's operator has chosen for the driver; absent: it is not. Hosts
   * before release 0.3.0 do not report it.
   */
  cleaning: v.optional(v.picklist(HOST_CLEANINGS)),
})
export const ReportedDevice = v.object({
  type: v.picklist(DEVICE_TYPES),
  vendor: name(255),
  model: name(255),
  stdBoardInfo: v.nullable(text(65535)),
  vendorBoardInfo: v.nullable(text(65535)),
  /** The management address, which identifies the device on its host. It is compared in canonical form. */
  controlPath: v.variant('type', [
    v.object({ type: v.literal('PCI'), info: name(65535) }),
    /** For a device that is not on the PCI bus: the absolute path of a socket or of a file in `/dev` or `/sys`. */
    v.object({ type: v.literal('PATH'), info: v.pipe(name(4096), v.startsWith('/')) }),
  ]),
  deployables: v.pipe(v.array(ReportedDeployable), v.maxLength(1000)),
  /** What the card says of itself, by which it is known at another address. Absent for hosts before release 0.4.0. */
  card: v.optional(Card),
  /**
   * Present but not usable yet: an unknown device is ignored, and a known one is neither updated nor marked missing.
   */
  stub: v.optional(v.boolean()),
})
/** What the image store says of an image that a driver loads. */
export type LoadedFacts = NonNullable<ReportedDeployable['bitstream']>
export type ReportedHandle = DeepReadonly<v.InferOutput<typeof ReportedHandle>>
export type ReportedDeployable = DeepReadonly<v.InferOutput<typeof ReportedDeployable>>
export type ReportedDevice = DeepReadonly<v.InferOutput<typeof ReportedDevice>>

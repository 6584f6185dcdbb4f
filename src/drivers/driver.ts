/** What a driver is, and what it may touch of its host. */
import type { HandleUuid, HostName } from '../identifiers.ts'

/** One thing a guest can be given, as the driver reports it. All values of `info` are strings (Nova calls string methods on them). */
export type ReportedHandle = {
  readonly type: 'PCI' | 'MDEV' | 'TEST_PCI'
  readonly info: Readonly<Record<string, string>>
  /** Of an SR-IOV virtual function: the address of its physical function, as `dddd:bb:dd.f`. */
  readonly physfn?: string
}

export type ReportedDeployable = {
  /** At most 200 characters; `<host>_...`. */
  readonly name: string
  readonly numAccelerators: number
  readonly driverName: string
  /** In driver order: `rc` names the resource class, keys starting with `trait` are Placement traits. */
  readonly attributes: readonly { readonly key: string; readonly value: string }[]
  readonly handles: readonly ReportedHandle[]
  /** A bind needs `prepare` and an unbind needs `release` on the host. */
  readonly hostWork: boolean
  /** `program` works on it. */
  readonly programmable: boolean
  /** What the card says it holds, where the driver can tell. */
  readonly bitstreamId?: string
}

export type ReportedDevice = {
  readonly type: 'GPU' | 'FPGA' | 'AICHIP' | 'QAT' | 'NIC' | 'SSD'
  readonly vendor: string
  readonly model: string
  readonly stdBoardInfo: string | null
  readonly vendorBoardInfo: string | null
  /** The management address: the device's identity on its host, compared in canonical form. */
  readonly controlPath: { readonly type: 'PCI'; readonly info: string }
  readonly deployables: readonly ReportedDeployable[]
  /** Seen, not usable yet: an unknown one is ignored, a known one is neither updated nor marked missing. */
  readonly stub?: boolean
}

/** Names one unit a deployable can give: the attach handle's UUID, its deployable's name and what the driver reported for it. */
export type Slot = {
  readonly uuid: HandleUuid
  readonly deployable: string
  readonly type: ReportedHandle['type']
  readonly info: Readonly<Record<string, string>>
}

/** Where a driver runs: names, options, and the only door to files and programs. */
export type HostIo = {
  /** The host's name (CONF.host); the first part of deployable names. */
  readonly hostname: HostName
  /** Rejects with the code `ENOENT` when there is no such file, with another error when it is too long. */
  readonly read: (path: string) => Promise<string>
  /** Names in a folder, sorted; rejects when there is no such folder. */
  readonly list: (path: string) => Promise<readonly string[]>
  /** Target of a symbolic link, or null when there is none. */
  readonly link: (path: string) => Promise<string | null>
  /** Under `stateDir` the file is replaced as a whole and its folders made; elsewhere (sysfs) only existing files are written. */
  readonly write: (path: string, text: string) => Promise<void>
  readonly run: (program: string, args: readonly string[], timeoutMs: number) => Promise<string>
  readonly warn: (event: string, detail: Readonly<Record<string, unknown>>) => void
  /** Where this driver may keep files of its own on the host. */
  readonly stateDir: string
}

/**
 * A driver is data and four functions. `discover` returns a complete list or throws: an error never shortens the inventory.
 * `prepare` and `release` are idempotent in the slot. All throw `Error` with a text fit for an operator; `signal` bounds them.
 */
export type Driver = {
  /** Entry-point name, as in `enabled_drivers` (`fake_driver`, `pci_driver`, ...). */
  readonly name: string
  readonly discover: (io: HostIo) => Promise<readonly ReportedDevice[]>
  readonly prepare: (io: HostIo, slot: Slot, signal: AbortSignal) => Promise<void>
  readonly release: (io: HostIo, slot: Slot, signal: AbortSignal) => Promise<void>
  /** Loads the image at `imagePath` into the deployable. Absent: this driver cannot program. */
  readonly program?: (io: HostIo, deployable: string, imagePath: string, signal: AbortSignal) => Promise<void>
}

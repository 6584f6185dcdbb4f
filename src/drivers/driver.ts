/** The interface of a driver, and its access to the host. */
import type { Card } from '../vocabulary/card.ts'
import type { HandleType, LoadedFacts, ReportedDevice } from '../vocabulary/hardware.ts'
import type { Numbers } from '../vocabulary/health.ts'
import type { DeployableName, HandleUuid, HostName } from '../vocabulary/identifiers.ts'

/**
 * Identifies one unit of a deployable: the attach handle's UUID, its deployable's name and what the driver reported for
 * it.
 */
export type Slot = {
  readonly uuid: HandleUuid
  readonly deployable: DeployableName
  readonly type: HandleType
  readonly info: Readonly<Record<string, string>>
  /** The request has the unit already, and a guest may have opened it: its host has only lost what it knew of it. */
  readonly again?: boolean
}

/** Hardware that the kernel shows in use; `by`: what uses it, in words. */
export type InUse = Pick<Slot, 'type' | 'info'> & { readonly by: string }

/** Hardware of a driver's kind that it does not offer now, and why, in words. */
export type LeftOut = { readonly address: string; readonly reason: string }

/** What was measured; `complaint`: what could not be, in words. */
export type Measured = {
  readonly devices: readonly { readonly controlPath: string; readonly numbers: Numbers }[]
  readonly complaint?: string
}

/** `number`: `major:minor`. `isClaimed`: something has it, or a part of it, for itself, so that nobody else may. */
export type BlockDevice = { readonly number: string; readonly isClaimed: boolean }

/** The environment of a driver: names, options, and its only access to files and programs. */
export type HostIo = {
  /** The host's name (CONF.host); the first part of deployable names. */
  readonly hostname: HostName
  /** Rejects with the code `ENOENT` when there is no such file, with another error when it is too long. */
  readonly read: (path: string) => Promise<string>
  /** Names in a folder, sorted; rejects when there is no such folder. */
  readonly list: (path: string) => Promise<readonly string[]>
  /** Target of a symbolic link, or null when there is none. */
  readonly link: (path: string) => Promise<string | null>
  /**
   * Below `stateDir` the file is replaced as a whole and missing folders are created. Elsewhere (sysfs) only existing
   * files are written.
   */
  readonly write: (path: string, text: string) => Promise<void>
  /** As `write` below `stateDir`, and on the disk when it resolves, so that a power loss does not undo it. */
  readonly keep: (path: string, text: string) => Promise<void>
  /** The first bytes of a file, at most so many; rejects like `read`. For files that are no text, or large. */
  readonly head: (path: string, bytes: number) => Promise<Uint8Array>
  /**
   * Looks at a block device by its path below `/dev`, without reading any of it; rejects with the code of the system
   * when it cannot.
   */
  readonly blockDevice: (path: string) => Promise<BlockDevice>
  /**
   * What a program prints. Rejects with its name and its complaint when it fails (`ProgramFailed`, with what it
   * printed), prints too much, or has not ended in time or when the signal is aborted; then it is killed with its
   * children. One that does not end then, because the
   * kernel does not let it, is left behind, and is not begun again while it is there: for programs that only read.
   */
  readonly run: (program: string, args: readonly string[], timeoutMs: number, signal?: AbortSignal) => Promise<string>
  /**
   * Like `run`, for a program that changes the deployable `card`. Rejects while an earlier program for this deployable,
   * or a process that it started, still runs, even one from an earlier start of the host program.
   */
  readonly change: (
    card: string,
    program: string,
    args: readonly string[],
    timeoutMs: number,
    signal?: AbortSignal,
  ) => Promise<string>
  /**
   * Whether a program that changes the deployable `card` works now, as one that cleans it or loads an image, also one
   * that an earlier start of the host program has left. Absent: not known, as of a recorded host.
   */
  readonly worksOn?: (card: string) => boolean
  /**
   * Sends a text to the UNIX socket at `path`, and resolves with the first JSON document that comes back, decoded.
   * Rejects with the code `ENOENT` or `ECONNREFUSED` when nobody listens there, with another error when the answer is
   * no JSON, too long, or not whole in time.
   */
  readonly askSocket: (path: string, text: string, timeoutMs: number) => Promise<unknown>
  readonly warn: (event: string, detail: Readonly<Record<string, unknown>>) => void
  /** The folder in which this driver may keep files of its own. */
  readonly stateDir: string
}

/**
 * A driver consists of data and functions. `discover` returns a complete list or throws, so that an error never
 * makes the inventory shorter. `prepare` and `release` are idempotent per slot. All throw `Error` with a text for the
 * operator; `signal` limits their duration.
 */
export type Driver = {
  /** Entry-point name, as in `enabled_drivers` (`fake_driver`, `pci_driver`, ...). */
  readonly name: string
  readonly discover: (io: HostIo) => Promise<readonly ReportedDevice[]>
  readonly prepare: (io: HostIo, slot: Slot, signal: AbortSignal) => Promise<void>
  readonly release: (io: HostIo, slot: Slot, signal: AbortSignal) => Promise<void>
  /**
   * Loads the image at `imagePath` into the deployable. `facts`: what the image store says of it, which the driver
   * reports as long as the card holds the image; `functionId` is what it does (data-model.md 9.1 `function_uuid`), for
   * cards that cannot say it themselves. Throws `BadImage`, before anything is written, where the file is at fault.
   * Absent: this driver cannot program.
   */
  readonly program?: (
    io: HostIo,
    deployable: DeployableName,
    imagePath: string,
    signal: AbortSignal,
    facts?: LoadedFacts,
  ) => Promise<void>
  /**
   * The discovered devices that are in use, by whomever: only what the kernel reports reliably and cheaply. Absent:
   * this driver cannot tell.
   */
  readonly inUse?: (io: HostIo) => Promise<readonly InUse[]>
  /**
   * Makes again what `prepare` made and a restart of the machine undid. The host calls it when it starts, before any
   * order. What cannot be made is logged, and tried again with the next discovery until all is made: the answer says
   * whether it is. Absent: nothing of this driver is undone.
   */
  readonly restore?: (io: HostIo, signal: AbortSignal) => Promise<boolean>
  /**
   * Makes what has to be there before the devices are looked for. The host program calls it before each discovery after
   * `restore` has made all. Absent: nothing has to be made.
   */
  readonly ensure?: (io: HostIo, signal: AbortSignal) => Promise<boolean>
  /**
   * Measures devices that it discovered, by their control paths as they were reported. One that is not on the host any
   * more is left out; of one that tells nothing the numbers are empty. Reads only, also of a device that a guest has.
   * Absent: this driver cannot.
   */
  readonly measure?: (io: HostIo, controlPaths: readonly string[], signal: AbortSignal) => Promise<Measured>
  /**
   * Whether this host has at all what the driver asks. Where it has not, a survey does not look with the driver unless
   * it is enabled. Absent: it can look on any host.
   */
  readonly isHere?: (io: HostIo) => Promise<boolean>
  /** What the card that has the place of a deployable says of itself now. Absent: this driver cannot tell. */
  readonly cardAt?: (io: HostIo, deployable: DeployableName) => Promise<Card | null>
  /** Absent: this driver offers all hardware of its kind. */
  readonly leftOut?: (io: HostIo) => Promise<readonly LeftOut[]>
}

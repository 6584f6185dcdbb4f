/**
 * Decides which devices of a host can be recorded beside each other: each name and each piece of hardware may occur
 * only once. Pure.
 */
import type { ReportedDevice } from '../../vocabulary/hardware.ts'
import { type Attaching, canonicalAddress, openClaims } from '../../vocabulary/attachedFunctions.ts'
import { type SlotHandle, isTaken } from '../deployable/state.ts'
import type { HeldDevice, Host } from '../host/decider.ts'
import { brokenText, isStorableJson } from '../../vocabulary/text.ts'
import { isNaming } from '../deployable/attributes.ts'
import { NAME_MAX, attachingOf } from './describe.ts'
import { untellable } from './factSize.ts'
import { treeProblem } from './trees.ts'

/** The attach handles of a host's devices, by canonical control path. */
export type Handles = ReadonlyMap<string, readonly SlotHandle[]>
/**
 * `departed`: handles of devices that left the inventory; if quarantined, they still keep their hardware from others.
 */
export type RecordedHandles = { readonly present: Handles; readonly departed: Handles }
export const NO_HANDLES: RecordedHandles = { present: new Map(), departed: new Map() }

/** The first text that occurs a second time. */
const twice = (texts: readonly string[]): string | undefined => {
  const seen = new Set<string>()
  return texts.find((text) => seen.size === seen.add(text).size)
}
export const attachedBy = ({ deployables }: ReportedDevice): readonly Attaching[] =>
  deployables.flatMap(({ handles }) => handles.map(attachingOf))

/** Whether the device consists of virtual functions of another device. */
export const isVirtual = (device: ReportedDevice): boolean =>
  attachedBy(device).some(({ physfn }) => physfn !== undefined)

/** Compares the handles of one device with each other: a function is attached once, and not both whole and in parts. */
const ownClash = (handles: readonly Attaching[]): string | null => {
  const claims = openClaims()
  for (const [at, handle] of handles.entries()) {
    claims.add(String(at), [handle])
    const reason = claims.against(String(at), [handle])
    if (reason !== null) return reason
  }
  return null
}

/** Matches JSON that contains anything but printable ASCII. */
const ODD = /[^ -~]|\\[^"\\]/
const namesOf = (device: ReportedDevice): readonly (readonly [what: string, text: string])[] => [
  ['vendor', device.vendor],
  ['model', device.model],
  ...device.deployables.flatMap(({ name, parent = '', driverName, bitstreamId = '', attributes, handles }) => [
    ['deployable name', name] as const,
    ['name of a parent', parent] as const,
    ['driver name', driverName] as const,
    ['bitstream id', bitstreamId] as const,
    ...attributes.flatMap(({ key, value }) => [
      ['attribute key', key] as const,
      ...(isNaming(key) ? [[`attribute ${key}`, value] as const] : []),
    ]),
    ...handles.flatMap(({ info }) => Object.entries(info).flat()).map((text) => ['attach handle info', text] as const),
  ]),
]
const badName = (device: ReportedDevice): string | null => {
  for (const [what, text] of namesOf(device)) {
    const broken = brokenText(text, { bytes: Number.POSITIVE_INFINITY })
    if (broken !== null) return `${what}: ${broken.problem}`
  }
  return null
}

/**
 * Why a device cannot be recorded, whatever the other devices are; null: it can. The other devices of the report are
 * recorded nevertheless.
 */
export const unfit = (driver: string, device: ReportedDevice): string | null => {
  const json = JSON.stringify(device)
  // a report may contain tens of thousands of handles, nearly all in plain ASCII: they need no closer check
  const odd = ODD.test(json)
  if (odd && !isStorableJson(json)) return 'text with a NUL or with half a character'
  const bad = odd ? badName(device) : null
  if (bad !== null) return bad
  for (const { name, parent: above, attributes, handles } of device.deployables) {
    if (name.length > NAME_MAX) return `deployable name of ${name.length} characters, at most ${NAME_MAX} are allowed`
    // only a root has a provider, which needs a class (R4)
    if (above === undefined && !attributes.some(({ key }) => key === 'rc'))
      return `deployable ${name} needs an attribute rc`
    const parent = handles.find(({ physfn }) => physfn !== undefined && canonicalAddress(physfn) === null)?.physfn
    if (parent !== undefined)
      return `deployable ${name} names a physical function '${parent}', which is not a PCI address`
  }
  const again = twice(device.deployables.map(({ name }) => name))
  if (again !== undefined) return `deployable name ${again} is shown twice`
  const problem = treeProblem(device) ?? untellable(driver, device, json.length)
  if (problem !== null) return problem
  const clash = ownClash(attachedBy(device))
  return clash && `its own attach handles overlap: ${clash}`
}

export type Rivalry = {
  readonly add: (canonical: string, device: ReportedDevice) => void
  /**
   * Why the device cannot be recorded beside the added devices: one of them has the same name, or the same hardware;
   * null: it can.
   */
  readonly sameName: (canonical: string, device: ReportedDevice) => string | null
  readonly sameHardware: (canonical: string, device: ReportedDevice) => string | null
  /** Whether the recorded hardware of the device is also hardware of added devices, so that both could grant it. */
  readonly overlaps: (canonical: string) => boolean
}

/**
 * A device that already has a name or hardware keeps it. This holds for the names of all recorded devices, for hardware
 * that is in use or quarantined, and for all hardware of devices that the report does not change (`stays`).
 */
export const openRivalry = (
  host: Host,
  { present, departed }: RecordedHandles,
  stays: (canonical: string, held: HeldDevice) => boolean,
): Rivalry => {
  const names = new Map(
    Object.entries(host.devices).flatMap(([canonical, { deployables, displaced }]) =>
      // the card that has the place of a displaced device has its names
      displaced === undefined ? Object.keys(deployables).map((name) => [name, canonical] as const) : [],
    ),
  )
  const claims = openClaims()
  for (const [canonical, held] of Object.entries(host.devices)) {
    const keeps = stays(canonical, held)
    claims.add(
      canonical,
      (present.get(canonical) ?? []).filter((one) => isTaken(one) || (keeps && one.state === 'free')),
    )
  }
  for (const [canonical, handles] of departed) claims.add(canonical, handles.filter(isTaken))
  return {
    add: (canonical, device) => {
      for (const { name } of device.deployables) names.set(name, canonical)
      claims.add(canonical, attachedBy(device))
    },
    sameName: (canonical, { deployables }) => {
      const taken = deployables.find(({ name }) => (names.get(name) ?? canonical) !== canonical)
      return taken ? `deployable name ${taken.name} is on this host already` : null
    },
    sameHardware: (canonical, device) => claims.against(canonical, attachedBy(device)),
    overlaps: (canonical) => claims.against(canonical, present.get(canonical) ?? []) !== null,
  }
}

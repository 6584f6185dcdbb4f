/** The devices that a host holds, and those that have left it. */
import type { Card } from '../../vocabulary/card.ts'
import type { DeployableName, DeployableUuid, DeviceUuid } from '../../vocabulary/identifiers.ts'
import { ownValue } from '../../vocabulary/record.ts'

/** The record of one device of the host; the key is its canonical control path, unless it is displaced. */
export type HeldDevice = {
  readonly uuid: DeviceUuid
  readonly id: number
  readonly driver: string
  /** Hash of the driver's report of the device; if it is equal, nothing has changed. */
  readonly digest: string
  /** Number of complete reports of its driver in a row that did not contain the device. */
  readonly missing: number
  /** UUIDs of the deployables of the device, by name. */
  readonly deployables: Readonly<Record<DeployableName, DeployableUuid>>
  /** For a device that was retired and has returned: its former deployables that it has not reported again yet. */
  readonly away?: Readonly<Record<DeployableName, DeployableUuid>>
  /** What its card says of itself; absent: it was last described by a control that did not keep it. */
  readonly card?: Card
  /** The address at which it was recorded first, from which its names are made; absent: where it is now. */
  readonly first?: string
  /** The address at which it was last, and at which another card is now; absent: none is. */
  readonly displaced?: string
}
export const displacedKey = (uuid: DeviceUuid): string => `displaced ${uuid}`
/** Where the device is, or was when it was last seen. */
export const addressOf = (key: string, { displaced }: Pick<HeldDevice, 'displaced'>): string => displaced ?? key
/**
 * A retired device, as it was recorded; it gets its former identity back when it is reported again (data-model 11.4).
 */
export type Departed = { readonly canonical: string; readonly device: HeldDevice }

/** The devices that changed; null: the device is retired, or is recorded under another key. */
export type Changed = Readonly<Record<string, HeldDevice | null>>

type Holding = { readonly devices: Readonly<Record<string, HeldDevice>>; readonly departed: readonly Departed[] }
const merge = (devices: Holding['devices'], changed: Changed): Holding['devices'] =>
  Object.fromEntries(
    Object.entries({ ...devices, ...changed }).filter((entry): entry is [string, HeldDevice] => entry[1] !== null),
  )

/** The names of the deployables that these devices have or had. */
export const namesHeld = ({ devices, departed }: Holding): readonly DeployableName[] =>
  [...Object.values(devices), ...departed.map(({ device }) => device)].flatMap(({ deployables, away = {} }) => [
    ...Object.keys(deployables),
    ...Object.keys(away),
  ])

/** As many devices as one driver may report, so that a host that is retired and restored finds its devices again. */
export const DEPARTED_MAX = 1000
const departures = ({ devices, departed }: Holding, changed: Changed): Holding['departed'] => {
  const back = new Set(Object.values(changed).flatMap((one) => (one ? [one.uuid] : [])))
  // a device that is found at another address has not left; one whose address another card has now may have
  const left = Object.keys(changed)
    .filter((canonical) => ownValue(devices, canonical) && !back.has(devices[canonical]!.uuid))
    // stores may return the members of an event in another order
    .toSorted()
    .map((canonical) => ({ canonical, device: devices[canonical]! }))
  if (back.size === 0 && left.length === 0) return departed
  return [...departed.filter(({ device }) => !back.has(device.uuid)), ...left].slice(-DEPARTED_MAX)
}

export const changed = (host: Holding, devices: Changed): Holding => ({
  devices: merge(host.devices, devices),
  departed: departures(host, devices),
})

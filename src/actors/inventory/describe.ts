/**
 * The description of a reported deployable, with the UUIDs that its handles and attributes already have. Pure: new
 * UUIDs come from a pool.
 */
import type { Card } from '../../vocabulary/card.ts'
import { canonicalJson } from '../../wire/canonical.ts'
import type { ReportedDeployable, ReportedDevice } from '../../vocabulary/hardware.ts'
import { type Attaching, canonicalAddress } from '../../vocabulary/attachedFunctions.ts'
import { pathsOf } from '../deployable/attributes.ts'
import type { Attribute, Description } from '../deployable/messages.ts'
import type { Deployable } from '../deployable/state.ts'
import type { DeviceFacts } from '../device/decider.ts'
import type { DeployableName, DeviceUuid } from '../../vocabulary/identifiers.ts'
import { canonicalHandle } from './digest.ts'

/** UUIDs that were made beforehand, in order; a plan that runs again takes the same ones. */
export type Pool = () => string

/** A reported handle with its physical function in canonical form. */
export const attachingOf = ({ type, info, physfn }: ReportedDeployable['handles'][number]): Attaching => {
  const parent = physfn === undefined ? null : canonicalAddress(physfn)
  return { type, info, ...(parent === null ? {} : { physfn: parent }) }
}

/** An attribute keeps its UUID as long as the path of keys above it stays the same. */
const attributesOf = (held: Deployable['attributes'], reported: ReportedDeployable['attributes'], take: Pool) => {
  const paths = pathsOf(held)
  const known = new Map(
    held.flatMap(({ uuid, origin }) => (origin === 'driver' ? [[JSON.stringify(paths.get(uuid)), uuid] as const] : [])),
  )
  const said: { readonly attribute: Attribute; readonly path: readonly string[] }[] = []
  for (const { key, value, parent } of reported) {
    // a parent precedes its attributes, because reports are checked before they are recorded (TREES-3)
    const above = parent === undefined ? undefined : said[parent]
    const path = [...(above?.path ?? []), key]
    const uuid = known.get(JSON.stringify(path)) ?? take()
    const nested = above ? { parent: above.attribute.uuid } : {}
    said.push({ attribute: { uuid, key, value, origin: 'driver', ...nested, createdAt: 0 }, path })
  }
  return said.map(({ attribute }) => attribute)
}

/** Placement's limit for provider names, with room for what Placement adds. */
export const NAME_MAX = 200
/**
 * The name under which a new deployable is recorded; its host knows it by the reported name. Names are made of
 * addresses and each exists once: where another device has or had it, it ends with the end of the device's UUID.
 */
export const recordedName = (name: DeployableName, taken: boolean, device: DeviceUuid): DeployableName => {
  const end = `_${device.slice(-8)}`
  return taken ? `${name.slice(0, NAME_MAX - end.length)}${end}` : name
}

/** What the tree of its device says of a deployable. */
export type TreeFacts = {
  /** Number of deployables below it. */
  readonly nodes: number
  /** Number of its accelerators (`ReportedTree.units`). */
  readonly units: number
  /** Present only if the place has changed. */
  readonly place?: NonNullable<Description['place']>
  readonly card?: Card
}

export const descriptionOf = (
  held: Pick<Deployable, 'handles' | 'attributes'>,
  driver: string,
  reported: ReportedDeployable,
  take: Pool,
  { nodes, units, place, card }: TreeFacts,
): Description => {
  const known = new Map(Object.values(held.handles).map((handle) => [handle.canonical, handle.uuid]))
  const { kind, cleaning } = reported
  return {
    driver,
    numAccelerators: units,
    driverName: reported.driverName,
    hostWork: reported.hostWork,
    programmable: reported.programmable,
    attributes: attributesOf(held.attributes, reported.attributes, take),
    handles: reported.handles.map((handle) => {
      const canonical = canonicalHandle(handle)
      const set = handle.set === undefined ? {} : { set: handle.set }
      return { uuid: known.get(canonical) ?? take(), ...attachingOf(handle), ...set, canonical }
    }),
    ...(kind === undefined ? {} : { kind }),
    ...(nodes === 0 ? {} : { nodes }),
    ...(cleaning === undefined ? {} : { cleaning }),
    ...(card ? { card } : {}),
    ...(place ? { place } : {}),
  }
}

/** The description without the order and spelling of its handles, which have no meaning. */
const essence = (said: Description) =>
  canonicalJson({
    ...said,
    handles: said.handles
      .map(({ uuid, canonical, physfn = '', set = '' }) => `${uuid} ${canonical} ${physfn} ${set}`)
      .toSorted(),
  })

/** Whether the report changes nothing, so that nothing is written (C1). */
export const saysNothingNew = (held: Deployable, said: Description): boolean => {
  if (said.place) return false
  const { driver, numAccelerators, driverName, hostWork, programmable, kind, nodes, hostCleaning } = held
  const withCard = held.card && said.card ? { card: held.card } : {}
  const attributes = held.attributes
    .filter(({ origin }) => origin === 'driver')
    .map((attribute) => ({ ...attribute, createdAt: 0 }))
  const handles = Object.values(held.handles).filter(({ unseen }) => !unseen)
  const tree = { ...(kind === null ? {} : { kind }), ...(nodes === 0 ? {} : { nodes }) }
  const withCleaning = hostCleaning === undefined ? {} : { cleaning: hostCleaning }
  const is = {
    driver,
    numAccelerators,
    driverName,
    hostWork,
    programmable,
    attributes,
    handles,
    ...tree,
    ...withCleaning,
    ...withCard,
  }
  return essence(is) === essence(said)
}

export const factsOf = (driver: string, device: ReportedDevice): DeviceFacts => ({
  driver,
  type: device.type,
  vendor: device.vendor,
  model: device.model,
  stdBoardInfo: device.stdBoardInfo,
  vendorBoardInfo: device.vendorBoardInfo,
  controlPath: device.controlPath.info,
})

/**
 * The largest number of new UUIDs that the devices can need: for devices and deployables, and for handles and
 * attributes.
 */
export const poolSizes = (devices: readonly ReportedDevice[]) => {
  const deployables = devices.flatMap((device) => device.deployables)
  return {
    entities: devices.length + deployables.length,
    parts: deployables.reduce((sum, { attributes, handles }) => sum + attributes.length + handles.length, 0),
  }
}

/** The description of a reported deployable, with the UUIDs that its handles and attributes already have. Pure: new UUIDs come from a pool. */
import { canonicalJson } from '../../wire/canonical.ts'
import type { ReportedDeployable, ReportedDevice } from '../../hardware.ts'
import { type Attaching, canonicalAddress } from '../../attachedFunctions.ts'
import type { Description } from '../deployable/messages.ts'
import type { Deployable } from '../deployable/state.ts'
import type { DeviceFacts } from '../device/decider.ts'
import { canonicalHandle } from './digest.ts'

/** UUIDs made beforehand, in order; a plan that runs again takes the same ones. */
export type Pool = () => string

/** A reported handle with its physical function in canonical form. */
export const attachingOf = ({ type, info, physfn }: ReportedDeployable['handles'][number]): Attaching => {
  const parent = physfn === undefined ? null : canonicalAddress(physfn)
  return { type, info, ...(parent === null ? {} : { physfn: parent }) }
}

export const descriptionOf = (
  held: Pick<Deployable, 'handles' | 'attributes'>,
  driver: string,
  reported: ReportedDeployable,
  take: Pool,
): Description => {
  const known = new Map(Object.values(held.handles).map((handle) => [handle.canonical, handle.uuid]))
  const attributes = new Map(
    held.attributes.filter(({ origin }) => origin === 'driver').map((attribute) => [attribute.key, attribute.uuid]),
  )
  return {
    driver,
    numAccelerators: reported.numAccelerators,
    driverName: reported.driverName,
    hostWork: reported.hostWork,
    programmable: reported.programmable,
    attributes: reported.attributes.map(({ key, value }) => ({
      uuid: attributes.get(key) ?? take(),
      key,
      value,
      origin: 'driver',
      createdAt: 0,
    })),
    handles: reported.handles.map((handle) => {
      const canonical = canonicalHandle(handle)
      const set = handle.set === undefined ? {} : { set: handle.set }
      return { uuid: known.get(canonical) ?? take(), ...attachingOf(handle), ...set, canonical }
    }),
  }
}

/** The description without the spelling and order of handles, which carry no meaning. */
const essence = (said: Description) =>
  canonicalJson({
    ...said,
    handles: said.handles
      .map(({ uuid, canonical, physfn = '', set = '' }) => `${uuid} ${canonical} ${physfn} ${set}`)
      .toSorted(),
  })

/** Whether the report changes nothing, so that nothing is written (C1). */
export const saysNothingNew = (held: Deployable, said: Description): boolean => {
  const { driver, numAccelerators, driverName, hostWork, programmable } = held
  const attributes = held.attributes
    .filter(({ origin }) => origin === 'driver')
    .map((attribute) => ({ ...attribute, createdAt: 0 }))
  const handles = Object.values(held.handles).filter(({ unseen }) => !unseen)
  return essence({ driver, numAccelerators, driverName, hostWork, programmable, attributes, handles }) === essence(said)
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

/** How many new UUIDs the devices can need at most: for devices and deployables, and for handles and attributes. */
export const poolSizes = (devices: readonly ReportedDevice[]) => {
  const deployables = devices.flatMap((device) => device.deployables)
  return {
    entities: devices.length + deployables.length,
    parts: deployables.reduce((sum, { attributes, handles }) => sum + attributes.length + handles.length, 0),
  }
}

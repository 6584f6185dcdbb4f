/** What a driver says of a deployable, under the identities that are held of it already. Pure: new UUIDs are taken from a pool. */
import { canonicalInfo } from '../../pci.ts'
import { canonicalJson } from '../../wire/canonical.ts'
import type { ReportedDevice } from '../../wire/reports.ts'
import type { Description } from '../deployable/messages.ts'
import type { Deployable } from '../deployable/state.ts'
import type { DeviceFacts } from '../device/decider.ts'

type ReportedDeployable = ReportedDevice['deployables'][number]
/** UUIDs made beforehand, in order; a plan that runs again takes the same ones. */
export type Pool = () => string

export const descriptionOf = (
  held: Pick<Deployable, 'handles' | 'attributes'>,
  reported: ReportedDeployable,
  take: Pool,
): Description => {
  const known = new Map(Object.values(held.handles).map((handle) => [handle.canonical, handle.uuid]))
  const attributes = new Map(
    held.attributes.filter(({ origin }) => origin === 'driver').map((attribute) => [attribute.key, attribute.uuid]),
  )
  return {
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
    handles: reported.handles.map(({ type, info }) => {
      const canonical = `${type}:${canonicalInfo(info)}`
      return { uuid: known.get(canonical) ?? take(), type, info, canonical }
    }),
  }
}

/** A report that says nothing new must write nothing (C1). */
export const saysNothingNew = (held: Deployable, said: Description): boolean => {
  const now: Description = {
    numAccelerators: held.numAccelerators,
    driverName: held.driverName,
    hostWork: held.hostWork,
    programmable: held.programmable,
    attributes: held.attributes
      .filter(({ origin }) => origin === 'driver')
      .map((attribute) => ({ ...attribute, createdAt: 0 })),
    handles: Object.values(held.handles)
      .filter(({ unseen }) => !unseen)
      .map(({ uuid, type, info, canonical }) => ({ uuid, type, info, canonical })),
  }
  return canonicalJson(now) === canonicalJson(said)
}

export const factsOf = (device: ReportedDevice): DeviceFacts => ({
  type: device.type,
  vendor: device.vendor,
  model: device.model,
  stdBoardInfo: device.stdBoardInfo,
  vendorBoardInfo: device.vendorBoardInfo,
  controlPath: device.controlPath.info,
})

/** How many new UUIDs the devices can need at most. */
export const poolSize = (devices: readonly ReportedDevice[]): number =>
  devices.reduce(
    (sum, { deployables }) =>
      sum +
      1 +
      deployables.reduce((inner, { attributes, handles }) => inner + 1 + attributes.length + handles.length, 0),
    0,
  )

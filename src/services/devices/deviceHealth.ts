/**
 * The health of a device: the recorded state, the last measurement, and, while the device is failing, the requests
 * bound to it.
 */
import type { ArqUuid, DeviceUuid, InstanceUuid } from '../../vocabulary/identifiers.ts'
import { type Outcome, allOf, done, refuse } from '../../vocabulary/fault.ts'
import { canonicalInfo } from '../../vocabulary/pci.ts'
import type { Control } from '../../actors/control.ts'
import { arq, arqKey } from '../../actors/arq/decider.ts'
import { deployable } from '../../actors/deployable/decider.ts'
import { type Deployable, isTaken } from '../../actors/deployable/state.ts'
import { type Device, device, deviceKey, isShown } from '../../actors/device/decider.ts'
import { standingOf } from '../../actors/device/standing.ts'
import { type Host, host, hostKey } from '../../actors/host/decider.ts'
import type { Kernel } from '../kernel/kernel.ts'
import { partsOf } from '../kernel/parts.ts'
import { createVisibility } from '../kernel/visibility.ts'
import { readMeasured } from './measured.ts'

const heldIn = (parts: readonly Deployable[]) =>
  parts.flatMap(({ uuid, handles }) =>
    Object.values(handles)
      .filter(isTaken)
      .map((handle) => ({
        deployable: uuid,
        handle: handle.uuid,
        state: handle.state,
        arq: handle.arq ?? handle.lastArq,
      })),
  )

export const createDeviceHealth = (kernel: Kernel): Control['devices']['health'] => {
  const { region } = kernel
  const visibility = createVisibility(kernel)
  const partsNow = async (held: Device, owner: Host): Promise<Outcome<readonly Deployable[]>> => {
    const parts = await allOf(partsOf(owner, held.uuid).map((key) => region.readCurrent(deployable, key)))
    return parts.ok ? done(parts.value.map(({ state }) => state)) : parts
  }
  const instancesOf = async (arqs: readonly ArqUuid[]): Promise<Outcome<ReadonlyMap<ArqUuid, InstanceUuid | null>>> => {
    const read = await allOf(arqs.map((uuid) => region.readCurrent(arq, arqKey(uuid))))
    return read.ok
      ? done(new Map(arqs.map((uuid, at) => [uuid, read.value[at]!.state.bond?.instanceUuid ?? null])))
      : read
  }
  return async (caller, uuid: DeviceUuid) => {
    const known = await region.readCurrent(device, deviceKey(uuid))
    if (!known.ok) return known
    const held = known.value.state
    if (!isShown(held)) return refuse({ kind: 'not_found', resource: 'device', id: uuid })
    const owner = await region.readCurrent(host, hostKey(held.host))
    if (!owner.ok) return owner
    const parts = await partsNow(held, owner.value.state)
    if (!parts.ok) return parts
    const taken = heldIn(parts.value)
    const knows = await visibility(
      caller,
      taken.flatMap(({ arq }) => arq ?? []),
    )
    if (!knows.ok) return knows
    const { driver, controlPath } = held.facts
    const read = await readMeasured(kernel, held.host)
    if (!read.ok) return read
    const measured = read.value(driver, canonicalInfo(controlPath))
    const shown = taken.map((one) => ({ ...one, arq: one.arq !== null && knows.value(one.arq) ? one.arq : null }))
    const instances = await instancesOf(shown.flatMap(({ arq: holder }) => holder ?? []))
    if (!instances.ok) return instances
    return done({
      standing: standingOf(held, owner.value.state),
      failing: held.failing ?? null,
      measured,
      held: shown.map((one) => ({
        ...one,
        instance: one.arq === null ? null : (instances.value.get(one.arq) ?? null),
      })),
    })
  }
}

/**
 * The requests that a change of a device, a host or profiles would concern. Reads only: runs the plan of the change
 * itself and records nothing.
 */
import type { ArqUuid, DeviceUuid, HostName } from '../../vocabulary/identifiers.ts'
import { type Outcome, done, refuse } from '../../vocabulary/fault.ts'
import type { Control } from '../../actors/control.ts'
import type { Deployable } from '../../actors/deployable/state.ts'
import { device, deviceKey, isShown } from '../../actors/device/decider.ts'
import { type Impact, impactOf } from '../../actors/answers/impact.ts'
import type { Row } from '../../actors/runtime/views.ts'
import type { Kernel } from '../kernel/kernel.ts'
import { ARQS_PER_QUERY } from '../kernel/visibility.ts'
import { type Retirement, createHolders } from './retirement.ts'

/** The requests that hold a handle, and those that gave one up and wait for its release. */
const arqsOn = (places: readonly Deployable[]): readonly ArqUuid[] => {
  const all = places.flatMap(({ handles }) =>
    Object.values(handles).flatMap(({ arq, lastArq }) => arq ?? lastArq ?? []),
  )
  return [...new Set(all)]
}

const createRows =
  ({ readers }: Kernel) =>
  async (arqs: readonly ArqUuid[]): Promise<Outcome<readonly Row<'arqs'>[]>> => {
    const rows: Row<'arqs'>[] = []
    for (let at = 0; at < arqs.length; at += ARQS_PER_QUERY) {
      const listed = await readers.list('arqs', { uuid: arqs.slice(at, at + ARQS_PER_QUERY) }, {})
      if (!listed.ok) return listed
      rows.push(...listed.value.items)
    }
    return done(rows)
  }

export const createDeviceImpact = (kernel: Kernel): Control['devices']['impact'] => {
  const [rowsOf, holders] = [createRows(kernel), createHolders(kernel)]
  return async (uuid: DeviceUuid): Promise<Outcome<Impact>> => {
    const known = await kernel.region.readCurrent(device, deviceKey(uuid))
    if (!known.ok) return known
    const held = known.value.state
    if (!isShown(held)) return refuse({ kind: 'not_found', resource: 'device', id: uuid })
    const places = await holders(held.host)
    if (!places.ok) return places
    const rows = await rowsOf(arqsOn(places.value.filter(({ deviceUuid }) => deviceUuid === uuid)))
    return rows.ok ? done(impactOf(rows.value, { refusal: null, effect: 'kept', devices: [uuid] })) : rows
  }
}

export const createHostImpact = (kernel: Kernel, { tryOut }: Retirement): Control['hosts']['impact'] => {
  const [rowsOf, holders] = [createRows(kernel), createHolders(kernel)]
  return async (caller, name: HostName, change): Promise<Outcome<Impact>> => {
    const tried = await tryOut(caller, name, change)
    if (!tried.ok) return tried
    const places = await holders(name)
    if (!places.ok) return places
    const rows = await rowsOf(arqsOn(places.value))
    if (!rows.ok) return rows
    const devices = [...new Set(places.value.map(({ deviceUuid }) => deviceUuid))].toSorted()
    return done(
      impactOf(rows.value, {
        refusal: tried.value,
        effect: change === 'remove by force' ? 'unbound' : 'kept',
        devices,
      }),
    )
  }
}

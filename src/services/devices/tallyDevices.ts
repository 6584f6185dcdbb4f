/**
 * Counts devices by their one state, and finds the requests that hold a part of a missing or failing one. Only devices
 * that are not simply enabled are read, so that counting costs little where all is well.
 */
import { OUT_OF_SERVICE } from '../../actors/host/standing.ts'
import { type DeviceState, stateOf } from '../../actors/device/standing.ts'
import type { Reads } from '../../actors/runtime/ports.ts'
import type { Row } from '../../actors/runtime/views.ts'
import { everyRow, everyRowWith } from '../kernel/everyRow.ts'

/** Devices of one bad state. */
export type FaultyRows = {
  readonly devices: readonly Row<'devices'>[]
  /** Their attach handles that requests hold, and those of the devices that have one. */
  readonly held: readonly Row<'handles'>[]
  readonly heldDevices: ReadonlySet<string>
}
export type DeviceTally = {
  /** A state that no device has is left out. */
  readonly states: ReadonlyMap<DeviceState, number>
  readonly missing: FaultyRows
  readonly failing: FaultyRows
}
const IN_SERVICE = { liveness: 'up', out_of_service: null } as const
const UNUSUAL = { liveness: ['stale', 'down', 'removed'] }

const faultyRows = async (reads: Pick<Reads, 'page'>, devices: readonly Row<'devices'>[]): Promise<FaultyRows> => {
  const cards = devices.map(({ uuid }) => uuid)
  const parts = await everyRowWith(reads, 'deployables', cards, (some) => ({ device_uuid: some }))
  const deviceOf = new Map(parts.map(({ uuid, device_uuid: card }) => [uuid, card] as const))
  const handles = await everyRowWith(reads, 'handles', [...deviceOf.keys()], (some) => ({ deployable_uuid: some }))
  const held = handles.filter(({ arq_uuid: arq }) => arq !== null)
  return { devices, held, heldDevices: new Set(held.flatMap(({ deployable_uuid: part }) => deviceOf.get(part) ?? [])) }
}

/** Rejects with `Unreadable`. */
export const tallyDevices = async (reads: Pick<Reads, 'page' | 'tally'>): Promise<DeviceTally> => {
  const [statuses, failing] = [await reads.tally('devices', 'status'), await reads.tally('devices', 'failing')]
  const hosts = new Map(
    [...(await everyRow(reads, 'hosts', UNUSUAL)), ...(await everyRow(reads, 'hosts', OUT_OF_SERVICE))].map(
      (host) => [host.name, host] as const,
    ),
  )
  const others = [...statuses.keys()].filter((status) => status !== 'enabled')
  const unusual = new Map(
    [
      ...(await everyRow(reads, 'devices', { presence: 'missing' })),
      ...(await everyRowWith(reads, 'devices', others, (status) => ({ status }))),
      ...(await everyRowWith(reads, 'devices', [...failing.keys()], (reason) => ({ failing: reason }))),
      ...(await everyRowWith(reads, 'devices', [...hosts.keys()], (hostname) => ({ hostname }))),
    ].map((row) => [row.uuid, row] as const),
  )
  const byState = Map.groupBy(unusual.values(), (row) => stateOf(row, hosts.get(row.hostname) ?? IN_SERVICE))
  const all = [...statuses.values()].reduce((sum, devices) => sum + devices, 0)
  // the counts are not of one moment, so a device may be missing in the first
  const usual = Math.max(0, all - unusual.size)
  const states = new Map([...byState].map(([state, rows]) => [state, rows.length] as const))
  states.set('enabled', (states.get('enabled') ?? 0) + usual)
  return {
    states: new Map([...states].filter(([, devices]) => devices > 0)),
    missing: await faultyRows(reads, byState.get('missing') ?? []),
    failing: await faultyRows(reads, byState.get('failing') ?? []),
  }
}

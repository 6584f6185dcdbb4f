/** The one state of each of some devices, with its reason, since when, and how many requests hold a part of it. */
import { type Outcome, allOf, done } from '../../vocabulary/fault.ts'
import type { DeviceUuid, HostName } from '../../vocabulary/identifiers.ts'
import type { DeviceRow, DeviceStanding } from '../../actors/answers/rows.ts'
import { device, deviceKey } from '../../actors/device/decider.ts'
import { type DeviceState, standingOf, stateOf } from '../../actors/device/standing.ts'
import { host, hostKey } from '../../actors/host/decider.ts'
import type { Row } from '../../actors/runtime/views.ts'
import type { Kernel } from '../kernel/kernel.ts'

/** A host of which the views say nothing is one that nobody has heard of. */
const UNKNOWN = { liveness: 'down', out_of_service: null } as const
type Hosts = ReadonlyMap<HostName, Pick<Row<'hosts'>, 'liveness' | 'out_of_service'>>

const createHosts =
  ({ readers }: Kernel) =>
  async (names?: readonly HostName[]): Promise<Outcome<Hosts>> => {
    const listed = await readers.list('hosts', names === undefined ? {} : { name: names }, {})
    return listed.ok ? done(new Map(listed.value.items.map((row) => [row.name, row]))) : listed
  }

/** How many requests hold a part of each of these devices. */
const createHeld =
  ({ readers }: Kernel) =>
  async (devices: readonly DeviceUuid[]): Promise<Outcome<ReadonlyMap<DeviceUuid, number>>> => {
    const parts = await readers.list('deployables', { device_uuid: devices }, {})
    if (!parts.ok) return parts
    const handles = await readers.list('handles', { deployable_uuid: parts.value.items.map(({ uuid }) => uuid) }, {})
    if (!handles.ok) return handles
    const owner = new Map(parts.value.items.map((row) => [row.uuid, row.device_uuid]))
    const held = new Map<DeviceUuid, number>()
    for (const { deployable_uuid: part, arq_uuid: arq } of handles.value.items) {
      const of = owner.get(part)
      if (of !== undefined && arq !== null) held.set(of, (held.get(of) ?? 0) + 1)
    }
    return done(held)
  }

/** `inState`: which rows of devices have the state, judged by the hosts as they are now. */
export const createStandings = (kernel: Kernel) => {
  const { region } = kernel
  const [hostsOf, heldOn] = [createHosts(kernel), createHeld(kernel)]
  const unusual = async ({ uuid, hostname }: DeviceRow) => {
    const [card, owner] = [
      await region.readCurrent(device, deviceKey(uuid)),
      await region.readCurrent(host, hostKey(hostname)),
    ]
    if (!card.ok) return card
    return owner.ok ? done(standingOf(card.value.state, owner.value.state)) : owner
  }
  const ENABLED = { state: 'enabled', reason: null, since: null } as const
  return {
    inState: async (state: DeviceState): Promise<Outcome<(row: DeviceRow) => boolean>> => {
      const hosts = await hostsOf()
      return hosts.ok ? done((row) => stateOf(row, hosts.value.get(row.hostname) ?? UNKNOWN) === state) : hosts
    },
    of: async (rows: readonly DeviceRow[]): Promise<Outcome<readonly DeviceStanding[]>> => {
      if (rows.length === 0) return done([])
      const hosts = await hostsOf([...new Set(rows.map(({ hostname }) => hostname))])
      if (!hosts.ok) return hosts
      const held = await heldOn(rows.map(({ uuid }) => uuid))
      if (!held.ok) return held
      const standings = await allOf(
        rows.map(async (row) =>
          stateOf(row, hosts.value.get(row.hostname) ?? UNKNOWN) === 'enabled' ? done(ENABLED) : unusual(row),
        ),
      )
      if (!standings.ok) return standings
      return done(standings.value.map((one, at) => ({ ...one, held: held.value.get(rows[at]!.uuid) ?? 0 })))
    },
  }
}

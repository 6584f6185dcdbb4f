/** The devices part of the control port. */
import type { DeviceUuid } from '../../vocabulary/identifiers.ts'
import { type Outcome, refuse } from '../../vocabulary/fault.ts'
import type { Control, DeviceRow } from '../../actors/control.ts'
import { deployable } from '../../actors/deployable/decider.ts'
import { host, hostKey } from '../../actors/host/decider.ts'
import { MOVED } from '../../actors/runtime/draft.ts'
import { transact } from '../../actors/runtime/transact.ts'
import { createDeviceHealth } from './deviceHealth.ts'
import { createDeviceImpact } from '../retirement/impact.ts'
import { type Kernel, type Origin, causeOf, commandOf } from '../kernel/kernel.ts'
import { partsOf } from '../kernel/parts.ts'
import { createStandings } from './standings.ts'
import { type DeviceCommand, device, deviceKey, deviceRow, isShown } from '../../actors/device/decider.ts'

const missing = (id: string) => refuse({ kind: 'not_found', resource: 'device', id })

/** The filters without those that were not given. */
type Given<Filter> = { readonly [Name in keyof Filter]?: Exclude<Filter[Name], undefined> }
export const given = <Filter extends object>(filter: Filter): Given<Filter> =>
  Object.fromEntries(Object.entries(filter).filter(([, value]) => value !== undefined)) as Given<Filter>

/** The fields and commands that a device and its deployables have in common. */
type ForAll = Extract<DeviceCommand, { readonly type: 'SetStatus' | 'SetHealth' }>
/**
 * The device and all its deployables in one append: once it is acknowledged no bind starts on any of them (S9). Its
 * host takes part, so that no deployable is added meanwhile.
 */
export const createTellAll =
  (kernel: Kernel) =>
  (cause: Origin, uuid: DeviceUuid, command: ForAll, of: ReturnType<typeof commandOf> = {}): Promise<Outcome<null>> => {
    const { region } = kernel
    const own = deviceKey(uuid)
    return transact(kernel, {
      subject: `the inventory of device ${uuid}`,
      cause,
      ...of,
      guess: async () => {
        const known = await region.readCurrent(device, own)
        if (!known.ok) return known
        if (!isShown(known.value.state)) return missing(uuid)
        const hostOf = hostKey(known.value.state.host)
        const owner = await region.readCurrent(host, hostOf)
        if (!owner.ok) return owner
        return { ok: true, value: { keys: [own, hostOf, ...partsOf(owner.value.state, uuid)], hostOf } }
      },
      plan: (draft, { keys, hostOf }) => {
        if (!isShown(draft.state(device, own))) draft.refuse(missing(uuid).fault)
        const parts = partsOf(draft.state(host, hostOf), uuid)
        if (parts.some((key) => !keys.includes(key))) return MOVED
        draft.decide(device, own, command)
        for (const key of parts) draft.decide(deployable, key, command)
        return null
      },
    })
  }

export const createDevices = (kernel: Kernel): Control['devices'] => {
  const { region, readers } = kernel
  const tellAll = createTellAll(kernel)
  const standings = createStandings(kernel)
  return {
    list: async ({ failing, state, ...filter }, page) => {
      const inState = state === undefined ? null : await standings.inState(state)
      if (inState?.ok === false) return inState
      const keep = (row: DeviceRow) =>
        (failing === undefined || (row.failing !== null) === failing) && (inState === null || inState.value(row))
      const isPicked = failing !== undefined || inState !== null
      return readers.list('devices', given(filter), page, {}, isPicked ? keep : undefined)
    },
    standings: standings.of,
    get: async (uuid) => {
      const looked = await region.readCurrent(device, deviceKey(uuid))
      if (!looked.ok) return looked
      const held = looked.value.state
      return isShown(held) ? { ok: true, value: deviceRow(held) } : missing(uuid)
    },
    health: createDeviceHealth(kernel),
    setStatus: (caller, uuid, status) =>
      tellAll(causeOf(caller), uuid, { type: 'SetStatus', status }, commandOf(caller)),
    impact: createDeviceImpact(kernel),
  }
}

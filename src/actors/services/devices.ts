/** The devices part of the control port. */
import type { DeviceUuid, EntityKey } from '../../identifiers.ts'
import { refuse } from '../../fault.ts'
import type { Control } from '../control.ts'
import { deployable, deployableKey } from '../deployable/decider.ts'
import { type Host, host, hostKey } from '../host/decider.ts'
import { MOVED } from '../runtime/draft.ts'
import { transact } from '../runtime/transact.ts'
import { type Kernel, causeOf } from './kernel.ts'
import { type Device, device, deviceKey, deviceRow } from '../device/decider.ts'

const shown = ({ exists, presence }: Device) => exists && presence !== 'retired'
const missing = (id: string) => refuse({ kind: 'not_found', resource: 'device', id })

/** The filters without those that were not given. */
type Given<Filter> = { readonly [Name in keyof Filter]?: Exclude<Filter[Name], undefined> }
export const given = <Filter extends object>(filter: Filter): Given<Filter> =>
  Object.fromEntries(Object.entries(filter).filter(([, value]) => value !== undefined)) as Given<Filter>

/** The deployables of a device, as its host has them. */
const partsOf = ({ devices }: Host, uuid: DeviceUuid): readonly EntityKey<'deployable'>[] =>
  Object.values(devices).flatMap((held) =>
    held.uuid === uuid ? Object.values(held.deployables).map(deployableKey) : [],
  )

/**
 * The device and all its deployables in one append: once it is acknowledged no bind starts on any of them (S9). Its host takes part,
 * so that no deployable is added meanwhile.
 */
const createSetStatus =
  (kernel: Kernel): Control['devices']['setStatus'] =>
  (caller, uuid, status) => {
    const { region } = kernel
    const own = deviceKey(uuid)
    return transact(kernel, {
      subject: `the inventory of device ${uuid}`,
      cause: causeOf(caller),
      guess: async () => {
        const known = await region.readCurrent(device, own)
        if (!known.ok) return known
        if (!shown(known.value.state)) return missing(uuid)
        const hostOf = hostKey(known.value.state.host)
        const owner = await region.readCurrent(host, hostOf)
        if (!owner.ok) return owner
        return { ok: true, value: { keys: [own, hostOf, ...partsOf(owner.value.state, uuid)], hostOf } }
      },
      plan: (draft, { keys, hostOf }) => {
        if (!shown(draft.state(device, own))) draft.refuse(missing(uuid).fault)
        const parts = partsOf(draft.state(host, hostOf), uuid)
        if (parts.some((key) => !keys.includes(key))) return MOVED
        draft.decide(device, own, { type: 'SetStatus', status })
        for (const key of parts) draft.decide(deployable, key, { type: 'SetStatus', status })
        return null
      },
    })
  }

export const createDevices = (kernel: Kernel): Control['devices'] => {
  const { region, readers } = kernel
  return {
    list: (filter, page) => readers.list('devices', given(filter), page),
    get: async (uuid) => {
      const looked = await region.readCurrent(device, deviceKey(uuid))
      if (!looked.ok) return looked
      const held = looked.value.state
      return shown(held) ? { ok: true, value: deviceRow(held) } : missing(uuid)
    },
    setStatus: createSetStatus(kernel),
  }
}

/** Devices and hosts, as http asks for them. */
import { refuse } from '../../fault.ts'
import type { Control } from '../control.ts'
import { deployable, deployableKey } from '../deployable/decider.ts'
import { type Kernel, causeOf, newWork } from '../kernel.ts'
import { type Device, device, deviceKey, deviceRow } from './decider.ts'

const missing = (id: string) => refuse({ kind: 'not_found', resource: 'device', id })

/** Only the filters that were given. */
export const given = <Filter extends object>(filter: Filter): Filter =>
  Object.fromEntries(Object.entries(filter).filter(([, value]) => value !== undefined)) as Filter

export const devicesOver = (kernel: Kernel): Control['devices'] => {
  const { region, readers, units } = kernel
  return {
    list: (filter, page) => readers.list('devices', given(filter), page),
    get: async (uuid) => {
      const looked = await region.look(deviceKey(uuid))
      if (!looked.ok) return looked
      const held = looked.value.state as Device
      return held.exists && held.presence !== 'retired' ? { ok: true, value: deviceRow(held) } : missing(uuid)
    },
    /** The device and all its deployables in one append: once it is acknowledged no bind starts on any of them (S9). */
    setStatus: async (caller, uuid, status) => {
      const owned = await readers.list('deployables', { device_uuid: uuid }, {})
      if (!owned.ok) return owned
      const parts = owned.value.items.map((row) => deployableKey(row.uuid))
      const work = newWork(kernel, causeOf(caller), (draft) => {
        const held = draft.state(device, deviceKey(uuid))
        if (!held.exists || held.presence === 'retired') draft.refuse(missing(uuid).fault)
        draft.decide(device, deviceKey(uuid), { type: 'SetStatus', status })
        for (const key of parts) draft.decide(deployable, key, { type: 'SetStatus', status })
        return null
      })
      return units.together([deviceKey(uuid), ...parts], work)
    },
  }
}

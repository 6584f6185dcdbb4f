/** Devices and hosts, as http asks for them. */
import { refuse } from '../../fault.ts'
import type { Control } from '../control.ts'
import { deployable, deployableKey } from '../deployable/decider.ts'
import { type Host, host, hostKey } from '../host/decider.ts'
import { type Kernel, causeOf, newWork } from './kernel.ts'
import { type Device, device, deviceKey, deviceRow } from '../device/decider.ts'

const shown = ({ exists, presence }: Device) => exists && presence !== 'retired'
const missing = (id: string) => refuse({ kind: 'not_found', resource: 'device', id })

/** Only the filters that were given. */
export const given = <Filter extends object>(filter: Filter): Filter =>
  Object.fromEntries(Object.entries(filter).filter(([, value]) => value !== undefined)) as Filter

const ROUNDS = 3
/** The deployables of a device, as its host has them. */
const partsOf = ({ devices }: Host, uuid: string): readonly string[] =>
  Object.values(devices).flatMap((held) =>
    held.uuid === uuid ? Object.values(held.deployables).map(deployableKey) : [],
  )

/**
 * The device and all its deployables in one append: once it is acknowledged no bind starts on any of them (S9). Its host takes part,
 * so that no deployable is added meanwhile.
 */
const createSetStatus =
  (kernel: Kernel): Control['devices']['setStatus'] =>
  async (caller, uuid, status) => {
    const { region, units } = kernel
    const own = deviceKey(uuid)
    for (let round = 0; round < ROUNDS; round++) {
      const looked = await region.readCurrent(own)
      if (!looked.ok) return looked
      const known = looked.value.state as Device
      if (!shown(known)) return missing(uuid)
      const theHost = hostKey(known.host)
      const owner = await region.readCurrent(theHost)
      if (!owner.ok) return owner
      const parts = partsOf(owner.value.state as Host, uuid)
      const work = newWork(kernel, causeOf(caller), (draft) => {
        if (!shown(draft.state(device, own))) draft.refuse(missing(uuid).fault)
        const now = partsOf(draft.state(host, theHost), uuid)
        if (now.some((key) => !parts.includes(key))) return 'moved' as const
        draft.decide(device, own, { type: 'SetStatus', status })
        for (const key of now) draft.decide(deployable, key, { type: 'SetStatus', status })
        return 'set' as const
      })
      const done = await units.together([own, theHost, ...parts], work)
      if (!done.ok) return done
      if (done.value !== 'moved') return { ok: true, value: null }
    }
    return refuse({
      kind: 'unavailable',
      reason: `the inventory of device ${uuid} keeps changing`,
      retryAfterSeconds: 1,
    })
  }

export const createDevices = (kernel: Kernel): Control['devices'] => {
  const { region, readers } = kernel
  return {
    list: (filter, page) => readers.list('devices', given(filter), page),
    get: async (uuid) => {
      const looked = await region.readCurrent(deviceKey(uuid))
      if (!looked.ok) return looked
      const held = looked.value.state as Device
      return shown(held) ? { ok: true, value: deviceRow(held) } : missing(uuid)
    },
    setStatus: createSetStatus(kernel),
  }
}

/** Schemas of the states of devices that other answers name: of those that are missing or fail, and of a handle's. */
import * as v from 'valibot'

const MaybeText = v.nullable(v.string())
/** The device of an attach handle, with its one state (not by an older control). */
export const DeviceOfHandle = v.object({
  uuid: v.string(),
  state: v.string(),
  state_reason: MaybeText,
  state_since: MaybeText,
})
export const Faulty = v.object({
  devices: v.number(),
  arqs: v.number(),
  instances: v.number(),
  since: MaybeText,
  cards: v.array(v.object({ device_uuid: v.string(), hostname: v.string(), pci_address: MaybeText })),
})

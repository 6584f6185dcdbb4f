/** Schema of what the overview says of devices that are missing, and of those that fail (not by an older control). */
import * as v from 'valibot'

const MaybeText = v.nullable(v.string())
export const Faulty = v.object({
  devices: v.number(),
  arqs: v.number(),
  instances: v.number(),
  since: MaybeText,
  cards: v.array(v.object({ device_uuid: v.string(), hostname: v.string(), pci_address: MaybeText })),
})

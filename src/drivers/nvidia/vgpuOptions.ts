/** Which GPUs are divided, and into which type of vGPU (drivers.md 4.1). Pure. */
import { formatPciAddress, parsePciAddress } from '../../vocabulary/pci.ts'
import type { Problem } from '../pci/whitelist.ts'

export type VgpuOptions = {
  /** `gpu_devices.enabled_vgpu_types`: ids of types, such as `nvidia-223`. */
  readonly types: readonly string[]
  /** `gpu_devices.device_addresses`: by type, the addresses of the functions that offer it. */
  readonly addresses: Readonly<Record<string, readonly string[]>>
  /**
   * `gpu_devices.max_instances`: by type, how many vGPUs of it one card can hold. A type without a number has no limit
   * but the kernel's.
   */
  readonly most?: Readonly<Record<string, number>>
}
export type VgpuReading =
  /** The type by canonical address, and by type the most that one card can hold. */
  | { readonly ok: true; readonly typeAt: ReadonlyMap<string, string>; readonly most: ReadonlyMap<string, number> }
  | { readonly ok: false; readonly problems: readonly Problem[] }

export const VGPU_TYPE = /^[\w.-]{1,100}$/
const FIELD = 'gpu_devices.device_addresses'

/** Each enabled type needs at least one address, and each address has one type. */
export const readVgpuOptions = ({ types, addresses, most = {} }: VgpuOptions): VgpuReading => {
  const problems: Problem[] = []
  for (const [type, number] of Object.entries(most))
    if (!Number.isInteger(number) || number < 1)
      problems.push({ field: `gpu_devices.max_instances.${type}`, rule: `must be a whole number from 1, is ${number}` })
  const typeAt = new Map<string, string>()
  for (const type of types) {
    const given = Object.hasOwn(addresses, type) ? addresses[type]! : []
    if (!VGPU_TYPE.test(type))
      problems.push({ field: 'gpu_devices.enabled_vgpu_types', rule: `'${type}' is not a type of vGPU` })
    if (given.length === 0) problems.push({ field: FIELD, rule: `must have addresses for the enabled type ${type}` })
    for (const text of given) {
      const address = parsePciAddress(text)
      const canonical = address === null ? null : formatPciAddress(address)
      if (canonical === null)
        problems.push({ field: `${FIELD}.${type}`, rule: `must hold addresses like 0000:af:00.0, holds '${text}'` })
      else if (typeAt.has(canonical) && typeAt.get(canonical) !== type)
        problems.push({
          field: `${FIELD}.${type}`,
          rule: `${canonical} is listed for ${typeAt.get(canonical)} already`,
        })
      else typeAt.set(canonical, type)
    }
  }
  return problems.length > 0 ? { ok: false, problems } : { ok: true, typeAt, most: new Map(Object.entries(most)) }
}

/** Which GPUs are divided, and into which type of vGPU (drivers.md 4.1). Pure. */
import { formatPciAddress, parsePciAddress } from '../../pci.ts'
import type { Problem } from '../pci/whitelist.ts'

export type VgpuOptions = {
  /** `gpu_devices.enabled_vgpu_types`: ids of types, such as `nvidia-223`. */
  readonly types: readonly string[]
  /** `gpu_devices.device_addresses`: by type, the addresses of the functions that offer it. */
  readonly addresses: Readonly<Record<string, readonly string[]>>
}
export type VgpuReading =
  /** The type by canonical address. */
  | { readonly ok: true; readonly typeAt: ReadonlyMap<string, string> }
  | { readonly ok: false; readonly problems: readonly Problem[] }

const TYPE = /^[\w.-]{1,100}$/
const FIELD = 'gpu_devices.device_addresses'

/** Each enabled type needs at least one address, and each address has one type. */
export const readVgpuOptions = ({ types, addresses }: VgpuOptions): VgpuReading => {
  const problems: Problem[] = []
  const typeAt = new Map<string, string>()
  for (const type of types) {
    const given = Object.hasOwn(addresses, type) ? addresses[type]! : []
    if (!TYPE.test(type))
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
  return problems.length > 0 ? { ok: false, problems } : { ok: true, typeAt }
}

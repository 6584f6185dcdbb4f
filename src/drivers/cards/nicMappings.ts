/**
 * `nic_devices.physical_device_mappings` and `function_device_mappings`: names for the network cards of a host, by
 * interface. Pure.
 */
import type { Problem } from '../pci/whitelist.ts'

/** Name by interface. */
export type Mapping = ReadonlyMap<string, string>
export type Mappings = { readonly networks: Mapping; readonly functions: Mapping }
export type MappingReading =
  | { readonly ok: true; readonly mapping: Mapping }
  | { readonly ok: false; readonly problems: readonly Problem[] }

const RULE = "must be 'name:interface|interface', each interface once"

/** Items of the form `physnet1:ens1f0|ens1f1`. An interface has one name; a name may be given once. */
export const readMapping = (items: readonly string[], field: string): MappingReading => {
  const mapping = new Map<string, string>()
  const names = new Set<string>()
  const problems: Problem[] = []
  for (const [at, item] of items.entries()) {
    const [, name = '', list = ''] =
      /^\s*([\w.-]{1,100})\s*:\s*([\w.@-]{1,64}(?:\s*\|\s*[\w.@-]{1,64})*)\s*$/.exec(item) ?? []
    const interfaces = list.split('|').map((one) => one.trim())
    const twice =
      names.has(name) || interfaces.some((one) => mapping.has(one)) || new Set(interfaces).size < interfaces.length
    if (name === '' || twice) problems.push({ field: `${field}[${at}]`, rule: `${RULE}, is '${item}'` })
    else {
      names.add(name)
      for (const one of interfaces) mapping.set(one, name)
    }
  }
  return problems.length > 0 ? { ok: false, problems } : { ok: true, mapping }
}

/** The name of the first of the interfaces that has one; null: none has. */
export const mappedTo = (mapping: Mapping, interfaces: readonly string[]): string | null => {
  for (const one of interfaces) {
    const name = mapping.get(one)
    if (name !== undefined) return name
  }
  return null
}

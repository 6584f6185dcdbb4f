/** Finds, in Nova's configuration, the devices that its compute service uses itself. Pure. */
import type { WhitelistEntry } from '../../drivers/pci/whitelist.ts'
import { readWhitelist } from '../../drivers/pci/whitelist.ts'
import { jsonIn } from '../../vocabulary/jsonText.ts'
import { formatPciAddress, parsePciAddress } from '../../vocabulary/pci.ts'
import { isRecord, type UnknownRecord } from '../../vocabulary/record.ts'
import type { ConfProblem } from '../oslo/osloFile.ts'
import type { Name, Setting, Settings } from '../oslo/settings.ts'

export type NovaSpec = {
  /** The devices that match; only vendor, product, address and interface count. */
  readonly entry: WhitelistEntry
  /** The text of the specification, and its place in the files. */
  readonly text: string
  readonly at: string
}
export type MdevType = { readonly type: string; readonly at: string }
export type NovaDevices = {
  readonly specs: readonly NovaSpec[]
  /** By address of a PCI function: the type of mediated device that Nova makes of it. */
  readonly mdevOf: ReadonlyMap<string, MdevType>
  /** The type for all other functions that can be divided into mediated devices. Null: none. */
  readonly mdevDefault: MdevType | null
  readonly problems: readonly ConfProblem[]
}

const DEVICE_SPEC: readonly Name[] = [
  ['pci', 'device_spec'],
  ['pci', 'passthrough_whitelist'],
  ['DEFAULT', 'pci_passthrough_whitelist'],
]
const MDEV_TYPES: readonly Name[] = [
  ['devices', 'enabled_mdev_types'],
  ['devices', 'enabled_vgpu_types'],
]
const addressNames = (type: string): readonly Name[] => [
  [`mdev_${type}`.toLowerCase(), 'device_addresses'],
  [`vgpu_${type}`.toLowerCase(), 'device_addresses'],
]

const PARTS = ['domain', 'bus', 'slot', 'function'] as const
/**
 * An address whose four parts are plain hex digits names one function; if that is a physical one, also its virtual
 * functions.
 */
const addressOf = (given: unknown): unknown => {
  if (!isRecord(given)) return given
  const [domain, bus, slot, fn] = PARTS.map((part) => given[part])
  const exact = parsePciAddress(`${String(domain)}:${String(bus)}:${String(slot)}.${String(fn)}`)
  return exact ? formatPciAddress(exact) : given
}
const trimmed = (given: unknown): unknown => (typeof given === 'string' ? given.trim() : given)

/** Keys that do not concern matching, such as `physical_network` or `live_migratable`, are dropped. */
const matchingKeys = ({ vendor_id, product_id, address, devname }: UnknownRecord): UnknownRecord => ({
  ...(vendor_id !== undefined && { vendor_id: trimmed(vendor_id) }),
  ...(product_id !== undefined && { product_id: trimmed(product_id) }),
  ...(Boolean(address) && { address: addressOf(address) }),
  ...(Boolean(devname) && { devname }),
})

type Specs = { readonly specs: readonly NovaSpec[]; readonly problems: readonly ConfProblem[] }
const readSpec = (given: unknown, { at }: Setting): Specs => {
  if (!isRecord(given)) return { specs: [], problems: [{ at, rule: 'pci.device_spec: must be an object' }] }
  const text = JSON.stringify(given)
  const reading = readWhitelist(matchingKeys(given), 'pci.device_spec')
  return reading.ok
    ? { specs: reading.entries.map((entry) => ({ entry, text, at })), problems: [] }
    : { specs: [], problems: reading.problems.map(({ field, rule }) => ({ at, rule: `${field}: ${rule}` })) }
}
const readSpecs = (setting: Setting): Specs => {
  const value = jsonIn(setting.value)
  const rule = 'pci.device_spec: must be JSON, an object or a list of objects'
  if (value === undefined) return { specs: [], problems: [{ at: setting.at, rule }] }
  const read = (Array.isArray(value) ? value : [value]).map((one) => readSpec(one, setting))
  return { specs: read.flatMap(({ specs }) => specs), problems: read.flatMap(({ problems }) => problems) }
}

const listIn = (setting: Setting | null): readonly string[] =>
  setting?.value
    .split(',')
    .map((one) => one.trim())
    .filter((one) => one !== '') ?? []

const readMdevs = (settings: Settings) => {
  const enabled = settings.last(MDEV_TYPES)
  const mdevOf = new Map<string, MdevType>()
  const problems: ConfProblem[] = []
  let mdevDefault: MdevType | null = null
  for (const type of listIn(enabled)) {
    const given = settings.last(addressNames(type))
    const addresses = listIn(given)
    // if there are several types without addresses, Nova uses the first one
    if (addresses.length === 0) mdevDefault ??= { type, at: enabled!.at }
    for (const text of addresses) {
      const address = parsePciAddress(text)
      if (address) mdevOf.set(formatPciAddress(address), { type, at: given!.at })
      else problems.push({ at: given!.at, rule: `device_addresses: must be PCI addresses with commas, has '${text}'` })
    }
  }
  return { mdevOf, mdevDefault, problems }
}

export const novaDevicesIn = (settings: Settings): NovaDevices => {
  const read = settings.all(DEVICE_SPEC).map(readSpecs)
  const { mdevOf, mdevDefault, problems } = readMdevs(settings)
  return {
    specs: read.flatMap(({ specs }) => specs),
    mdevOf,
    mdevDefault,
    problems: [...settings.problems(), ...read.flatMap((one) => one.problems), ...problems],
  }
}

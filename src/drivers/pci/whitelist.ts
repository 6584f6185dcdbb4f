/** `[pci] passthrough_whitelist`: which PCI functions may be offered. It is read once at start; matching is pure. */
import { isRecord } from '../../vocabulary/record.ts'
import * as v from 'valibot'
import { type AddressRule, readAddressRule, takesAddress } from './addressRule.ts'
import { DEVICE_TYPES, type DeviceType } from '../../vocabulary/hardware.ts'
import { formatPciAddress, hexNumber, hexText, type PciAddress } from '../../vocabulary/pci.ts'
import type { PciFunction } from './sysfs.ts'

/** Which functions of an SR-IOV device an entry matches: the physical one, or its virtual ones. */
export type SriovMode = 'pf' | 'vf'

/** Null means any. */
export type WhitelistEntry = {
  readonly vendorId: string | null
  readonly productId: string | null
  readonly address: AddressRule | null
  /** Name of a network interface, whose PCI function is looked up on the host. */
  readonly devname: string | null
  /** Values under which matching functions are reported, instead of the driver's own. */
  readonly deviceType: DeviceType | null
  readonly resourceClass: string | null
  /** Traits in addition to those of the driver. */
  readonly traits: readonly string[]
  /** Null: the virtual functions if there are any, otherwise the function itself. */
  readonly mode: SriovMode | null
  /** The network of Neutron that functions are in; null: none is named, and a mapping of `nic_devices` counts. */
  readonly physicalNetwork: string | null
  /** All other keys, which are kept but not used. */
  readonly tags: Readonly<Record<string, unknown>>
}

/** A configuration value that violates a rule. */
export type Problem = { readonly field: string; readonly rule: string }
export type WhitelistReading =
  | { readonly ok: true; readonly entries: readonly WhitelistEntry[] }
  | { readonly ok: false; readonly problems: readonly Problem[] }

const NAME = /^[A-Z0-9_]{1,255}$/
/** Placement knows no other standard classes, and new classes must have the prefix. */
export const RESOURCE_CLASS = /^(?:CUSTOM_[A-Z0-9_]{1,248}|FPGA|PGPU|VGPU)$/

/** Null: any. */
const Any = v.pipe(
  v.unknown(),
  v.transform(() => null),
)
const Hex = v.pipe(
  v.custom<string>(
    (given) => hexNumber(given) !== null,
    ({ input }) => `must be hex text or *, is ${JSON.stringify(input)}`,
  ),
  v.check(
    (text) => hexNumber(text)! <= 0xffff,
    ({ input }) => `must not exceed ffff, is '${input}'`,
  ),
  v.transform((text) => hexText(hexNumber(text)!, 4)),
)
const Id = v.lazy((given): v.GenericSchema<unknown, string | null> => (given === '*' ? Any : Hex))
const Address = v.pipe(
  v.unknown(),
  v.rawTransform(({ dataset: { value: input }, addIssue, NEVER }): AddressRule => {
    const reading = readAddressRule(input)
    if (reading.ok) return reading.rule
    const { part: key, broken: message } = reading
    const path = { type: 'unknown', origin: 'value', input, key, value: undefined } as const
    addIssue({ message, ...(key === '' ? {} : { path: [path] }) })
    return NEVER
  }),
)
const NETWORK = 'must be the name of a network: letters, digits and ._-, at most 100'
const INTERFACE = 'must be the name of a network interface'
/** The name is restricted because it becomes part of a path. */
const InterfaceName = v.pipe(v.string(INTERFACE), v.regex(/^(?!\.\.?$)[^\s/]{1,127}$/, INTERFACE))
const CLASS = 'must be FPGA, PGPU, VGPU or CUSTOM_ followed by A-Z, 0-9 and _'
const Traits = v.pipe(
  v.unknown(),
  v.transform((given) => (typeof given === 'string' ? given.split(',').map((name) => name.trim()) : given)),
  v.custom<readonly string[]>(
    (given) => Array.isArray(given) && given.every((name) => typeof name === 'string' && NAME.test(name)),
    'must be a list, or text with commas, of names of A-Z, 0-9 and _',
  ),
)
const Toggle = v.union([v.boolean(), v.picklist(['true', 'false'])], 'must be true or false')

const Entry = v.pipe(
  v.looseObject({
    vendor_id: v.optional(Id),
    product_id: v.optional(Id),
    address: v.optional(Address),
    devname: v.optional(InterfaceName),
    device_type: v.optional(v.picklist(DEVICE_TYPES, `must be one of ${DEVICE_TYPES.join(', ')}`)),
    resource_class: v.optional(v.pipe(v.string(CLASS), v.regex(RESOURCE_CLASS, CLASS))),
    traits: v.optional(Traits),
    /** Taken, and without effect: every bind is looked at once more. */
    check: v.optional(Toggle),
    mode: v.optional(v.picklist(['pf', 'vf'], 'must be pf or vf')),
    physical_network: v.optional(v.nullable(v.pipe(v.string(NETWORK), v.regex(/^[\w.-]{1,100}$/, NETWORK)))),
  }),
  v.partialCheck(
    [['address'], ['devname']],
    ({ address, devname }) => address === undefined || devname === undefined,
    'must not have both address and devname',
  ),
  v.transform(
    ({
      vendor_id,
      product_id,
      address,
      devname,
      device_type,
      resource_class,
      traits,
      check: _check,
      mode,
      physical_network,
      ...tags
    }): WhitelistEntry => ({
      vendorId: vendor_id ?? null,
      productId: product_id ?? null,
      address: address ?? null,
      devname: devname ?? null,
      deviceType: device_type ?? null,
      resourceClass: resource_class ?? null,
      traits: traits ?? [],
      mode: mode ?? null,
      physicalNetwork: physical_network ?? null,
      tags,
    }),
  ),
)

const readEntry = (given: unknown, at: string, problems: Problem[]): readonly WhitelistEntry[] => {
  const { success, output, issues } = v.safeParse(Entry, given, { abortPipeEarly: true })
  if (success) return [output]
  for (const issue of issues)
    problems.push({ field: [at, v.getDotPath(issue) ?? []].flat().join('.'), rule: issue.message })
  return []
}

const decode = (text: string): { readonly value: unknown } | null => {
  try {
    return { value: JSON.parse(text) }
  } catch {
    return null
  }
}

const collect = (given: unknown, at: string, mayNest: boolean, problems: Problem[]): readonly WhitelistEntry[] => {
  if (isRecord(given)) return readEntry(given, at, problems)
  if (mayNest && Array.isArray(given))
    return given.flatMap((element, n) => collect(element, `${at}[${n}]`, typeof element === 'string', problems))
  const parsed = mayNest && typeof given === 'string' ? decode(given) : null
  if (parsed !== null && typeof parsed.value !== 'string') {
    const list: readonly unknown[] | null = Array.isArray(parsed.value) ? parsed.value : null
    return list
      ? list.flatMap((element, n) => collect(element, `${at}[${n}]`, false, problems))
      : collect(parsed.value, at, false, problems)
  }
  problems.push({ field: at, rule: mayNest ? 'must be JSON: an object or a list of objects' : 'must be an object' })
  return []
}

/**
 * Reads the option: JSON text, the decoded object or list, or a list of such texts (the option may be given many
 * times). A missing value is an empty whitelist. All problems are reported, each with its entry and rule.
 */
export const readWhitelist = (given: unknown, at = 'pci.passthrough_whitelist'): WhitelistReading => {
  if (given === undefined || given === null || given === '') return { ok: true, entries: [] }
  const problems: Problem[] = []
  const entries = collect(given, at, true, problems)
  return problems.length > 0 ? { ok: false, problems } : { ok: true, entries }
}

const takesRole = (mode: SriovMode | null, { physfn, totalVfs }: Pick<PciFunction, 'physfn' | 'totalVfs'>): boolean =>
  mode === null || (mode === 'pf' ? physfn === null : physfn !== null || totalVfs === 0)

/** Whether the entry matches the function. `interfaces` maps network interfaces to their PCI functions. */
export const matchesEntry = (
  entry: WhitelistEntry,
  found: Pick<PciFunction, 'vendor' | 'product' | 'address' | 'physfn' | 'totalVfs'>,
  interfaces: ReadonlyMap<string, PciAddress>,
): boolean => {
  if (!takesRole(entry.mode, found)) return false
  if (entry.vendorId !== null && entry.vendorId !== found.vendor) return false
  if (entry.productId !== null && entry.productId !== found.product) return false
  if (entry.address !== null && !takesAddress(entry.address, found.address, found.physfn)) return false
  if (entry.devname === null) return true
  const named = interfaces.get(entry.devname)
  const own = [found.address, found.physfn].filter((address) => address !== null)
  return named !== undefined && own.some((address) => formatPciAddress(address) === formatPciAddress(named))
}

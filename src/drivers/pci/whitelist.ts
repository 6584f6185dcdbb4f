/** `[pci] passthrough_whitelist`: which PCI functions may be offered. It is read once at start; matching is pure. */
import { type AddressRule, readAddressRule, takesAddress } from './addressRule.ts'
import { DEVICE_TYPES, type DeviceType } from '../../hardware.ts'
import { formatPciAddress, hexNumber, hexText, type PciAddress } from '../../pci.ts'
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
  /** A bind first checks that the device is still present. */
  readonly check: boolean
  /** Null: the virtual functions if there are any, otherwise the function itself. */
  readonly mode: SriovMode | null
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
const RESOURCE_CLASS = /^(?:CUSTOM_[A-Z0-9_]{1,248}|FPGA|PGPU|VGPU)$/

type Found<Value> = { readonly value: Value } | { readonly rule: string; readonly part?: string }
type Reader<Value> = (given: unknown) => Found<Value>

const id: Reader<string | null> = (given) => {
  if (given === '*') return { value: null }
  const value = hexNumber(given)
  if (value === null) return { rule: `must be hex text or *, is ${JSON.stringify(given)}` }
  return value > 0xffff ? { rule: `must not exceed ffff, is '${String(given)}'` } : { value: hexText(value, 4) }
}
const address: Reader<AddressRule> = (given) => {
  const reading = readAddressRule(given)
  return reading.ok ? { value: reading.rule } : { rule: reading.broken, part: reading.part }
}
/** The name is restricted because it becomes part of a path. */
const devname: Reader<string> = (given) =>
  typeof given === 'string' && /^[^\s/]{1,127}$/.test(given) && !/^\.\.?$/.test(given)
    ? { value: given }
    : { rule: 'must be the name of a network interface' }
const deviceType: Reader<DeviceType> = (given) => {
  const value = DEVICE_TYPES.find((type) => type === given)
  return value ? { value } : { rule: `must be one of ${DEVICE_TYPES.join(', ')}` }
}
const resourceClass: Reader<string> = (given) =>
  typeof given === 'string' && RESOURCE_CLASS.test(given)
    ? { value: given }
    : { rule: 'must be FPGA, PGPU, VGPU or CUSTOM_ followed by A-Z, 0-9 and _' }
const traits: Reader<readonly string[]> = (given) => {
  const value: readonly unknown[] | null =
    typeof given === 'string' ? given.split(',').map((name) => name.trim()) : Array.isArray(given) ? given : null
  return value?.every((name): name is string => typeof name === 'string' && NAME.test(name))
    ? { value }
    : { rule: 'must be a list, or text with commas, of names of A-Z, 0-9 and _' }
}
const mode: Reader<SriovMode> = (given) =>
  given === 'pf' || given === 'vf' ? { value: given } : { rule: 'must be pf or vf' }
const check: Reader<boolean> = (given) =>
  [true, false, 'true', 'false'].includes(given as boolean)
    ? { value: String(given) === 'true' }
    : { rule: 'must be true or false' }

const isObject = (given: unknown): given is Readonly<Record<string, unknown>> =>
  typeof given === 'object' && given !== null && !Array.isArray(given)

const readEntry = (given: Readonly<Record<string, unknown>>, at: string, problems: Problem[]): WhitelistEntry => {
  const {
    vendor_id,
    product_id,
    address: where,
    devname: net,
    device_type,
    resource_class,
    traits: more,
    check: verify,
    mode: sriov,
    ...tags
  } = given
  const take = <Value, Default>(
    name: string,
    value: unknown,
    read: Reader<Value>,
    absent: Default,
  ): Value | Default => {
    if (value === undefined) return absent
    const found = read(value)
    if ('value' in found) return found.value
    problems.push({ field: `${at}.${name}${found.part ? `.${found.part}` : ''}`, rule: found.rule })
    return absent
  }
  if (where !== undefined && net !== undefined)
    problems.push({ field: at, rule: 'must not have both address and devname' })
  return {
    vendorId: take('vendor_id', vendor_id, id, null),
    productId: take('product_id', product_id, id, null),
    address: take('address', where, address, null),
    devname: take('devname', net, devname, null),
    deviceType: take('device_type', device_type, deviceType, null),
    resourceClass: take('resource_class', resource_class, resourceClass, null),
    traits: take('traits', more, traits, []),
    check: take('check', verify, check, false),
    mode: take('mode', sriov, mode, null),
    tags,
  }
}

const decode = (text: string): { readonly value: unknown } | null => {
  try {
    return { value: JSON.parse(text) }
  } catch {
    return null
  }
}

const collect = (given: unknown, at: string, mayNest: boolean, problems: Problem[]): readonly WhitelistEntry[] => {
  if (isObject(given)) return [readEntry(given, at, problems)]
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

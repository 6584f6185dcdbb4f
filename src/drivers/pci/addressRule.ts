/** The two address forms of a whitelist entry: a glob of hex fields, or a regular expression for each field. Pure. */
import { isRecord } from '../../vocabulary/record.ts'
import { formatPciAddress, hexNumber, hexText, type PciAddress } from '../../vocabulary/pci.ts'

type Part = 'domain' | 'bus' | 'slot' | 'function'
type Test = ((text: string) => boolean) | null

/** One test for each part, null where any value matches. `exact` is set when the rule names a single function. */
export type AddressRule = { readonly tests: Readonly<Record<Part, Test>>; readonly exact: string | null }
export type AddressReading =
  | { readonly ok: true; readonly rule: AddressRule }
  | { readonly ok: false; readonly part: string; readonly broken: string }

const PARTS: readonly { readonly part: Part; readonly max: number; readonly digits: number }[] = [
  { part: 'domain', max: 0xffffffff, digits: 4 },
  { part: 'bus', max: 0xff, digits: 2 },
  { part: 'slot', max: 0x1f, digits: 2 },
  { part: 'function', max: 7, digits: 1 },
]

const refused = (part: string, broken: string): AddressReading => ({ ok: false, part, broken })

/**
 * The four fields. Missing leading fields and blank fields match any value: `.1` is function 1 of every device.
 */
const globFields = (text: string): readonly string[] | null => {
  const dot = text.indexOf('.')
  const leading = (dot < 0 ? text : text.slice(0, dot)).split(':')
  if (leading.length > 3) return null
  const any = Array<string>(3 - leading.length).fill('')
  return [...any, ...leading, dot < 0 ? '' : text.slice(dot + 1)].map((field) => field.trim() || '*')
}

const readGlob = (text: string): AddressReading => {
  const fields = globFields(text)
  if (fields === null) return refused('', 'must have the form domain:bus:slot.function')
  const wanted = new Map<Part, string>()
  for (const [at, { part, max, digits }] of PARTS.entries()) {
    const given = fields[at]!
    if (given === '*') continue
    const value = hexNumber(given)
    if (value === null) return refused(part, `must be hex or *, is '${given}'`)
    if (value > max) return refused(part, `must not exceed ${max.toString(16)}, is '${given}'`)
    wanted.set(part, hexText(value, digits))
  }
  const test = (part: Part): Test => {
    const value = wanted.get(part)
    return value === undefined ? null : (given) => given === value
  }
  const [domain, bus, slot, fn] = PARTS.map(({ part }) => wanted.get(part))
  const exact = domain && bus && slot && fn ? formatPciAddress({ domain, bus, device: slot, function: fn }) : null
  return {
    ok: true,
    rule: {
      tests: { domain: test('domain'), bus: test('bus'), slot: test('slot'), function: test('function') },
      exact,
    },
  }
}

/** A longer one may be refused only when it is first used. */
const SOURCE_MAX = 1000
/** Sticky: anchored at the start of the field but not at its end. */
const compiled = (source: string): RegExp | null => {
  if (source.length > SOURCE_MAX) return null
  try {
    return new RegExp(source, 'y')
  } catch {
    return null
  }
}

const shown = (source: unknown): string => (JSON.stringify(source) ?? String(source)).slice(0, 100)

const readRegex = (given: Readonly<Record<string, unknown>>): AddressReading => {
  const tests: Record<Part, Test> = { domain: null, bus: null, slot: null, function: null }
  for (const [part, source] of Object.entries(given)) {
    if (!Object.hasOwn(tests, part)) return refused(part, 'is not a part of an address: domain, bus, slot, function')
    const expression = typeof source === 'string' ? compiled(source) : null
    if (expression === null) return refused(part, `must be a regular expression, is ${shown(source)}`)
    tests[part as Part] = (text) => {
      expression.lastIndex = 0
      return expression.test(text)
    }
  }
  return { ok: true, rule: { tests, exact: null } }
}

/** Parses the `address` of a whitelist entry: text is a glob, an object holds regular expressions. */
export const readAddressRule = (given: unknown): AddressReading => {
  if (typeof given === 'string') return readGlob(given)
  if (!isRecord(given)) return refused('', 'must be text or an object of regular expressions')
  return readRegex(given)
}

/** Whether the rule matches this function. A rule that names a physical function also matches its virtual functions. */
export const takesAddress = (rule: AddressRule, address: PciAddress, parent: PciAddress | null): boolean => {
  if (rule.exact !== null && parent !== null && formatPciAddress(parent) === rule.exact) return true
  const parts: Readonly<Record<Part, string>> = { ...address, slot: address.device }
  return PARTS.every(({ part }) => rule.tests[part]?.(parts[part]) ?? true)
}

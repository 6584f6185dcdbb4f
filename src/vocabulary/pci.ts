/** PCI addresses: parses all spellings and writes the canonical one. Pure. */
import { jsonIn } from './jsonText.ts'
import { type UnknownRecord, isRecord } from './record.ts'
import { spacedJson } from './spacedJson.ts'

/** A canonical address: lower-case hex, domain of at least 4 digits, bus and device of 2, function of 1. */
export type PciAddress = {
  readonly domain: string
  readonly bus: string
  readonly device: string
  readonly function: string
}

/** Largest value and number of digits of each field. Domains above `ffff` are real: Intel VMD makes them. */
const LIMITS = {
  domain: { max: 0xffffffff, digits: 4 },
  bus: { max: 0xff, digits: 2 },
  device: { max: 0x1f, digits: 2 },
  function: { max: 7, digits: 1 },
} as const

/** The number that a hex text stands for (`0x` allowed, any case and padding); null: the text is not hex. */
export const hexNumber = (text: unknown): number | null =>
  typeof text === 'string' && text.length <= 18 && /^(?:0x)?[0-9a-f]+$/i.test(text)
    ? Number.parseInt(text.replace(/^0x/i, ''), 16)
    : null

/** Lower-case hex of at least `digits` digits. */
export const hexText = (value: number, digits: number): string => value.toString(16).padStart(digits, '0')

const field = (name: keyof PciAddress, text: unknown): string | null => {
  const value = hexNumber(text)
  return value === null || value > LIMITS[name].max ? null : hexText(value, LIMITS[name].digits)
}

/**
 * An address from an object with `domain`, `bus`, `device` and `function`, other keys ignored; null when it is none.
 */
export const pciAddressOf = (info: unknown): PciAddress | null => {
  if (!isRecord(info)) return null
  const [domain, bus, device, fn] = (['domain', 'bus', 'device', 'function'] as const).map((name) =>
    field(name, info[name]),
  )
  return domain && bus && device && fn ? { domain, bus, device, function: fn } : null
}

/** Reads `dddd:bb:dd.f` in any case, domain of 4 to 8 digits; null when the text is not a PCI address. */
export const parsePciAddress = (text: string): PciAddress | null => {
  const [, domain, bus, device, fn] = /^([0-9a-f]{4,8}):([0-9a-f]{2}):([0-9a-f]{2})\.([0-7])$/i.exec(text) ?? []
  return pciAddressOf({ domain, bus, device, function: fn })
}

/** `dddd:bb:dd.f`, as sysfs names the function. */
export const formatPciAddress = (address: PciAddress): string =>
  `${address.domain}:${address.bus}:${address.device}.${address.function}`

/** The four members in key order, as attach handles carry them. */
export const pciInfo = ({ bus, device, domain, function: fn }: PciAddress): Readonly<Record<string, string>> => ({
  bus,
  device,
  domain,
  function: fn,
})

/** The JSON text of a control path: keys sorted, one space after each separator. */
export const pciJson = (address: PciAddress): string => spacedJson(pciInfo(address))

/** Orders canonical addresses as numbers. */
export const comparePci = (one: PciAddress, other: PciAddress): number => {
  const key = (address: PciAddress) => formatPciAddress({ ...address, domain: address.domain.padStart(8, '0') })
  return key(one) < key(other) ? -1 : key(one) > key(other) ? 1 : 0
}

/**
 * One text for every spelling of the same control path or attach handle info: keys sorted, the address canonical.
 * Text that is no JSON object is its own canonical form.
 */
export const canonicalInfo = (info: string | Readonly<Record<string, unknown>>): string => {
  if (typeof info !== 'string') return canonicalMembers(info)
  const members = decoded(info)
  return members === null ? info : canonicalMembers(members)
}
const canonicalMembers = (members: UnknownRecord): string => {
  const all: Record<string, unknown> = { ...members, ...pciAddressOf(members) }
  return JSON.stringify(Object.fromEntries(Object.entries(all).toSorted(([one], [other]) => (one < other ? -1 : 1))))
}

const decoded = (text: string): UnknownRecord | null => {
  const value = jsonIn(text)
  return isRecord(value) ? value : null
}

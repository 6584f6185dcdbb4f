/** Parses one group of a device profile into canonical form. Pure. */
import { brokenText } from '../../text.ts'
import { invalid } from '../faults.ts'
import type { HttpRefused } from '../faults.ts'
import { canonicalUuid } from '../../uuid.ts'

export type Group = Readonly<Record<string, string>>
type Entry = { readonly ok: true; readonly key: string; readonly value: string } | HttpRefused

const CLASSES = new Set(['FPGA', 'GPU', 'VGPU', 'PGPU', 'CUSTOM_QAT', 'CUSTOM_NIC', 'CUSTOM_SSD'])
const CUSTOM = /^CUSTOM_[A-Z0-9_]{1,248}$/
/** The standard trait that every provider of this service carries. */
const OWNER = 'OWNER_CYBORG'
/** Each requested accelerator becomes an accelerator request of its own. */
const AMOUNT_MAX = 256

/** The spelling that the placement service uses. */
const upper = (name: string): string => name.toUpperCase().replaceAll('-', '_')

/** Only custom classes are normalized. The name of a standard class must be exact. */
const className = (given: string): string => (/^custom[_-]/i.test(given) ? upper(given) : given)

const amountOf = (value: unknown): number => {
  if (typeof value === 'number') return value
  return typeof value === 'string' && /^\s*\d{1,10}\s*$/.test(value) ? Number(value) : Number.NaN
}

const resource = (name: string, value: unknown, field: string): Entry => {
  const known = className(name.trim())
  if (!CLASSES.has(known) && !CUSTOM.test(known)) return invalid(field, 'there is no such resource class')
  const amount = amountOf(value)
  if (!Number.isInteger(amount) || amount < 1 || amount > AMOUNT_MAX)
    return invalid(field, `the amount must be an integer from 1 to ${AMOUNT_MAX}`)
  return { ok: true, key: `resources:${known}`, value: String(amount) }
}

const trait = (name: string, value: unknown, field: string): Entry => {
  const known = upper(name.trim())
  if (known !== OWNER && !CUSTOM.test(known)) return invalid(field, `the trait must start with CUSTOM_ or be ${OWNER}`)
  if (value !== 'required' && value !== 'forbidden') return invalid(field, 'it must be required or forbidden')
  return { ok: true, key: `trait:${known}`, value }
}

/** Known keys and their valid values. Unknown keys are kept unchanged. */
const ACCEL: Readonly<Record<string, (value: string) => string | null>> = {
  bitstream_id: (value) => canonicalUuid(value),
  bitstream_name: (value) => value || null,
  function_id: (value) => value || null,
  function_name: (value) => value || null,
  attach_target: (value) => (['VM', 'host', 'none'].includes(value) ? value : null),
}
const ACCEL_RULES: Readonly<Record<string, string>> = {
  bitstream_id: 'it must be the UUID of an image',
  attach_target: 'it must be VM, host or none',
}
const ACCEL_MAX_BYTES = 65_535
/** Each of these keys alone determines what the FPGA must be programmed with. */
const SELECTORS = ['bitstream_id', 'bitstream_name', 'function_id', 'function_name'].map((key) => `accel:${key}`)

const accel = (name: string, value: unknown, field: string): Entry => {
  if (!/^[A-Za-z0-9_:-]{1,250}$/.test(name))
    return invalid(field, 'its name may hold letters, digits, "_", ":" and "-" only')
  if (typeof value !== 'string' && typeof value !== 'number') return invalid(field, 'it must be a string')
  const check = Object.hasOwn(ACCEL, name) ? ACCEL[name] : undefined
  const broken = brokenText(String(value), { bytes: ACCEL_MAX_BYTES })
  if (broken !== null) return invalid(field, broken.problem)
  const kept = check === undefined ? String(value) : check(String(value))
  return kept === null
    ? invalid(field, ACCEL_RULES[name] ?? 'it must not be empty')
    : { ok: true, key: `accel:${name}`, value: kept }
}

const KINDS: Readonly<Record<string, (name: string, value: unknown, field: string) => Entry>> = {
  resources: resource,
  trait,
  accel,
}

const entryOf = (key: string, value: unknown, place: string): Entry => {
  const field = `${place}.${key.slice(0, 100)}`
  const colon = key.indexOf(':')
  const kind = colon < 0 ? '' : key.slice(0, colon)
  const read = Object.hasOwn(KINDS, kind) ? KINDS[kind] : undefined
  if (read === undefined) return invalid(field, 'its name must start with resources:, trait: or accel:')
  return read(key.slice(colon + 1), value, field)
}

/** `place` names the group in error messages. The order of the keys is kept. */
export const groupOf = (
  given: Readonly<Record<string, unknown>>,
  place: string,
): { readonly ok: true; readonly value: Group } | HttpRefused => {
  const group: Record<string, string> = {}
  for (const key of Object.keys(given)) {
    const entry = entryOf(key, given[key], place)
    if (!entry.ok) return entry
    if (Object.hasOwn(group, entry.key)) return invalid(place, `it names ${entry.key} twice`)
    group[entry.key] = entry.value
  }
  const keys = Object.keys(group)
  if (!keys.some((key) => key.startsWith('resources:'))) return invalid(place, 'it asks for no resources')
  if (keys.filter((key) => SELECTORS.includes(key)).length > 1)
    return invalid(place, `it may hold only one of ${SELECTORS.join(', ')}`)
  return { ok: true, value: group }
}

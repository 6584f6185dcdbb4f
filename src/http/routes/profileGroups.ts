/** Parses one group of a device profile into canonical form. Pure. */
import { alternativesIn, ANY_OF, REQUESTED_CLEANINGS, INSTEAD_OF_ALTERNATIVES } from '../../actors/arq/groups.ts'
import { brokenText } from '../../text.ts'
import { invalid } from '../faults.ts'
import type { HttpRefused } from '../faults.ts'
import { textShape, UUID_SHAPE } from '../shapes.ts'
import type { Json } from '../shapes.ts'
import { canonicalUuid } from '../../uuid.ts'

export type Group = Readonly<Record<string, string>>
type Entry = { readonly ok: true; readonly key: string; readonly value: string } | HttpRefused

/** A pattern that matches the word in upper and lower case, with `_` or `-`. */
const spelled = (word: string): string =>
  word.replace(/[A-Z]/g, (letter) => `[${letter}${letter.toLowerCase()}]`).replaceAll('_', '[_-]')
const CUSTOM = `${spelled('CUSTOM_')}[A-Za-z0-9_-]{1,248}`
/** Only custom classes are normalized. The name of a standard class must be exact. */
const CLASSES = ['FPGA', 'GPU', 'VGPU', 'PGPU'] as const
const CLASS = new RegExp(`^ *(?:${CLASSES.join('|')}|${CUSTOM}) *$`)
/** Custom traits, and the standard trait that every provider of this service has. */
const TRAIT = new RegExp(`^ *(?:${spelled('OWNER_CYBORG')}|${CUSTOM}) *$`)
export const NAMES = { classes: CLASS.source, traits: TRAIT.source } as const

/** Each requested accelerator becomes an accelerator request of its own. */
const AMOUNT_MAX = 256
const AMOUNT_TEXT = /^ *0{0,7}(?:[1-9][0-9]?|1[0-9]{2}|2[0-4][0-9]|25[0-6]) *$/
const AMOUNT: Json = {
  anyOf: [
    { type: 'integer', minimum: 1, maximum: AMOUNT_MAX },
    { type: 'string', pattern: AMOUNT_TEXT.source },
  ],
}

/** The spelling that Placement uses. */
const upper = (name: string): string => name.trim().toUpperCase().replaceAll('-', '_')

const amountOf = (value: unknown): number => {
  if (typeof value === 'number') return value
  return typeof value === 'string' && AMOUNT_TEXT.test(value) ? Number(value) : Number.NaN
}

const resource = (name: string, value: unknown, field: string): Entry => {
  if (!CLASS.test(name)) return invalid(field, 'there is no such resource class')
  const amount = amountOf(value)
  if (!Number.isInteger(amount) || amount < 1 || amount > AMOUNT_MAX)
    return invalid(field, `the amount must be an integer from 1 to ${AMOUNT_MAX}`)
  return { ok: true, key: `resources:${upper(name)}`, value: String(amount) }
}

const trait = (name: string, value: unknown, field: string): Entry => {
  if (!TRAIT.test(name)) return invalid(field, 'the trait must start with CUSTOM_ or be OWNER_CYBORG')
  if (value !== 'required' && value !== 'forbidden') return invalid(field, 'it must be required or forbidden')
  return { ok: true, key: `trait:${upper(name)}`, value }
}

type Known = {
  readonly read: (value: string) => string | null
  readonly otherwise: string
  readonly shape: Json
}
const ACCEL_MAX = { bytes: 65_535 } as const
const TEXT: Known = {
  read: (value) => value || null,
  otherwise: 'it must not be empty',
  shape: { anyOf: [textShape(ACCEL_MAX, 1), { type: 'number' }] },
}
const CLEANING_WORDS: readonly string[] = Object.keys(REQUESTED_CLEANINGS)
const TARGETS: readonly string[] = ['VM', 'host', 'none']
/** Known keys and their valid values. Unknown keys are kept unchanged. */
const ACCEL: Readonly<Record<string, Known>> = {
  bitstream_id: { read: canonicalUuid, otherwise: 'it must be the UUID of an image', shape: UUID_SHAPE },
  bitstream_name: TEXT,
  function_id: TEXT,
  function_name: TEXT,
  attach_target: {
    read: (value) => (TARGETS.includes(value) ? value : null),
    otherwise: 'it must be VM, host or none',
    shape: { enum: TARGETS },
  },
  cleaning: {
    read: (value) => (CLEANING_WORDS.includes(value) ? value : null),
    otherwise:
      'it must be required or quarantine: a profile may ask for more than the operator of a host has chosen, not for less',
    shape: { enum: CLEANING_WORDS },
  },
}
const ACCEL_NAME = /^[A-Za-z0-9_:-]{1,250}$/
/** Each of these keys alone determines the image that the FPGA must be programmed with. */
const SELECTORS = ['bitstream_id', 'bitstream_name', 'function_id', 'function_name'].map((key) => `accel:${key}`)

const accel = (name: string, value: unknown, field: string): Entry => {
  if (!ACCEL_NAME.test(name)) return invalid(field, 'its name may hold letters, digits, "_", ":" and "-" only')
  if (typeof value !== 'string' && typeof value !== 'number') return invalid(field, 'it must be a string')
  const broken = brokenText(String(value), ACCEL_MAX)
  if (broken !== null) return invalid(field, broken.problem)
  const known = Object.hasOwn(ACCEL, name) ? ACCEL[name]! : null
  const kept = known === null ? String(value) : known.read(String(value))
  return kept === null ? invalid(field, known!.otherwise) : { ok: true, key: `accel:${name}`, value: kept }
}

const KINDS: Readonly<Record<string, (name: string, value: unknown, field: string) => Entry>> = {
  resources: resource,
  trait,
  accel,
}

const pairs = SELECTORS.flatMap((one, at) => SELECTORS.slice(at + 1).map((other) => [one, other]))
/** The schema of the rules that `newGroupOf` applies, for the API description. */
export const GROUP_SHAPE: Json = {
  type: 'object',
  properties: Object.fromEntries(CLASSES.map((name) => [`resources:${name}`, AMOUNT])),
  patternProperties: {
    [`^resources:${CLASS.source.slice(1)}`]: AMOUNT,
    [`^trait:${TRAIT.source.slice(1)}`]: { enum: ['required', 'forbidden'] },
    ...Object.fromEntries(Object.entries(ACCEL).map(([name, { shape }]) => [`^accel:${name}$`, shape])),
    [`^accel:(?!(?:${[...Object.keys(ACCEL), ANY_OF].join('|')})$)${ACCEL_NAME.source.slice(1)}`]: {
      anyOf: [textShape(ACCEL_MAX), { type: 'number' }],
    },
  },
  additionalProperties: false,
  // At least one class. The standard classes are listed because generators of examples find them more easily that way.
  anyOf: [
    ...CLASSES.map((name) => ({ required: [`resources:${name}`] })),
    { not: { propertyNames: { pattern: '^(?!resources:)' } } },
  ],
  not: { anyOf: pairs.map((required) => ({ required })) },
}

const entryOf = (key: string, value: unknown, place: string): Entry => {
  const field = `${place}.${key.slice(0, 100)}`
  const colon = key.indexOf(':')
  const kind = colon < 0 ? '' : key.slice(0, colon)
  const read = Object.hasOwn(KINDS, kind) ? KINDS[kind] : undefined
  if (read === undefined) return invalid(field, 'its name must start with resources:, trait: or accel:')
  return read(key.slice(colon + 1), value, field)
}

type Read = { readonly ok: true; readonly value: Group } | HttpRefused
/** `place` names the group in error messages. The order of the keys is kept. */
export const groupOf = (given: Readonly<Record<string, unknown>>, place: string): Read => {
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

/**
 * Reads a group of a profile that is being created. A stored profile may name alternatives, because former releases
 * stored that key without reading it; its other names can still be changed.
 */
export const newGroupOf = (given: Readonly<Record<string, unknown>>, place: string): Read => {
  // this key is checked before its value, which may be a list or a text
  const [key] = alternativesIn(given)
  return key === undefined
    ? groupOf(given, place)
    : invalid(
        `${place}.${key.slice(0, 100)}`,
        `a device profile cannot hold alternatives, because Nova asks for all of its groups at the same time; ${INSTEAD_OF_ALTERNATIVES}`,
      )
}

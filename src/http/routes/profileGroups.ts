/**
 * One group of a device profile. It is brought into canonical form, and described for the API, by the table of the
 * kinds of keys. Pure.
 */
import * as v from 'valibot'
import { alternativesIn, ANY_OF, REQUESTED_CLEANINGS, INSTEAD_OF_ALTERNATIVES } from '../../actors/arq/groups.ts'
import { ownValue } from '../../vocabulary/record.ts'
import { invalid, refused } from '../faults.ts'
import type { HttpRefused } from '../faults.ts'
import { printed } from '../printed.ts'
import { finite, text, uuidText } from '../shapes.ts'
import type { Json } from '../shapes.ts'

export type Group = Readonly<Record<string, string>>
type Entry = { readonly ok: true; readonly key: string; readonly value: string } | HttpRefused

/** Reads the value of a key into the text that is stored. */
type Value = v.GenericSchema<unknown, string>

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
const Amount = v.message(
  v.pipe(
    v.union([
      v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(AMOUNT_MAX)),
      v.pipe(v.string(), v.regex(AMOUNT_TEXT)),
    ]),
    v.transform((given) => String(Number(given))),
  ),
  `the amount must be an integer from 1 to ${AMOUNT_MAX}`,
)

/** The spelling that Placement uses. */
const upper = (name: string): string => name.trim().toUpperCase().replaceAll('-', '_')

const ACCEL_MAX = { characters: 65_535 } as const
const AccelText = v.pipe(v.union([text(ACCEL_MAX), finite], 'it must be a string'), v.transform(String))
const FilledAccelText = v.message(
  v.pipe(v.union([v.pipe(text(ACCEL_MAX), v.minLength(1)), finite]), v.transform(String)),
  'it must not be empty',
)
/** The keys of which more is known, and their values. */
const ACCEL: Readonly<Record<string, Value>> = {
  bitstream_id: uuidText('it must be the UUID of an image'),
  bitstream_name: FilledAccelText,
  function_id: FilledAccelText,
  function_name: FilledAccelText,
  attach_target: v.picklist(['VM', 'host', 'none'], 'it must be VM, host or none'),
  cleaning: v.picklist(
    Object.keys(REQUESTED_CLEANINGS),
    'it must be required or quarantine: a profile may ask for more than the operator of a host has chosen, not for less',
  ),
}
const ACCEL_NAME = /^[A-Za-z0-9_:-]{1,250}$/
/** Each of these keys alone determines the image that the FPGA must be programmed with. */
const SELECTORS = ['bitstream_id', 'bitstream_name', 'function_id', 'function_name'].map((key) => `accel:${key}`)

type Kind = {
  /** The names that may follow the colon. */
  readonly name: RegExp
  readonly otherwise: string
  readonly stored: (name: string) => string
  readonly value: Value
  /** Names whose values obey a rule of their own as well. */
  readonly known?: Readonly<Record<string, Value>>
  /** A pattern of the names that `newGroupOf` refuses. */
  readonly refused?: string
}
/** The kinds of keys of a group, by what stands before the colon. */
const KINDS: Readonly<Record<string, Kind>> = {
  resources: { name: CLASS, otherwise: 'there is no such resource class', stored: upper, value: Amount },
  trait: {
    name: TRAIT,
    otherwise: 'the trait must start with CUSTOM_ or be OWNER_CYBORG',
    stored: upper,
    value: v.picklist(['required', 'forbidden'], 'it must be required or forbidden'),
  },
  accel: {
    name: ACCEL_NAME,
    otherwise: 'its name may hold letters, digits, "_", ":" and "-" only',
    stored: (name) => name,
    value: AccelText,
    known: ACCEL,
    refused: ANY_OF,
  },
}

const pairs = SELECTORS.flatMap((one, at) => SELECTORS.slice(at + 1).map((other) => [one, other]))
/** The names of a kind and their values; those that `known` or `refused` holds are no others. */
const patternsOf = ([kind, { name, value, known = {}, refused }]: readonly [string, Kind]): Json => {
  const apart = [...Object.keys(known), ...(refused === undefined ? [] : [refused])]
  const others = apart.length === 0 ? '' : `(?!(?:${apart.join('|')})$)`
  return {
    ...Object.fromEntries(Object.entries(known).map(([key, own]) => [`^${kind}:${key}$`, printed(own)])),
    [`^${kind}:${others}${name.source.slice(1)}`]: printed(value),
  }
}
/** The schema of the rules that `newGroupOf` applies, for the API description. */
export const GROUP_SHAPE: Json = {
  type: 'object',
  properties: Object.fromEntries(CLASSES.map((name) => [`resources:${name}`, printed(Amount)])),
  patternProperties: Object.assign({}, ...Object.entries(KINDS).map(patternsOf)) as Json,
  additionalProperties: false,
  // At least one class. The standard classes are listed because generators of examples find them more easily that way.
  anyOf: [
    ...CLASSES.map((name) => ({ required: [`resources:${name}`] })),
    { not: { propertyNames: { pattern: '^(?!resources:)' } } },
  ],
  not: { anyOf: pairs.map((required) => ({ required })) },
}

const entryOf = (key: string, given: unknown, place: string): Entry => {
  const field = `${place}.${key.slice(0, 100)}`
  const colon = key.indexOf(':')
  const kind = key.includes(':') ? ownValue(KINDS, key.slice(0, colon)) : undefined
  if (kind === undefined) return invalid(field, 'its name must start with resources:, trait: or accel:')
  const name = key.slice(colon + 1)
  if (!kind.name.test(name)) return invalid(field, kind.otherwise)
  const general = v.safeParse(kind.value, given)
  const own = ownValue(kind.known ?? {}, name)
  const read = general.success && own !== undefined ? v.safeParse(own, given) : general
  return read.success
    ? { ok: true, key: `${key.slice(0, colon)}:${kind.stored(name)}`, value: read.output }
    : invalid(field, read.issues[0].message)
}

type Read = { readonly ok: true; readonly value: Group } | HttpRefused
/** `place` names the group in error messages. The order of the keys is kept. */
export const groupOf = (given: Readonly<Record<string, unknown>>, place: string): Read => {
  const group: Record<string, string> = {}
  let twice: string | undefined
  for (const key of Object.keys(given)) {
    const entry = entryOf(key, given[key], place)
    if (!entry.ok) return entry
    if (Object.hasOwn(group, entry.key)) twice ??= entry.key
    group[entry.key] = entry.value
  }
  const keys = Object.keys(group)
  if (!keys.some((key) => key.startsWith('resources:'))) return invalid(place, 'it asks for no resources')
  if (keys.filter((key) => SELECTORS.includes(key)).length > 1)
    return invalid(place, `it may hold only one of ${SELECTORS.join(', ')}`)
  if (twice !== undefined) return refused({ kind: 'conflict', reason: `${place} names ${twice} twice.` })
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

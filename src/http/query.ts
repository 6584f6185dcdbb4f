/** Query arguments. Each route declares the arguments it knows and their values; unknown arguments are refused. */
import { INT_MAX } from '../vocabulary/fields.ts'
import { brokenText, NAME_LIMIT, unstorable } from '../vocabulary/text.ts'
import { invalid } from './faults.ts'
import type { HttpRefused } from './faults.ts'
import { textShape, UUID_SHAPE } from './shapes.ts'
import type { Json } from './shapes.ts'
import { canonicalUuid } from '../vocabulary/uuid.ts'

/** `value` undefined: the argument counts as not sent. */
export type Read<Value> = { readonly ok: true; readonly value: Value | undefined } | HttpRefused
export type Arg<Value> = {
  /** `values`: every value that was sent under the name, in order. */
  readonly read: (values: readonly string[], name: string) => Read<Value>
  /** The schema of one value; a list is sent as one text with commas. */
  readonly schema: Json
  /** Whether the argument may be sent without a value; it then counts as absent, or selects nothing. */
  readonly mayBeEmpty?: true
  /** The value is JSON. */
  readonly json?: true
  /** The request is refused if the argument is absent. */
  readonly required?: true
  readonly about: string
}
export type Args = Readonly<Record<string, Arg<unknown>>>
export type Query<A extends Args> = {
  readonly [Name in keyof A]: A[Name] extends Arg<infer Value> ? Value | undefined : never
}

/** The value that counts; an argument that was sent has at least one. */
export const last = (values: readonly string[]): string => values.at(-1)!
const read = <Value>(value: Value | undefined): Read<Value> => ({ ok: true, value })

/** The refusal of the first text that breaks the rule for text from outside; null: none does. */
const broken = (texts: readonly string[], name: string): HttpRefused | null => {
  for (const each of texts) {
    const found = brokenText(each, NAME_LIMIT)
    if (found !== null) return invalid(name, found.problem)
  }
  return null
}

/** If it is sent several times, the last value counts. An empty value counts as absent. */
export const text = (about: string): Arg<string> => ({
  read: (values, name) => broken([last(values)], name) ?? read(last(values) || undefined),
  schema: textShape(NAME_LIMIT),
  mayBeEmpty: true,
  about,
})

export const uuid = (about: string): Arg<string> => ({
  read: (values, name) => {
    const canonical = canonicalUuid(last(values))
    return canonical === null ? invalid(name, 'it must be a UUID') : read(canonical)
  },
  schema: UUID_SHAPE,
  about,
})

/**
 * Comma-separated; repeated arguments are combined. `['']` is one empty element, which is valid unless `items` forbids
 * it.
 */
export const list = (about: string, items?: Json): Arg<readonly string[]> => ({
  read: (values, name) => {
    const given = values.flatMap((value) => value.split(','))
    return broken(given, name) ?? read(given)
  },
  schema: { type: 'array', items: items ?? textShape(NAME_LIMIT), minItems: 1 },
  ...(items === undefined && { mayBeEmpty: true }),
  about,
})

export const oneOf = <const Choice extends string>(choices: readonly Choice[], about: string): Arg<Choice> => ({
  read: (values, name) => {
    const value = last(values)
    if (value === '') return read<Choice>(undefined)
    const isChoice = (given: string): given is Choice => choices.some((each) => each === given)
    return isChoice(value) ? read(value) : invalid(name, `it must be ${choices.join(' or ')}`)
  },
  schema: { type: 'string', enum: choices },
  mayBeEmpty: true,
  about,
})

export const flag = (about: string): Arg<boolean> => ({
  read: (values, name) => {
    const value = last(values).toLowerCase()
    if (value === '') return read<boolean>(undefined)
    return value === 'true' || value === 'false' ? read(value === 'true') : invalid(name, 'it must be true or false')
  },
  schema: { type: 'boolean' },
  mayBeEmpty: true,
  about,
})

/** A pattern for whole numbers up to the largest id, with leading zeros up to the same number of digits. */
const INT_TEXT = ((): string => {
  const max = Array.from(String(INT_MAX), Number)
  // no digit of the largest id is 0, so each may be less
  const below = max.map((digit, at) => `${max.slice(0, at).join('')}[0-${digit - 1}][0-9]{${max.length - at - 1}}`)
  return `(?:[0-9]{1,${max.length - 1}}|${[...below, INT_MAX].join('|')})$`
})()
/** The schema of an integer as text, for texts that are not in the query. */
export const intText = (min: 0 | 1): Json => ({ type: 'string', pattern: `^${min === 0 ? '' : '(?!0+$)'}${INT_TEXT}` })

export const integer = (min: 0 | 1, about: string): Arg<number> => ({
  read: (values, name) => {
    const value = last(values)
    const number = /^\d{1,10}$/.test(value) ? Number(value) : Number.NaN
    return number >= min && number <= INT_MAX
      ? read(number)
      : invalid(name, `it must be an integer from ${min} to ${INT_MAX}`)
  },
  schema: { type: 'integer', minimum: min, maximum: INT_MAX },
  about,
})

/**
 * Only days that exist in their month, so that the schema in the API description accepts exactly the same texts. `\d`
 * means every script's digits in some dialects of regular expressions.
 */
const DAYS = [
  '[0-9]{4}-(?:0[13578]|1[02])-(?:0[1-9]|[12][0-9]|3[01])',
  '[0-9]{4}-(?:0[469]|11)-(?:0[1-9]|[12][0-9]|30)',
  '[0-9]{4}-02-(?:0[1-9]|1[0-9]|2[0-8])',
  '(?:[0-9]{2}(?:0[48]|[2468][048]|[13579][26])|(?:[02468][048]|[13579][26])00)-02-29',
]
const TIME = String.raw`T(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](?:\.[0-9]{1,3})?(?:Z|\+00:00)`
export const MOMENT = new RegExp(`^(?:${DAYS.join('|')})(?:${TIME})?$`)
export const NO_MOMENT = 'it must be a day or a moment in UTC, such as 2026-03-01 or 2026-03-01T08:15:30Z'
/** A day, or a moment in UTC, as milliseconds since the epoch. */
export const moment = (about: string): Arg<number> => ({
  read: (values, name) => {
    const value = last(values)
    return MOMENT.test(value) ? read(Date.parse(value)) : invalid(name, NO_MOMENT)
  },
  schema: { type: 'string', pattern: MOMENT.source },
  about,
})

const decode = (part: string): string | null => {
  try {
    return decodeURIComponent(part.replaceAll('+', ' '))
  } catch {
    return null
  }
}

export type Pairs = ReadonlyMap<string, readonly string[]>

/** Decoded names and values as sent. The values are not validated yet. */
export const pairsOf = (query: string): { readonly ok: true; readonly pairs: Pairs } | HttpRefused => {
  const pairs = new Map<string, string[]>()
  for (const part of query.split('&')) {
    if (part === '') continue
    const equals = part.indexOf('=')
    const name = decode(equals < 0 ? part : part.slice(0, equals))
    const value = decode(equals < 0 ? '' : part.slice(equals + 1))
    if (name === null || value === null) return invalid('query', 'its percent-encoding is broken')
    const bad = unstorable(value) ?? unstorable(name)
    if (bad !== null) return invalid(name.replaceAll('\0', '�'), bad)
    const values = pairs.get(name)
    if (values === undefined) pairs.set(name, [value])
    else values.push(value)
  }
  return { ok: true, pairs }
}

/** The argument that handles a family of names, such as `filters[0].field`. */
export const family = (name: string): string => (/^filters(\[\d{1,3}\])?\.(field|value)$/.test(name) ? 'filters' : name)

export const readQuery = (
  args: Args,
  sent: string,
  oneOf?: readonly [string, string],
): { readonly ok: true; readonly query: Readonly<Record<string, unknown>>; readonly pairs: Pairs } | HttpRefused => {
  const split = pairsOf(sent)
  if (!split.ok) return split
  const query: Record<string, unknown> = {}
  for (const [name, values] of split.pairs) {
    const known = family(name)
    const arg = Object.hasOwn(args, known) ? args[known] : undefined
    if (arg === undefined) return invalid(name, 'there is no such query argument here')
    if (known !== name) continue
    const value = arg.read(values, name)
    if (!value.ok) return value
    query[name] = value.value
  }
  if (oneOf !== undefined && oneOf.filter((name) => query[name] !== undefined).length !== 1)
    return invalid(oneOf[0], `exactly one of ${oneOf.join(' and ')} must be given`)
  return { ok: true, query, pairs: split.pairs }
}

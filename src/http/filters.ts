/** The older form of filters for devices and deployables: pairs of field and value, or JSON in one argument. */
import * as v from 'valibot'
import { problemIn } from './guard.ts'
import { invalid } from './faults.ts'
import type { HttpRefused } from './faults.ts'
import { intText, last } from './query.ts'
import type { Arg, Args, Pairs } from './query.ts'
import { UUID_SHAPE } from './shapes.ts'
import type { Json } from './shapes.ts'

/** Field names that a filter may have besides the arguments of the list. A field without an argument has no effect. */
const OLDER = [
  'parent_uuid',
  'root_uuid',
  'board',
  'availability',
  'interface_type',
  'instance_uuid',
  'limit',
  'marker',
  'sort_key',
  'sort_dir',
  'name',
]
type Filter = { readonly field: string; readonly value: string }

const noField = (field: string): HttpRefused => invalid('filters', `there is no field "${field.slice(0, 60)}"`)

const PAIRS_MAX = 100
const scalar = v.pipe(v.union([v.string(), v.number()]), v.transform(String))
const Pair = v.object({ field: v.string(), value: scalar })
const Written = v.union([
  v.pipe(v.array(Pair), v.maxLength(PAIRS_MAX)),
  v.pipe(
    Pair,
    v.transform((pair) => [pair]),
  ),
  v.pipe(
    // an array is a record of its indices to valibot
    v.custom<object>((json) => !Array.isArray(json)),
    v.record(v.string(), scalar),
    v.transform((map) => Object.entries(map).map(([field, value]) => ({ field, value }))),
  ),
])

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const fieldsOf = (args: Args): ReadonlySet<string> => new Set([...OLDER, ...Object.keys(args)])

/** The schema of an argument's value inside JSON, where a number is also accepted and read as text. */
const valueShape = ({ schema, mayBeEmpty }: Arg<unknown>): Json => {
  const empty = mayBeEmpty === true ? [{ const: '' }] : []
  if (schema['type'] === 'integer')
    return {
      anyOf: [schema, intText(schema['minimum'] === 0 ? 0 : 1)],
    }
  // JSON values arrive as texts and numbers, so a boolean is a text; a flag may be empty
  if (schema['type'] === 'boolean') return { type: 'string', pattern: '^([Tt][Rr][Uu][Ee]|[Ff][Aa][Ll][Ss][Ee])?$' }
  const free = schema['enum'] === undefined && schema !== UUID_SHAPE
  return { anyOf: [schema, ...(free ? [{ type: 'number' }] : []), ...empty] }
}

const writtenShape = (args: Args): Json => {
  const shapes = Object.fromEntries(
    [...fieldsOf(args)].map((field) => [
      field,
      field in args ? valueShape(args[field]!) : { type: ['string', 'number'], pattern: '^[^\\u0000]*$' },
    ]),
  )
  const pair: Json = {
    type: 'object',
    required: ['field', 'value'],
    anyOf: Object.entries(shapes).map(([field, value]) => ({ properties: { field: { const: field }, value } })),
  }
  const map: Json = { type: 'object', properties: shapes, additionalProperties: false }
  return { anyOf: [{ type: 'array', items: pair, maxItems: PAIRS_MAX }, pair, map] }
}

/** Valibot silently drops object members with these names, and a filter without them would select everything. */
const LEFT_OUT = ['__proto__', 'prototype', 'constructor']
const leftOut = (json: unknown): string | undefined =>
  typeof json === 'object' && json !== null ? LEFT_OUT.find((name) => Object.hasOwn(json, name)) : undefined

/** The argument `filters` of a list that has the arguments `args`. */
export const createFilters = (args: Args): Arg<readonly Filter[]> => ({
  read: (values, name) => {
    const json = parsed(last(values))
    const inherited = leftOut(json)
    if (inherited !== undefined) return noField(inherited)
    const written = v.safeParse(Written, json)
    if (!written.success) return invalid(name, 'it must be JSON that pairs each field with a value')
    // what is not read may be anything
    const problems = written.output.map(({ field, value }) => problemIn({ [field]: value }))
    return problems.find((problem) => problem !== null) ?? { ok: true, value: written.output }
  },
  schema: writtenShape(args),
  json: true,
  about:
    'Pairs of field and value: JSON, or `filters.field=...&filters.value=...` repeated, also with an index, `filters[0].field`. The plain arguments are preferred.',
})

/**
 * `filters.field=a&filters.value=1`: the n-th field belongs to the n-th value. Both names may carry an index in
 * brackets. No other argument has a name with such an end.
 */
const paired = (pairs: Pairs): readonly Filter[] | HttpRefused => {
  const found: Filter[] = []
  for (const [name, fields] of pairs) {
    if (!name.endsWith('.field')) continue
    const values = pairs.get(name.replace('.field', '.value')) ?? []
    if (values.length !== fields.length) return invalid('filters', 'each field needs one value')
    found.push(...fields.map((field, index) => ({ field, value: values[index]! })))
  }
  const orphan = [...pairs.keys()].some(
    (name) => name.endsWith('.value') && !pairs.has(name.replace('.value', '.field')),
  )
  return orphan ? invalid('filters', 'each value needs a field') : found
}

/** Merges the filters into the query. A plain argument takes precedence over a filter of the same name. */
export const withFilters = <Q extends { readonly filters?: readonly Filter[] | undefined }>(
  args: Args,
  query: Q,
  pairs: Pairs,
): { readonly ok: true; readonly query: Q } | HttpRefused => {
  const apart = paired(pairs)
  if ('fault' in apart) return apart
  const all = [...(query.filters ?? []), ...apart]
  const fields = fieldsOf(args)
  const under: Record<string, unknown> = {}
  for (const { field, value } of all) {
    if (!fields.has(field)) return noField(field)
    const arg = Object.hasOwn(args, field) ? args[field] : undefined
    if (arg === undefined) continue
    const read = arg.read([value], field)
    if (!read.ok) return read
    under[field] = read.value
  }
  return { ok: true, query: { ...under, ...query } }
}

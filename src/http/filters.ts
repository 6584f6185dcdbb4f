/** The older form of filters for devices and deployables: pairs of field and value, or JSON in one argument. */
import * as v from 'valibot'
import { problemIn } from './guard.ts'
import { invalid } from './faults.ts'
import type { HttpRefused } from './faults.ts'
import type { Arg, Args, Pairs } from './query.ts'

/** The fields that a filter may name. Fields that the list has no argument for are accepted and have no effect. */
const FIELDS = new Set([
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
])
type Filter = { readonly field: string; readonly value: string }

const scalar = v.pipe(v.union([v.string(), v.number()]), v.transform(String))
const Pair = v.object({ field: v.string(), value: scalar })
const Written = v.union([
  v.pipe(v.array(Pair), v.maxLength(100)),
  v.pipe(
    Pair,
    v.transform((pair) => [pair]),
  ),
  v.pipe(
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

export const filters: Arg<readonly Filter[]> = {
  read: (values, name) => {
    const json = parsed(values.at(-1) ?? '')
    const problem = problemIn(json)
    if (problem !== null) return problem
    const written = v.safeParse(Written, json)
    if (!written.success) return invalid(name, 'it must be JSON that pairs each field with a value')
    return { ok: true, value: written.output }
  },
  schema: { type: 'string' },
  about:
    'Pairs of field and value: JSON, or `filters.field=...&filters.value=...` repeated. The plain arguments are preferred.',
}

/**
 * `filters.field=a&filters.value=1`: the n-th field belongs to the n-th value. Both names may carry an index in
 * brackets.
 */
const paired = (pairs: Pairs): readonly Filter[] | HttpRefused => {
  const found: Filter[] = []
  for (const [name, fields] of pairs) {
    if (!name.startsWith('filters') || !name.endsWith('.field')) continue
    const values = pairs.get(name.replace(/field$/, 'value')) ?? []
    if (values.length !== fields.length) return invalid('filters', 'each field needs one value')
    found.push(...fields.map((field, index) => ({ field, value: values[index]! })))
  }
  const orphan = [...pairs.keys()].some(
    (name) => /^filters.*\.value$/.test(name) && !pairs.has(name.replace(/value$/, 'field')),
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
  if (all.length === 0) return { ok: true, query }
  const under: Record<string, unknown> = {}
  for (const { field, value } of all) {
    if (!FIELDS.has(field)) return invalid('filters', `there is no field "${field.slice(0, 60)}"`)
    const arg = args[field]
    if (arg === undefined) continue
    const read = arg.read([value], field)
    if (!read.ok) return read
    under[field] = read.value
  }
  return { ok: true, query: { ...under, ...query } }
}

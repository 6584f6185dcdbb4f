/**
 * Values that a JSON Schema allows, for as much of JSON Schema as the description of the API uses, and values that
 * differ a little from them.
 */
import fc from 'fast-check'

type Json = Readonly<Record<string, unknown>>
type Values = fc.Arbitrary<unknown>

const odd: Values = fc.oneof(
  fc.constantFrom<unknown>(null, true, false, 0, -1, 1.5, 257, 2 ** 31, '', ' ', 'x', '\u00a0', '\u0007', [], {}, [[]]),
  fc.string({ unit: 'grapheme' }).filter((text) => !text.includes('\0')),
  fc.integer(),
)

/** Look-ahead cannot be generated from; whoever uses the value judges it by the whole schema. */
const withoutLookAhead = (pattern: string): string => {
  const start = pattern.indexOf('(?!')
  if (start < 0) return pattern
  let depth = 0
  let end = start
  do {
    depth += pattern[end] === '(' ? 1 : pattern[end] === ')' ? -1 : 0
    end += 1
  } while (depth > 0)
  return withoutLookAhead(pattern.slice(0, start) + pattern.slice(end))
}
/** The same as from the pattern, a hundred times faster. */
const uuids = fc
  .tuple(fc.uuid(), fc.boolean(), fc.boolean(), fc.constantFrom('', '{', 'urn:uuid:', 'UUID:'))
  .map(([uuid, upper, bare, before]) => {
    const dashed = bare ? uuid.replaceAll('-', '') : uuid
    return `${before}${upper ? dashed.toUpperCase() : dashed}${before === '{' ? '}' : ''}`
  })
const matching = (pattern: string): fc.Arbitrary<string> =>
  pattern.includes('[Uu][Uu][Ii][Dd]:') ? uuids : fromPattern(pattern)
const fromPattern = (pattern: string) =>
  fc.stringMatching(new RegExp(withoutLookAhead(pattern), 'u'), { maxLength: 60 }).filter((text) => text.isWellFormed())

const textOf = (schema: Json): Values => {
  const {
    pattern,
    minLength = 0,
    maxLength = Infinity,
  } = schema as { pattern?: string; minLength?: number; maxLength?: number }
  const texts = pattern === undefined ? fc.string({ unit: 'grapheme', maxLength: 20 }) : matching(pattern)
  const fits = (text: string) =>
    Array.from(text).length >= minLength && text.length <= maxLength && !text.includes('\0')
  const longest = Number.isFinite(maxLength) ? [fc.constantFrom('a'.repeat(maxLength), '🂡'.repeat(maxLength))] : []
  return fc.oneof(
    { weight: 5, arbitrary: texts.filter(fits) },
    ...longest.map((arbitrary) => ({ weight: 1, arbitrary })),
  )
}

/** Small ones most of the time: some are summed up. */
const integersOf = ({ minimum = 0, maximum = 1000 }: { minimum?: number; maximum?: number }): Values =>
  fc.oneof(
    { weight: 5, arbitrary: fc.integer({ min: minimum, max: Math.min(minimum + 5, maximum) }) },
    { weight: 1, arbitrary: fc.integer({ min: minimum, max: maximum }) },
  )

export type Schemas = { readonly resolve: (reference: string) => Json }

/** Most of what it gives is allowed by the schema, the rest nearly. */
export const valuesOf = (given: Json, schemas: Schemas): Values => {
  const schema =
    typeof given['$ref'] === 'string' ? { ...schemas.resolve(given['$ref']), ...given, $ref: undefined } : given
  const of = (part: unknown) => valuesOf(part as Json, schemas)
  const { anyOf, ...rest } = schema as Json & { anyOf?: readonly Json[] }
  if (anyOf !== undefined && rest['items'] === undefined) return fc.oneof(...anyOf.map((one) => of(joined(rest, one))))
  if ('const' in schema) return fc.constant(schema['const'])
  if (schema['enum'] !== undefined) return fc.constantFrom(...(schema['enum'] as unknown[]))
  if (Array.isArray(schema['type'])) return fc.oneof(...schema['type'].map((type) => of({ ...schema, type })))
  switch (schema['type']) {
    case 'string':
      return textOf(schema)
    case 'integer':
      return integersOf(schema)
    case 'number':
      return fc.oneof(fc.integer(), fc.double({ noNaN: true, noDefaultInfinity: true }))
    case 'boolean':
      return fc.boolean()
    case 'null':
      return fc.constant(null)
    case 'array':
      return arraysOf(schema, of)
    default:
      return schema['type'] === 'object' || schema['properties'] !== undefined ? objectsOf(schema, of) : odd
  }
}

/** Properties of both; what only one of them says is kept. */
const joined = (one: Json, other: Json): Json => ({
  ...one,
  ...other,
  ...(one['properties'] !== undefined &&
    other['properties'] !== undefined && {
      properties: joined(one['properties'] as Json, other['properties'] as Json),
    }),
  ...(one['required'] !== undefined &&
    other['required'] !== undefined && {
      required: [...(one['required'] as string[]), ...(other['required'] as string[])],
    }),
})

/** One time in four: too much at once and other rules forbid the whole. */
const rarely = <T, Nil>(values: fc.Arbitrary<T>, otherwise: Nil): fc.Arbitrary<T | Nil> =>
  fc.oneof({ weight: 3, arbitrary: fc.constant(otherwise) }, { weight: 1, arbitrary: values })

type Of = (part: unknown) => Values
const arraysOf = (schema: Json, of: Of): Values => {
  const { prefixItems = [], items = {}, allOf } = schema as { prefixItems?: Json[]; items?: Json; allOf?: unknown[] }
  const { anyOf, ...item } = items as Json & { anyOf?: readonly Json[] }
  // A list that must contain this and that: one of each kind, some left out at times.
  if (allOf !== undefined && anyOf !== undefined)
    return fc
      .tuple(...anyOf.map((one) => fc.option(of(joined(item, one)), { freq: 8, nil: undefined })))
      .map((each) => each.filter((value) => value !== undefined))
  const rest = fc.array(of(items), {
    minLength: prefixItems.length > 0 ? 0 : ((schema['minItems'] as number) ?? 0),
    maxLength: 3,
  })
  return fc.tuple(fc.tuple(...prefixItems.map(of)), rest).map(([first, more]) => [...first, ...more])
}

const objectsOf = (schema: Json, of: Of): Values => {
  const {
    properties = {},
    required = [],
    patternProperties = {},
    propertyNames,
    additionalProperties,
  } = schema as {
    properties?: Record<string, Json>
    required?: string[]
    patternProperties?: Record<string, Json>
    propertyNames?: Json
    additionalProperties?: Json | boolean
  }
  const known = Object.entries(properties)
    .filter(([, value]) => value['not'] === undefined || value['type'] !== undefined)
    .map(([name, value]): [string, Values] => [
      name,
      required.includes(name) ? of(value) : rarely(of(value), undefined),
    ])
  const named = Object.entries(patternProperties).map(([pattern, value]) =>
    rarely(
      fc.tuple(matching(pattern), of(value)).map((entry) => [entry]),
      [],
    ),
  )
  const names =
    propertyNames === undefined ? fc.constantFrom('colour', 'size') : of({ type: 'string', ...propertyNames })
  const free =
    additionalProperties === false
      ? fc.constant([])
      : fc.array(fc.tuple(names, of(additionalProperties ?? {})), { maxLength: 2 })
  return fc
    .tuple(fc.record(Object.fromEntries(known)), ...named, free)
    .map(([record, ...more]) =>
      JSON.parse(JSON.stringify({ ...Object.fromEntries(more.flat() as [string, unknown][]), ...record })),
    )
}

/** The places in a value, as paths. */
const places = (value: unknown, path: readonly string[] = []): readonly (readonly string[])[] =>
  typeof value === 'object' && value !== null
    ? [path, ...Object.entries(value).flatMap(([name, part]) => places(part, [...path, name]))]
    : [path]

const change = (value: unknown, path: readonly string[], to: (part: unknown) => unknown): unknown => {
  const [name, ...more] = path
  if (name === undefined) return to(value)
  const changed = change((value as Record<string, unknown>)[name], more, to)
  if (Array.isArray(value))
    return value.flatMap((each, at) => (String(at) === name ? (changed === undefined ? [] : [changed]) : [each]))
  const { [name]: _, ...others } = value as Record<string, unknown>
  return changed === undefined ? others : { ...others, [name]: changed }
}

const touches: fc.Arbitrary<(part: unknown) => unknown> = fc.oneof(
  odd.map((other) => () => other),
  fc.constant(() => undefined),
  fc
    .constantFrom(' ', 'a', '0', '-', '\n', '\u200b', '{', 'ä')
    .map((more) => (part: unknown) => (typeof part === 'string' ? part + more : [part])),
  fc.constant((part: unknown) =>
    typeof part === 'string' ? Array.from(part).slice(1).join('') : typeof part === 'number' ? part + 1 : part,
  ),
  fc.constant((part: unknown) => (Array.isArray(part) ? [...(part as unknown[]), ...(part as unknown[])] : part)),
  odd.map(
    (other) => (part: unknown) =>
      typeof part === 'object' && part !== null && !Array.isArray(part) ? { ...part, colour: other } : other,
  ),
)

/** The value with one place of it changed, taken away or added to. */
export const changed = (values: Values): Values =>
  fc.tuple(values, fc.nat(), touches).map(([value, at, touch]) => {
    const all = places(value)
    return change(value, all[at % all.length]!, touch) ?? null
  })

/**
 * What the description of the API allows is what the readers accept, for every body, every query argument and the
 * version header.
 */
import { Ajv2020 } from 'ajv/dist/2020.js'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { ROUTES } from '../../src/http/routes/all.ts'
import { additionsAsked, latestMinor, negotiate, SINCE, versionPattern } from '../../src/http/versions.ts'
import { brokenText } from '../../src/vocabulary/text.ts'
import { strictApp } from './app.ts'
import { changed, valuesOf } from './fromSchema.ts'
import { send, service } from './steps.ts'

type Json = Readonly<Record<string, unknown>>
type Parameter = {
  readonly name: string
  readonly schema?: Json
  readonly content?: { readonly 'application/json': { readonly schema: Json } }
  readonly allowEmptyValue?: boolean
  readonly required?: boolean
}
type Operation = {
  readonly parameters: readonly Parameter[]
  readonly requestBody?: { readonly content: { readonly 'application/json': { readonly schema: Json } } }
}
const described = async (additiveMicroversion = false) =>
  (await send(strictApp({ additiveMicroversion }).app, 'GET /openapi.json')).json as Description
type Description = {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: {
    readonly parameters: Readonly<Record<string, { readonly schema: { readonly pattern: string } }>>
  }
}
const printed = await described()
const ajv = new Ajv2020({ strict: false, validateFormats: false }).addSchema(printed, 'doc')
const resolve = (reference: string): Json =>
  reference
    .slice(2)
    .split('/')
    .reduce<unknown>((place, name) => (place as Json)[name], printed) as Json
const within = (schema: Json): Json => JSON.parse(JSON.stringify(schema).replaceAll('"#/', '"doc#/')) as Json
const judgeOf = (schema: Json) => ajv.compile(within(schema))
const operationOf = (path: string, method: string): Operation =>
  printed.paths[path.replace(/:(\w+)/g, '{$1}')]![method.toLowerCase()]!

const RUNS = 300
const seeded = { numRuns: RUNS, seed: 20_260_301 }

type Verdict = { readonly ok: boolean; readonly fault: string }
const UUID = '1d8a4e2c-9a6d-4a1c-8b77-1c8d1c3a7a10'
type Read = ReturnType<NonNullable<(typeof ROUTES)[number]['body']>['read']>
const verdictOf = (read: Read): Verdict => {
  // What contradicts itself or the records has the form that the description asks for.
  if (read.ok || read.fault.kind === 'conflict') return { ok: true, fault: '' }
  const { fault } = read
  return { ok: false, fault: fault.kind === 'invalid' ? `Invalid ${fault.field}: ${fault.rule}` : fault.kind }
}

/** Counts, so that a generator that finds nothing to say of one side fails the test. */
const agreement = (allowed: (value: unknown) => boolean) => {
  const seen = { allowed: 0, forbidden: 0 }
  const judge = (value: unknown, { ok, fault }: Verdict) => {
    const may = allowed(value)
    seen[may ? 'allowed' : 'forbidden'] += 1
    expect(ok, `${JSON.stringify(value)} ${fault}`).toBe(may)
  }
  return { seen, judge }
}

/** What a parser of JSON reads from a request that is UTF-8. */
const isText = (value: unknown): boolean => !/\\ud[89a-f]/.test(JSON.stringify(value))

const bodied = ROUTES.filter((row) => row.body !== undefined)
describe('a body', () => {
  test.each(bodied.map((row) => [`${row.method} ${row.path}`, row] as const))('of %s', (_, row) => {
    const { schema } = operationOf(row.path, row.method).requestBody!.content['application/json']
    const values = valuesOf(schema, { resolve })
    const read = (value: unknown) => verdictOf(row.body!.read(value, { minor: 0, isAdmin: true }))
    const { seen, judge } = agreement(judgeOf(schema))
    fc.assert(
      fc.property(fc.oneof(values, changed(values)).filter(isText), (value) => judge(value, read(value))),
      seeded,
    )
    expect(seen.allowed).toBeGreaterThan(RUNS / 20)
    expect(seen.forbidden).toBeGreaterThan(RUNS / 20)
  })
})

const args = ROUTES.flatMap((row) =>
  operationOf(row.path, row.method)
    .parameters.filter(({ name }) => Object.hasOwn(row.query ?? {}, name))
    .map((parameter) => [`${parameter.name} of ${row.method} ${row.path}`, row, parameter] as const),
)

/** A text of the query as the schema sees it: a number, a truth value or a list where it reads like one. */
const meanings = (text: string, { schema = {}, allowEmptyValue = false }: Parameter): readonly unknown[] => {
  if (text === '' && allowEmptyValue) return [text]
  if (schema['type'] === 'array') return [text.split(',')]
  const number = /^\d{1,10}$/.test(text) ? [Number(text)] : []
  const flag = /^(true|false)$/i.test(text) ? [text.toLowerCase() === 'true'] : []
  return [text, ...number, ...flag]
}
const parsed = (text: string): readonly unknown[] => {
  try {
    return [JSON.parse(text)]
  } catch {
    return []
  }
}
/** A body that the route takes: its arguments are what is looked at. */
const BODIES: Readonly<Record<string, Json>> = {
  'POST /v2/profile_checks': { groups: [{ 'resources:FPGA': '1' }] },
  'POST /v2/hosts/:name/retire': { reason: 'x' },
  'PATCH /v2/device_profiles/:id': { reason: 'x', groups: [{ 'resources:FPGA': '1' }] },
}
const bodyFor = ({ method, path }: { readonly method: string; readonly path: string }): { readonly body?: Json } => {
  const body = BODIES[`${method} ${path}`]
  return body === undefined ? {} : { body }
}
const sent = (value: unknown): string => (Array.isArray(value) ? value.map(String).join(',') : String(value))

const NEWEST = { 'OpenStack-API-Version': 'accelerator latest, accelerando latest' } as const

describe('a query argument', () => {
  test.each(args)('%s', async (_, row, parameter) => {
    const isJson = parameter.schema === undefined
    const schema = parameter.schema ?? parameter.content!['application/json'].schema
    const holds = judgeOf(schema)
    const allowed = (text: unknown) =>
      (text === '' && parameter.allowEmptyValue === true) ||
      (isJson ? parsed(String(text)) : meanings(String(text), parameter)).some((each) => holds(each))
    // What else the route cannot do without.
    const needed = ['reason', 'value'].filter((name) => row.query![name] !== undefined && parameter.name !== name)
    const more =
      row.query!['name'] !== undefined && parameter.name === 'name' ? '' : needed.map((name) => `&${name}=x`).join('')
    const path = row.path.replace(/:\w+/g, UUID)
    const { app } = strictApp()
    const read = async (text: string): Promise<Verdict> => {
      const line = `${row.method} ${path}?${parameter.name}=${encodeURIComponent(text)}${more}`
      const { status, fault } = await send(app, line, { headers: { ...service, ...NEWEST }, ...bodyFor(row) })
      return { ok: status !== 400, fault }
    }
    const values = valuesOf(schema, { resolve })
    const texts = fc
      .oneof(values, changed(values))
      .map((value) => (isJson ? JSON.stringify(value) : sent(value)))
      .filter((text) => text.isWellFormed())
    const { seen, judge } = agreement(allowed)
    await fc.assert(
      fc.asyncProperty(
        fc.oneof({ weight: 20, arbitrary: texts }, { weight: 1, arbitrary: fc.constant('') }),
        async (text) => judge(text, await read(text)),
      ),
      { ...seeded, numRuns: isJson ? RUNS : 60 },
    )
    expect(seen.allowed).toBeGreaterThan(5)
  })
})

test('the largest number that a query argument takes is the one that the description states', async () => {
  const limits = args.filter(([, , { schema }]) => schema?.['type'] === 'integer')
  expect(limits.length).toBeGreaterThan(7)
  for (const [name, row, parameter] of limits) {
    const max = parameter.schema!['maximum'] as number
    const ask = async (value: number) => {
      const { app } = strictApp()
      const path = row.path.replaceAll(/:\w+/g, UUID)
      return (await send(app, `${row.method} ${path}?${parameter.name}=${value}`, bodyFor(row))).status
    }
    // The largest is passed on to whoever is asked, which here is nobody.
    expect([max, await ask(max), await ask(max + 1)], name).toEqual([2_147_483_647, 500, 400])
  }
})

describe('the version header', () => {
  const part = fc.oneof(
    fc.constantFrom(
      'accelerator',
      'Accelerator',
      'accelerando',
      'compute',
      'latest',
      '2.0',
      '2.3',
      '2.4',
      '2.5',
      '2.03',
      '3.0',
      'foo',
      '',
      'ä',
    ),
    fc.string({ maxLength: 5 }).filter((text) => !/[^ -~]/.test(text)),
  )
  const header = fc.array(fc.tuple(part, fc.constantFrom(' ', '  ', '\t', ',', ', ', '')), { maxLength: 5 })
  test.each([false, true])(
    'is understood exactly when it matches the pattern; 2.4 and 2.5 are offered: %s',
    async (additive) => {
      const max = latestMinor(additive)
      const { components } = await described(additive)
      const { pattern } = components.parameters['OpenStack-API-Version']!.schema
      const seen = new Set<string>()
      fc.assert(
        fc.property(header, (parts) => {
          const text = parts.flat().join('').trim()
          const got = negotiate(text, max)
          seen.add(got.ok ? String(got.minor) : 'refused')
          expect(got.ok, text).toBe(new RegExp(pattern, 'u').test(text))
          if (got.ok) expect(got.minor).toBeLessThanOrEqual(max)
        }),
        { ...seeded, numRuns: 3000 },
      )
      expect([...seen].toSorted()).toEqual(['0', '3', ...(additive ? ['4', '5'] : []), 'refused'])
    },
  )
  const whole = fc.constantFrom(
    ...['accelerando latest', 'Accelerando  LATEST ', 'accelerando 2.5', 'accelerando 2.4', 'accelerando 2.9'],
    ...['accelerando 2.55', 'accelerator 2.3', 'accelerator 2.5', 'latest', 'compute 2.1', 'accelerando', '2.0', ''],
  )
  const listed = fc.array(whole, { maxLength: 4 }).map((all) => [all.join(', ')])
  test.each([false, true])(
    'chooses an operation of 2.5 exactly when it matches the pattern there; 2.5 is offered: %s',
    (additive) => {
      const max = latestMinor(additive)
      const pattern = new RegExp(versionPattern(max, SINCE.profileVersions), 'u')
      const seen = { chosen: 0, not: 0 }
      fc.assert(
        fc.property(fc.oneof(header, header, listed), (parts) => {
          const text = parts.flat().join('').trim()
          const got = negotiate(text, max)
          const chosen = got.ok && Math.max(got.minor, additionsAsked(text)) >= SINCE.profileVersions
          seen[chosen ? 'chosen' : 'not'] += 1
          expect(chosen, text).toBe(pattern.test(text))
        }),
        { ...seeded, numRuns: 3000 },
      )
      expect(seen.chosen).toBeGreaterThan(50)
    },
  )
})

test('the description forbids those characters in text that the rule for text forbids', () => {
  const { schema } = operationOf('/v2/devices', 'GET').parameters.find(({ name }) => name === 'vendor')!
  const shape = new RegExp(schema!['pattern'] as string, 'u')
  const differing = Array.from({ length: 0x11_0000 }, (_, code) => String.fromCodePoint(code)).filter(
    (text) => text.isWellFormed() && shape.test(text) !== (brokenText(text, { characters: 5 }) === null),
  )
  expect(differing).toEqual([])
})

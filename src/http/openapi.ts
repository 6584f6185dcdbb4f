/** Generates the OpenAPI description from the routes. */
import { toJsonSchema } from '@valibot/to-json-schema'
import type { ConversionConfig } from '@valibot/to-json-schema'
import { STATUS_TITLES } from './faults.ts'
import type { Args } from './query.ts'
import type { Route } from './route.ts'
import * as schemas from './schemas.ts'
import type { Schema } from './schemas.ts'
import { isVersioned } from './paths.ts'

type Json = Readonly<Record<string, unknown>>

/** Named schemas; every occurrence is replaced by a reference to the name. */
const NAMED: Readonly<Record<string, Schema>> = {
  Profile: schemas.Profile,
  AcceleratorRequest: schemas.Arq,
  Device: schemas.Device,
  Deployable: schemas.Deployable,
  Attribute: schemas.Attribute,
  Host: schemas.Host,
  HostDetail: schemas.HostDetail,
  Handle: schemas.Handle,
  HandleDetail: schemas.HandleDetail,
  Timeline: schemas.Timeline,
  Version: schemas.Version,
  Link: schemas.Link,
  Error: schemas.ErrorBody,
}
const CONFIG = {
  target: 'draft-2020-12',
  typeMode: 'input',
  errorMode: 'ignore',
  overrideRef: ({ referenceId }) => `#/components/schemas/${referenceId}`,
} as const satisfies ConversionConfig

const jsonSchema = (schema: Schema): unknown => {
  const { $schema: _, $defs: __, ...printed } = toJsonSchema(schema, { ...CONFIG, definitions: NAMED })
  return printed
}
const named = (): Json =>
  Object.fromEntries(
    Object.entries(NAMED).map(([name, schema]) => {
      const { [name]: _, ...others } = NAMED
      const { $schema: __, $defs: ___, ...printed } = toJsonSchema(schema, { ...CONFIG, definitions: others })
      return [name, printed]
    }),
  )
const content = (schema: unknown): Json => ({ 'application/json': { schema } })

const pathParameters = (row: Route): readonly Json[] =>
  [...row.path.matchAll(/:(\w+)/g)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    schema: row.uuids?.[name!] === undefined ? { type: 'string' } : { type: 'string', format: 'uuid' },
  }))

const queryParameters = (args: Args): readonly Json[] =>
  Object.entries(args).map(([name, { schema, about }]) => ({ name, in: 'query', description: about, schema }))

const VERSION_HEADER = {
  name: 'OpenStack-API-Version',
  in: 'header',
  description: '`accelerator 2.x` or `accelerator latest`; absent means 2.0.',
  schema: { type: 'string' },
}

const refusals = (row: Route): readonly number[] => {
  const versioned = isVersioned(row.path) ? [406] : []
  const guarded = row.rule === null ? [] : [400, 401, 403]
  const bodied = row.body === undefined ? [] : [413, 415]
  return [...new Set([...versioned, ...guarded, ...bodied, ...(row.docs.refusals ?? [])])].toSorted((a, b) => a - b)
}

const answers = (row: Route): Json => ({
  ...Object.fromEntries(
    Object.entries(row.docs.answers).map(([status, schema]) => [
      status,
      {
        description: schema === null ? 'Done; no body.' : 'Done.',
        ...(schema !== null && { content: content(jsonSchema(schema)) }),
      },
    ]),
  ),
  ...Object.fromEntries(refusals(row).map((status) => [status, { $ref: `#/components/responses/${status}` }])),
})

const refusalAnswers = (): Json =>
  Object.fromEntries(
    Object.entries(STATUS_TITLES).map(([status, description]) => [
      status,
      { description, content: content({ $ref: '#/components/schemas/Error' }) },
    ]),
  )

const operation = (row: Route): Json => ({
  summary: row.docs.summary,
  ...(row.rule !== null && { 'x-policy-rule': row.rule }),
  parameters: [
    ...pathParameters(row),
    ...queryParameters(row.query ?? {}),
    ...(isVersioned(row.path) ? [VERSION_HEADER] : []),
  ],
  ...(row.body !== undefined && { requestBody: { required: true, content: content(jsonSchema(row.body.schema)) } }),
  responses: answers(row),
  security: row.rule === null ? [] : [{ token: [] }],
})

/** Converts a path such as `/v2/devices/:uuid` to the syntax of OpenAPI. */
const template = (path: string): string => path.replace(/:(\w+)/g, '{$1}')

const paths = (rows: readonly Route[]): Json => {
  const found: Record<string, Record<string, Json>> = {}
  for (const row of rows) (found[template(row.path)] ??= {})[row.method.toLowerCase()] = operation(row)
  return found
}

export const openapi = (rows: readonly Route[]): Json => ({
  openapi: '3.1.0',
  info: {
    title: 'accelerando',
    version: '2.3',
    description:
      'The OpenStack Cyborg API, version 2. Every path is also served under /accelerator, and without /v2. An unknown query argument is refused.',
    license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
  },
  servers: [{ url: '/' }],
  paths: paths(rows),
  components: {
    schemas: named(),
    responses: refusalAnswers(),
    securitySchemes: { token: { type: 'apiKey', in: 'header', name: 'X-Auth-Token' } },
  },
})

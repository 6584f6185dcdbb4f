/** Generates the OpenAPI description from the routes. */
import { STATUS_TITLES } from './faults.ts'
import { HostDetail } from './hostSchema.ts'
import { printed } from './printed.ts'
import type { Args } from './query.ts'
import type { Route } from './route.ts'
import * as schemas from './schemas.ts'
import * as profileSchemas from './profileSchemas.ts'
import type { Schema } from './schemas.ts'
import { textShape, UUID_SHAPE } from './shapes.ts'
import type { Json } from './shapes.ts'
import { isVersioned } from './paths.ts'
import { NAME_LIMIT } from '../vocabulary/text.ts'
import { latestMinor, MAJOR, versionPattern } from './versions.ts'
import type { Latest } from './versions.ts'

/** Named schemas; every occurrence is replaced by a reference to the name. */
const NAMED: Readonly<Record<string, Schema>> = {
  Profile: profileSchemas.Profile,
  AcceleratorRequest: schemas.Arq,
  Device: schemas.Device,
  Deployable: schemas.Deployable,
  Attribute: schemas.Attribute,
  Host: schemas.Host,
  HostDetail,
  Handle: schemas.Handle,
  HandleDetail: schemas.HandleDetail,
  Timeline: schemas.Timeline,
  Version: schemas.Version,
  Link: schemas.Link,
  Error: schemas.ErrorBody,
  IdentityError: schemas.IdentityError,
}
const jsonSchema = (schema: Schema): Json => printed(schema, NAMED)
const named = (): Json =>
  Object.fromEntries(
    Object.entries(NAMED).map(([name, schema]) => {
      const { [name]: _, ...others } = NAMED
      return [name, printed(schema, others)]
    }),
  )
const content = (schema: unknown): Json => ({ 'application/json': { schema } })

const pathParameters = (row: Route): readonly Json[] =>
  [...row.path.matchAll(/:(\w+)/g)].map(([, name]) => {
    const { about, schema } = row.docs.path?.[name!] ?? {
      schema: row.uuids?.[name!] === undefined ? textShape(NAME_LIMIT, 1) : UUID_SHAPE,
    }
    return { name, in: 'path', ...(about !== undefined && { description: about }), required: true, schema }
  })

const queryParameters = (args: Args): readonly Json[] =>
  Object.entries(args).map(([name, { schema, about, mayBeEmpty, json, required }]) => ({
    name,
    in: 'query',
    description: about,
    ...(required && { required }),
    ...(mayBeEmpty && { allowEmptyValue: true }),
    ...(schema['type'] === 'array' && { style: 'form', explode: false }),
    ...(json ? { content: content(schema) } : { schema }),
  }))

/** Of these arguments exactly one is given: together they are one object, of which each member is an argument. */
const choiceOf = (names: readonly string[], args: Args): Json => ({
  name: 'selector',
  in: 'query',
  description: names.map((name) => `${name}: ${args[name]!.about}`).join(' '),
  required: true,
  style: 'form',
  explode: true,
  schema: {
    type: 'object',
    properties: Object.fromEntries(names.map((name) => [name, args[name]!.schema])),
    additionalProperties: false,
    oneOf: names.map((name) => ({ required: [name] })),
  },
})
const argumentsOf = ({ query = {}, oneOf }: Pick<Route, 'query' | 'oneOf'>): readonly Json[] => {
  if (oneOf === undefined) return queryParameters(query)
  const others = Object.entries(query).filter(([name]) => !oneOf.includes(name))
  return [choiceOf(oneOf, query), ...queryParameters(Object.fromEntries(others))]
}

const VERSION_HEADER = 'OpenStack-API-Version'
/** `since`: the version that introduced the operation; absent: the lowest. */
const versionHeader = (max: Latest, since?: number): Json => ({
  name: VERSION_HEADER,
  in: 'header',
  description: `\`accelerator 2.x\` or \`accelerator latest\`, also without the first word; several services may share the header, comma separated. ${
    since === undefined
      ? 'Absent means 2.0.'
      : `Here ${MAJOR}.${since} or newer, or \`accelerando ${MAJOR}.${since}\` beside an older version.`
  }`,
  ...(since !== undefined && { required: true, example: `accelerator latest, accelerando ${MAJOR}.${since}` }),
  schema: { type: 'string', pattern: versionPattern(max, since) },
})

const refusals = (row: Route): readonly number[] => {
  const versioned = isVersioned(row.path) ? [406] : []
  const guarded = row.rule === null ? [400] : [400, 401, 403, 503]
  const { marker, as_of: past } = row.query ?? {}
  const shared = row.share !== undefined || marker !== undefined || past !== undefined ? [429] : []
  const bodied = row.body === undefined ? [] : [413, 415]
  // the entry of a marker may be gone
  const marked = marker === undefined ? [] : [404]
  return [
    ...new Set([...versioned, ...guarded, ...shared, ...bodied, ...marked, ...(row.docs.refusals ?? [])]),
  ].toSorted((a, b) => a - b)
}

const versionOf = ({ since }: Route, max: Latest): Json =>
  since === undefined ? { $ref: `#/components/parameters/${VERSION_HEADER}` } : versionHeader(max, since.minor)

const REQUEST_ID = 'x-openstack-request-id'
const VERSIONED = ['OpenStack-API-Minimum-Version', 'OpenStack-API-Maximum-Version', 'Vary'] as const
/** Headers of answers. */
const answerHeaders = (max: Latest): Json => {
  const always = (value: string, description: string) => ({ description, required: true, schema: { const: value } })
  return {
    [REQUEST_ID]: {
      description: 'Names the request in the log of the service.',
      required: true,
      schema: { type: 'string', pattern: '^req-[0-9a-f-]{36}$' },
    },
    [VERSIONED[0]]: always(`${MAJOR}.0`, 'The lowest microversion.'),
    [VERSIONED[1]]: always(`${MAJOR}.${max}`, 'The highest microversion.'),
    [VERSIONED[2]]: always(VERSION_HEADER, 'The header of the request on which the answer depends.'),
    'WWW-Authenticate': {
      description: 'How callers are authenticated.',
      required: true,
      schema: { type: 'string' },
    },
    'Retry-After': {
      description: 'After so many seconds it is worth another try.',
      schema: { type: 'integer', minimum: 0 },
    },
  }
}
const headersOf = (...names: readonly string[]): Json =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]))

const fileContent = ({ docs: { file } }: Route): Json =>
  file === undefined
    ? {}
    : {
        content: {
          [file.type]: { schema: { type: 'string', contentMediaType: file.type, description: file.about } },
        },
      }
const streamContent = ({ docs }: Route): Json =>
  docs.streams === undefined ? {} : { 'text/event-stream': { schema: { type: 'string', description: docs.streams } } }

const answers = (row: Route): Json => ({
  ...Object.fromEntries(
    Object.entries(row.docs.answers).map(([status, schema]) => [
      status,
      {
        description: schema === null && row.docs.file === undefined ? 'Done; no body.' : 'Done.',
        headers: headersOf(REQUEST_ID, ...(isVersioned(row.path) ? VERSIONED : [])),
        ...(schema !== null && {
          content: { ...content(jsonSchema(schema)), ...(status === '200' ? streamContent(row) : {}) },
        }),
        ...(status === '200' ? fileContent(row) : {}),
      },
    ]),
  ),
  ...Object.fromEntries(refusals(row).map((status) => [status, { $ref: `#/components/responses/${status}` }])),
})

const MORE_HEADERS: Readonly<Record<string, readonly string[]>> = {
  401: ['WWW-Authenticate'],
  423: ['Retry-After'],
  429: ['Retry-After'],
  503: ['Retry-After'],
}
const refusalAnswers = (): Json =>
  Object.fromEntries(
    Object.entries(STATUS_TITLES).map(([status, description]) => [
      status,
      {
        description,
        headers: headersOf(REQUEST_ID, ...(MORE_HEADERS[status] ?? [])),
        content: content({ $ref: `#/components/schemas/${status === '401' ? 'IdentityError' : 'Error'}` }),
      },
    ]),
  )

const operation = (row: Route, max: Latest): Json => ({
  summary: row.docs.summary,
  ...(row.rule !== null && { 'x-policy-rule': row.rule }),
  parameters: [
    ...pathParameters(row),
    ...argumentsOf(row),
    ...Object.entries(row.docs.headers ?? {}).map(([name, { about, schema }]) => ({
      name,
      in: 'header',
      description: about,
      schema,
    })),
    ...(isVersioned(row.path) ? [versionOf(row, max)] : []),
  ],
  ...(row.body !== undefined && { requestBody: { required: true, content: content(jsonSchema(row.body.schema)) } }),
  responses: answers(row),
  // The program itself asks for no token, but a proxy in front of it may.
  security: row.rule === null ? [] : [{}, { token: [] }],
})

/** Converts a path such as `/v2/devices/:uuid` to the syntax of OpenAPI. */
const template = (path: string): string => path.replace(/:(\w+)/g, '{$1}')

const paths = (rows: readonly Route[], max: Latest): Json => {
  const found: Record<string, Record<string, Json>> = {}
  for (const row of rows) (found[template(row.path)] ??= {})[row.method.toLowerCase()] = operation(row, max)
  return found
}

/** A schema with the spellings of a UUID occurs in many places; each becomes a reference to this name. */
const GIVEN_UUID = 'GivenUuid'
const withReferences = (json: Json): Json =>
  JSON.parse(
    JSON.stringify(json).replaceAll(
      JSON.stringify(UUID_SHAPE),
      JSON.stringify({ $ref: `#/components/schemas/${GIVEN_UUID}` }),
    ),
  ) as Json

const ABOUT =
  `The OpenStack Cyborg API, version ${MAJOR}. Every path is also served under /accelerator, and without /v2.
An unknown query argument is refused with 400. Of a scalar argument that is given several times the last one counts; a list may be
given several times as well. A UUID may be spelt in upper case, without dashes, in braces or as a URN. No text may hold a NUL
character or half of a surrogate pair, and a body is at most 16 levels deep. A name in the path, the query or a header has at most
255 characters, none of them a control or an invisible format character. Who is calling is said by the headers X-User-Id,
X-Project-Id, X-Roles and X-Service-Roles.`.replaceAll('\n', ' ')

/** `max` is the highest minor version that is offered. */
export const openapi = (rows: readonly Route[], max: Latest = latestMinor(false)): Json => ({
  openapi: '3.1.0',
  info: {
    title: 'accelerando',
    version: `${MAJOR}.${max}`,
    description: ABOUT,
    license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
  },
  servers: [{ url: '/' }],
  paths: withReferences(paths(rows, max)),
  components: {
    schemas: { ...named(), [GIVEN_UUID]: UUID_SHAPE },
    parameters: { [VERSION_HEADER]: versionHeader(max) },
    headers: answerHeaders(max),
    responses: refusalAnswers(),
    securitySchemes: { token: { type: 'apiKey', in: 'header', name: 'X-Auth-Token' } },
  },
})

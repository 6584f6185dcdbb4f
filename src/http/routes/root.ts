/** Discovery, health, and the descriptions of the API and of the bus behind it. */
import { asyncapi } from '../../wire/asyncapi.ts'
import { openapi } from '../openapi.ts'
import { reply, route } from '../route.ts'
import type { Route } from '../route.ts'
import * as schemas from '../schemas.ts'
import { latestMinor, MAJOR } from '../versions.ts'
import type { Latest } from '../versions.ts'
import * as v from 'valibot'

const version = (id: string, href: string, additive: boolean) => ({
  id,
  status: 'CURRENT',
  min_version: `${MAJOR}.0`,
  max_version: `${MAJOR}.${latestMinor(additive)}`,
  links: [{ href, rel: 'self' }],
})

const root = route({
  method: 'GET',
  path: '/',
  rule: null,
  docs: { summary: 'The versions of the API.', answers: { 200: schemas.Root } },
  handle: ({ base, options }) => {
    const entry = version('v2', `${base}/accelerator/v2`, options.additiveMicroversion)
    return reply(200, {
      name: 'accelerando',
      description: 'Manages the life of hardware accelerators: the OpenStack Cyborg API.',
      versions: [entry],
      default_version: entry,
    })
  },
})

const v2 = route({
  method: 'GET',
  path: '/v2',
  rule: null,
  docs: { summary: 'Version 2 and its range of microversions.', answers: { 200: schemas.Version } },
  handle: ({ base, options }) => reply(200, version('v2.0', `${base}/accelerator/v2/`, options.additiveMicroversion)),
})

const healthz = route({
  method: 'GET',
  path: '/healthz',
  rule: null,
  docs: { summary: 'Whether the process answers.', answers: { 200: schemas.Status } },
  handle: () => reply(200, { status: 'ok' }),
})

const readyz = route({
  method: 'GET',
  path: '/readyz',
  rule: null,
  docs: { summary: 'Whether the service is ready to work.', answers: { 200: schemas.Status, 503: schemas.Status } },
  handle: ({ control }) =>
    control.notReady() === null ? reply(200, { status: 'ready' }) : reply(503, { status: 'not ready' }),
})

/** `rows` contains all routes including this one, because the description covers it too. */
const description = (rows: () => readonly Route[]): Route => {
  const printed: { [max in Latest]?: unknown } = {}
  const print = (max: Latest): unknown => (printed[max] ??= openapi(rows(), max))
  return route({
    method: 'GET',
    path: '/openapi.json',
    rule: null,
    docs: { summary: 'This description.', answers: { 200: v.looseObject({ openapi: v.string() }) } },
    handle: ({ options }) => reply(200, print(latestMinor(options.additiveMicroversion))),
  })
}

/** The description of the messages on the bus, for readers of the topics. */
const busDescription = (): Route => {
  let printed: unknown
  return route({
    method: 'GET',
    path: '/asyncapi.json',
    rule: null,
    docs: {
      summary: 'Description of the topics on the bus.',
      answers: { 200: v.looseObject({ asyncapi: v.string() }) },
    },
    handle: () => reply(200, (printed ??= asyncapi())),
  })
}

export const rootRoutes = (rows: () => readonly Route[]): readonly Route[] => [
  root,
  v2,
  healthz,
  readyz,
  description(rows),
  busDescription(),
]

/** The parts of Keystone's answers that are used: tokens and the service catalogue (Identity API v3). */
import * as v from 'valibot'
import type { PolicyFields, Token } from '../../vocabulary/token.ts'
import type { Answer } from './send.ts'

const NAME = v.pipe(v.string(), v.minLength(1), v.maxLength(255))
/** Names are only shown, so a name that is not a text counts as absent. */
const SHOWN = v.fallback(v.optional(NAME), undefined)
const ENDPOINT = v.object({
  interface: v.string(),
  url: v.string(),
  region: v.optional(v.nullable(v.string())),
  region_id: v.optional(v.nullable(v.string())),
})
const CATALOG = v.array(v.object({ type: v.string(), endpoints: v.array(ENDPOINT) }))
const RULE = v.object({ service: NAME, method: NAME, path: v.pipe(v.string(), v.maxLength(1024)) })
const DOMAIN = v.optional(v.object({ id: v.optional(NAME) }))
const TOKEN = v.object({
  token: v.object({
    expires_at: v.pipe(v.string(), v.isoTimestamp()),
    user: v.object({ id: NAME, name: SHOWN, domain: DOMAIN }),
    project: v.optional(v.object({ id: NAME, name: SHOWN, domain: DOMAIN })),
    is_admin_project: v.optional(v.boolean()),
    roles: v.optional(v.pipe(v.array(v.object({ name: NAME })), v.maxLength(1000))),
    catalog: v.optional(CATALOG),
    application_credential: v.optional(
      v.object({ access_rules: v.optional(v.nullable(v.pipe(v.array(RULE), v.maxLength(1000)))) }),
    ),
  }),
})
export type Catalog = v.InferOutput<typeof CATALOG>

export type Read = {
  readonly token: Token
  /** ms since the epoch, by the clock of Keystone. */
  readonly expiresAt: number
  readonly catalog: Catalog
}
/**
 * How long the token lasts from now on, in ms. The server's `Date` header counts as the present time, or `now` if it is
 * absent.
 */
export const remainingMs = ({ expiresAt }: Read, { headers }: Answer, now: number): number => {
  const then = Date.parse(headers['date'] ?? '')
  return expiresAt - (Number.isNaN(then) ? now : then)
}

const fieldsOf = (token: v.InferOutput<typeof TOKEN>['token']): PolicyFields => {
  const [user, project, inAdminProject] = [token.user.domain?.id, token.project?.domain?.id, token.is_admin_project]
  return {
    ...(user !== undefined && { user_domain_id: user }),
    ...(project !== undefined && { project_domain_id: project }),
    ...(inAdminProject !== undefined && { is_admin_project: inAdminProject ? 'True' : 'False' }),
  }
}

/** Null: the text is not an answer of the Identity API. */
export const readToken = (text: string): Read | null => {
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch {
    return null
  }
  const parsed = v.safeParse(TOKEN, json)
  if (!parsed.success) return null
  const fields = fieldsOf(parsed.output.token)
  const { user, project, roles = [], expires_at, catalog = [], application_credential: limited } = parsed.output.token
  return {
    token: {
      userId: user.id,
      projectId: project?.id ?? null,
      ...(user.name === undefined ? {} : { names: { user: user.name, project: project?.name ?? null } }),
      roles: roles.map(({ name }) => name.toLowerCase()),
      ...(Object.keys(fields).length > 0 && { fields }),
      accessRules: limited?.access_rules ?? null,
    },
    expiresAt: Date.parse(expires_at),
    catalog,
  }
}

export type EndpointQuery = {
  readonly type: string
  /** The interfaces in order of preference; the first one that the catalogue has is used. */
  readonly interfaces: readonly string[]
  /** Null: any region. */
  readonly region: string | null
}
/** The URL of a service, without a slash at its end. Null: the catalogue has no such endpoint. */
export const endpointIn = (catalog: Catalog, { type, interfaces, region }: EndpointQuery): string | null => {
  const all = catalog.filter((service) => service.type === type).flatMap(({ endpoints }) => endpoints)
  const near = all.filter((one) => region === null || (one.region_id ?? one.region) === region)
  for (const wanted of interfaces) {
    const found = near.find((one) => one.interface === wanted)
    if (found !== undefined) return found.url.replace(/\/+$/, '')
  }
  return null
}

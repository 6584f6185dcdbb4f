/**
 * What this service asks of Keystone, answered as the real one does, without a network: tokens, their validation, the
 * catalogue, application credentials. `keystoneDouble.ts` puts it behind HTTP, where
 * `test/contracts/keystone.contract.ts` compares it with the real one; the simulation puts it behind its own network.
 */
export type ModelUser = {
  readonly id: string
  readonly project?: { readonly id: string; readonly name: string }
  readonly roles: readonly string[]
}
type Scope = { readonly project?: { readonly name: string }; readonly system?: object; readonly domain?: object }
type Rule = { readonly service: string; readonly method: string; readonly path: string }
type Issued = {
  readonly user: string
  readonly scope: Scope
  readonly expiresAt: number
  readonly rules?: readonly Rule[]
}
/** `rules`: absent, it is not limited. */
type Credential = { readonly user: string; readonly secret: string; readonly rules?: readonly Rule[] }

export type ModelRequest = {
  readonly method: string
  /** With the query. */
  readonly path: string
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly body: unknown
}
/** `token`: for the header `X-Subject-Token`. */
export type ModelAnswer = { readonly status: number; readonly body?: unknown; readonly token?: string }

type Parts = {
  /** By the name with which they sign in; undefined: there is no such user. */
  readonly userOf: (name: string) => ModelUser | undefined
  readonly password: string
  /** By the clock of this Keystone, ms since the epoch. */
  readonly now: () => number
  /** Different each time. */
  readonly random: () => string
}
export type KeystoneModel = {
  lifeMs: number
  /** Of the catalogue: type and URL. */
  services: Readonly<Record<string, string>>
  readonly handle: (request: ModelRequest) => ModelAnswer
  readonly isLive: (token: string) => boolean
  /** Who holds the token; null: it is no token of this Keystone, or none that works. */
  readonly holderOf: (token: string) => ModelUser | null
  /** Ends the token at once. */
  readonly revoke: (token: string) => void
  readonly revokeAll: () => void
}

const iso = (ms: number): string => new Date(ms).toISOString().replace('Z', '000Z')
const endpoints = (url: string) =>
  ['public', 'internal', 'admin'].map((name) => ({ interface: name, region_id: 'RegionOne', region: 'RegionOne', url }))
export const failure = (code: number, title: string): ModelAnswer => ({
  status: code,
  body: { error: { code, title, message: title } },
})

type Auth = {
  readonly identity: {
    readonly methods: readonly string[]
    readonly password?: { readonly user: { readonly name: string; readonly password: string } }
    readonly application_credential?: { readonly id: string; readonly secret: string }
  }
  readonly scope?: Scope
}

export const keystoneModel = ({ userOf, password, now, random }: Parts): KeystoneModel => {
  const tokens = new Map<string, Issued>()
  const credentials = new Map<string, Credential>()
  const view = ({ user: name, scope, expiresAt, rules }: Issued, catalog: boolean) => {
    const { id, project, roles } = userOf(name)!
    const scoped = scope.project !== undefined || scope.system !== undefined
    return {
      token: {
        methods: ['password'],
        user: { id, name, domain: { id: 'default', name: 'Default' } },
        expires_at: iso(expiresAt),
        issued_at: iso(expiresAt - model.lifeMs),
        ...(scope.project && { project }),
        ...(scope.system && { system: scope.system }),
        ...(scoped && { roles: roles.map((role) => ({ id: role, name: role })) }),
        ...(rules && { application_credential: { id: 'x', name: 'x', restricted: true, access_rules: rules } }),
        ...(catalog &&
          scoped && {
            catalog: Object.entries(model.services).map(([type, url]) => ({
              type,
              name: type,
              endpoints: endpoints(url),
            })),
          }),
      },
    }
  }
  const issue = (issued: Omit<Issued, 'expiresAt'>): ModelAnswer => {
    const token = `gAAAA${random()}`
    // Keystone's tokens have the resolution of seconds
    const one = { ...issued, expiresAt: Math.floor((now() + model.lifeMs) / 1000) * 1000 }
    tokens.set(token, one)
    return { status: 201, token, body: view(one, true) }
  }
  const authenticate = ({ identity, scope = {} }: Auth): ModelAnswer => {
    const credential = credentials.get(identity.application_credential?.id ?? '')
    if (credential !== undefined && credential.secret === identity.application_credential?.secret) {
      const { user, rules } = credential
      return issue({ user, scope: { project: { name: userOf(user)!.project!.name } }, ...(rules && { rules }) })
    }
    const user = identity.password?.user
    const known = userOf(user?.name ?? '')
    const fits = scope.project === undefined || scope.project.name === known?.project?.name
    return known !== undefined && user?.password === password && fits
      ? issue({ user: user.name, scope })
      : failure(401, 'Unauthorized')
  }
  const live = (id: string | undefined, allowExpired = false): Issued | undefined => {
    const issued = tokens.get(id ?? '')
    return issued !== undefined && (allowExpired || issued.expiresAt > now()) ? issued : undefined
  }
  const subject = ({ method, headers }: ModelRequest, query: URLSearchParams): ModelAnswer => {
    const id = headers['x-subject-token']
    if (method === 'DELETE') return tokens.delete(id ?? '') ? { status: 204 } : failure(404, 'Not Found')
    const issued = live(id, query.get('allow_expired') === '1')
    const understands = headers['openstack-identity-access-rules'] === '1.0'
    if (issued === undefined || (issued.rules !== undefined && !understands)) return failure(404, 'Not Found')
    return { status: 200, token: id!, body: view(issued, !query.has('nocatalog')) }
  }
  const createCredential = (caller: Issued, body: unknown): ModelAnswer => {
    const { secret, access_rules: rules } = (
      body as { application_credential: { secret: string; access_rules?: Rule[] } }
    ).application_credential
    const id = random()
    credentials.set(id, { user: caller.user, secret, ...(rules && { rules }) })
    return { status: 201, body: { application_credential: { id, secret, access_rules: rules ?? null } } }
  }
  const model: KeystoneModel = {
    lifeMs: 3_600_000,
    services: {},
    handle: (request) => {
      const { pathname, searchParams } = new URL(request.path, 'http://keystone')
      if (request.method === 'POST' && pathname === '/v3/auth/tokens')
        return authenticate((request.body as { auth: Auth }).auth)
      // a service of the catalogue that takes no token
      if (pathname.startsWith('/refusing')) return failure(401, 'Unauthorized')
      const caller = live(request.headers['x-auth-token'])
      if (caller === undefined) return failure(401, 'Unauthorized')
      if (pathname === '/v3/auth/tokens') return subject(request, searchParams)
      if (pathname.endsWith('/application_credentials')) return createCredential(caller, request.body)
      return failure(404, 'Not Found')
    },
    isLive: (token) => live(token) !== undefined,
    holderOf: (token) => userOf(live(token)?.user ?? '') ?? null,
    revoke: (token) => void tokens.delete(token),
    revokeAll: () => tokens.clear(),
  }
  return model
}

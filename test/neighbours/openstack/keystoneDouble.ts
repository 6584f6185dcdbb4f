/** A Keystone in memory, over HTTP: what the service asks of the real one, answered as the real one does. `test/contracts/keystone.contract.ts` runs on both. */
import { randomBytes } from 'node:crypto'
import { type IncomingMessage, type ServerResponse, createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

type Scope = { readonly project?: { readonly name: string }; readonly system?: object; readonly domain?: object }
type Rule = { readonly service: string; readonly method: string; readonly path: string }
type Issued = {
  readonly user: string
  readonly scope: Scope
  readonly expiresAt: number
  readonly rules?: readonly Rule[]
}
type Credential = { readonly user: string; readonly secret: string; readonly rules: readonly Rule[] }
/** `down`: connections are closed; `broken`: 503; `silent`: no answer. */
export type Mood = 'well' | 'down' | 'broken' | 'silent'

const PASSWORD = 'rig-secret'
const ALL = ['admin', 'manager', 'member', 'reader']
/** The users of `infra/rig/openstack`, with the roles they have in their project. */
const USERS: Readonly<Record<string, { readonly project?: string; readonly roles: readonly string[] }>> = {
  admin: { project: 'admin', roles: ALL },
  cyborg: { project: 'service', roles: ['service', ...ALL] },
  'plain-service': { project: 'service', roles: ['service'] },
  'alpha-member': { project: 'alpha', roles: ['member', 'reader'] },
  'alpha-reader': { project: 'alpha', roles: ['reader'] },
  'alpha-manager': { project: 'alpha', roles: ['manager', 'member', 'reader'] },
  'alpha-bare': { project: 'alpha', roles: ['bare'] },
  'system-reader': { roles: ['reader'] },
  nobody: { roles: [] },
}

const iso = (ms: number): string => new Date(ms).toISOString().replace('Z', '000Z')
const endpoints = (url: string) =>
  ['public', 'internal', 'admin'].map((name) => ({ interface: name, region_id: 'RegionOne', region: 'RegionOne', url }))

export type KeystoneDouble = {
  readonly authUrl: string
  mood: Mood
  lifeMs: number
  /** Added to the clock of this Keystone. */
  skewMs: number
  /** Further services of the catalogue: type and URL. */
  services: Readonly<Record<string, string>>
  /** Paths asked so far, with the method. */
  readonly asked: string[]
  readonly isLive: (token: string) => boolean
  readonly revokeAll: () => void
  readonly close: () => Promise<void>
}

type Answer = { readonly status: number; readonly body?: unknown; readonly token?: string }
const failure = (code: number, title: string): Answer => ({
  status: code,
  body: { error: { code, title, message: title } },
})

export const keystoneDouble = async (): Promise<KeystoneDouble> => {
  const tokens = new Map<string, Issued>()
  const credentials = new Map<string, Credential>()
  const now = () => Date.now() + state.skewMs
  const view = ({ user, scope, expiresAt, rules }: Issued, catalog: boolean) => {
    const { project, roles } = USERS[user]!
    const scoped = scope.project !== undefined || scope.system !== undefined
    return {
      token: {
        methods: ['password'],
        user: { id: `id-of-${user}`, name: user, domain: { id: 'default', name: 'Default' } },
        expires_at: iso(expiresAt),
        issued_at: iso(expiresAt - state.lifeMs),
        ...(scope.project && { project: { id: `id-of-${project}`, name: project } }),
        ...(scope.system && { system: scope.system }),
        ...(scoped && { roles: roles.map((name) => ({ id: name, name })) }),
        ...(rules && { application_credential: { id: 'x', name: 'x', restricted: true, access_rules: rules } }),
        ...(catalog &&
          scoped && {
            catalog: Object.entries({ identity: state.authUrl, ...state.services }).map(([type, url]) => ({
              type,
              name: type,
              endpoints: endpoints(url),
            })),
          }),
      },
    }
  }
  const issue = (issued: Omit<Issued, 'expiresAt'>): Answer => {
    const token = `gAAAA${randomBytes(24).toString('base64url')}`
    // Keystone's tokens have the resolution of seconds
    const one = { ...issued, expiresAt: Math.floor((now() + state.lifeMs) / 1000) * 1000 }
    tokens.set(token, one)
    return { status: 201, token, body: view(one, true) }
  }
  type Auth = {
    readonly identity: {
      readonly methods: readonly string[]
      readonly password?: { readonly user: { readonly name: string; readonly password: string } }
      readonly application_credential?: { readonly id: string; readonly secret: string }
    }
    readonly scope?: Scope
  }
  const authenticate = ({ identity, scope = {} }: Auth): Answer => {
    const credential = credentials.get(identity.application_credential?.id ?? '')
    if (credential !== undefined && credential.secret === identity.application_credential?.secret)
      return issue({
        user: credential.user,
        scope: { project: { name: USERS[credential.user]!.project! } },
        rules: credential.rules,
      })
    const user = identity.password?.user
    const known = USERS[user?.name ?? '']
    const fits = scope.project === undefined || scope.project.name === known?.project
    return known !== undefined && user?.password === PASSWORD && fits
      ? issue({ user: user.name, scope })
      : failure(401, 'Unauthorized')
  }
  const live = (id: string | undefined, allowExpired = false): Issued | undefined => {
    const issued = tokens.get(id ?? '')
    return issued !== undefined && (allowExpired || issued.expiresAt > now()) ? issued : undefined
  }
  const subject = (request: IncomingMessage, query: URLSearchParams): Answer => {
    const id = request.headers['x-subject-token'] as string | undefined
    if (request.method === 'DELETE') return tokens.delete(id ?? '') ? { status: 204 } : failure(404, 'Not Found')
    const issued = live(id, query.get('allow_expired') === '1')
    const understands = request.headers['openstack-identity-access-rules'] === '1.0'
    if (issued === undefined || (issued.rules !== undefined && !understands)) return failure(404, 'Not Found')
    return { status: 200, token: id!, body: view(issued, !query.has('nocatalog')) }
  }
  const createCredential = (caller: Issued, body: unknown): Answer => {
    const { secret, access_rules: rules } = (
      body as { application_credential: { secret: string; access_rules: Rule[] } }
    ).application_credential
    const id = randomBytes(16).toString('hex')
    credentials.set(id, { user: caller.user, secret, rules })
    return { status: 201, body: { application_credential: { id, secret, access_rules: rules } } }
  }
  const answer = (request: IncomingMessage, body: unknown): Answer => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://keystone')
    if (request.method === 'POST' && pathname === '/v3/auth/tokens') return authenticate((body as { auth: Auth }).auth)
    // a service of the catalogue that takes no token
    if (pathname.startsWith('/refusing')) return failure(401, 'Unauthorized')
    const caller = live(request.headers['x-auth-token'] as string | undefined)
    if (caller === undefined) return failure(401, 'Unauthorized')
    if (pathname === '/v3/auth/tokens') return subject(request, searchParams)
    if (pathname.endsWith('/application_credentials')) return createCredential(caller, body)
    return failure(404, 'Not Found')
  }
  const write = (response: ServerResponse, { status, body, token }: Answer): void => {
    const headers = { 'content-type': 'application/json', date: new Date(now()).toUTCString() }
    response.writeHead(status, { ...headers, ...(token !== undefined && { 'x-subject-token': token }) })
    response.end(body === undefined ? undefined : JSON.stringify(body))
  }
  const server = createServer((request, response) => {
    let text = ''
    request.setEncoding('utf8').on('data', (part: string) => (text += part))
    request.on('end', () => {
      state.asked.push(`${request.method} ${request.url}`)
      if (state.mood === 'silent') return
      if (state.mood === 'down') return void request.socket.destroy()
      if (state.mood === 'broken') return write(response, failure(503, 'Service Unavailable'))
      write(response, answer(request, text === '' ? null : JSON.parse(text)))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const state: KeystoneDouble = {
    authUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v3`,
    mood: 'well',
    lifeMs: 3_600_000,
    skewMs: 0,
    services: {},
    asked: [],
    isLive: (token) => live(token) !== undefined,
    revokeAll: () => tokens.clear(),
    close: async () => {
      server.closeAllConnections()
      await new Promise<void>((resolve) => void server.close(() => resolve()))
    },
  }
  return state
}

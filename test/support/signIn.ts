/** Signs users of a cloud in, and does with their tokens what only users do. */
import { randomUUID } from 'node:crypto'

export type Scope =
  | { readonly project: string }
  | { readonly domain: string }
  /** The id of a trust. */
  | { readonly trust: string }
  | 'system'
  | 'none'
/** `projectId`: null when the token is not for a project. */
export type Held = { readonly token: string; readonly userId: string; readonly projectId: string | null }

const PASSWORD = 'rig-secret'
const scopeOf = (scope: Scope): object => {
  if (scope === 'none') return {}
  if (scope === 'system') return { scope: { system: { all: true } } }
  if ('domain' in scope) return { scope: { domain: { name: scope.domain } } }
  if ('trust' in scope) return { scope: { 'OS-TRUST:trust': { id: scope.trust } } }
  return { scope: { project: { name: scope.project, domain: { name: 'Default' } } } }
}
const post = async (url: string, body: unknown, headers: Readonly<Record<string, string>> = {}) => {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(20_000),
  })
  if (response.status !== 201) throw new Error(`POST ${url}: ${response.status} ${await response.text()}`)
  return response
}
const heldIn = async (response: Response): Promise<Held> => {
  const { token } = (await response.json()) as {
    readonly token: { readonly user: { readonly id: string }; readonly project?: { readonly id: string } }
  }
  return {
    token: response.headers.get('x-subject-token')!,
    userId: token.user.id,
    projectId: token.project?.id ?? null,
  }
}

export const signIn = async (authUrl: string, user: string, scope: Scope): Promise<Held> => {
  const who = { name: user, domain: { name: 'Default' }, password: PASSWORD }
  const auth = { identity: { methods: ['password'], password: { user: who } }, ...scopeOf(scope) }
  return heldIn(await post(`${authUrl}/auth/tokens`, { auth }))
}

type Rule = { readonly service: string; readonly method: string; readonly path: string }
export type Limited = { readonly id: string; readonly secret: string }
/** A new application credential of the user, for all that its roles allow. `access_rules`: of one that is limited. */
export const credentialOf = async (
  authUrl: string,
  by: Held,
  more: { readonly access_rules?: readonly Rule[] } = {},
): Promise<Limited> => {
  const secret = `secret-${randomUUID()}`
  const body = { application_credential: { name: `credential-${randomUUID()}`, secret, ...more } }
  const url = `${authUrl}/users/${by.userId}/application_credentials`
  const made = (await (await post(url, body, { 'x-auth-token': by.token })).json()) as {
    readonly application_credential: { readonly id: string }
  }
  return { id: made.application_credential.id, secret }
}
/** Limited to the rules. */
export const limitedCredential = (authUrl: string, by: Held, rules: readonly Rule[]): Promise<Limited> =>
  credentialOf(authUrl, by, { access_rules: rules })
export const signInWith = async (authUrl: string, { id, secret }: Limited): Promise<Held> => {
  const identity = { methods: ['application_credential'], application_credential: { id, secret } }
  return heldIn(await post(`${authUrl}/auth/tokens`, { auth: { identity } }))
}

const asked = async (method: 'GET' | 'PUT', url: string, { token }: Held): Promise<string> => {
  const response = await fetch(url, { method, headers: { 'x-auth-token': token }, signal: AbortSignal.timeout(20_000) })
  if (!response.ok) throw new Error(`${method} ${url}: ${response.status} ${await response.text()}`)
  return response.text()
}
/** Gives the user a role on the domain `Default`. */
export const giveDomainRole = async (authUrl: string, admin: Held, role: string, { userId }: Held): Promise<void> => {
  const { roles } = JSON.parse(await asked('GET', `${authUrl}/roles?name=${role}`, admin)) as {
    readonly roles: readonly { readonly id: string }[]
  }
  await asked('PUT', `${authUrl}/domains/default/users/${userId}/roles/${roles[0]!.id}`, admin)
}

/** The id of a new trust: the trustee may act in the trustor's project with this role. */
export const trusting = async (authUrl: string, trustor: Held, trustee: Held, role: string): Promise<string> => {
  const headers = { 'x-auth-token': trustor.token }
  const trust = {
    trustor_user_id: trustor.userId,
    trustee_user_id: trustee.userId,
    project_id: trustor.projectId,
    impersonation: false,
    roles: [{ name: role }],
  }
  const made = await post(`${authUrl}/OS-TRUST/trusts`, { trust }, headers)
  return ((await made.json()) as { readonly trust: { readonly id: string } }).trust.id
}

export const revoke = async (authUrl: string, by: Held, { token }: Held): Promise<void> => {
  const headers = { 'x-auth-token': by.token, 'x-subject-token': token }
  const { status } = await fetch(`${authUrl}/auth/tokens`, {
    method: 'DELETE',
    headers,
    signal: AbortSignal.timeout(20_000),
  })
  if (status !== 204) throw new Error(`the token was not revoked: ${status}`)
}

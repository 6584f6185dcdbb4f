/** Signs users of a cloud in, and does with their tokens what only users do. */
type Scope = { readonly project: string } | 'system' | 'none'
export type Held = { readonly token: string; readonly userId: string }

const PASSWORD = 'rig-secret'
const scopeOf = (scope: Scope): object => {
  if (scope === 'none') return {}
  return {
    scope:
      scope === 'system'
        ? { system: { all: true } }
        : { project: { name: scope.project, domain: { name: 'Default' } } },
  }
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
  const { token } = (await response.json()) as { readonly token: { readonly user: { readonly id: string } } }
  return { token: response.headers.get('x-subject-token')!, userId: token.user.id }
}

export const signIn = async (authUrl: string, user: string, scope: Scope): Promise<Held> => {
  const who = { name: user, domain: { name: 'Default' }, password: PASSWORD }
  const auth = { identity: { methods: ['password'], password: { user: who } }, ...scopeOf(scope) }
  return heldIn(await post(`${authUrl}/auth/tokens`, { auth }))
}

type Rule = { readonly service: string; readonly method: string; readonly path: string }
export type Limited = { readonly id: string; readonly secret: string }
/** A new application credential of the user, limited to the rules. */
export const limitedCredential = async (authUrl: string, by: Held, rules: readonly Rule[]): Promise<Limited> => {
  const body = { application_credential: { name: `limited-${Math.random()}`, secret: 's3', access_rules: rules } }
  const url = `${authUrl}/users/${by.userId}/application_credentials`
  const made = (await (await post(url, body, { 'x-auth-token': by.token })).json()) as {
    readonly application_credential: { readonly id: string }
  }
  return { id: made.application_credential.id, secret: 's3' }
}
export const signInWith = async (authUrl: string, { id, secret }: Limited): Promise<Held> => {
  const identity = { methods: ['application_credential'], application_credential: { id, secret } }
  return heldIn(await post(`${authUrl}/auth/tokens`, { auth: { identity } }))
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

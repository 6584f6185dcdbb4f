/** The credentials of this service, and the request by which it gets a token. */

/**
 * A user is named by its id, or by its name and domain; so is a project. A domain is named by its id or its name. An id
 * counts where both are given.
 */
type User = {
  readonly username: string
  readonly userDomain: string
  readonly userId?: string
  readonly userDomainId?: string
}
type Project = {
  readonly project: string
  readonly projectDomain: string
  readonly projectId?: string
  readonly projectDomainId?: string
}
export type Credentials =
  | ({ readonly kind: 'password'; readonly password: string } & User & Project)
  | { readonly kind: 'application_credential'; readonly id: string; readonly secret: string }
  | ({ readonly kind: 'named_credential'; readonly name: string; readonly secret: string } & User)
  /** Null: the new token is for what the given one is for. */
  | { readonly kind: 'token'; readonly token: string; readonly scope: Project | null }

type Named = {
  readonly id: string | undefined
  readonly name: string
  readonly domainId: string | undefined
  readonly domain: string
}
const identified = ({ id, name, domainId, domain }: Named): object => {
  if (id !== undefined) return { id }
  return { name, domain: domainId === undefined ? { name: domain } : { id: domainId } }
}

const userOf = ({ username, userDomain, userId, userDomainId }: User): object =>
  identified({ id: userId, name: username, domainId: userDomainId, domain: userDomain })
const scopeOf = ({ project, projectDomain, projectId, projectDomainId }: Project): object => ({
  project: identified({ id: projectId, name: project, domainId: projectDomainId, domain: projectDomain }),
})
const by = (method: string, fields: object): object => ({ methods: [method], [method]: fields })
const authOf = (credentials: Credentials): object => {
  switch (credentials.kind) {
    case 'application_credential':
      return { identity: by('application_credential', { id: credentials.id, secret: credentials.secret }) }
    case 'named_credential': {
      const { name, secret } = credentials
      return { identity: by('application_credential', { name, secret, user: userOf(credentials) }) }
    }
    case 'token': {
      const { token, scope } = credentials
      return { identity: by('token', { id: token }), ...(scope !== null && { scope: scopeOf(scope) }) }
    }
    case 'password': {
      const user = { ...userOf(credentials), password: credentials.password }
      return { identity: by('password', { user }), scope: scopeOf(credentials) }
    }
  }
}

/** The body of `POST /v3/auth/tokens`. */
export const authRequest = (credentials: Credentials): object => ({ auth: authOf(credentials) })

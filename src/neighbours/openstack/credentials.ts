/** The credentials of this service, and the request by which it gets a token. */

/**
 * A user is named by its id, or by its name and domain; so is a project. A domain is named by its id or its name. An id
 * counts where both are given.
 */
export type Credentials =
  | {
      readonly kind: 'password'
      readonly username: string
      readonly userDomain: string
      readonly password: string
      readonly project: string
      readonly projectDomain: string
      readonly userId?: string
      readonly userDomainId?: string
      readonly projectId?: string
      readonly projectDomainId?: string
    }
  | { readonly kind: 'application_credential'; readonly id: string; readonly secret: string }

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

/** The body of `POST /v3/auth/tokens`. */
export const authRequest = (credentials: Credentials): object => {
  if (credentials.kind === 'application_credential') {
    const { id, secret } = credentials
    return { auth: { identity: { methods: ['application_credential'], application_credential: { id, secret } } } }
  }
  const { username, userDomain, userId, userDomainId, password } = credentials
  const { project, projectDomain, projectId, projectDomainId } = credentials
  const user = identified({ id: userId, name: username, domainId: userDomainId, domain: userDomain })
  const scope = identified({ id: projectId, name: project, domainId: projectDomainId, domain: projectDomain })
  return {
    auth: {
      identity: { methods: ['password'], password: { user: { ...user, password } } },
      scope: { project: scope },
    },
  }
}

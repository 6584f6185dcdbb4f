/** The credentials of this service, and the request by which it gets a token. */

/** A user is named by its id, or by its name and domain; so is a project. */
export type Credentials =
  | {
      readonly kind: 'password'
      readonly username: string
      readonly userDomain: string
      readonly password: string
      readonly project: string
      readonly projectDomain: string
    }
  | { readonly kind: 'application_credential'; readonly id: string; readonly secret: string }

/** The body of `POST /v3/auth/tokens`. */
export const authRequest = (credentials: Credentials): object => {
  if (credentials.kind === 'application_credential') {
    const { id, secret } = credentials
    return { auth: { identity: { methods: ['application_credential'], application_credential: { id, secret } } } }
  }
  const { username, userDomain, password, project, projectDomain } = credentials
  return {
    auth: {
      identity: {
        methods: ['password'],
        password: { user: { name: username, domain: { name: userDomain }, password } },
      },
      scope: { project: { name: project, domain: { name: projectDomain } } },
    },
  }
}

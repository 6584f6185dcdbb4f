/**
 * Identifies a caller by a token (rest-api 9.1, 9.2, 9.4).
 *
 * TOKEN-1 a missing or invalid token is answered 401; if the token cannot be validated at present, 503 with
 *    Retry-After;
 * TOKEN-2 a service token that is invalid, or has none of the required roles, makes the whole request 401;
 * TOKEN-3 with a valid service token, the user's token may have expired and its access rules do not apply, because a
 *    service continues the work that the user began;
 * TOKEN-4 a token of a limited application credential is valid only for requests that its access rules match.
 */
import type { Token, Tokens } from '../vocabulary/token.ts'
import { allows } from './accessRules.ts'
import { type HttpRefused, refused } from './faults.ts'
import type { Identify, Identity } from './identity.ts'

export type TokenIdentityOptions = {
  /** The URL of the identity service for callers, for the header `WWW-Authenticate`. */
  readonly authUrl: string
  readonly serviceType: string
  readonly serviceTokenRoles: readonly string[]
}

type Identified = { readonly ok: true; readonly token: Token } | HttpRefused

export const tokenIdentity = (tokens: Tokens, options: TokenIdentityOptions): Identify => {
  const { serviceType, serviceTokenRoles } = options
  const unauthenticated = refused({ kind: 'unauthenticated', challenge: `Keystone uri="${options.authUrl}"` })
  const identify = async (text: string, allowExpired: boolean, from?: string): Promise<Identified> => {
    const verdict = await tokens.validate(text, { allowExpired, ...(from !== undefined && { from }) })
    if (verdict.kind === 'valid') return { ok: true, token: verdict.token }
    return verdict.kind === 'invalid' ? unauthenticated : refused(verdict)
  }
  const serviceRolesOf = async (text: string | undefined, from?: string): Promise<readonly string[] | HttpRefused> => {
    if (text === undefined) return []
    const service = await identify(text, false, from)
    if (!service.ok) return service
    const { roles } = service.token
    return serviceTokenRoles.some((role) => roles.includes(role)) ? roles : unauthenticated
  }
  return async (header, asked): Promise<Identity | HttpRefused> => {
    const [given, serviceToken] = [header('x-auth-token'), header('x-service-token')]
    if (given === undefined) return unauthenticated
    const serviceRoles = await serviceRolesOf(serviceToken, asked.from)
    if ('fault' in serviceRoles) return serviceRoles
    const byService = serviceToken !== undefined
    const user = await identify(given, byService, asked.from)
    if (!user.ok) return user
    const { userId, projectId, names, roles, fields, accessRules } = user.token
    if (
      !byService &&
      accessRules !== null &&
      !accessRules.some((rule) => allows(rule, { ...asked, service: serviceType }))
    )
      return unauthenticated
    return { userId, projectId, ...(names ? { names } : {}), roles, serviceRoles, ...(fields ? { fields } : {}) }
  }
}

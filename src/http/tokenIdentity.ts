/**
 * The identity of a caller who shows a token (rest-api 9.1, 9.2, 9.4).
 *
 * TOKEN-1 no token, or one that is not valid: 401. Nobody can tell: 503 with Retry-After;
 * TOKEN-2 a service token that is not valid, or has none of the roles that make it one, makes the whole request 401;
 * TOKEN-3 beside a valid service token the token of the user may have expired, and access rules do not count: a service continues what
 *    the user began;
 * TOKEN-4 a token of a limited application credential is good for the requests that its access rules name.
 */
import type { Token, Tokens } from '../token.ts'
import { allows } from './accessRules.ts'
import { type HttpRefused, refused } from './faults.ts'
import type { Identify, Identity } from './identity.ts'

export type TokenIdentityOptions = {
  /** The identity service as callers reach it, for the header `WWW-Authenticate`. */
  readonly authUrl: string
  readonly serviceType: string
  readonly serviceTokenRoles: readonly string[]
}

type Identified = { readonly ok: true; readonly token: Token } | HttpRefused

export const tokenIdentity = (tokens: Tokens, options: TokenIdentityOptions): Identify => {
  const { serviceType, serviceTokenRoles } = options
  const unauthenticated = refused({ kind: 'unauthenticated', challenge: `Keystone uri="${options.authUrl}"` })
  const identify = async (text: string, allowExpired: boolean): Promise<Identified> => {
    const verdict = await tokens.validate(text, { allowExpired })
    if (verdict.kind === 'valid') return { ok: true, token: verdict.token }
    return verdict.kind === 'invalid' ? unauthenticated : refused(verdict)
  }
  const serviceRolesOf = async (text: string | undefined): Promise<readonly string[] | HttpRefused> => {
    if (text === undefined) return []
    const service = await identify(text, false)
    if (!service.ok) return service
    const { roles } = service.token
    return serviceTokenRoles.some((role) => roles.includes(role)) ? roles : unauthenticated
  }
  return async (header, asked): Promise<Identity | HttpRefused> => {
    const [given, serviceToken] = [header('x-auth-token'), header('x-service-token')]
    if (given === undefined) return unauthenticated
    const serviceRoles = await serviceRolesOf(serviceToken)
    if ('fault' in serviceRoles) return serviceRoles
    const byService = serviceToken !== undefined
    const user = await identify(given, byService)
    if (!user.ok) return user
    const { userId, projectId, names, roles, accessRules } = user.token
    if (
      !byService &&
      accessRules !== null &&
      !accessRules.some((rule) => allows(rule, { ...asked, service: serviceType }))
    )
      return unauthenticated
    return { userId, projectId, ...(names ? { names } : {}), roles, serviceRoles }
  }
}

/** The identity service's answer about a token, and the port through which it is asked (rest-api 9.1). */
import type { ProjectId } from './identifiers.ts'

/** One of the requests that a limited application credential may make. */
export type AccessRule = { readonly service: string; readonly method: string; readonly path: string }
/** What rules of a policy may ask besides, under the names that they have there. */
export type PolicyFields = {
  readonly user_domain_id?: string
  readonly project_domain_id?: string
  readonly is_admin_project?: 'True' | 'False'
}
export type Token = {
  readonly userId: string
  /** Null: the token is not scoped to a project. */
  readonly projectId: ProjectId | null
  /**
   * The names of the user and the project. Absent: the identity service gave none. Only shown, because names change and
   * are not unique.
   */
  readonly names?: { readonly user: string; readonly project: string | null }
  /** Names of roles, in lower case. */
  readonly roles: readonly string[]
  readonly fields?: PolicyFields
  /** Null: the token is not limited. */
  readonly accessRules: readonly AccessRule[] | null
}
export type TokenVerdict =
  | { readonly kind: 'valid'; readonly token: Token }
  /** Unknown, expired or revoked. */
  | { readonly kind: 'invalid' }
  /** The token cannot be validated at present. `reason` is shown to callers and contains no address. */
  | { readonly kind: 'unavailable'; readonly reason: string; readonly retryAfterSeconds: number }
export type Tokens = {
  /**
   * Never rejects. `allowExpired`: a service vouches for the caller, so the token may have expired. `from`: the address
   * of the caller, or another text that all who share their places have in
   * common.
   */
  readonly validate: (
    token: string,
    options: { readonly allowExpired: boolean; readonly from?: string },
  ) => Promise<TokenVerdict>
}

/** What the identity service says of a token, and the port through which it is asked (rest-api 9.1). */
import type { ProjectId } from './identifiers.ts'

/** An application credential may be limited to some requests of some services. */
export type AccessRule = { readonly service: string; readonly method: string; readonly path: string }
export type Token = {
  readonly userId: string
  /** Null: the token is not scoped to a project. */
  readonly projectId: ProjectId | null
  /** What people call the user and the project. Absent: the identity service did not say. Only to be shown: names change, and are not unique. */
  readonly names?: { readonly user: string; readonly project: string | null }
  /** In lower case. */
  readonly roles: readonly string[]
  /** Null: the token is not limited. */
  readonly accessRules: readonly AccessRule[] | null
}
export type TokenVerdict =
  | { readonly kind: 'valid'; readonly token: Token }
  /** Unknown, expired or revoked. */
  | { readonly kind: 'invalid' }
  /** Nobody can say at present. `reason` is for callers: it names no address. */
  | { readonly kind: 'unavailable'; readonly reason: string; readonly retryAfterSeconds: number }
export type Tokens = {
  /** Never rejects. `allowExpired`: a service vouches for the caller, whose token may have expired meanwhile. */
  readonly validate: (token: string, options: { readonly allowExpired: boolean }) => Promise<TokenVerdict>
}

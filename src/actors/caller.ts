/** Who asks, and what is known of the request. */
import type { ProjectId } from '../vocabulary/identifiers.ts'
import type { Token } from '../vocabulary/token.ts'

export type Caller = {
  readonly userId: string
  /** Never empty: `http` refuses a request without a project. */
  readonly projectId: ProjectId
  readonly isAdmin: boolean
  /** The request carries a valid service token with the service role (rest-api 9.4). */
  readonly isService: boolean
  /** Used only in answers about the caller. */
  readonly names?: Token['names']
  readonly requestId: string
  /** The same in each request that repeats one command; absent: the request is a new command (rest-api 8.6). */
  readonly commandId?: string
  /** The `traceparent` header of the request; absent: its trace is not recorded. */
  readonly trace?: string
  /**
   * The moment, by the monotonic clock, at which an unfinished request is answered 503. Nothing is recorded for the
   * request after it.
   */
  readonly notAfter?: number
  /** Whether nobody waits for the answer any more: the client is gone, or was answered 503. Absent: never. */
  readonly isOver?: () => boolean
}

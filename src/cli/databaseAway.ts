/** Says of an error that nobody expected that it is the database which could not be opened, and what looks at it. */
import { codeOf, messageOf } from '../vocabulary/errorText.ts'
import { Failure } from './exits.ts'

/** Operations of Node that reach a server. Other servers are asked through ports with errors of their own. */
const REACHING: readonly unknown[] = ['connect', 'getaddrinfo']
/** Classes of SQLSTATE: the login is refused, there is no such database, and the server takes no connection now. */
const REFUSED = /^(?:28|3D|57P0|53300)/

const isAway = (error: unknown): boolean => {
  const { syscall, severity } = error as { readonly syscall?: unknown; readonly severity?: unknown }
  return REACHING.includes(syscall) || (severity !== undefined && REFUSED.test(codeOf(error) ?? ''))
}
/** Null: the error is about something else. */
export const databaseAway = (error: unknown): Failure | null => {
  if (!(error instanceof Error) || error instanceof Failure) return null
  // Node tries several addresses of a name, and reports all their errors in one error
  const all: readonly unknown[] = error instanceof AggregateError ? error.errors : [error]
  if (!all.every(isAway)) return null
  return new Failure('failed', `the database cannot be opened: ${all.map(messageOf).join('; ')}`, {
    cause: error,
    next: 'accelerando doctor --database URL',
  })
}

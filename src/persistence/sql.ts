/** The port to a PostgreSQL, server or embedded, and the classification of its errors for appends and reads. */
import type { Hints } from '../actors/runtime/hints.ts'
import { Unreadable } from '../actors/runtime/unreadable.ts'

export type Statement = {
  readonly text: string
  readonly params: readonly unknown[]
  /** When present, the statement is prepared under this name. */
  readonly name?: string
}
export type Rows = readonly Readonly<Record<string, unknown>>[]
export type Run = (statement: Statement) => Promise<Rows>

export type Database = {
  readonly kind: 'pglite' | 'postgres'
  /** No other process can have written since the store was opened. Once false, it stays false. */
  readonly exclusive: boolean
  /** Resolves when the store is lost permanently and only a new process can open it again. */
  readonly lost?: Promise<Error>
  readonly read: Run
  /** Runs in the only session for appends. Rejects with `NotSent` when no session is open in time. */
  readonly write: Run
  /**
   * Runs in separate sessions, so that leases are renewed in time under any load of reads and writes. Never retried.
   */
  readonly share: Run
  /** Resolves when no earlier writer session of this process can still commit: from then on, reads are final. */
  readonly readsAreFinal: () => Promise<void>
  /** Changes with each new writer session, since that session may be with another server. */
  readonly incarnation?: () => number
  /** Absent: other processes cannot be told. */
  readonly hints?: Hints
  /** A session of its own without statement timeout, for work on whole tables. */
  readonly transaction: <T>(work: (run: Run) => Promise<T>) => Promise<T>
  readonly close: () => Promise<void>
}

export class NotSent extends Error {
  override readonly name = 'NotSent'
}

/** The statement could not be built, for example because it would exceed the maximum length of a text. */
export class Unsendable extends Error {
  override readonly name = 'Unsendable'
}

/**
 * The meaning of a failed statement for its appends. `fenced`: a row already exists, or its predecessor is missing.
 * `again`: a conflict rolled it back; retry. `late`: rolled back because it took too long. `refused`: rolled back, as
 * any retry would be. `rolled back`: for a reason that passes. `not sent`: the database did not see it. `stopped`:
 * writing is stopped in the database. `unknown`: it may have been committed.
 */
export type Failure = 'fenced' | 'again' | 'late' | 'refused' | 'rolled back' | 'stopped' | 'not sent' | 'unknown'
type SqlError = Readonly<Partial<Record<'code' | 'constraint' | 'severity', unknown>>>

const UNIQUE_VIOLATION = '23505'
/** The append statement raises this error on purpose when a version leaves a gap. */
const DIVISION_BY_ZERO = '22012'
/** Zero to a negative power: the append statement raises this error on purpose when its time is over. */
const LATE = '2201F'
/** The name that `ruleOf` gives to a gap between versions. */
export const GAP_RULE = `sql_${DIVISION_BY_ZERO}`
/** The trigger of the journal raises these errors: writing is stopped until an operator acts, or for a limited time. */
const STOPPED = new Set(['P0S01', 'P0S02'])
const ROLLED_BACK = new Set(['40001', '40P01'])

export const codeOf = (error: unknown): string => {
  const { code } = (error ?? {}) as SqlError
  return typeof code === 'string' ? code : ''
}

/** A serialization failure or a deadlock: a retry of the same statement may succeed. */
export const rolledBack = (error: unknown): boolean => ROLLED_BACK.has(codeOf(error))

export const failureOf = (error: unknown): Failure => {
  if (error instanceof NotSent) return 'not sent'
  if (error instanceof Unsendable) return 'refused'
  const code = codeOf(error)
  if (code === UNIQUE_VIOLATION || code === DIVISION_BY_ZERO) return 'fenced'
  if (code === LATE) return 'late'
  if (STOPPED.has(code)) return 'stopped'
  if (rolledBack(error)) return 'again'
  // the server answers with an error only after it has rolled back; without an answer the statement may have been
  // committed
  if (sessionLost(error)) return 'unknown'
  return isPermanent(error) ? 'refused' : 'rolled back'
}

/** Matches codes of the database; codes of the operating system, such as EPIPE or EBADF, do not match. */
const SQLSTATE = /^(?:\d[0-9A-Z]|[FP]0|HV|XX)[0-9A-Z]{3}$/
const READ_ONLY = '25006'
/** The server cannot be written any more; a new session may reach another one. */
export const readOnly = (error: unknown): boolean => codeOf(error) === READ_ONLY

/** The session cannot be used any more: it ended, or its state is unknown. */
export const sessionLost = (error: unknown): boolean => {
  const code = codeOf(error)
  if (!SQLSTATE.test(code) || code.startsWith('08') || code.startsWith('57P')) return true
  const { severity } = (error ?? {}) as SqlError
  return severity === 'FATAL' || severity === 'PANIC'
}

/**
 * Classes of SQLSTATE for errors that a retry of the statement would meet again: unsupported feature (0A), bad data
 * (21, 22, 23, 44), wrong schema, syntax or permission (3F, 42), statement too large (54). All others, and errors
 * without a SQLSTATE, are about a connection, a time-out, a temporary limit or another transaction.
 */
const PERMANENT = new Set(['0A', '21', '22', '23', '3F', '42', '44', '54'])
/** A page or an index of the database is damaged. */
const DAMAGED = new Set(['XX001', 'XX002'])
export const isPermanent = (error: unknown): boolean => {
  const code = codeOf(error)
  return DAMAGED.has(code) || (code.length === 5 && PERMANENT.has(code.slice(0, 2)))
}

export const causeOf = (error: unknown): string => {
  const code = codeOf(error)
  // When connecting to several addresses of a host fails, the error has a code but no message.
  const message = error instanceof Error && error.message !== '' ? error.message : code || String(error)
  return code === '' || message.includes(code) ? message : `${message} (${code})`
}

/** The error of the ports for a failed read of `what`. */
export const unreadable = (what: string, cause: unknown): Unreadable =>
  new Unreadable(`${what} cannot be read: ${causeOf(cause)}`, { permanent: isPermanent(cause), cause })
export const reading =
  (database: Pick<Database, 'read'>, what: string): Run =>
  (statement) =>
    database.read(statement).catch((cause: unknown) => {
      throw unreadable(what, cause)
    })

/** The name of the broken rule: the constraint, or else the code of the error. */
export const ruleOf = (error: unknown): string => {
  const { constraint } = error as SqlError
  return typeof constraint === 'string' ? constraint : `sql_${codeOf(error)}`
}

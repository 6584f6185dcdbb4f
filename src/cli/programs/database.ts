/** Opens a database that may become available shortly after the program starts. */
import { pause } from '../../vocabulary/waiting.ts'
import type { Clock } from '../../vocabulary/clock.ts'
import type { Log } from '../../vocabulary/log.ts'
import { openStore } from '../../persistence/open.ts'
import type { PostgresOptions } from '../../persistence/postgres/postgres.ts'
import type { Store } from '../../persistence/store.ts'
import { NotWritable } from '../../persistence/notWritable.ts'
import { StartProblem } from './startProblem.ts'

const PATIENCE_MS = 30_000
const AGAIN_MS = 500
/**
 * Temporary errors: the connection is refused, the name does not resolve yet, or the server is starting, shutting down,
 * or out of connections.
 */
const PASSING = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'ECONNRESET', '57P03', '57P01', '53300'])

export const isPassingError = (error: unknown): boolean => {
  if (error instanceof NotWritable) return true
  const { code, errors } = error as { readonly code?: string; readonly errors?: readonly unknown[] }
  return (code !== undefined && PASSING.has(code)) || (errors?.some(isPassingError) ?? false)
}
/** Node tries several addresses of a name and reports all their errors in one error. */
export const databaseReason = (error: unknown): string => {
  const { errors, message } = error as { readonly errors?: readonly Error[]; readonly message: string }
  return message === '' ? (errors ?? []).map((each) => each.message).join('; ') : message
}

export const openDatabase = async (options: PostgresOptions, clock: Clock, log: Log): Promise<Store> => {
  const end = clock.monotonic() + PATIENCE_MS
  for (;;) {
    try {
      const store = await openStore({ kind: 'postgres', ...options, log })
      if (store.newer.length > 0) log.warn({ migrations: store.newer }, 'database.newer')
      return store
    } catch (error) {
      const reason = databaseReason(error)
      if (!isPassingError(error) || clock.monotonic() >= end)
        throw new StartProblem(`database: cannot be used: ${reason}`)
      log.warn({ reason }, 'database.notThereYet')
      await pause(clock, AGAIN_MS)
    }
  }
}

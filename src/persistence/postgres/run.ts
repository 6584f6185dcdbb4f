/** Runs a `Statement` on a client or pool of `pg`. */
import { systemClock } from '../../vocabulary/clock.ts'
import { backoffMs, pause } from '../../vocabulary/waiting.ts'
import type { Client, Pool } from 'pg'
import { rolledBack, sessionLost } from '../sql.ts'
import type { Rows, Run, Statement } from '../sql.ts'

export const runOn =
  (client: Client | Pool): Run =>
  async ({ text, params, name }: Statement): Promise<Rows> => {
    const query = { text, values: [...params], ...(name === undefined ? {} : { name }) }
    return (await client.query<Record<string, unknown>>(query)).rows
  }

/** Destroys the socket without the goodbye message of the protocol, since the server may be unreachable. */
export const hangUp = (client: Client): void => {
  const { connection } = client as unknown as { readonly connection?: { readonly stream?: { destroy: () => void } } }
  connection?.stream?.destroy()
}

/**
 * How long a read is retried. A restarted server answers after about a second, and callers wait a little longer than
 * this limit.
 */
const PATIENCE_MS = 3_000
const BACKOFF = { firstMs: 50, maxMs: 800 }

/**
 * Retries a read, which is safe to repeat, when the session was lost or refused, or the transaction was rolled back by
 * a conflict.
 */
export const again =
  (run: Run): Run =>
  async (statement) => {
    const end = performance.now() + PATIENCE_MS
    for (let failures = 1; ; failures++) {
      try {
        return await run(statement)
      } catch (cause) {
        const waitMs = backoffMs(BACKOFF, failures)
        if (!(rolledBack(cause) || sessionLost(cause)) || performance.now() + waitMs > end) throw cause
        await pause(systemClock, waitMs)
      }
    }
  }

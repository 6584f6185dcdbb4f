/**
 * Counts the tokens that were refused, and logs them as one line a minute: a flood of invented tokens is seen, and does
 * not fill the log.
 */
import type { Clock } from '../../vocabulary/clock.ts'
import type { Log } from '../../vocabulary/log.ts'
import type { TokenVerdict } from '../../vocabulary/token.ts'

export const TOKEN_REFUSALS = ['invalid', 'unavailable'] as const satisfies readonly TokenVerdict['kind'][]
export type TokenRefusal = (typeof TOKEN_REFUSALS)[number]

const LINE_EVERY_MS = 60_000
/** Addresses that a line may name; what others have sent is only counted. */
const ADDRESSES_MAX = 100
const ADDRESSES_NAMED = 3

export const createRefusals = (clock: Pick<Clock, 'monotonic'>, log: Log) => {
  const counts: Record<TokenRefusal, number> = { invalid: 0, unavailable: 0 }
  let since = { ...counts }
  let addresses = new Map<string, number>()
  let reason: string | null = null
  let lineAt = -Infinity
  const tell = (): void => {
    const most = [...addresses].toSorted(([, one], [, other]) => other - one).slice(0, ADDRESSES_NAMED)
    log.warn(
      {
        invalid: counts.invalid - since.invalid,
        unavailable: counts.unavailable - since.unavailable,
        from: Object.fromEntries(most),
        ...(reason !== null && { reason }),
      },
      'keystone.tokensRefused',
    )
    since = { ...counts }
    addresses = new Map()
    reason = null
    lineAt = clock.monotonic()
  }
  return {
    counts: (): Readonly<Record<TokenRefusal, number>> => counts,
    /** Why a token could not be validated; the next line names the last reason. */
    failed: (why: string): void => {
      reason = why
    },
    add: (kind: TokenRefusal, from: string): void => {
      counts[kind]++
      if (addresses.has(from) || addresses.size < ADDRESSES_MAX) addresses.set(from, (addresses.get(from) ?? 0) + 1)
      if (clock.monotonic() - lineAt >= LINE_EVERY_MS) tell()
    },
  }
}

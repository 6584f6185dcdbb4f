/** When a host is compared with Placement next. Pure. */
import { type Backoff, backoffMs } from '../../waiting.ts'
import { sha256 } from '../../wire/canonical.ts'
import type { PlacementRecord, Trouble } from './decider.ts'

const UNREACHABLE: Backoff = { firstMs: 1000, maxMs: 60_000 }
const UNFINISHED: Backoff = { firstMs: 10_000, maxMs: 300_000 }

/** Hosts are looked at in turn, not all at once: after 0.9 to 1.1 of the period, by their names. */
const spread = (periodMs: number, { host, passes }: PlacementRecord): number =>
  Math.round(periodMs * (0.9 + (0.2 * Number.parseInt(sha256(`${host} ${passes}`).slice(0, 8), 16)) / 0xffffffff))

export const isUnfinished = ({ providers }: PlacementRecord): boolean =>
  Object.values(providers).some(({ state }) => state === 'pending')

/** ms since the epoch; null: there is nothing left to look after. `wanted`: the number of providers that there should be. */
export const nextPassAt = (
  record: PlacementRecord,
  { trouble, wanted }: { readonly trouble: Trouble | null; readonly wanted: number },
  { now, auditEveryMs }: { readonly now: number; readonly auditEveryMs: number },
): number | null => {
  const audit = now + spread(auditEveryMs, record)
  const soon = (backoff: Backoff) => Math.min(audit, now + backoffMs(backoff, record.failures + 1))
  if (trouble) return soon(UNREACHABLE)
  if (isUnfinished(record)) return soon(UNFINISHED)
  return wanted === 0 && Object.keys(record.providers).length === 0 ? null : audit
}

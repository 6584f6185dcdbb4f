/** Decides when a host is compared with Placement next. Pure. */
import { DAY_MS } from '../../vocabulary/clock.ts'
import { type Backoff, backoffMs } from '../../vocabulary/waiting.ts'
import { sha256 } from '../../wire/canonical.ts'
import type { PlacementRecord, HostBlocker } from './decider.ts'
import { hostStateOf } from './hostState.ts'
import { firstEnd, overdue } from './ignored.ts'

/** The delays are short, because an attempt puts no load on a Placement that cannot be reached. */
const TROUBLED: Readonly<Record<HostBlocker['state'], Backoff>> = {
  unreachable: { firstMs: 1000, maxMs: 30_000 },
  waiting_for_compute_node: { firstMs: 1000, maxMs: 60_000 },
}
const UNFINISHED: Backoff = { firstMs: 10_000, maxMs: 300_000 }

/**
 * A host with units withheld for a missing allocation is compared again this soon, so that they are given back soon
 * after the cause is gone.
 */
const WITHHELD_MS = 30_000

/**
 * Spreads the comparisons of hosts over time: each waits for 0.9 to 1.1 of the period, by a hash of its name and its
 * number of passes.
 */
const spread = (periodMs: number, { host, passes }: PlacementRecord): number =>
  Math.round(periodMs * (0.9 + (0.2 * Number.parseInt(sha256(`${host} ${passes}`).slice(0, 8), 16)) / 0xffffffff))

/**
 * No control with a right clock records the moment of a comparison further ahead, even if its clock differs a little.
 */
export const comparedWithinMs = (auditEveryMs: number): number =>
  1.1 * Math.max(auditEveryMs, UNFINISHED.maxMs) + 240_000

export const isUnfinished = ({ providers }: PlacementRecord): boolean =>
  Object.values(providers).some(({ state }) => state === 'pending')

/** Comparisons that find nothing new are recorded only once in this time, to limit the size of the journal. */
export const RECORDED_EVERY_MS = DAY_MS

/** Waits as long as the trouble has lasted already, within the limits. */
const asLongAgain = (since: number, now: number, { firstMs, maxMs }: Backoff): number =>
  now + Math.min(maxMs, Math.max(firstMs, now - since))

type Times = { readonly now: number; readonly auditEveryMs: number }
/** As if nothing were ignored. */
const nextOf = (record: PlacementRecord, { now, auditEveryMs }: Times): number => {
  const { trouble, providers } = record
  const audit = now + spread(auditEveryMs, record)
  if (trouble) return Math.min(audit, asLongAgain(trouble.since, now, TROUBLED[trouble.state]))
  const unfinished = Object.values(providers).flatMap(({ state, since }) => (state === 'pending' ? [since] : []))
  if (unfinished.length > 0) return Math.min(audit, asLongAgain(Math.max(...unfinished), now, UNFINISHED))
  return hostStateOf(record) === 'withheld' ? Math.min(audit, now + WITHHELD_MS) : audit
}
/**
 * When a host is compared next after a comparison that found nothing new and is not recorded, ms since the epoch. Null:
 * it must be recorded, because the last record is too old, says that a pass is under way or has to begin, or ignores a
 * difference whose term is over.
 */
export const nextUnrecordedAt = (record: PlacementRecord, times: Times): number | null => {
  const { pass, asked, endedAt } = record
  const { now } = times
  if (pass !== null || asked || endedAt === null || now - endedAt >= RECORDED_EVERY_MS || now < endedAt) return null
  if (overdue(record, now).length > 0) return null
  return Math.min(firstEnd(record) ?? Infinity, nextOf(record, times))
}

/**
 * The moment of the next pass, ms since the epoch; null: none is needed. `wanted`: the number of providers that should
 * exist.
 */
export const nextPassAt = (
  record: PlacementRecord,
  { trouble, wanted }: { readonly trouble: HostBlocker | null; readonly wanted: number },
  { now, auditEveryMs }: Times,
): number | null => {
  const audit = now + spread(auditEveryMs, record)
  const soon = (backoff: Backoff) => Math.min(audit, now + backoffMs(backoff, record.failures + 1))
  if (trouble) return soon(TROUBLED[trouble.state])
  if (isUnfinished(record)) return soon(UNFINISHED)
  if (hostStateOf(record) === 'withheld') return Math.min(audit, now + WITHHELD_MS)
  const isEmpty = wanted === 0 && Object.keys(record.providers).length === 0
  return isEmpty && firstEnd(record) === null ? null : audit
}

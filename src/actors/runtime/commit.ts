/**
 * Decides, appends, and if in doubt reads the tail of the journal and decides again. No other code turns decisions into
 * journal rows.
 *
 * COMMIT-1 a refusal, or the decision that there is nothing to do, is final only if it was made on the present state of
 *    the journal. The same holds for the answer that a command was carried out before, since the journal may have lost
 *    it;
 * COMMIT-2 an append that was fenced wrote nothing, so deciding again is safe;
 * COMMIT-3 after `unknown`, one read of the tail shows whether the append was written; if the store cannot be read
 *    (`Unreadable`), the outcome stays unknown;
 * COMMIT-4 nothing is appended after `notAfter`, when the caller has been told that the work was not done.
 */
import type { EntityKey } from '../../vocabulary/identifiers.ts'
import type { Clock } from '../../vocabulary/clock.ts'
import type { Fault, Outcome } from '../../vocabulary/fault.ts'
import type { Counts } from './counts.ts'
import { type Draft, MOVED, type Marks, Refusal, openDraft, toAppend } from './draft.ts'
import { type AnyDecider, type Loan, recallInto, wishOf } from './memory.ts'
import type { Append, Cause, Journal, Verdict } from './ports.ts'
import { UNAVAILABLE } from './unreadable.ts'

/** Pure: makes the decisions of every participant, or throws a refusal. The value is returned to the caller. */
export type Plan<Value> = (draft: Draft) => Value
export type Work<Value> = {
  readonly commandId: string
  readonly at: number
  readonly cause: Cause
  readonly plan: Plan<Value>
  /** When the caller stops waiting, by the monotonic clock of the process. Absent: it waits without limit. */
  readonly notAfter?: number | undefined
}
export type Store = Pick<Journal, 'recall' | 'exclusive'> & {
  readonly append: (append: Append) => Promise<Verdict>
  readonly counts: Counts
  readonly monotonic: Clock['monotonic']
  readonly marks?: Marks | undefined
}
/** The journal together with the counters and the monotonic clock of this process. */
export type Counted = Journal & Pick<Store, 'counts' | 'monotonic' | 'marks'>
export const counted = (
  journal: Journal,
  counts: Counts,
  { monotonic }: Pick<Clock, 'monotonic'>,
  marks?: Marks,
): Counted => ({
  ...journal,
  monotonic,
  marks,
  // both values may change, so they are getters
  get exclusive() {
    return journal.exclusive
  },
  get incarnation() {
    return journal.incarnation ?? 0
  },
  counts,
})
/** `value` null: the command was carried out before, and its value is no longer known. */
export type Committed<Value> = { readonly loan: Loan; readonly outcome: Outcome<Value | null> }

/**
 * A fence means that another control has written, so the work as a whole goes on, and this control decides again. When
 * many controls bind on one device at once, one may be fenced often in a row: more than eight times with 1,000 binds
 * through three controls. Usually the caller's time ends it first.
 */
const ROUNDS_MAX = 40
const BUSY: Fault = {
  kind: 'unavailable',
  reason: 'the journal cannot accept more at the moment',
  retryAfterSeconds: 1,
}
const OVERTAKEN: Fault = {
  kind: 'unavailable',
  reason: 'others keep changing what this would change',
  retryAfterSeconds: 1,
}

export const catchUp = async (loan: Loan, store: Store, deciderOf: (key: EntityKey) => AnyDecider): Promise<Loan> => {
  const tails = await store.recall([...loan.values()].map(wishOf))
  return new Map([...loan].map(([key, memory]) => [key, recallInto(deciderOf(key), memory, tails.get(key))]))
}

const faultOfVerdict = (verdict: Extract<Verdict, object>): Fault => {
  if ('refused' in verdict) return verdict.refused
  if ('stopped' in verdict) return { kind: 'unavailable', reason: verdict.stopped, retryAfterSeconds: 5 }
  return { kind: 'conflict', reason: verdict.conflict }
}

const notAfterOf = ({ notAfter }: Work<unknown>): Pick<Append, 'notAfter'> =>
  notAfter === undefined ? {} : { notAfter }

const NOTHING: Append = { rows: [], changes: [] }
const seen = (loan: Loan, commandId: string) => [...loan.values()].some((memory) => memory.recent.includes(commandId))

/**
 * The draft of one round: an append with its value, or a refusal. `fenced`: every participant has a row in the append,
 * so the journal refuses the append if the memory of any participant is stale.
 */
const drawUp = <Value>(
  loan: Loan,
  deciderOf: (key: EntityKey) => AnyDecider,
  { plan, at, commandId, cause }: Work<Value>,
  marks: Marks | undefined,
) => {
  const { draft, drafted } = openDraft(loan, deciderOf, at)
  try {
    const value = plan(draft)
    if (value === MOVED) return { ok: true as const, value, fenced: false, append: NOTHING, after: loan }
    const fenced = drafted.size > 0 && [...drafted.values()].every(({ events }) => events.length > 0)
    return { ok: true as const, value, fenced, ...toAppend(loan, drafted, { commandId, at, cause, marks }) }
  } catch (refusal) {
    if (refusal instanceof Refusal) return { ok: false as const, fault: refusal.fault, fenced: false }
    throw refusal
  }
}

/** Whether this work was fenced or refused in earlier rounds. */
type Met = { readonly fenced: boolean; readonly refused: boolean }
const noteRefusal = (counts: Counts, met: Met): void => {
  if (met.fenced) counts.refusedAfterFence++
  else if (met.refused) counts.refusedAfterLook++
}
const note = (counts: Counts, verdict: Verdict, met: Met): void => {
  if (verdict === 'stale') counts.fences++
  if (verdict === 'unknown') counts.unknown++
  if (verdict !== 'appended') return
  counts.appends++
  if (met.fenced) counts.retries++
  if (met.refused) counts.savedByLook++
}

export const commit = async <Value>(
  borrowed: Loan,
  deciderOf: (key: EntityKey) => AnyDecider,
  store: Store,
  work: Work<Value>,
  readFirst = false,
): Promise<Committed<Value>> => {
  const { counts } = store
  let loan = readFirst ? await catchUp(borrowed, store, deciderOf) : borrowed
  let fresh = readFirst || (store.exclusive && ![...borrowed.values()].some(({ unread }) => unread))
  let [fenced, refused] = [false, false]
  const ended = (outcome: Outcome<Value | null>): Committed<Value> => ({ loan, outcome })
  for (let round = 0; round < ROUNDS_MAX; round++) {
    if (seen(loan, work.commandId)) {
      if (fresh) return ended({ ok: true, value: null })
      loan = await catchUp(loan, store, deciderOf)
      fresh = true
      continue
    }
    const drawn = drawUp(loan, deciderOf, work, store.marks)
    if (drawn.fenced || fresh) {
      if (!drawn.ok) {
        noteRefusal(counts, { fenced, refused })
        return ended({ ok: false, fault: drawn.fault })
      }
      const { append, after, value } = drawn
      if (append.rows.length === 0) return ended({ ok: true, value })
      if (store.monotonic() >= (work.notAfter ?? Infinity)) return ended({ ok: false, fault: UNAVAILABLE })
      const verdict = await store.append({ ...append, ...notAfterOf(work) })
      note(counts, verdict, { fenced, refused })
      if (verdict === 'appended') return { loan: after, outcome: { ok: true, value } }
      if (verdict === 'busy') return ended({ ok: false, fault: BUSY })
      if (typeof verdict === 'object') return ended({ ok: false, fault: faultOfVerdict(verdict) })
      fenced = true
      loan = await catchUp(loan, store, deciderOf)
      if (verdict === 'seen') return ended({ ok: true, value: null })
      if (verdict === 'unknown')
        return ended(seen(loan, work.commandId) ? { ok: true, value } : { ok: false, fault: UNAVAILABLE })
    } else {
      refused = !drawn.ok
      loan = await catchUp(loan, store, deciderOf)
    }
    fresh = true
  }
  counts.givenUp++
  return ended({ ok: false, fault: OVERTAKEN })
}

/**
 * Decide, append, and in doubt read the tail and decide again. The one place where decisions become rows.
 *
 * T1 a refusal is final only when it was decided on what the journal says now ("refuse carefully");
 * T2 an append that was fenced wrote nothing, so deciding again is safe;
 * T3 after `unknown` one tail read tells; if the store cannot be read the outcome stays unknown and the memories are doubted.
 */
import type { Fault, Outcome } from '../fault.ts'
import { type Draft, Refusal, openDraft, toAppend } from './draft.ts'
import { type AnyDecider, type Loan, recallInto } from './memory.ts'
import type { Append, Cause, Journal, Verdict } from './ports.ts'

/** Pure: what every participant decides, or a refusal; the value goes to the caller. */
export type Plan<Value> = (draft: Draft) => Value
export type Work<Value> = {
  readonly commandId: string
  readonly at: number
  readonly cause: Cause
  readonly plan: Plan<Value>
}
export type Store = Pick<Journal, 'recall' | 'exclusive'> & { readonly append: (append: Append) => Promise<Verdict> }
/** `value` null: the command was carried out before, and what it answered is not known any more. */
export type Settled<Value> = { readonly loan: Loan; readonly outcome: Outcome<Value | null> }

const ROUNDS_MAX = 8
export const UNAVAILABLE: Fault = { kind: 'unavailable', reason: 'the journal does not answer', retryAfterSeconds: 1 }
const BUSY: Fault = { kind: 'unavailable', reason: 'too many writers at once', retryAfterSeconds: 1 }

export const catchUp = async (loan: Loan, store: Store, deciderOf: (key: string) => AnyDecider): Promise<Loan> => {
  const tails = await store.recall([...loan.values()].map(({ key, version }) => ({ key, after: version })))
  return new Map([...loan].map(([key, memory]) => [key, recallInto(deciderOf(key), memory, tails.get(key))]))
}

const seen = (loan: Loan, commandId: string) => [...loan.values()].some((memory) => memory.recent.includes(commandId))

/** The draft of one round: the append and its value, or the refusal. */
const drawUp = <Value>(
  loan: Loan,
  deciderOf: (key: string) => AnyDecider,
  { plan, at, commandId, cause }: Work<Value>,
) => {
  const { draft, drafted } = openDraft(loan, deciderOf, at)
  try {
    const value = plan(draft)
    return { ok: true as const, value, ...toAppend(loan, drafted, commandId, at, cause) }
  } catch (refusal) {
    if (refusal instanceof Refusal) return { ok: false as const, fault: refusal.fault }
    throw refusal
  }
}

export const settle = async <Value>(
  borrowed: Loan,
  deciderOf: (key: string) => AnyDecider,
  store: Store,
  work: Work<Value>,
): Promise<Settled<Value>> => {
  let loan = borrowed
  let fresh = store.exclusive
  for (let round = 0; round < ROUNDS_MAX; round++) {
    if (seen(loan, work.commandId)) return { loan, outcome: { ok: true, value: null } }
    const drawn = drawUp(loan, deciderOf, work)
    if (!drawn.ok && fresh) return { loan, outcome: drawn }
    if (drawn.ok) {
      if (drawn.append.rows.length === 0) return { loan, outcome: { ok: true, value: drawn.value } }
      const verdict = await store.append(drawn.append)
      if (verdict === 'appended') return { loan: drawn.after, outcome: { ok: true, value: drawn.value } }
      if (typeof verdict === 'object')
        return { loan, outcome: { ok: false, fault: { kind: 'conflict', reason: verdict.conflict } } }
      loan = await catchUp(loan, store, deciderOf)
      if (verdict === 'seen') return { loan, outcome: { ok: true, value: null } }
      if (verdict === 'unknown' && !seen(loan, work.commandId))
        return { loan, outcome: { ok: false, fault: UNAVAILABLE } }
    } else loan = await catchUp(loan, store, deciderOf)
    fresh = true
  }
  return { loan, outcome: { ok: false, fault: BUSY } }
}

/** Every failure that is not a bug, as a value. Bugs throw. */
import type { InstanceUuid } from './identifiers.ts'

export type Fault =
  | { readonly kind: 'not_found'; readonly resource: string; readonly id: string }
  | {
      readonly kind: 'bad_state'
      readonly resource: string
      readonly id: string
      readonly state: string
      readonly allowed: readonly string[]
    }
  /** The request contradicts what is recorded (409). `passing`: a host is at work, which may end it in a moment. */
  | { readonly kind: 'conflict'; readonly reason: string; readonly passing?: true }
  /** A natural key is taken; `field` says which one. */
  | {
      readonly kind: 'exists'
      readonly resource: string
      readonly field: 'name' | 'uuid' | 'key'
      readonly value: string
    }
  /** A value of the request breaks a rule; `field` names it. Nothing was changed. */
  | { readonly kind: 'invalid'; readonly field: string; readonly rule: string }
  /** The caller may not do this; `rule` is the policy rule's name or a plain reason. */
  | { readonly kind: 'forbidden'; readonly rule: string }
  /** Only a request that carries a service token may do this (rest-api 9.4). */
  | { readonly kind: 'service_token'; readonly action: string }
  /** `bind_state=resolved` was asked for while an ARQ of the instance is not resolved (423). */
  | { readonly kind: 'unresolved'; readonly instance: InstanceUuid }
  /** Try again later: nothing was changed, or a repeated call will show the outcome. */
  | { readonly kind: 'unavailable'; readonly reason: string; readonly retryAfterSeconds: number }
  /** There are as many of these as there may be at once, or this was asked for a moment ago (429). */
  | { readonly kind: 'crowded'; readonly reason: string; readonly retryAfterSeconds: number }
  /**
   * A bug, or a store that refuses a read and will refuse it again (500). The reason is for the log, not for the
   * caller.
   */
  | { readonly kind: 'broken'; readonly reason: string }
  /** The hardware itself failed. */
  | { readonly kind: 'device_failure'; readonly reason: string }

export type Refused = { readonly ok: false; readonly fault: Fault }
export type Outcome<Value> = { readonly ok: true; readonly value: Value } | Refused

/** Whether nothing was decided because the store could not be asked. A caller that needs a decision must ask again. */
export const isUndecided = (fault: Fault): fault is Extract<Fault, { readonly kind: 'unavailable' | 'broken' }> =>
  fault.kind === 'unavailable' || fault.kind === 'broken'

export const refuse = (fault: Fault): Refused => ({ ok: false, fault })
export const done = <Value>(value: Value): Outcome<Value> => ({ ok: true, value })
/** The values of all outcomes, or the first refusal among them. */
export const allOf = async <Value>(
  outcomes: readonly Promise<Outcome<Value>>[],
): Promise<Outcome<readonly Value[]>> => {
  const values: Value[] = []
  for (const one of await Promise.all(outcomes)) {
    if (!one.ok) return one
    values.push(one.value)
  }
  return done(values)
}

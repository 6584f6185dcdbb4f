/** What the API said: a value, or the trouble that stands in its place on a page. */

export type TroubleKind = 'sign_in' | 'forbidden' | 'missing' | 'off' | 'refused' | 'away' | 'failed'
export type Trouble = {
  /**
   * `sign_in`: no valid token. `off`: a neighbour that this needs is not configured. `refused`: the state does not allow it, or the input
   * is not valid. `away`: no answer in time, or 503. `failed`: an answer that cannot be read, or 500.
   */
  readonly kind: TroubleKind
  /** One sentence in the words of the API. */
  readonly text: string
  /** The policy rule that forbids it. */
  readonly rule: string | null
  readonly requestId: string | null
}
export type Told<Value> =
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly trouble: Trouble }

export const told = <Value>(value: Value): Told<Value> => ({ ok: true, value })
export const troubled = (
  kind: TroubleKind,
  text: string,
  requestId: string | null = null,
  rule: string | null = null,
) => ({ ok: false, trouble: { kind, text, rule, requestId } }) as const

/** What is derived from a value, or the same trouble. */
export const mapped = <Value, Other>(given: Told<Value>, map: (value: Value) => Other): Told<Other> =>
  given.ok ? told(map(given.value)) : given

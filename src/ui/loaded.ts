/** The answer of the API: a value, or the error that a page shows in its place. */

export type PageErrorKind = 'sign_in' | 'forbidden' | 'missing' | 'off' | 'refused' | 'away' | 'failed'
export type PageError = {
  /**
   * `sign_in`: no valid token. `off`: a service that the request needs is not configured. `refused`: the state does not
   * allow the request, or its input is not valid. `away`: no answer in time, or 503. `failed`: an answer that cannot be
   * read, or 500.
   */
  readonly kind: PageErrorKind
  /** One sentence in the words of the API. */
  readonly text: string
  /** The policy rule that forbids the request. */
  readonly rule: string | null
  readonly requestId: string | null
}
export type Loaded<Value> =
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly error: PageError }

export const loaded = <Value>(value: Value): Loaded<Value> => ({ ok: true, value })
export const pageError = (
  kind: PageErrorKind,
  text: string,
  requestId: string | null = null,
  rule: string | null = null,
) => ({ ok: false, error: { kind, text, rule, requestId } }) as const

const isLoaded = (part: unknown): part is Loaded<unknown> => typeof part === 'object' && part !== null && 'ok' in part
/** The error in place of the main part of a page, which is the first one that is loaded. */
export const errorOf = (body: object): PageError | null => {
  const main = Object.values(body).find(isLoaded)
  return main === undefined || main.ok ? null : main.error
}
/** The same, unless it is an answer: the service could not be asked, or its answer could not be read. */
export const lossOf = (body: object): PageError | null => {
  const error = errorOf(body)
  return error?.kind === 'away' || error?.kind === 'failed' ? error : null
}

/** Derives a value from a value, or passes the error on. */
export const mapped = <Value, Other>(given: Loaded<Value>, map: (value: Value) => Other): Loaded<Other> =>
  given.ok ? loaded(map(given.value)) : given

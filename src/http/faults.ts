/**
 * The only place where a fault becomes an HTTP answer. A new kind of fault does not compile until it has a row in the
 * table.
 */
import { STATUS_CODES } from 'node:http'
import type { Fault } from '../vocabulary/fault.ts'

/** Faults of the HTTP layer itself, found before any actor is asked. */
type Protocol =
  | { readonly kind: 'no_route'; readonly path: string }
  | { readonly kind: 'no_method'; readonly method: string; readonly allow: readonly string[] }
  /** The caller is not authenticated. `challenge`: how to authenticate, for the header `WWW-Authenticate`. */
  | { readonly kind: 'unauthenticated'; readonly challenge: string }
  /** The requested microversion is malformed, unknown, or too old for the operation. */
  | { readonly kind: 'not_acceptable'; readonly reason: string }
  | { readonly kind: 'media_type'; readonly given: string }
  | { readonly kind: 'too_large'; readonly limitBytes: number }
  /** The next four occur before there is a parsed request: see `unserved.ts`. */
  | { readonly kind: 'unreadable'; readonly reason: string }
  | { readonly kind: 'headers_too_large'; readonly limitBytes: number }
  | { readonly kind: 'too_slow' }
  | { readonly kind: 'expectation'; readonly given: string }
  /** One of three client mistakes for which tests of existing clients expect status 500 (rest-api 3.3). */
  | { readonly kind: 'expected_500'; readonly instead: Fault }
export type HttpFault = Fault | Protocol
export type HttpRefused = { readonly ok: false; readonly fault: HttpFault }

export const refused = (fault: HttpFault): HttpRefused => ({ ok: false, fault })
export const invalid = (field: string, rule: string): { readonly ok: false; readonly fault: Fault } => ({
  ok: false,
  fault: { kind: 'invalid', field, rule },
})

type Face<F> = {
  readonly status: number
  readonly say: (fault: F) => string
  readonly retryAfterSeconds?: (fault: F) => number
}
type Faces = { readonly [Kind in HttpFault['kind']]: Face<Extract<HttpFault, { kind: Kind }>> }

const words = (name: string): string => name.replaceAll('_', ' ')

const FACES: Faces = {
  not_found: { status: 404, say: (fault) => `The ${words(fault.resource)} ${fault.id} could not be found.` },
  bad_state: {
    status: 409,
    say: (fault) =>
      `The ${words(fault.resource)} ${fault.id} is ${fault.state}; this needs ${fault.allowed.join(' or ') || 'another state'}.`,
  },
  conflict: { status: 409, say: (fault) => fault.reason },
  exists: {
    status: 409,
    say: (fault) =>
      `${/^[aeiou]/.test(fault.resource) ? 'An' : 'A'} ${words(fault.resource)} with the ${fault.field} ${fault.value} already exists.`,
  },
  invalid: { status: 400, say: (fault) => `Invalid ${fault.field}: ${fault.rule}` },
  forbidden: {
    status: 403,
    say: (fault) => (fault.rule.startsWith('cyborg:') ? `Access to ${fault.rule} is denied.` : fault.rule),
  },
  // Clients look for the words "requires a service token".
  service_token: { status: 403, say: (fault) => `The operation ${fault.action} requires a service token.` },
  unresolved: {
    status: 423,
    say: (fault) => `Not all accelerator requests of the instance ${fault.instance} are resolved.`,
    retryAfterSeconds: () => 1,
  },
  unavailable: { status: 503, say: (fault) => fault.reason, retryAfterSeconds: (fault) => fault.retryAfterSeconds },
  crowded: { status: 429, say: (fault) => fault.reason, retryAfterSeconds: (fault) => fault.retryAfterSeconds },
  // only who may program a deployable is answered so, and such a caller needs the words of the driver
  device_failure: { status: 500, say: (fault) => `The hardware failed to do this: ${fault.reason}` },
  no_route: { status: 404, say: (fault) => `There is nothing at ${fault.path}.` },
  no_method: {
    status: 405,
    say: (fault) => `${fault.method} is not possible here; possible: ${fault.allow.join(', ')}.`,
  },
  unauthenticated: { status: 401, say: () => 'The request needs a valid token.' },
  not_acceptable: { status: 406, say: (fault) => fault.reason },
  media_type: { status: 415, say: (fault) => `The body must be application/json, not ${fault.given}.` },
  too_large: { status: 413, say: (fault) => `The body is larger than ${fault.limitBytes} bytes.` },
  unreadable: { status: 400, say: (fault) => `The request cannot be read: ${fault.reason}.` },
  headers_too_large: { status: 431, say: (fault) => `The headers are larger than ${fault.limitBytes} bytes.` },
  too_slow: { status: 408, say: () => 'The request did not arrive whole in time.' },
  expectation: { status: 417, say: (fault) => `Nothing here meets the expectation ${fault.given}.` },
  expected_500: { status: 500, say: (fault) => shownOf(fault.instead).detail },
  broken: { status: 500, say: () => 'The service failed to handle this request; its log knows the request id.' },
}

/** The kinds of fault with the status of each, for the reference. */
export const FAULT_STATUSES = Object.fromEntries(Object.entries(FACES).map(([kind, { status }]) => [kind, status])) as {
  readonly [Kind in HttpFault['kind']]: number
}

/** The standard reason phrase of each error status of this API. */
export const STATUS_TITLES: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not Found',
  405: 'Method Not Allowed',
  406: 'Not Acceptable',
  409: 'Conflict',
  413: 'Content Too Large',
  415: 'Unsupported Media Type',
  423: 'Locked',
  429: 'Too Many Requests',
  500: 'Internal Server Error',
  503: 'Service Unavailable',
}

/** The text repeats names and values of the request, so it is cut at this length. */
const DETAIL_MAX = 500

type Shown = {
  readonly status: number
  /** The text of the fault in the body. */
  readonly detail: string
  readonly retryAfterSeconds: number | undefined
}

export const shownOf = (fault: HttpFault): Shown => {
  // The table has a row for every kind, but the compiler cannot infer the type of the row from the look-up.
  const row = FACES[fault.kind] as Face<HttpFault>
  const text = row.say(fault)
  return {
    status: row.status,
    detail: text.length > DETAIL_MAX ? `${text.slice(0, DETAIL_MAX).toWellFormed()}…` : text.toWellFormed(),
    retryAfterSeconds: row.retryAfterSeconds?.(fault),
  }
}

/** When the compatibility option is off, a fault of `expected_500` is answered with its real status. */
export const withoutExpected500 = (fault: HttpFault): HttpFault =>
  fault.kind === 'expected_500' ? fault.instead : fault

export type ErrorAnswer = Shown & { readonly text: string }

/** The error format of identity services, which their clients know (rest-api 1.9). */
const identityError = (code: number, message: string): string =>
  JSON.stringify({ error: { code, title: STATUS_TITLES[code], message } })

const serviceError = (fault: HttpFault, { status, detail }: Shown, requestId: string): string => {
  const code = fault.kind === 'expected_500' ? fault.instead.kind : fault.kind
  const nested = { faultcode: status < 500 ? 'Client' : 'Server', faultstring: detail, debuginfo: null }
  return JSON.stringify({
    error_message: JSON.stringify(nested),
    errors: [
      {
        status,
        code: `accelerator.${code}`,
        title: STATUS_TITLES[status] ?? STATUS_CODES[status],
        detail,
        request_id: requestId,
      },
    ],
  })
}

export const errorAnswer = (fault: HttpFault, requestId: string): ErrorAnswer => {
  const shown = shownOf(fault)
  const text =
    fault.kind === 'unauthenticated' ? identityError(shown.status, shown.detail) : serviceError(fault, shown, requestId)
  return { ...shown, text }
}

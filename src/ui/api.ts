/**
 * The API as a client of the console sees it.
 *
 * UI-1 every question carries the token of the current user, and nothing else that identifies a caller; without a token
 *    none is sent. So nobody sees more through the console than through the API;
 * UI-2 every question has a time limit, and a page shows a missing answer as missing instead of waiting for it.
 */
import * as v from 'valibot'
import type { Clock } from '../vocabulary/clock.ts'
import { bounded } from '../vocabulary/waiting.ts'
import { Impact, Refusal } from './shapes.ts'
import { type Loaded, loaded, pageError } from './loaded.ts'

/** Answers a request as the API does. */
export type Fetch = (request: Request) => Response | Promise<Response>
export type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE'

export type Api = {
  readonly get: <S extends v.GenericSchema>(path: string, schema: S) => Promise<Loaded<v.InferOutput<S>>>
  /** Posts a question that needs a body or the method POST; nothing is changed. */
  readonly ask: <S extends v.GenericSchema>(path: string, schema: S, body?: object) => Promise<Loaded<v.InferOutput<S>>>
  /**
   * The events of the API as they happen, until `signal` is aborted. `after`: the id of the last event that was seen;
   * null: none.
   */
  readonly stream: (after: string | null, signal: AbortSignal) => Promise<Response>
  /** A file that the API makes, as it is answered. `limitMs`: the time limit until it begins. */
  readonly file: (path: string, limitMs: number) => Promise<Loaded<Response>>
  /** Returns whom a change would concern; nothing is changed. */
  readonly wouldConcern: (method: Exclude<Method, 'GET'>, path: string, body?: object) => Promise<Loaded<Impact>>
  /**
   * Asks for a change. `command`: a UUID, the same each time that the same change is asked for, so that it is carried
   * out once. `limitMs`: absent, that of every question.
   */
  readonly change: (
    command: string,
    method: Method,
    path: string,
    body?: object,
    limitMs?: number,
  ) => Promise<Loaded<Changed>>
}
/** `requestId`: that of the request, under which the API has recorded the change; `answer`: its document. */
type Changed = { readonly requestId: string; readonly answer: unknown }
type HeaderFields = Readonly<Record<string, string>>
type Parts = {
  readonly fetch: Fetch
  readonly clock: Pick<Clock, 'after'>
  readonly timeoutMs: number
}

/** Only completes the address, which `Request` requires: `fetch` calls the API within the process. */
const ORIGIN = 'http://127.0.0.1'
/**
 * The newest microversion of the service, with all that this product adds to it. Console and service belong to the same
 * release, and newer microversions only add to older ones.
 */
const VERSION = 'accelerator latest, accelerando latest'

/** Builds an address of the API: each value becomes one segment or one argument, whatever characters it contains. */
export const at = (parts: TemplateStringsArray, ...values: readonly (string | number)[]): string =>
  parts.reduce((path, part, index) => path + encodeURIComponent(String(values[index - 1] ?? '')) + part)

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

const RULE = /[a-z]+:[a-z_]+:[a-z_]+/
const kindOf = (status: number, text: string) => {
  if (status === 401) return 'sign_in'
  if (status === 403) return 'forbidden'
  if (status === 404) return 'missing'
  if (status === 409 && /needs auth = keystone|no image store/.test(text)) return 'off'
  if (status === 503) return 'away'
  return status < 500 ? 'refused' : 'failed'
}

type Said = { readonly status: number; readonly json: unknown; readonly requestId: string | null }
const refusalOf = ({ status, json, requestId }: Said) => {
  const read = v.safeParse(Refusal, json)
  if (!read.success) {
    const text = status === 401 ? 'A valid token is needed.' : `The API answered ${status}, without a reason.`
    return pageError(kindOf(status, ''), text, requestId)
  }
  const { detail } = read.output.errors[0]
  const rule = status === 403 ? (detail.match(RULE)?.[0] ?? null) : null
  return pageError(kindOf(status, detail), detail, requestId, rule)
}

/** The refusal in an answer that is read by the caller, such as a stream. */
export const refusalIn = async (answer: Response): Promise<ReturnType<typeof pageError>> =>
  refusalOf({
    status: answer.status,
    json: parsed(await answer.text()),
    requestId: answer.headers.get('x-openstack-request-id'),
  })

const LATE = pageError('away', 'The API did not answer in time.')
const unasked = (error: unknown) => pageError('failed', `The API cannot be asked: ${String(error)}`)

/** The document as the schema has it, or what is wrong with it. */
export const documentAs = <S extends v.GenericSchema>(
  schema: S,
  json: unknown,
  requestId: string | null = null,
): Loaded<v.InferOutput<S>> => {
  const read = v.safeParse(schema, json)
  if (read.success) return loaded(read.output)
  const [issue] = read.issues
  return pageError('failed', `${v.getDotPath(issue) ?? 'the document'}: ${issue.message}`, requestId)
}
const readAs = <S extends v.GenericSchema>(schema: S, said: Loaded<Said>): Loaded<v.InferOutput<S>> =>
  said.ok ? documentAs(schema, said.value.json, said.value.requestId) : said

export const createApi =
  ({ fetch, clock, timeoutMs }: Parts) =>
  (token: string | null): Api => {
    const headersWith = (more: HeaderFields = {}): HeaderFields => ({
      'openstack-api-version': VERSION,
      ...more,
      ...(token !== null && { 'x-auth-token': token }),
    })
    const send = async (method: Method, path: string, body?: object, more?: HeaderFields): Promise<Said> => {
      const request = new Request(`${ORIGIN}/v2${path}`, {
        method,
        headers: headersWith({ ...more, ...(body !== undefined && { 'content-type': 'application/json' }) }),
        ...(body !== undefined && { body: JSON.stringify(body) }),
      })
      const response = await fetch(request)
      const text = await response.text()
      const requestId = response.headers.get('x-openstack-request-id')
      return { status: response.status, json: text === '' ? null : parsed(text), requestId }
    }
    const askFor = async (limitMs: number, ...question: Parameters<typeof send>): Promise<Loaded<Said>> => {
      const asked = send(...question).then<Loaded<Said>, Loaded<Said>>(
        (said) => (said.status < 300 ? loaded(said) : refusalOf(said)),
        unasked,
      )
      return bounded(clock, asked, limitMs, LATE)
    }
    const ask = (...question: Parameters<typeof send>) => askFor(timeoutMs, ...question)
    return {
      stream: async (after, signal) => {
        const seen = after !== null && { 'last-event-id': after }
        const headers = headersWith({ accept: 'text/event-stream', ...seen })
        return fetch(new Request(`${ORIGIN}/v2/events`, { headers, signal }))
      },
      file: (path, limitMs) => {
        const asked = Promise.resolve(fetch(new Request(`${ORIGIN}/v2${path}`, { headers: headersWith() }))).then(
          async (answer): Promise<Loaded<Response>> => (answer.ok ? loaded(answer) : refusalIn(answer)),
          unasked,
        )
        return bounded(clock, asked, limitMs, LATE)
      },
      get: async (path, schema) => readAs(schema, await ask('GET', path)),
      ask: async (path, schema, body) => readAs(schema, await ask('POST', path, body)),
      wouldConcern: async (method, path, body) => {
        const query = `${path.includes('?') ? '&' : '?'}dry_run=true`
        return readAs(Impact, await ask(method, path + query, body))
      },
      change: async (command, method, path, body, limitMs = timeoutMs) => {
        const requestId = `req-${command}`
        const named = { 'idempotency-key': command, 'x-openstack-request-id': requestId }
        const said = await askFor(limitMs, method, path, body, named)
        return said.ok ? loaded({ requestId, answer: said.value.json }) : said
      },
    }
  }

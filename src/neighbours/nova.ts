/** Sends Nova the outcome of binds: `os-server-external-events` over HTTP. */
import { readFile } from 'node:fs/promises'
import type { Nova, NovaEvent, NovaVerdict } from '../actors/neighbours.ts'
import { again, allAs, verdictsOf } from './novaAnswer.ts'
import type { NovaAnswer } from './novaAnswer.ts'

export type NovaOptions = {
  /** Endpoint of the compute service, version included. */
  readonly url: string
  readonly timeoutMs: number
  /** Headers of every request. */
  readonly headers?: Readonly<Record<string, string>>
  /** Holds the token; read before each request, since tokens are renewed. */
  readonly tokenFile?: string | null
  readonly fetch?: typeof fetch
}

/** Nova accepts any number of events; a request stays small enough to be answered in time. */
const EVENTS_MAX = 100
const ANSWER_MAX = 1024 * 1024

/** Older microversions do not have the name of the event. */
const MICROVERSION = '2.82'

type Sent = { readonly requestId: string; readonly trace: string | undefined }
const headersOf = async (options: NovaOptions, { requestId, trace }: Sent): Promise<Headers> => {
  const headers = new Headers(options.headers)
  if (options.tokenFile) headers.set('x-auth-token', (await readFile(options.tokenFile, 'utf8')).trim())
  headers.set('content-type', 'application/json')
  headers.set('accept', 'application/json')
  headers.set('openstack-api-version', `compute ${MICROVERSION}`)
  headers.set('x-openstack-nova-api-version', MICROVERSION)
  if (/^[\x21-\x7e]{1,200}$/.test(requestId)) headers.set('x-openstack-request-id', requestId)
  if (trace !== undefined) headers.set('traceparent', trace)
  return headers
}

const bodyOf = async (response: Response): Promise<string> => {
  const decoder = new TextDecoder()
  let [text, size] = ['', 0]
  for await (const part of response.body ?? []) {
    size += part.byteLength
    if (size > ANSWER_MAX) throw new Error(`the answer is larger than ${ANSWER_MAX} bytes`)
    text += decoder.decode(part, { stream: true })
  }
  return text + decoder.decode()
}

const post = async (options: NovaOptions, events: readonly NovaEvent[], sent: Sent): Promise<NovaAnswer> => {
  const elements = events.map(({ name, server_uuid, tag, status }) => ({ name, server_uuid, tag, status }))
  const response = await (options.fetch ?? fetch)(`${options.url.replace(/\/+$/, '')}/os-server-external-events`, {
    method: 'POST',
    headers: await headersOf(options, sent),
    body: JSON.stringify({ events: elements }),
    // Followed, a POST would become a GET.
    redirect: 'manual',
    signal: AbortSignal.timeout(options.timeoutMs),
  })
  return { status: response.status, text: await bodyOf(response) }
}

/** `fetch` hides the actual error in its cause. */
const reasonOf = (error: unknown, timeoutMs: number): string => {
  if (!(error instanceof Error)) return String(error)
  if (error.name === 'TimeoutError') return `no answer within ${timeoutMs} ms`
  const { cause } = error
  if (!(cause instanceof Error)) return error.message
  return cause.message || ('code' in cause ? String(cause.code) : error.message)
}

/** Answers to a request as a whole for what may be the fault of one event in it. */
const BLAMES_ALL: ReadonlySet<number> = new Set([400, 413])

/** Sends the events in one request; in halves, down to single events, where Nova refuses all for one. Rejects when Nova does not answer. */
const judged = async (
  options: NovaOptions,
  events: readonly NovaEvent[],
  sent: Sent,
): Promise<readonly NovaVerdict[]> => {
  const answer = await post(options, events, sent)
  if (!BLAMES_ALL.has(answer.status) || events.length === 1) return verdictsOf(events, answer)
  const half = Math.ceil(events.length / 2)
  const first = await judged(options, events.slice(0, half), sent)
  return [...first, ...(await judged(options, events.slice(half), sent))]
}

export const createNova = (options: NovaOptions): Nova => ({
  notify: async (events, requestId, trace) => {
    const verdicts: NovaVerdict[] = []
    for (let at = 0; at < events.length; at += EVENTS_MAX) {
      const batch = events.slice(at, at + EVENTS_MAX)
      try {
        verdicts.push(...(await judged(options, batch, { requestId, trace })))
      } catch (error) {
        // When Nova cannot be reached, the remaining requests are not sent: each may take the whole time limit.
        verdicts.push(...allAs(events.slice(at), again(0, reasonOf(error, options.timeoutMs))))
        break
      }
    }
    return verdicts
  },
})

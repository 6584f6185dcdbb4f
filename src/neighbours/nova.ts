/** Sends Nova the outcome of binds: `os-server-external-events` over HTTP, at a configured address or at the one in the service catalogue. */
import { readFile } from 'node:fs/promises'
import type { Nova, NovaEvent, NovaVerdict } from '../actors/neighbours.ts'
import { again, allAs, verdictsOf } from './novaAnswer.ts'
import type { NovaAnswer } from './novaAnswer.ts'
import { reasonOf, textIn } from './openstack/send.ts'
import type { Session } from './openstack/session.ts'

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

export type CatalogueOptions = Pick<NovaOptions, 'timeoutMs' | 'headers'>

/** Nova accepts any number of events; a request stays small enough to be answered in time. */
const EVENTS_MAX = 100
const ANSWER_MAX = 1024 * 1024

/** Older microversions do not have the name of the event. */
const MICROVERSION = '2.82'

const PATH = '/os-server-external-events'

type Sent = { readonly requestId: string; readonly trace: string | undefined }
type Headings = Readonly<Record<string, string>>
/** Sends one request. Rejects when Nova does not answer. */
type Post = (body: string, headers: Headings) => Promise<NovaAnswer>

const headersOf = ({ requestId, trace }: Sent): Headings => ({
  'content-type': 'application/json',
  accept: 'application/json',
  'openstack-api-version': `compute ${MICROVERSION}`,
  'x-openstack-nova-api-version': MICROVERSION,
  ...(/^[\x21-\x7e]{1,200}$/.test(requestId) && { 'x-openstack-request-id': requestId }),
  ...(trace !== undefined && { traceparent: trace }),
})

const directly =
  (options: NovaOptions): Post =>
  async (body, own) => {
    const headers = new Headers(options.headers)
    if (options.tokenFile) headers.set('x-auth-token', (await readFile(options.tokenFile, 'utf8')).trim())
    for (const [name, value] of Object.entries(own)) headers.set(name, value)
    const response = await (options.fetch ?? fetch)(`${options.url.replace(/\/+$/, '')}${PATH}`, {
      method: 'POST',
      headers,
      body,
      // Followed, a POST would become a GET.
      redirect: 'manual',
      signal: AbortSignal.timeout(options.timeoutMs),
    })
    return { status: response.status, text: await textIn(response.body ?? [], ANSWER_MAX) }
  }

const inCatalogue =
  (session: Pick<Session, 'call'>, { headers: given = {}, timeoutMs }: CatalogueOptions): Post =>
  async (body, own) => {
    const lower = Object.fromEntries(Object.entries(given).map(([name, value]) => [name.toLowerCase(), value]))
    const headers = { ...lower, ...own }
    return session.call({ service: 'compute', method: 'POST', path: PATH, headers, body, timeoutMs })
  }

/** Answers to a request as a whole for what may be the fault of one event in it. */
const BLAMES_ALL: ReadonlySet<number> = new Set([400, 413])

/** Sends the events in one request; in halves, down to single events, where Nova refuses all for one. Rejects when Nova does not answer. */
const judged = async (post: Post, events: readonly NovaEvent[], sent: Sent): Promise<readonly NovaVerdict[]> => {
  const elements = events.map(({ name, server_uuid, tag, status }) => ({ name, server_uuid, tag, status }))
  const answer = await post(JSON.stringify({ events: elements }), headersOf(sent))
  if (!BLAMES_ALL.has(answer.status) || events.length === 1) return verdictsOf(events, answer)
  const half = Math.ceil(events.length / 2)
  const first = await judged(post, events.slice(0, half), sent)
  return [...first, ...(await judged(post, events.slice(half), sent))]
}

const novaThrough = (post: Post, timeoutMs: number): Nova => ({
  notify: async (events, requestId, trace) => {
    const verdicts: NovaVerdict[] = []
    for (let at = 0; at < events.length; at += EVENTS_MAX) {
      const batch = events.slice(at, at + EVENTS_MAX)
      try {
        verdicts.push(...(await judged(post, batch, { requestId, trace })))
      } catch (error) {
        // When Nova cannot be reached, the remaining requests are not sent: each may take the whole time limit.
        verdicts.push(...allAs(events.slice(at), again(0, reasonOf(error, timeoutMs))))
        break
      }
    }
    return verdicts
  },
})

export const createNova = (options: NovaOptions): Nova => novaThrough(directly(options), options.timeoutMs)

/** With the token of the session, at the compute service of the catalogue. */
export const novaInCatalogue = (session: Pick<Session, 'call'>, options: CatalogueOptions): Nova =>
  novaThrough(inCatalogue(session, options), options.timeoutMs)

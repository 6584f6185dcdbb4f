/**
 * The session of this service with the cloud: one token for all neighbours, and their endpoints from the catalogue that
 * came with it.
 *
 * SESSION-1 the token is renewed before it expires, by one request at a time. If that fails, the old token is used
 *    until it expires;
 * SESSION-2 after a 401 of a neighbour the request is sent once more, with a new token, because the old one was
 *    revoked. If the neighbour refuses new tokens too, a new one is not requested each time (`RENEWED_AFTER_MS`);
 * SESSION-3 the lifetime of a token is measured from its arrival by this machine's monotonic clock, so that a wrongly
 *    set clock does no harm;
 * SESSION-4 a read request whose connection failed is sent once more, because the neighbour may have closed an idle
 *    connection at that moment;
 * SESSION-5 when Keystone gives no token, it is asked again only after `REFUSED_FOR_MS`, because accounts are locked
 *    after many refusals;
 * SESSION-6 a service that the catalogue lacks is remembered as absent until a later catalogue has it.
 */
import type { Clock } from '../../vocabulary/clock.ts'
import type { Log } from '../../vocabulary/log.ts'
import { type Catalog, endpointIn, readToken, remainingMs } from './answers.ts'
import { type Circuit, createCircuit } from './circuit.ts'
import { authRequest, type Credentials } from './credentials.ts'
import { type Answer, type Request, NotAsked, NotInCatalogue, type Send, Unanswered } from './send.ts'
import type { Stream, Streamed, StreamRequest } from './stream.ts'

export type SessionOptions = {
  /** URL of the identity service, including the version: http://keystone.example.org:5000/v3 */
  readonly authUrl: string
  readonly credentials: Credentials
  /** Null: the first region of the catalogue that has the service. */
  readonly region: string | null
  /** The interfaces of endpoints, in order of preference. */
  readonly interfaces: readonly string[]
  /** URLs of services that are used instead of those in the catalogue, by type. */
  readonly endpoints?: Readonly<Record<string, string>>
  readonly timeoutMs: number
}
export type Call = Pick<Request, 'method' | 'body'> & {
  /** Type of the service in the catalogue. */
  readonly service: string
  /** The path after the URL of the endpoint, with a slash at its beginning. */
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly timeoutMs?: number
}
/** `projectId`: null when the token is not for a project. */
type Entry = { readonly token: string; readonly projectId: string | null; readonly url: string }
export type Session = {
  /** Rejects with `Unanswered`. */
  readonly call: (call: Call) => Promise<Answer>
  /**
   * Reads an answer that is too large for memory. The call and its body reject with `Unanswered`. The caller must read
   * or drop the body.
   */
  readonly read: (call: Omit<Call, 'method' | 'body'> & Pick<StreamRequest, 'idleMs' | 'signal'>) => Promise<Streamed>
  /** Asks the identity service itself, with the token of this service. Rejects with `Unanswered`. */
  readonly ask: (path: string, headers?: Readonly<Record<string, string>>) => Promise<Answer>
  /**
   * The same with text of a caller whom nobody has identified yet in `headers`. Rejects with `OnlyThisCall` when the
   * identity service fails for this text only.
   */
  readonly askFor: Session['ask']
  /**
   * A token of this session, the project that it is for, and the URL of a service from the catalogue. Rejects with
   * `Unanswered`.
   */
  readonly entry: (service: string) => Promise<Entry>
  /** The neighbours that do not answer at present, with the reason. */
  readonly whyFailing: () => Readonly<Record<string, string>>
  /** Whether the catalogue had no endpoint of the service when it was last looked up (SESSION-6). */
  readonly lacks: (service: string) => boolean
}
type Parts = {
  readonly options: SessionOptions
  readonly send: Send
  /** Absent: no answer is read in parts. */
  readonly stream?: Stream
  readonly clock: Clock
  readonly log: Log
}

/** Keystone's answer contained no usable token. `status`: its HTTP status. */
export class NoToken extends Unanswered {
  readonly status: number
  constructor(reason: string, status: number) {
    super(reason)
    this.status = status
  }
}

/**
 * The longest time before its end at which the token is renewed, so that requests under way can still use the old one.
 */
const MARGIN_MS = 120_000
const RENEWED_AFTER_MS = 10_000
const REFUSED_FOR_MS = 5000
type Own = {
  readonly id: string
  readonly projectId: string | null
  readonly catalog: Catalog
  readonly renewAt: number
  readonly endsAt: number
}

const ownTokens = ({ options, send, clock, log }: Parts, circuit: Circuit) => {
  const { authUrl, credentials, timeoutMs } = options
  let own: Own | null = null
  let asked: Promise<Own> | null = null
  let refused: { readonly reason: string; readonly until: number } | null = null
  let droppedAt = -Infinity
  const issue = async (): Promise<Own> => {
    const body = JSON.stringify(authRequest(credentials))
    const headers = { 'content-type': 'application/json', accept: 'application/json' }
    const url = `${authUrl}/auth/tokens`
    const answer = await circuit.run(() => send({ method: 'POST', url, headers, body, timeoutMs }))
    const [id, read] = [answer.headers['x-subject-token'], readToken(answer.text)]
    if (answer.status !== 201 || id === undefined || read === null) {
      const reason = `it gives this service no token (${answer.status})${answer.status === 401 ? ': it refuses the credentials' : ''}`
      log.error({ status: answer.status, auth_url: authUrl, reason }, 'keystone.noToken')
      refused = { reason, until: clock.monotonic() + REFUSED_FOR_MS }
      throw new NoToken(reason, answer.status)
    }
    const lifeMs = Math.max(0, remainingMs(read, answer, clock.now()))
    const at = clock.monotonic()
    const renewAt = at + lifeMs - Math.min(MARGIN_MS, lifeMs / 5)
    own = { id, projectId: read.token.projectId, catalog: read.catalog, renewAt, endsAt: at + lifeMs }
    return own
  }
  const renew = async (): Promise<Own> => {
    if (refused !== null && clock.monotonic() < refused.until) throw new NotAsked(refused.reason)
    return (asked ??= issue().finally(() => (asked = null)))
  }
  return {
    held: (): Own | null => own,
    current: async (): Promise<Own> => {
      const held = own
      if (held === null || clock.monotonic() >= held.endsAt) return renew()
      if (clock.monotonic() < held.renewAt) return held
      return renew().catch(() => held)
    },
    /** Drops a token that a neighbour has refused. False: a new one would most likely be refused as well. */
    drop: (token: Own): boolean => {
      if (own !== token) return true
      if (clock.monotonic() - droppedAt < RENEWED_AFTER_MS) return false
      droppedAt = clock.monotonic()
      own = null
      return true
    },
  }
}

const unable: Stream = () => Promise.reject(new Unanswered('this session does not read answers in parts'))

const urlIn =
  ({ interfaces, region, endpoints = {} }: SessionOptions, lacking: Set<string>) =>
  (service: string, { catalog }: Own): string => {
    const url = endpoints[service]?.replace(/\/+$/, '') ?? endpointIn(catalog, { type: service, interfaces, region })
    if (url !== null) {
      lacking.delete(service)
      return url
    }
    lacking.add(service)
    const where = `${interfaces.join(' or ')}${region === null ? '' : ` in the region ${region}`}`
    throw new NotInCatalogue(`the catalogue has no endpoint of ${service} with the interface ${where}`)
  }

/** How long the neutral call of CIRCUIT-4 may take. */
const NEUTRAL_MS = 2000
type RequestHead = Pick<Request, 'method' | 'headers'>
/** Sends requests with the token of this service, through the circuit of the neighbour (SESSION-2, SESSION-4). */
const asking =
  (tokens: ReturnType<typeof ownTokens>, circuitOf: (name: string) => Circuit) =>
  async <Sent extends RequestHead, Got extends Pick<Answer, 'status'>>(
    name: string,
    request: (token: Own) => Sent,
    ask: (request: Sent) => Promise<Got>,
    neutral?: () => Promise<Answer>,
  ): Promise<Got> => {
    const circuit = circuitOf(name)
    const once = async (token: Own): Promise<Got> => {
      const sent = request(token)
      const bare = () => ask({ ...sent, headers: { ...sent.headers, 'x-auth-token': token.id } })
      const twice = () =>
        bare().catch((error) => (error instanceof Unanswered && !error.late ? bare() : Promise.reject(error)))
      const call = sent.method === 'GET' ? twice : bare
      return neutral === undefined ? circuit.run(call) : circuit.runFor(call, neutral)
    }
    const token = await tokens.current()
    const answer = await once(token)
    if (answer.status !== 401 || !tokens.drop(token)) return answer
    return once(await tokens.current())
  }

/** Validates the token of this service, which needs all that the validation of another one needs. */
const ownQuestion = (own: Own | null): readonly [path: string, headers: Request['headers']] =>
  own === null ? ['/', {}] : ['/auth/tokens?nocatalog', { 'x-auth-token': own.id, 'x-subject-token': own.id }]

export const createSession = (parts: Parts): Session => {
  const { options, send, stream = unable, clock, log } = parts
  const circuits = new Map<string, Circuit>()
  const circuitOf = (name: string): Circuit => {
    const known = circuits.get(name) ?? createCircuit(name, clock, log)
    circuits.set(name, known)
    return known
  }
  const tokens = ownTokens(parts, circuitOf('identity'))
  const through = asking(tokens, circuitOf)
  const lacking = new Set<string>()
  const urlOf = urlIn(options, lacking)
  const identity = (path: string, headers: Request['headers'] = {}, timeoutMs = options.timeoutMs): Request => ({
    method: 'GET',
    url: `${options.authUrl}${path}`,
    headers: { accept: 'application/json', ...headers },
    timeoutMs,
  })
  const neutral = () => send(identity(...ownQuestion(tokens.held()), Math.min(NEUTRAL_MS, options.timeoutMs)))
  return {
    call: ({ service, path, method, headers = {}, body, timeoutMs = options.timeoutMs }) =>
      through(
        service,
        (token): Request => ({
          method,
          url: `${urlOf(service, token)}${path}`,
          headers: { accept: 'application/json', ...headers },
          ...(body !== undefined && { body }),
          timeoutMs,
        }),
        send,
      ),
    read: ({ service, path, headers = {}, timeoutMs = options.timeoutMs, idleMs, signal }) =>
      through(
        service,
        (token): StreamRequest => ({
          method: 'GET',
          url: `${urlOf(service, token)}${path}`,
          headers,
          timeoutMs,
          idleMs,
          signal,
        }),
        stream,
      ),
    ask: (path, headers) => through('identity', () => identity(path, headers), send),
    askFor: (path, headers) => through('identity', () => identity(path, headers), send, neutral),
    entry: async (service) => {
      const token = await tokens.current()
      return { token: token.id, projectId: token.projectId, url: urlOf(service, token) }
    },
    whyFailing: () =>
      Object.fromEntries(
        [...circuits].flatMap(([name, { whyFailing }]) => (whyFailing() === null ? [] : [[name, whyFailing()!]])),
      ),
    lacks: (service) => lacking.has(service),
  }
}

/** Sends one HTTP request to a neighbour, with a limit for the whole time and a limit for the size of the answer. */
import { Agent, type Dispatcher, request as send } from 'undici'
import { codeOf, textOf } from '../../vocabulary/errorText.ts'

export type Request = {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
  readonly timeoutMs: number
}
export type Answer = {
  readonly status: number
  /** Names are in lower case; if a header was sent twice, the first one counts. */
  readonly headers: Readonly<Record<string, string>>
  readonly text: string
}
export type Send = (request: Request) => Promise<Answer>
export type Sender = {
  readonly send: Send
  /** The agent that holds the connections. */
  readonly agent: Dispatcher
  readonly close: () => Promise<void>
}

/** The neighbour could not be asked, or its answer could not be read. The message says why, without the address. */
export class Unanswered extends Error {
  override readonly name = 'Unanswered'
  /** Whether the whole time limit has passed. */
  readonly late: boolean
  constructor(reason: string, { late = false, ...options }: ErrorOptions & { readonly late?: boolean } = {}) {
    super(reason, options)
    this.late = late
  }
}

/** No request was made, for a reason that was reported before. */
export class NotAsked extends Unanswered {}
/** The catalogue does not have the service, or not in this region with these interfaces. */
export class NotInCatalogue extends Unanswered {}

const ANSWER_MAX = 16 * 1024 * 1024

/** OpenSSL's codes for a certificate that no trusted CA has issued. */
const UNTRUSTED: ReadonlySet<string> = new Set([
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
])

/**
 * The reason of the signal if the request was aborted; otherwise the cause of the error, which says more than the error
 * itself.
 */
export const reasonOf = (error: unknown, timeoutMs: number): string => {
  if (!(error instanceof Error) || error instanceof Unanswered) return textOf(error)
  if (isLate(error)) return `no answer within ${timeoutMs} ms`
  const cause = error.cause instanceof Error ? error.cause : error
  const code = codeOf(cause)
  if (code !== undefined && UNTRUSTED.has(code))
    return `its certificate is not signed by a CA that is trusted here (keystone_authtoken.cafile): ${code}`
  return textOf(cause) || codeOf(cause) || error.message || error.name
}
const isLate = (error: unknown): boolean => error instanceof Error && error.name === 'TimeoutError'

/** Rejects when the body is longer than `maxBytes`. */
const textIn = async (body: AsyncIterable<Uint8Array> | Iterable<Uint8Array>, maxBytes: number): Promise<string> => {
  const decoder = new TextDecoder()
  let [text, size] = ['', 0]
  for await (const part of body) {
    size += part.byteLength
    if (size > maxBytes) throw new Error(`the answer is larger than ${maxBytes} bytes`)
    text += decoder.decode(part, { stream: true })
  }
  return text + decoder.decode()
}

/** The headers as texts; if a header was sent twice, the first one counts. */
export const headersOf = (headers: Readonly<Record<string, string | string[] | undefined>>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, (Array.isArray(value) ? value[0] : value) ?? '']),
  )

/**
 * Keeps connections open for later requests: more than tokens are validated at once (`places.ts`), so that those of
 * other services at the same address have some too. `ca`: certificates in PEM to trust instead of those of the system.
 * Redirects are not followed.
 */
export const createSender = (ca: string | null): Sender => {
  const agent = new Agent({ connect: ca === null ? {} : { ca }, connections: 96, pipelining: 1 })
  return {
    agent,
    send: async ({ url, method, headers, body, timeoutMs }) => {
      try {
        const signal = AbortSignal.timeout(timeoutMs)
        const answer = await send(url, { dispatcher: agent, method, headers, body: body ?? null, signal })
        return {
          status: answer.statusCode,
          headers: headersOf(answer.headers),
          text: await textIn(answer.body, ANSWER_MAX),
        }
      } catch (error) {
        throw new Unanswered(reasonOf(error, timeoutMs), { cause: error, late: isLate(error) })
      }
    },
    close: () => agent.destroy(),
  }
}

/** Sends a request whose answer is too large for memory: the body comes in parts, each within a time limit. */
import { type Dispatcher, request as send } from 'undici'
import { type Request, headersOf, reasonOf, Unanswered } from './send.ts'

export type StreamRequest = Omit<Request, 'body'> & {
  /** The longest time between two parts, in ms. `timeoutMs` is the limit for the beginning of the answer. */
  readonly idleMs: number
  /** Aborts the request and its body. */
  readonly signal: AbortSignal
}
export type Streamed = {
  readonly status: number
  /** Names are in lower case; if a header was sent twice, the first one counts. */
  readonly headers: Readonly<Record<string, string>>
  /** Rejects with `Unanswered` when the connection ends early, nothing comes for too long, or the signal is aborted. */
  readonly body: AsyncIterable<Uint8Array>
  /** Drops the body if it is not needed. Bodies of failures and redirects are dropped already. */
  readonly drop: () => void
}
export type Stream = (request: StreamRequest) => Promise<Streamed>

const parts = async function* (body: AsyncIterable<Uint8Array>, idleMs: number): AsyncGenerator<Uint8Array> {
  try {
    yield* body
  } catch (error) {
    throw new Unanswered(streamReason(error, idleMs), { cause: error })
  }
}
const LATE = /^UND_ERR_(HEADERS|BODY)_TIMEOUT$/
const streamReason = (error: unknown, limitMs: number): string =>
  error instanceof Error && 'code' in error && LATE.test(String(error.code))
    ? `nothing came for ${limitMs} ms`
    : reasonOf(error, limitMs)

export const createStream =
  (agent: Dispatcher): Stream =>
  async ({ url, method, headers, timeoutMs, idleMs, signal }) => {
    try {
      const limits = { headersTimeout: timeoutMs, bodyTimeout: idleMs }
      const answer = await send(url, { dispatcher: agent, method, headers, signal, ...limits })
      const { statusCode: status, body } = answer
      // a dropped body emits an error, which nobody needs
      const drop = () => void body.on('error', () => {}).destroy()
      if (status >= 300) drop()
      return { status, headers: headersOf(answer.headers), body: parts(body, idleMs), drop }
    } catch (error) {
      throw new Unanswered(streamReason(error, timeoutMs), { cause: error })
    }
  }

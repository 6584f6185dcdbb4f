/** Sends one HTTP request to a neighbour: with a time limit for the whole of it, and a limit for the size of the answer. */
import { Agent, request as send } from 'undici'
import { textOf } from '../../errorText.ts'

export type Request = {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
  readonly timeoutMs: number
}
export type Answer = {
  readonly status: number
  /** Names in lower case; of a header that was sent twice, the first. */
  readonly headers: Readonly<Record<string, string>>
  readonly text: string
}
export type Send = (request: Request) => Promise<Answer>
export type Sender = { readonly send: Send; readonly close: () => Promise<void> }

/** The neighbour could not be asked, or its answer could not be read. The message says why, without the address. */
export class Unanswered extends Error {
  override readonly name = 'Unanswered'
  /** The whole time limit has passed. */
  readonly late: boolean
  constructor(reason: string, { late = false, ...options }: ErrorOptions & { readonly late?: boolean } = {}) {
    super(reason, options)
    this.late = late
  }
}

/** It was not even tried, for a reason that was told before. */
export class NotAsked extends Unanswered {}

const ANSWER_MAX = 16 * 1024 * 1024

/** Aborted, a request rejects with the reason of its signal; otherwise the cause says more than the error. */
const unanswered = (error: unknown, timeoutMs: number): Unanswered => {
  if (!(error instanceof Error)) return new Unanswered(textOf(error), { cause: error })
  if (error.name === 'TimeoutError')
    return new Unanswered(`no answer within ${timeoutMs} ms`, { cause: error, late: true })
  return new Unanswered(textOf(error.cause instanceof Error ? error.cause : error) || error.name, { cause: error })
}

const textIn = async (body: AsyncIterable<Uint8Array>): Promise<string> => {
  const decoder = new TextDecoder()
  let [text, size] = ['', 0]
  for await (const part of body) {
    size += part.byteLength
    if (size > ANSWER_MAX) throw new Error(`the answer is larger than ${ANSWER_MAX} bytes`)
    text += decoder.decode(part, { stream: true })
  }
  return text + decoder.decode()
}

/** Connections are kept open and used again. `ca`: certificates in PEM that are trusted instead of those of the system. Redirects are not followed. */
export const createSender = (ca: string | null): Sender => {
  const agent = new Agent({ connect: ca === null ? {} : { ca }, connections: 32, pipelining: 1 })
  return {
    send: async ({ url, method, headers, body, timeoutMs }) => {
      try {
        const signal = AbortSignal.timeout(timeoutMs)
        const answer = await send(url, { dispatcher: agent, method, headers, body: body ?? null, signal })
        const first = Object.entries(answer.headers).map(([name, value]) => [
          name,
          (Array.isArray(value) ? value[0] : value) ?? '',
        ])
        return {
          status: answer.statusCode,
          headers: Object.fromEntries(first) as Record<string, string>,
          text: await textIn(answer.body),
        }
      } catch (error) {
        throw unanswered(error, timeoutMs)
      }
    },
    close: () => agent.destroy(),
  }
}

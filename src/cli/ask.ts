/**
 * Sends one HTTP request for a command. `fetch` is not used because it blocks certain ports, and the default port of
 * the API is one of them.
 */
import { codeOf, messageOf } from '../vocabulary/errorText.ts'
import { type IncomingHttpHeaders, type IncomingMessage, request as overHttp } from 'node:http'
import { request as overHttps } from 'node:https'
import { text } from 'node:stream/consumers'

export type Question = {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  /** Sent as JSON. */
  readonly body?: unknown
  readonly timeoutMs: number
  /** The certificates of the CAs that are trusted, in PEM; null: those that Node trusts. */
  readonly ca?: string | null | undefined
}
export type Reply = { readonly status: number; readonly headers: IncomingHttpHeaders; readonly text: string }

/** Redirects are not followed. Rejects with an explanatory message when the complete answer does not arrive in time. */
export const ask = async (url: string, question: Question): Promise<Reply> => {
  const { method = 'GET', headers = {}, body, timeoutMs, ca } = question
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
  const sent = body === undefined ? undefined : JSON.stringify(body)
  const about =
    sent === undefined ? {} : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(sent) }
  const over = new URL(url).protocol === 'https:' ? overHttps : overHttp
  const signal = AbortSignal.timeout(timeoutMs)
  over(url, { method, headers: { ...headers, ...about }, signal, ...(ca ? { ca } : {}) }, resolve)
    .on('error', reject)
    .end(sent)
  try {
    const answer = await promise
    return { status: answer.statusCode!, headers: answer.headers, text: await text(answer) }
  } catch (error) {
    const why = signal.aborted ? `no answer within ${timeoutMs / 1000} s` : messageOf(error) || codeOf(error)
    throw new Error(why, { cause: error })
  }
}

/**
 * HTTP client for a service that may be killed at any moment: returns an answer, or throws `Lost` when there is none.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Method } from './account.ts'

const ANSWER_MS = 20_000
const SERVICE_MS = 120_000
const HEADERS = { 'content-type': 'application/json', 'x-service-roles': 'service' }

/** There was no answer, or one that does not say whether the request was carried out. */
export class Lost extends Error {}
export type Answer = { readonly status: number; readonly body: Readonly<Record<string, unknown>> }
export type OpenCall = { readonly method: Method; readonly path: string; readonly instance: string | null }
export type Api = {
  /** `instance`: the instance of the call, to report later which calls were open. */
  readonly call: (method: Method, path: string, body?: unknown, instance?: string) => Promise<Answer>
  /** After a `Lost`: resolves when it is worth to ask again. */
  readonly again: () => Promise<void>
  readonly open: ReadonlySet<OpenCall>
  /** Called when a request of that method is being sent. */
  readonly onSend: (listener: (call: OpenCall) => void) => () => void
}

type Asking = { readonly method: Method; readonly headers: Readonly<Record<string, string>>; readonly answerMs: number }
const answerOf = async (url: string, { method, headers, answerMs }: Asking, body: unknown): Promise<Answer> => {
  try {
    const response = await fetch(url, {
      method,
      headers: { ...HEADERS, ...headers },
      signal: AbortSignal.timeout(answerMs),
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    const { status } = response
    if (status === 503 || status === 504) throw new Lost(`${method} ${url}: ${status} ${text}`)
    return { status, body: (text === '' ? {} : JSON.parse(text)) as Answer['body'] }
  } catch (error) {
    if (error instanceof Lost) throw error
    throw new Lost(`${method} ${url}: ${String(error)}`)
  }
}

/** `base`: asked for at each call. `serving` resolves when the service answers again. `headers`: who is calling. */
export const openApi = (
  base: () => string,
  serving: () => Promise<void>,
  answerMs = ANSWER_MS,
  headers: Readonly<Record<string, string>> = {},
): Api => {
  const open = new Set<OpenCall>()
  const listeners = new Set<(call: OpenCall) => void>()
  return {
    open,
    onSend: (listener) => {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    call: async (method, path, body, instance) => {
      const call = { method, path, instance: instance ?? null }
      const answer = answerOf(`${base()}${path}`, { method, headers, answerMs }, body)
      open.add(call)
      for (const listener of [...listeners]) listener(call)
      return answer.finally(() => open.delete(call))
    },
    again: async () => {
      const late = new AbortController()
      const over = sleep(SERVICE_MS, 'over', { signal: late.signal }).catch(() => null)
      const first = await Promise.race([serving(), over])
      late.abort()
      if (first === 'over') throw new Error(`no service within ${SERVICE_MS} ms`)
      await sleep(30)
    },
  }
}

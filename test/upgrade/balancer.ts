/**
 * HTTP through a load balancer: it asks each server whether it is ready, sends each call to the next that is, and notes
 * every call that failed. Only 503 with `Retry-After` is no failure, and a connection that was never there: nothing was
 * sent.
 */
import { request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Answer, type Api, Lost, type OpenCall } from '../kill/api.ts'

const LOOK_MS = 100
const LOOK_TIMEOUT_MS = 2000
const ANSWER_MS = 25_000
const SERVICE_MS = 60_000
const HEADERS = { 'content-type': 'application/json', 'x-service-roles': 'service' }

type Raw = { readonly status: number; readonly retryAfter: string | undefined; readonly text: string }
/** A connection for each call, as pooled ones may be closed by a server that ends in the moment they are used again. */
const ask = (url: string, method: string, body: unknown, timeoutMs: number): Promise<Raw> => {
  const { promise, resolve, reject } = Promise.withResolvers<Raw>()
  const asked = request(
    url,
    { method, headers: HEADERS, agent: false, signal: AbortSignal.timeout(timeoutMs) },
    (got) => {
      let text = ''
      got.setEncoding('utf8').on('data', (part: string) => {
        text += part
      })
      got.on('error', reject)
      got.on('end', () => resolve({ status: got.statusCode!, retryAfter: got.headers['retry-after'], text }))
    },
  )
  asked.on('error', reject)
  asked.end(body === undefined ? undefined : JSON.stringify(body))
  return promise
}

export type Balanced = Api & {
  /** Who is behind it from now on. */
  readonly behind: (...origins: readonly string[]) => void
  readonly isReady: (origin: string) => boolean
  /** Who is killed, or ends without notice, may break off calls. */
  readonly excuse: (origin: string) => void
  readonly figures: {
    /** By origin. */
    readonly answered: ReadonlyMap<string, number>
    readonly retryable: () => number
    readonly refused: () => number
    readonly excused: () => number
    /** Calls that failed, in words. */
    readonly failed: readonly string[]
  }
  /** Who still waits for an answer gets none any more. */
  readonly close: () => Promise<void>
}

/** Looks at each again and again. */
const openLooks = () => {
  let [origins, closed] = [[] as readonly string[], false]
  const ready = new Set<string>()
  const look = async (origin: string) => {
    const well = await ask(`${origin}/readyz`, 'GET', undefined, LOOK_TIMEOUT_MS).then(
      ({ status }) => status === 200,
      () => false,
    )
    if (well && origins.includes(origin)) ready.add(origin)
    else ready.delete(origin)
  }
  const looking = (async () => {
    while (!closed) {
      await Promise.all(origins.map(look))
      await sleep(LOOK_MS)
    }
  })()
  let turn = 0
  return {
    ready,
    behind: (...next: readonly string[]) => {
      origins = next
      for (const gone of [...ready].filter((origin) => !next.includes(origin))) ready.delete(gone)
    },
    next: (): string | undefined => [...ready][turn++ % Math.max(1, ready.size)],
    closed: () => closed,
    close: async () => {
      closed = true
      ready.clear()
      await looking
    },
  }
}

const codeOf = (error: unknown): string => (error as NodeJS.ErrnoException).code ?? String(error)

export const openBalancer = (): Balanced => {
  const looks = openLooks()
  const open = new Set<OpenCall>()
  const answered = new Map<string, number>()
  const failed: string[] = []
  const excused = new Set<string>()
  let [retryable, refused, broken] = [0, 0, 0]

  /** The call, or why there is no answer that counts. */
  const judged = ({ status, retryAfter, text }: Raw, what: string, origin: string): Answer => {
    answered.set(origin, (answered.get(origin) ?? 0) + 1)
    const mayRepeat = status === 503 && /^\d+$/.test(retryAfter ?? '')
    if (mayRepeat) retryable++
    else if (status >= 500) failed.push(`${what} was answered ${status}: ${text.slice(0, 300)}`)
    if (status >= 500) throw new Lost(`${what}: ${status}`)
    return { status, body: (text === '' ? {} : JSON.parse(text)) as Answer['body'] }
  }
  const unanswered = (error: unknown, what: string, origin: string): Lost => {
    looks.ready.delete(origin)
    if (codeOf(error) === 'ECONNREFUSED') refused++
    else if (excused.has(origin)) broken++
    else failed.push(`${what} broke off: ${codeOf(error)}`)
    return new Lost(`${what}: ${codeOf(error)}`)
  }
  const call: Api['call'] = async (method, path, body) => {
    const origin = looks.next()
    if (origin === undefined) throw new Lost('nobody is ready')
    const what = `${method} ${path} to ${origin}`
    const raw = await ask(`${origin}/v2${path}`, method, body, ANSWER_MS).catch((error: unknown) => {
      throw unanswered(error, what, origin)
    })
    return judged(raw, what, origin)
  }
  return {
    open,
    onSend: () => () => undefined,
    call: async (method, path, body, instance) => {
      const one: OpenCall = { method, path, instance: instance ?? null }
      open.add(one)
      return call(method, path, body).finally(() => open.delete(one))
    },
    again: async () => {
      const until = Date.now() + SERVICE_MS
      do {
        if (looks.closed() || Date.now() > until) throw new Error(`nobody was ready for ${SERVICE_MS} ms`)
        await sleep(LOOK_MS)
      } while (looks.ready.size === 0)
    },
    behind: looks.behind,
    isReady: (origin) => looks.ready.has(origin),
    excuse: (origin) => void excused.add(origin),
    figures: { answered, failed, retryable: () => retryable, refused: () => refused, excused: () => broken },
    close: looks.close,
  }
}

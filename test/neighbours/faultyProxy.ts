/**
 * A proxy in front of an HTTP service, real or double, that does harm when a test says so: it is slow, answers in place
 * of the service, or cuts the connection before or after the service has carried out the request. Rules may be added
 * and removed in a running test.
 */
import { createServer, request as send, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'

export type Harm =
  /** The request waits before it is passed on. */
  | { readonly kind: 'slow'; readonly ms: number }
  /** The proxy answers; the service is not asked. */
  | {
      readonly kind: 'answer'
      readonly status: number
      readonly body?: string
      readonly headers?: Readonly<Record<string, string>>
    }
  /** The connection is reset, or nobody answers: the service was not asked. */
  | { readonly kind: 'resetBefore' | 'silentBefore' }
  /** The same after the service has carried out the request. */
  | { readonly kind: 'resetAfter' | 'silentAfter' }
  /** The connection is reset when so much of the answer's body has passed. */
  | { readonly kind: 'cut'; readonly afterBytes: number }
  /** Nothing more comes when so much of it has passed; the connection stays open. */
  | { readonly kind: 'stall'; readonly afterBytes: number }
  /** Work of the test between arrival and passing on: somebody else's change, for example. */
  | { readonly kind: 'first'; readonly run: () => unknown }

type Seen = { readonly method: string; readonly path: string }
type Rule = {
  readonly harm: Harm
  /** How often it is applied. Without: until it is removed. */
  readonly times?: number
  /** Without: to each request. */
  readonly when?: (request: Seen) => boolean
}
export type FaultyProxy = {
  /** The target's address, path included, with the proxy in place of its host and port. */
  readonly url: string
  /** Method and path of each request that arrived. */
  readonly asked: string[]
  /** The first rule that fits a request is applied to it. Ends with `remove`. */
  readonly inject: (rule: Rule) => { readonly remove: () => void; readonly applied: () => number }
  /** Removes all rules. */
  readonly heal: () => void
  readonly close: () => Promise<void>
}

const forward = async (target: URL, request: IncomingMessage): Promise<IncomingMessage> => {
  const { host: _, connection: __, ...headers } = request.headers
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
  const { hostname, port } = target
  const passed = send({ hostname, port, method: request.method, path: request.url, headers, agent: false }, resolve)
  passed.on('error', reject)
  request.pipe(passed)
  return promise
}
const deliver = async (answer: IncomingMessage, response: ServerResponse, harm: Harm | undefined): Promise<void> => {
  const { connection: _, 'transfer-encoding': __, ...headers } = answer.headers
  response.writeHead(answer.statusCode!, headers)
  let left = harm !== undefined && 'afterBytes' in harm ? harm.afterBytes : Infinity
  for await (const part of answer as AsyncIterable<Buffer>) {
    response.write(part.subarray(0, left))
    left -= part.byteLength
    if (left > 0) continue
    if (harm?.kind === 'stall') return
    // what was written has to leave first
    await wait(20)
    return void response.socket?.resetAndDestroy()
  }
  response.end()
}

const ANSWERLESS: ReadonlySet<Harm['kind']> = new Set(['silentBefore', 'silentAfter'])
const NOT_ASKED: ReadonlySet<Harm['kind']> = new Set(['resetBefore', 'silentBefore'])

const handle = async (target: URL, harm: Harm | undefined, request: IncomingMessage, response: ServerResponse) => {
  const end = (kind: Harm['kind']) => !ANSWERLESS.has(kind) && request.socket.resetAndDestroy()
  if (harm?.kind === 'answer') {
    request.resume()
    return void response.writeHead(harm.status, harm.headers).end(harm.body)
  }
  if (harm !== undefined && NOT_ASKED.has(harm.kind)) return end(harm.kind)
  if (harm?.kind === 'slow') await wait(harm.ms)
  if (harm?.kind === 'first') await harm.run()
  const answer = await forward(target, request)
  if (harm?.kind !== 'resetAfter' && harm?.kind !== 'silentAfter') return deliver(answer, response, harm)
  await answer.resume().toArray()
  return end(harm.kind)
}

export const faultyProxy = async (targetUrl: string): Promise<FaultyProxy> => {
  const target = new URL(targetUrl)
  const asked: string[] = []
  let rules: readonly { readonly rule: Rule; applied: number }[] = []
  const harmTo = (request: Seen): Harm | undefined => {
    const found = rules.find(
      ({ rule, applied }) => applied < (rule.times ?? Infinity) && (rule.when?.(request) ?? true),
    )
    if (found !== undefined) found.applied++
    return found?.rule.harm
  }
  const server = createServer((request, response) => {
    const seen = { method: request.method!, path: request.url! }
    asked.push(`${seen.method} ${seen.path}`)
    // the client went away, or the service did
    handle(target, harmTo(seen), request, response).catch(() => request.socket.resetAndDestroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}${target.pathname.replace(/\/$/, '')}`,
    asked,
    inject: (rule) => {
      const entry = { rule, applied: 0 }
      rules = [...rules, entry]
      return { remove: () => (rules = rules.filter((one) => one !== entry)), applied: () => entry.applied }
    },
    heal: () => (rules = []),
    close: async () => {
      server.closeAllConnections()
      await new Promise<void>((resolve) => void server.close(() => resolve()))
    },
  }
}

/** A collector of OTLP over HTTP, as far as a test needs one: it keeps the spans it was sent. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach } from 'vitest'

export type Collected = {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly name: string
  readonly kind: number
  /** Nanoseconds since the epoch. */
  readonly startTimeUnixNano: string
  readonly endTimeUnixNano: string
  readonly status: { readonly code?: number; readonly message?: string }
  readonly attributes: readonly { readonly key: string; readonly value: Readonly<Record<string, unknown>> }[]
}
type Sent = {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: Collected['attributes'] }
    readonly scopeSpans: readonly { readonly scope: { readonly name: string }; readonly spans: readonly Collected[] }[]
  }[]
}

export const openCollector = async () => {
  const spans: Collected[] = []
  const resources: Record<string, unknown>[] = []
  const [paths, scopes] = [new Set<string>(), new Set<string>()]
  const server = createServer((request, response) => {
    const parts: Buffer[] = []
    request.on('data', (part: Buffer) => parts.push(part))
    request.on('end', () => {
      paths.add(request.url ?? '')
      const { resourceSpans } = JSON.parse(Buffer.concat(parts).toString()) as Sent
      for (const { resource, scopeSpans } of resourceSpans) {
        resources.push(Object.fromEntries(resource.attributes.map(({ key, value }) => [key, Object.values(value)[0]])))
        for (const { scope } of scopeSpans) scopes.add(scope.name)
        spans.push(...scopeSpans.flatMap((scope) => scope.spans))
      }
      response.writeHead(200, { 'content-type': 'application/json' }).end('{}')
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans: spans as readonly Collected[],
    resources: resources as readonly Readonly<Record<string, unknown>>[],
    paths,
    /** The names of the tracers. */
    scopes,
    /** The spans of a trace, when what is looked for has come. */
    until: async (found: (spans: readonly Collected[]) => boolean, withinMs = 10_000): Promise<void> => {
      for (const end = Date.now() + withinMs; !found(spans); await sleep(10))
        if (Date.now() > end) throw new Error(`not within ${withinMs} ms: ${spans.map(({ name }) => name).join(', ')}`)
    },
    close: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** Where the exporter sends spans to; it reads this variable by itself. */
export const ENDPOINT = 'OTEL_EXPORTER_OTLP_ENDPOINT'
/** A new collector for each test of the file, to which the exporter sends. */
export const collectorOfEachTest = (): (() => Awaited<ReturnType<typeof openCollector>>) => {
  const before = process.env[ENDPOINT]
  let collector: Awaited<ReturnType<typeof openCollector>>
  beforeEach(async () => {
    collector = await openCollector()
    process.env[ENDPOINT] = collector.url
  })
  afterEach(async () => {
    if (before === undefined) Reflect.deleteProperty(process.env, ENDPOINT)
    else process.env[ENDPOINT] = before
    await collector.close()
  })
  return () => collector
}

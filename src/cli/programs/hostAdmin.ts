/**
 * The admin endpoint of a host program, for operators and probes. It uses plain Node HTTP, because a compute node loads
 * no web framework.
 */
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { shownOf } from '../../http/faults.ts'
import { gateOf, isLoopback } from '../../http/gate.ts'
import type { Address } from '../config/kinds.ts'
import type { Meter } from '../observe/metrics.ts'

type HostAdminParts = {
  readonly address: Address
  /** Why the program is not ready; null: it is ready. */
  readonly notReady: () => string | null
  /** Shown whether the program is ready or not. */
  readonly detail: () => Readonly<Record<string, unknown>>
  readonly meter: Meter
}
export type HostAdmin = { readonly url: string; readonly close: () => Promise<void> }

const REQUEST_MS = 10_000

const json = (response: ServerResponse, status: number, body: object): void => {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}

export const openHostAdmin = async ({ address, notReady, detail, meter }: HostAdminParts): Promise<HostAdmin> => {
  const { registry } = meter
  meter.show('host_ready', () => (notReady() === null ? 1 : 0))
  const pages: Readonly<Record<string, (response: ServerResponse) => unknown>> = {
    '/healthz': (response) => json(response, 200, { status: 'ok' }),
    '/readyz': (response) => {
      const reason = notReady()
      if (reason === null) json(response, 200, { status: 'ready', detail: detail() })
      else json(response, 503, { status: 'not ready', reason, detail: detail() })
    },
    '/metrics': async (response) => {
      const text = await registry.metrics()
      response.writeHead(200, { 'content-type': registry.contentType }).end(text)
    },
  }
  const gate = gateOf({ trustedHosts: [], anyHost: !isLoopback(address.host) })
  const server = createServer((request, response) => {
    const header = (name: string) => ([] as (string | undefined)[]).concat(request.headers[name])[0]
    const barred = gate(header)
    if (barred !== null) return json(response, 403, { error: shownOf(barred.fault).detail })
    const page = request.method === 'GET' ? pages[request.url ?? ''] : undefined
    if (page === undefined) json(response, 404, { error: 'there is nothing here' })
    else void page(response)
  })
  server.requestTimeout = REQUEST_MS
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(address.port, address.host, resolve)
  })
  const host = address.host.includes(':') ? `[${address.host}]` : address.host
  return {
    url: `http://${host}:${(server.address() as AddressInfo).port}`,
    close: async () => {
      const closed = new Promise<void>((resolve) => void server.close(() => resolve()))
      server.closeAllConnections()
      await closed
    },
  }
}

/** An application on a port of this machine, for what speaks HTTP to it: a command, a client or a browser. */
import { getRequestListener } from '@hono/node-server'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

export type Serving = { readonly url: string; readonly port: number; readonly close: () => Promise<void> }
type App = { readonly fetch: (request: Request) => Response | Promise<Response> }

export const serving = async ({ fetch }: App, port = 0): Promise<Serving> => {
  const serve = getRequestListener(fetch)
  const server = createServer((incoming, outgoing) => void serve(incoming, outgoing))
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(port, '127.0.0.1', resolve))
  const at = (server.address() as AddressInfo).port
  const close = async () => {
    const closed = new Promise<void>((resolve) => void server.close(() => resolve()))
    server.closeAllConnections()
    await closed
  }
  return { url: `http://127.0.0.1:${at}`, port: at, close }
}

/**
 * A Nova that shows servers: `GET /servers/{id}` and the list of all projects, as Nova 34 answers them to an
 * administrator and to others.
 */
import { randomUUID } from 'node:crypto'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { serversAt } from '../support/novaClients.ts'
import type { ServersLab } from '../contracts/novaServers.contract.ts'

type Shown = {
  readonly id: string
  readonly status: string
  readonly 'OS-EXT-SRV-ATTR:hypervisor_hostname': string | null
}
const ADMIN = 'token-of-an-admin'

export const novaServersDouble = async (): Promise<ServersLab & { readonly close: () => Promise<void> }> => {
  const servers = new Map<string, Shown>()
  const answer = (response: ServerResponse, status: number, body: unknown) =>
    void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  const server = createServer((request, response) => {
    const { pathname: path } = new URL(request.url!, 'http://nova')
    const isAdmin = request.headers['x-auth-token'] === ADMIN
    const [, id] = /^\/v2\.1\/servers\/(.+)$/.exec(path) ?? []
    if (id === undefined)
      return isAdmin
        ? answer(response, 200, { servers: [...servers.values()].slice(0, 1) })
        : answer(response, 403, { forbidden: { code: 403, message: "Policy doesn't allow it to be performed." } })
    const found = isAdmin ? servers.get(id) : undefined
    const message = `Instance ${id} could not be found.`
    return found
      ? answer(response, 200, { server: found })
      : answer(response, 404, { itemNotFound: { code: 404, message } })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v2.1`
  const made = (status: string, node: string | null): string => {
    const id = randomUUID()
    servers.set(id, { id, status, 'OS-EXT-SRV-ATTR:hypervisor_hostname': node })
    return id
  }
  return {
    as: (account) => serversAt({ url, timeoutMs: 2000, headers: account === 'admin' ? { 'x-auth-token': ADMIN } : {} }),
    running: async () => ({ id: made('ACTIVE', 'compute-1'), node: 'compute-1' }),
    homeless: async () => made('ERROR', null),
    remove: async (id) => void servers.delete(id),
    close: async () => {
      server.closeAllConnections()
      await new Promise<void>((resolve) => void server.close(() => resolve()))
    },
  }
}

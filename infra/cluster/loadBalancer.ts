/** A simple load balancer in front of the controls: each connection goes to the next control that accepts it. */
import { setTimeout as sleep } from 'node:timers/promises'
import { type Socket, connect, createServer } from 'node:net'
import type { AddressInfo } from 'node:net'

type Backend = { readonly host: string; readonly port: number }
export type Front = { readonly port: number; readonly close: () => Promise<void> }

const CONNECT_MS = 1000
/** How long a client waits for a control that accepts its connection: one that was killed is back within seconds. */
const WAIT_MS = 15_000
const AGAIN_MS = 100

/** Null: the backend does not accept the connection. */
const opened = ({ host, port }: Backend): Promise<Socket | null> =>
  new Promise((resolve) => {
    const socket = connect({ host, port })
    const refuse = (): void => {
      socket.destroy()
      resolve(null)
    }
    socket.setTimeout(CONNECT_MS, refuse).once('error', refuse)
    socket.once('connect', () => {
      socket.setTimeout(0).off('error', refuse)
      resolve(socket)
    })
  })

const joined = (one: Socket, other: Socket): void => {
  for (const [from, to] of [
    [one, other],
    [other, one],
  ] as const) {
    from.on('error', () => to.destroy())
    from.on('close', () => to.destroy())
    from.pipe(to)
  }
}

export const openLoadBalancer = async (
  address: { readonly host: string; readonly port: number },
  backends: () => readonly Backend[],
): Promise<Front> => {
  let turn = 0
  const open = new Set<Socket>()
  const serve = async (client: Socket): Promise<void> => {
    const end = performance.now() + WAIT_MS
    while (!client.destroyed && performance.now() < end) {
      const known = backends()
      const first = turn++
      for (let tried = 0; tried < known.length; tried++) {
        const backend = await opened(known[(first + tried) % known.length]!)
        if (backend !== null) return joined(client, backend)
      }
      await sleep(AGAIN_MS)
    }
    client.destroy()
  }
  const server = createServer({ pauseOnConnect: false }, (client) => {
    open.add(client)
    client.on('error', () => client.destroy()).on('close', () => open.delete(client))
    void serve(client)
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(address.port, address.host, resolve)
  })
  return {
    port: (server.address() as AddressInfo).port,
    close: async () => {
      const closed = new Promise<void>((resolve) => void server.close(() => resolve()))
      for (const client of open) client.destroy()
      await closed
    },
  }
}

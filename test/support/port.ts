/** Finds free TCP ports. */
import { randomInt } from 'node:crypto'
import { createServer } from 'node:net'

const isFree = (port: number): Promise<boolean> => {
  const { promise, resolve } = Promise.withResolvers<boolean>()
  const server = createServer()
  server.once('error', () => resolve(false))
  server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)))
  return promise
}

/** Below the range of ephemeral ports, since an outgoing connection could take one of those in between. */
export const freePort = async (): Promise<number> => {
  for (let tries = 0; tries < 100; tries++) {
    const port = randomInt(12_000, 30_000)
    if (await isFree(port)) return port
  }
  throw new Error('no free port from 12000 to 30000')
}

/** Of the ports that browsers and `fetch` refuse (https://fetch.spec.whatwg.org/#port-blocking), one that is free. */
export const portThatFetchRefuses = async (): Promise<number> => {
  for (const port of [6665, 6668, 6669, 6679, 6697, 10_080, 6667, 6666]) if (await isFree(port)) return port
  throw new Error('none of the refused ports is free')
}

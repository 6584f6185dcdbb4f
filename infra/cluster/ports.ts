/**
 * Finds unused ports below the range that the system uses for outgoing connections, because the ports are kept for
 * later starts.
 */
import { createServer } from 'node:net'

const FROM = 20_000
const TO = 30_000
const TRIES = 200

const isFree = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(false))
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)))
  })

/** The first of `count` consecutive free ports. */
export const freePorts = async (count: number): Promise<number> => {
  for (let tries = 0; tries < TRIES; tries++) {
    const first = FROM + Math.floor(Math.random() * (TO - FROM))
    const each = await Promise.all(Array.from({ length: count }, (_, index) => isFree(first + index)))
    if (each.every(Boolean)) return first
  }
  throw new Error(`no ${count} free ports in a row between ${FROM} and ${TO}`)
}

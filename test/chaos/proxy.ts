/**
 * A TCP proxy between two parts, which can cut, stall and delay connections. The part behind it is reached only through
 * it.
 */
import { type Socket, connect, createServer } from 'node:net'
import type { AddressInfo } from 'node:net'

/** `cut`: all connections are closed at once, new ones too. `silent`: they stay open, but no data passes. */
export type Weather = 'fair' | 'cut' | 'silent' | { readonly delayMs: number }
export type Proxy = {
  readonly port: number
  readonly weather: (weather: Weather) => void
  /** Bytes passed so far, and connections opened, cut or stalled: they show that a fault had an effect. */
  readonly counts: () => { readonly bytes: number; readonly connections: number; readonly cut: number }
  readonly close: () => Promise<void>
}

type Pair = { readonly near: Socket; readonly far: Socket }

/** Forwards data in order, with the delay that is set at that moment. */
const pass = (from: Socket, to: Socket, weather: () => Weather, count: (bytes: number) => void) => {
  let last: Promise<void> = Promise.resolve()
  from.on('data', (part) => {
    const now = weather()
    count(part.length)
    // what is in the wire when it goes silent is lost with the connection, as behind a firewall that forgot it
    if (now === 'silent') return
    const delayMs = typeof now === 'object' ? now.delayMs : 0
    if (delayMs === 0) return void last.then(() => to.write(part))
    const due = Date.now() + delayMs
    last = last.then(() => new Promise((done) => setTimeout(done, Math.max(0, due - Date.now()))))
    void last.then(() => to.write(part))
  })
  from.on('end', () => void last.then(() => to.end()))
  from.on('close', () => void last.then(() => to.destroy()))
  from.on('error', () => to.destroy())
}

/** `target` is asked for at each connection: what is behind may come back on another port. */
export const openProxy = async (target: () => number): Promise<Proxy> => {
  let weather: Weather = 'fair'
  let [bytes, connections, cut] = [0, 0, 0]
  const pairs = new Set<Pair>()
  const sever = () => {
    for (const { near, far } of pairs) {
      cut++
      near.destroy()
      far.destroy()
    }
    pairs.clear()
  }
  const server = createServer((near) => {
    connections++
    if (weather === 'cut') {
      cut++
      near.destroy()
      return
    }
    const far = connect(target(), '127.0.0.1')
    const pair = { near, far }
    pairs.add(pair)
    for (const socket of [near, far]) socket.setNoDelay(true)
    pass(
      near,
      far,
      () => weather,
      (more) => void (bytes += more),
    )
    pass(
      far,
      near,
      () => weather,
      (more) => void (bytes += more),
    )
    near.on('close', () => pairs.delete(pair))
  })
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  return {
    port: (server.address() as AddressInfo).port,
    weather: (next) => {
      // connections through which something was lost cannot go on as if nothing had been
      if (next === 'cut' || weather === 'silent') sever()
      weather = next
    },
    counts: () => ({ bytes, connections, cut }),
    close: async () => {
      sever()
      await new Promise((closed) => server.close(closed))
    },
  }
}

/**
 * One stream of events for all pages of a browser, since a browser opens only a few connections to a server. The worker
 * tells pages that something happened, and each page then asks for its own screen.
 */
import { type Happened, followStream } from './followStream.ts'

type Said = Happened | 'closed'

const ports: MessagePort[] = []
let said: Said = 'closed'
const tell = (what: Said): void => {
  if (what !== 'changed') said = what
  for (const port of ports) port.postMessage(what)
}

const FIRST_MS = 1000
const LONGEST_MS = 30_000

const go = async (): Promise<void> => {
  let failures = 0
  for (;;) {
    await followStream(new URL('../../../stream', import.meta.url), tell).then(
      () => (failures = 0),
      () => (failures += 1),
    )
    tell('closed')
    await new Promise((resolve) => setTimeout(resolve, Math.min(FIRST_MS * 2 ** failures, LONGEST_MS)))
  }
}

const joined = (event: Event): void => {
  const [port] = (event as MessageEvent).ports
  if (port === undefined) return
  ports.push(port)
  port.postMessage(said)
}
addEventListener('connect', joined)
void go()

/**
 * One stream of events for all pages of a browser, since a browser opens only a few connections to a server. The worker
 * tells pages that something happened, and each page then asks for its own screen.
 */
import { followStream } from './followStream.ts'
import { createHub, followForEver } from './hub.ts'

const hub = createHub()
addEventListener('connect', (event: Event) => {
  const [port] = (event as MessageEvent).ports
  if (port !== undefined) hub.join(port)
})
void followForEver(
  (tell) => followStream(new URL('../../../stream', import.meta.url), tell),
  hub,
  (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
)

/**
 * One stream of events for all pages of a browser, since a browser opens only a few connections to a server. The worker
 * tells pages that something happened, and each page then asks for its own screen.
 */
import { createNewsReader } from './news.ts'

type Said = 'open' | 'changed' | 'closed'

const ports: MessagePort[] = []
let said: Said = 'closed'
const tell = (what: Said): void => {
  if (what !== 'changed') said = what
  for (const port of ports) port.postMessage(what)
}

const FIRST_MS = 1000
const LONGEST_MS = 30_000

const follow = async (): Promise<void> => {
  const answer = await fetch(new URL('../../../stream', import.meta.url), { redirect: 'error' })
  const type = answer.headers.get('content-type') ?? ''
  if (!answer.ok || answer.body === null || !type.startsWith('text/event-stream'))
    throw new Error(String(answer.status))
  tell('open')
  // something may have happened while no stream was open
  tell('changed')
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader()
  const hasNews = createNewsReader()
  for (;;) {
    const { value, done } = await reader.read()
    if (done) return
    if (hasNews(value)) tell('changed')
  }
}

const go = async (): Promise<void> => {
  let failures = 0
  for (;;) {
    await follow().then(
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

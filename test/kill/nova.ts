/** The Nova of the kill test: takes its time, fails now and then, and can be watched. */
import { type IncomingMessage, type ServerResponse, createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Account, Heard } from './account.ts'
import type { Random } from './random.ts'

type Told = { readonly name: string; readonly server_uuid: string; readonly tag: string; readonly status: string }
export type Nova = {
  readonly url: string
  /** Called when events have come and are not answered yet. */
  readonly onEvents: (listener: (events: readonly Heard[]) => void) => () => void
  /** Resolves when an event for one of the ARQs comes, or the time is up. */
  readonly wait: (arqs: readonly string[], ms: number) => Promise<void>
  /** From now on every answer is good. */
  readonly steady: () => void
  readonly close: () => Promise<void>
}

const ANSWER_MS = { min: 0, max: 80 }
/** Part of the requests that is answered 503: the events were heard, and have to be told again. */
const FAILING = 0.05

const bodyOf = async (request: IncomingMessage): Promise<readonly Told[]> => {
  let text = ''
  request.setEncoding('utf8')
  for await (const part of request) text += String(part)
  return (JSON.parse(text) as { readonly events: readonly Told[] }).events
}

const answer = (response: ServerResponse, status: number, body: object) => {
  response.writeHead(status, { 'content-type': 'application/json' })
  response.end(JSON.stringify(body))
}

export const openNova = async (account: Account, random: Random): Promise<Nova> => {
  const listeners = new Set<(events: readonly Heard[]) => void>()
  let failing = FAILING
  const take = async (request: IncomingMessage, response: ServerResponse) => {
    const events = await bodyOf(request)
    const heard = events.map(({ server_uuid: instance, tag: arq, status }): Heard => ({
      at: Date.now(),
      arq,
      instance,
      status,
      answered: false,
    }))
    account.heard.push(...heard)
    for (const listener of [...listeners]) listener(heard)
    await sleep(random.between(ANSWER_MS.min, ANSWER_MS.max))
    if (random.chance(failing)) return answer(response, 503, { itemNotFound: { message: 'not now' } })
    response.once('finish', () => heard.forEach((event) => (event.answered = true)))
    answer(response, 200, { events: events.map((event) => ({ ...event, code: 200 })) })
  }
  // A killed sender leaves half a request behind.
  const server = createServer((request, response) => void take(request, response).catch(() => response.destroy()))
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  const onEvents: Nova['onEvents'] = (listener) => {
    listeners.add(listener)
    return () => void listeners.delete(listener)
  }
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v2.1`,
    onEvents,
    wait: async (arqs, ms) => {
      const { promise, resolve } = Promise.withResolvers<void>()
      const stop = onEvents((events) => events.some(({ arq }) => arqs.includes(arq)) && resolve())
      const timer = setTimeout(resolve, ms)
      await promise
      stop()
      clearTimeout(timer)
    },
    steady: () => void (failing = 0),
    close: async () => {
      server.closeAllConnections()
      await new Promise<void>((closed) => void server.close(() => closed()))
    },
  }
}

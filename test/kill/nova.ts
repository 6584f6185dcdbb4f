/** The Nova of the kill test: answers slowly, fails now and then, and reports what it received. */
import { setTimeout as sleep } from 'node:timers/promises'
import { type HeardEvent, openNovaServer } from '../support/novaServer.ts'
import type { Account, Heard } from './account.ts'
import type { Random } from './random.ts'

export type Nova = {
  readonly url: string
  /** Called when events have come and are not answered yet. */
  readonly onEvents: (listener: (events: readonly Heard[]) => void) => () => void
  /** Resolves when an event for one of the ARQs comes, or the time is up. */
  readonly wait: (arqs: readonly string[], ms: number) => Promise<void>
  /** ARQs of events that Nova accepted, whatever answer the sender got. */
  readonly delivered: () => ReadonlySet<string>
  /** From now on every answer is good. */
  readonly steady: () => void
  readonly close: () => Promise<unknown>
}

const ANSWER_MS = { min: 0, max: 80 }
/** Share of the requests that are answered 503: the events were received, but must be sent again. */
const FAILING = 0.05

const heardOf = ({ server_uuid: instance, tag: arq = '', status = '' }: HeardEvent): Heard => ({
  at: Date.now(),
  arq,
  instance,
  status,
})

export const openNova = async (account: Account, random: Random): Promise<Nova> => {
  const listeners = new Set<(events: readonly Heard[]) => void>()
  let failing = FAILING
  const server = await openNovaServer(async (events) => {
    const heard = events.map(heardOf)
    account.heard.push(...heard)
    for (const listener of [...listeners]) listener(heard)
    await sleep(random.between(ANSWER_MS.min, ANSWER_MS.max))
    return random.chance(failing) ? 503 : null
  })
  server.place('everyone', 'on a host')
  const onEvents: Nova['onEvents'] = (listener) => {
    listeners.add(listener)
    return () => void listeners.delete(listener)
  }
  return {
    url: server.url,
    onEvents,
    wait: async (arqs, ms) => {
      const { promise, resolve } = Promise.withResolvers<void>()
      const stop = onEvents((events) => events.some(({ arq }) => arqs.includes(arq)) && resolve())
      const timer = setTimeout(resolve, ms)
      await promise
      stop()
      clearTimeout(timer)
    },
    delivered: () => new Set(server.heard.map(({ tag = '' }) => tag)),
    steady: () => void (failing = 0),
    close: server.close,
  }
}

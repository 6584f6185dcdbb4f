/**
 * Sends Nova the outcome of binds: `os-server-external-events` over HTTP, at a configured address or at the one in the
 * service catalogue.
 */
import type { Nova, NovaEvent, NovaVerdict } from '../actors/neighbours.ts'
import { again, allAs, verdictsOf } from './novaAnswer.ts'
import type { NovaCall } from './novaCall.ts'
import { reasonOf } from './openstack/send.ts'

/** Nova accepts any number of events; this limit keeps a request small enough to be answered in time. */
const EVENTS_MAX = 100
const PATH = '/os-server-external-events'

type Sent = { readonly requestId: string; readonly trace: string | undefined }

const headersOf = ({ requestId, trace }: Sent): Readonly<Record<string, string>> => ({
  'content-type': 'application/json',
  ...(/^[\x21-\x7e]{1,200}$/.test(requestId) && { 'x-openstack-request-id': requestId }),
  ...(trace !== undefined && { traceparent: trace }),
})

/** Statuses that refuse a whole request, although a single event in it may be the cause. */
const BLAMES_ALL: ReadonlySet<number> = new Set([400, 413])

/**
 * Sends the events in one request. If Nova refuses all of them, sends them in halves, down to single events. Rejects
 * when Nova does not answer.
 */
const judged = async (call: NovaCall, events: readonly NovaEvent[], sent: Sent): Promise<readonly NovaVerdict[]> => {
  const elements = events.map(({ name, server_uuid, tag, status }) => ({ name, server_uuid, tag, status }))
  const answer = await call({ method: 'POST', path: PATH, body: JSON.stringify({ events: elements }) }, headersOf(sent))
  if (!BLAMES_ALL.has(answer.status) || events.length === 1) return verdictsOf(events, answer)
  const half = Math.ceil(events.length / 2)
  const first = await judged(call, events.slice(0, half), sent)
  return [...first, ...(await judged(call, events.slice(half), sent))]
}

export const novaThrough = (call: NovaCall, timeoutMs: number): Nova => ({
  notify: async (events, requestId, trace) => {
    const verdicts: NovaVerdict[] = []
    for (let at = 0; at < events.length; at += EVENTS_MAX) {
      const batch = events.slice(at, at + EVENTS_MAX)
      try {
        verdicts.push(...(await judged(call, batch, { requestId, trace })))
      } catch (error) {
        // When Nova cannot be reached, the remaining requests are not sent, because each may take the whole time limit.
        verdicts.push(...allAs(events.slice(at), again(0, reasonOf(error, timeoutMs))))
        break
      }
    }
    return verdicts
  },
})

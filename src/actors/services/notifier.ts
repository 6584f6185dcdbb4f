/** Sends Nova the outcome of binds: durable, judged event by event, retried with back-off until the time is over (rest-api 8.5). */
import { backoffMs } from '../../waiting.ts'
import type { InstanceUuid } from '../../identifiers.ts'
import type { Fault } from '../../fault.ts'
import { type Kernel, newWork } from './kernel.ts'
import type { Nova, NovaEvent, NovaVerdict } from '../neighbours.ts'
import { storable } from '../../text.ts'
import { type Instance, instance, instanceKey } from '../instance/decider.ts'
import { traceField, inSpan } from '../../trace.ts'
import type { Ending } from '../instance/messages.ts'

/** How long to wait before the next try after one that did not reach Nova. */
export const BACKOFF = { firstMs: 1000, maxMs: 30_000 }

/** Pure: which of the events need no further try after this answer, and why. */
export const endingsOf = (verdicts: readonly NovaVerdict[], late: boolean): Readonly<Record<string, Ending>> =>
  Object.fromEntries(
    verdicts.flatMap(({ tag, outcome }): [string, Ending][] => {
      if (outcome === 'retry') return late ? [[tag, 'undeliverable']] : []
      return [[tag, outcome]]
    }),
  )

const eventsOf = (uuid: InstanceUuid, { telling }: Instance): readonly NovaEvent[] =>
  Object.entries(telling?.statuses ?? {}).map(([tag, status]) => ({
    name: 'accelerator-request-bound',
    server_uuid: uuid,
    tag,
    status,
  }))

const notesOf = (verdicts: readonly NovaVerdict[]): string | undefined => {
  const notes = verdicts.flatMap(({ code, note, outcome }) =>
    outcome === 'delivered' ? [] : [`${code}${note ? ` ${note}` : ''}`],
  )
  return notes.length > 0 ? storable([...new Set(notes)].join('; ').slice(0, 500)) : undefined
}

const unjudged = (events: readonly NovaEvent[], note: string): readonly NovaVerdict[] =>
  events.map(({ tag }) => ({ tag, outcome: 'retry', code: 0, note }))

/** A verdict for every event, also when Nova did not answer. */
const ask = async (
  nova: Nova | null,
  events: readonly NovaEvent[],
  requestId: string,
  trace: string | undefined,
): Promise<readonly NovaVerdict[]> => {
  if (!nova) return unjudged(events, 'no Nova is configured any more')
  try {
    const verdicts = await nova.notify(events, requestId, trace)
    const judged = new Set(verdicts.map(({ tag }) => tag))
    return [
      ...verdicts,
      ...unjudged(
        events.filter(({ tag }) => !judged.has(tag)),
        'not judged',
      ),
    ]
  } catch (error) {
    return unjudged(events, String(error))
  }
}

/**
 * Sends the events of an instance that are due, once. It works on cached state: at worst an event is sent twice.
 * Returns the fault that kept the answer from being recorded, if any.
 */
export const tellNova = async (kernel: Kernel, uuid: InstanceUuid): Promise<Fault | null> => {
  const { region, nova, clock, log, tracer } = kernel
  const key = instanceKey(uuid)
  const known = await region.readCached(instance, key)
  if (!known.ok) return known.fault
  const held = known.value.state
  const { telling } = held
  if (!telling || telling.nextAt > clock.now()) return null
  const events = eventsOf(uuid, held)
  const span = tracer.part('client', 'nova notify', held.trace, { 'accelerando.events': events.length })
  const verdicts = await inSpan(span, (trace) => ask(nova, events, held.requestId, trace), notesOf)
  const nextAt = clock.now() + backoffMs(BACKOFF, telling.attempts + 1)
  const endings = endingsOf(verdicts, nextAt > telling.until)
  const note = notesOf(verdicts) ?? null
  if (note) log.warn({ instance: uuid, note, endings }, 'nova.answer')
  const told = await region.tell(
    key,
    newWork(kernel, { by: 'nova notifier', requestId: held.requestId, ...traceField(held.trace) }, (draft) => {
      draft.decide(instance, key, { type: 'ReportTold', endings, nextAt, note, upTo: held.conversations })
      return null
    }),
  )
  return told.ok ? null : told.fault
}

/** Wraps the bus and records how long publishing takes, the messages per topic, and the traces they belong to. */
import type { Bus } from '../../bus/port.ts'
import { type Tracer, untraced } from '../../vocabulary/trace.ts'
import { CATALOGUE } from '../../wire/catalogue.ts'
import type { BusRecord } from '../../wire/envelope.ts'
import { readDeadLetter } from '../../wire/message.ts'
import type { Meter } from './metrics.ts'
import { OTHER_TOPIC } from './metricsTable.ts'

const TOPICS = new Set<string>(Object.values(CATALOGUE).map(({ topic }) => topic))
const known = (topic: string): string => (TOPICS.has(topic) ? topic : OTHER_TOPIC)

const countStored = (meter: Meter, batch: readonly BusRecord[]): void => {
  const stored = new Map<string, number>()
  for (const { topic } of batch) stored.set(topic, (stored.get(topic) ?? 0) + 1)
  for (const [topic, messages] of stored) meter.count('bus_messages_total', { topic: known(topic) }, messages)
  if (!stored.has(CATALOGUE.deadLetters.topic)) return
  for (const record of batch.filter(({ topic }) => topic === CATALOGUE.deadLetters.topic)) {
    const letter = readDeadLetter(record)
    // the mark on a letter that an operator has handled
    if (letter.ok && letter.value.body.retriedAt !== undefined) continue
    meter.count('dead_letters_total', { topic: letter.ok ? known(letter.value.body.topic) : OTHER_TOPIC })
  }
}

/** Starts a span for each trace of the batch. */
const spansOf = (tracer: Tracer, batch: readonly BusRecord[]) => {
  const topics = new Map<string, string[]>()
  for (const { topic, headers } of batch) {
    const trace = headers['traceparent']
    if (trace !== undefined) topics.set(trace, [...(topics.get(trace) ?? []), topic])
  }
  return [...topics].map(([trace, named]) =>
    tracer.part('producer', 'publish', trace, {
      'messaging.destination.name': [...new Set(named)].join(' '),
      'messaging.batch.message_count': named.length,
    }),
  )
}

export type Watching = { readonly meter?: Meter | undefined; readonly tracer?: Tracer | undefined }
export const observedBus = <Watched extends Pick<Bus, 'publish'>>(
  bus: Watched,
  { meter, tracer = untraced }: Watching,
): Watched => {
  if (!meter && tracer === untraced) return bus
  const publish = async (batch: readonly BusRecord[]): Promise<void> => {
    const spans = tracer === untraced ? [] : spansOf(tracer, batch)
    const began = performance.now()
    const ended = (outcome: string, failed?: string) => {
      meter?.observe('bus_publish_seconds', { outcome }, (performance.now() - began) / 1000)
      for (const span of spans) span.end(failed)
    }
    try {
      await bus.publish(batch)
    } catch (error) {
      ended('failed', String(error))
      throw error
    }
    ended('stored')
    if (meter) countStored(meter, batch)
  }
  return { ...bus, publish }
}

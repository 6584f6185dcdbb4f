/**
 * Reads the messages of the topics as evidence, and rebuilds the journal from the published facts as far as possible.
 */
import * as v from 'valibot'
import type { TopicMessage, Topics } from '../../audit/evidence.ts'
import { comesBefore } from '../../audit/positions.ts'
import type { Event } from '../../actors/runtime/decider.ts'
import type { Cause, FeedRow } from '../../actors/runtime/ports.ts'
import type { KafkaOptions } from '../../bus/kafka/options.ts'
import type { Raw } from '../../bus/kafka/read.ts'
import type { Log } from '../../vocabulary/log.ts'
import { CATALOGUE, Fact, KEEP_MS } from '../../wire/catalogue.ts'
import { Envelope } from '../../wire/envelope.ts'
import { byKey } from './movedKeys.ts'

const COMPACTED: ReadonlySet<string> = new Set(
  Object.values(CATALOGUE).flatMap(({ topic, keep }) => (KEEP_MS[keep] === null ? [topic] : [])),
)

/**
 * The partitions (`TOPIC/NUMBER`) whose oldest messages were deleted because of their age: those of compacted topics
 * are left out, since missing messages at the beginning are normal there.
 */
export const cutByTime = (cut: Iterable<string>): ReadonlySet<string> =>
  new Set([...cut].filter((id) => !COMPACTED.has(id.slice(0, id.lastIndexOf('/')))))

const enveloped = (value: string): Envelope | null => {
  try {
    const parsed = v.safeParse(Envelope, JSON.parse(value))
    return parsed.success ? parsed.output : null
  } catch {
    return null
  }
}
/** A message that cannot be parsed is kept without an id. The programs themselves never write such messages. */
export const messageOf = ({ value, time, ...place }: Raw): TopicMessage => {
  const read = value === null ? null : enveloped(value)
  if (!read) return { ...place, id: null, type: null, position: null, time, body: null }
  const { id, type, position = null, data } = read
  return { ...place, id, type, position, time: Date.parse(read.time), body: data }
}

type Found = Pick<Topics, 'messages' | 'cut'> & { readonly missing: readonly string[] }
export const gatherTopics = async (kafka: KafkaOptions, log: Log): Promise<Found> => {
  const { readTopics } = await import('../../bus/kafka/read.ts')
  const messages: TopicMessage[] = []
  const topics = Object.values(CATALOGUE).map(({ topic }) => topic)
  const { missing, cut } = await readTopics({
    kafka,
    log,
    topics,
    from: 'earliest',
    follow: false,
    take: (raw) => void messages.push(messageOf(raw)),
  })
  if (missing.length === topics.length)
    throw new Error(`none of the topics is on Kafka at ${kafka.brokers.join(', ')}, under the prefix "${kafka.prefix}"`)
  return { messages: byKey(messages), missing, cut: cutByTime(cut) }
}

/**
 * The messages whose entities are published completely. No topic carries the progress of passes over Placement, so the
 * published rows of these entities have gaps and cannot be compared with the rebuilt ones.
 */
export const wholeEntities = (messages: readonly TopicMessage[]): readonly TopicMessage[] =>
  messages.filter(({ topic }) => topic !== CATALOGUE.placementEvents.topic)

type PublishedFact = {
  readonly entity: string
  readonly version: number
  readonly event: Event
  readonly cause?: Cause
  readonly command?: string
}
type Part = { readonly index: number; readonly message: TopicMessage; readonly fact: PublishedFact }

const partOf = (message: TopicMessage): Part | null => {
  const parsed = v.safeParse(Fact, message.body)
  if (!message.topic.endsWith('.events.v1') || message.position === null || !parsed.success) return null
  return { index: Number(message.id!.slice(message.id!.lastIndexOf('.') + 1)), message, fact: parsed.output }
}

/**
 * Facts of older releases do not name their command. Facts of one request that were decided at the same moment count as
 * one append.
 */
const commandOf = (
  { fact: { command, cause, entity }, message: { position, time } }: Part,
  repeats: Map<string, number>,
) => {
  if (command) return command
  const append = `${position!.split('.')[0]} ${time} ${cause?.requestId ?? ''} ${cause?.by ?? ''}`
  const count = (repeats.get(`${append} ${entity}`) ?? 0) + 1
  repeats.set(`${append} ${entity}`, count)
  return `${append} ${count}`
}

/** Rows in the order of their positions. Data that no topic carries (names, numbers) is missing in them. */
export const journalOf = (messages: readonly TopicMessage[]): readonly FeedRow[] => {
  const rows = new Map<string, Map<number, Part>>()
  for (const message of messages) {
    const part = partOf(message)
    if (!part) continue
    const id = `${part.fact.entity} ${part.fact.version}`
    const row = rows.get(id) ?? new Map<number, Part>()
    rows.set(id, row)
    if (!row.has(part.index)) row.set(part.index, part)
  }
  const repeats = new Map<string, number>()
  return [...rows.values()]
    .map((parts) => [...parts.values()].toSorted((a, b) => a.index - b.index))
    .toSorted(([a], [b]) => order(a!.message.position!, b!.message.position!))
    .map((parts) => {
      const [first] = parts as [Part, ...Part[]]
      return {
        key: first.fact.entity,
        version: first.fact.version,
        commandId: commandOf(first, repeats),
        events: parts.map(({ fact }) => fact.event),
        at: first.message.time!,
        cause: first.fact.cause ?? {},
        position: first.message.position!,
      }
    })
}
const order = (one: string, other: string): number => (one === other ? 0 : comesBefore(one, other) ? -1 : 1)

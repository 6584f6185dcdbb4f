/** `accelerando tail`: reads messages from the topics or from the journal of a database, and prints them. */
import { pause } from '../../vocabulary/waiting.ts'
import { systemClock } from '../../vocabulary/clock.ts'
import { misused } from '../exits.ts'
import type { TopicMessage } from '../../audit/evidence.ts'
import { comesBefore } from '../../audit/positions.ts'
import type { FeedRow, Position } from '../../actors/runtime/ports.ts'
import { reactions } from '../../actors/reactions.ts'
import type { KafkaOptions } from '../../bus/kafka/options.ts'
import type { Log } from '../../vocabulary/log.ts'
import { type SnapshotSource, followJournal } from '../../persistence/follow.ts'
import { CATALOGUE } from '../../wire/catalogue.ts'
import { messageOf } from '../audit/topics.ts'

export type TailOptions = {
  /** Null: all topics that carry facts. */
  readonly topic: string | null
  /** Only messages that name this accelerator request. */
  readonly arq: string | null
  /** Only messages after this position of the journal. */
  readonly since: Position | null
  /** Ends when all existing messages were shown. */
  readonly once: boolean
}
/** `storedAt`: when the broker stored it. Null: the message comes from the journal itself. */
type Out = (message: TopicMessage, storedAt: number | null) => void
export type TailSource =
  | { readonly kind: 'kafka'; readonly kafka: KafkaOptions }
  | { readonly kind: 'journal'; readonly store: SnapshotSource }

const TOPICS: readonly string[] = Object.values(CATALOGUE).map(({ topic }) => topic)
const TOLD_BY_JOURNAL = (topic: string): boolean => topic.endsWith('.events.v1') || topic === CATALOGUE.hostOrders.topic

/** The version may be left out: `arq.events` means `arq.events.v1`. */
export const topicsNamed = (topic: string | null, source: TailSource): readonly string[] => {
  const offered = source.kind === 'kafka' ? TOPICS : TOPICS.filter(TOLD_BY_JOURNAL)
  if (topic === null) return offered.filter((name) => name.endsWith('.events.v1'))
  const found = offered.filter((name) => name === topic || name === `${topic}.v1`)
  if (found.length === 0) throw misused(`topic: must be one of ${offered.join(', ')}, and is ${topic}`)
  return found
}

/** Number of entities whose last message is remembered to detect repeats. */
const KEYS_MAX = 200_000
/**
 * A message that was published again is not shown again. The first messages of a key arrive in the order of their
 * positions, so a message that is not later than the last one of its key was shown before. Several messages of one row
 * are distinguished by their ids.
 */
const repeats = () => {
  const last = new Map<string, { readonly position: Position; readonly ids: ReadonlySet<string> }>()
  return ({ topic, key, position, id }: TopicMessage): boolean => {
    if (position === null || id === null) return false
    const name = `${topic} ${key}`
    const known = last.get(name)
    const same = known?.position === position
    if (known && (same ? known.ids.has(id) : comesBefore(position, known.position))) return true
    last.delete(name)
    last.set(name, { position, ids: new Set(same ? [...known.ids, id] : [id]) })
    if (last.size > KEYS_MAX) last.delete(last.keys().next().value!)
    return false
  }
}

/**
 * Number of messages of a bounded read that are held back for sorting. A longer read is shown in portions of this size.
 */
const GATHERED_MAX = 100_000
/** Partitions are read one after the other, so messages are collected and then shown in the order of the journal. */
const inOrder = (out: Out) => {
  let gathered: { readonly message: TopicMessage; readonly storedAt: number | null }[] = []
  const end = (): void => {
    const order = (a: Position | null, b: Position | null): number =>
      a === b ? 0 : a === null || (b !== null && comesBefore(a, b)) ? -1 : 1
    for (const { message, storedAt } of gathered.toSorted((a, b) => order(a.message.position, b.message.position)))
      out(message, storedAt)
    gathered = []
  }
  const put: Out = (message, storedAt) => {
    gathered.push({ message, storedAt })
    if (gathered.length >= GATHERED_MAX) end()
  }
  return { put, end }
}

type Show = (message: TopicMessage, text: string, storedAt: number | null) => void
const shower = ({ arq, since }: TailOptions, out: Out): Show => {
  const repeated = repeats()
  return (message, text, storedAt) => {
    if (arq !== null && message.key !== arq && !text.includes(arq)) return
    const { position } = message
    const old = since !== null && position !== null && !comesBefore(since, position)
    if (old || repeated(message)) return
    out(message, storedAt)
  }
}

const tailKafka = async (
  kafka: KafkaOptions,
  topics: readonly string[],
  { since, once }: TailOptions,
  show: Show,
  signal: AbortSignal,
  log: Log,
): Promise<void> => {
  const { readTopics } = await import('../../bus/kafka/read.ts')
  const { missing } = await readTopics({
    kafka,
    log,
    topics,
    from: once || since !== null ? 'earliest' : 'latest',
    follow: !once,
    signal,
    take: (raw) => show(messageOf(raw), raw.value ?? '', raw.time),
  })
  if (missing.length === topics.length)
    throw new Error(`not on Kafka at ${kafka.brokers.join(', ')}: ${missing.join(', ')}`)
}

const ROWS = 500
const LOOK_MS = 250
const tailJournal = async (
  store: SnapshotSource,
  topics: readonly string[],
  { since, once }: TailOptions,
  show: Show,
  signal: AbortSignal,
): Promise<void> => {
  const journal = await followJournal(store)
  const tell = (rows: readonly FeedRow[]): void => {
    for (const record of rows.flatMap(reactions))
      if (topics.includes(record.topic))
        show(messageOf({ ...record, partition: 0, offset: 0, time: 0 }), record.value, null)
  }
  try {
    let position = since ?? (once ? '' : await journal.end())
    for (;;) {
      const rows = signal.aborted ? [] : await journal.feed(position, ROWS)
      tell(rows)
      position = rows.at(-1)?.position ?? position
      if (signal.aborted || (once && rows.length === 0)) return
      if (rows.length === 0) await pause(systemClock, LOOK_MS, signal).catch(() => undefined)
    }
  } finally {
    await journal.close()
  }
}

export const tail = async (
  source: TailSource,
  options: TailOptions,
  out: Out,
  signal: AbortSignal,
  log: Log,
): Promise<void> => {
  const topics = topicsNamed(options.topic, source)
  if (source.kind === 'journal') return tailJournal(source.store, topics, options, shower(options, out), signal)
  const ordered = inOrder(out)
  const show = shower(options, options.once ? ordered.put : out)
  await tailKafka(source.kafka, topics, options, show, signal, log)
  ordered.end()
}

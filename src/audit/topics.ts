/** Invariants of the topics: compares published messages with the journal. */
import { canonicalJson } from '../wire/canonical.ts'
import { CATALOGUE } from '../wire/catalogue.ts'
import { arqKey } from '../actors/arq/decider.ts'
import { deployableKey } from '../actors/deployable/decider.ts'
import { deviceKey } from '../actors/device/decider.ts'
import { ENTITIES } from '../actors/entities.ts'
import { hostKey } from '../actors/host/decider.ts'
import { kindOf } from '../actors/runtime/memory.ts'
import type { FeedRow } from '../actors/runtime/ports.ts'
import { lettersOf } from '../actors/reactions.ts'
import type { Records, Proof, TopicMessage, Topics } from './evidence.ts'
import type { Finding, History, Invariant } from './history.ts'
import { untoldSince } from './loss.ts'
import { comesBefore } from './positions.ts'

const ORDERS = CATALOGUE.hostOrders.topic
const DEAD = CATALOGUE.deadLetters.topic
const STATES: Readonly<Record<string, (id: string) => string>> = {
  [CATALOGUE.arqState.topic]: arqKey,
  [CATALOGUE.deviceState.topic]: deviceKey,
  [CATALOGUE.hostState.topic]: hostKey,
}
/** Whether the message corresponds to one entry of the journal. */
const isInJournal = ({ topic }: TopicMessage): boolean => topic === ORDERS || topic.endsWith('.events.v1')
/** The part to compare. A re-sent order, or a message published by an older release, may differ in the other fields. */
const said = ({ topic, body }: Pick<TopicMessage, 'topic' | 'body'>): string => {
  if (topic === ORDERS) return canonicalJson({ ...(body as object), trace: undefined })
  const { entity, version, event } = body as Record<string, unknown>
  return canonicalJson({ entity, version, event })
}

const proof = ({ topic, partition, offset, key, id, position }: TopicMessage): Proof => ({
  of: 'topic',
  topic,
  partition,
  offset,
  key,
  id,
  position,
})
const offsetText = ({ topic, partition, offset }: TopicMessage): string => `${topic}/${partition}@${offset}`

const idOf = ({ topic, id }: Pick<TopicMessage, 'topic' | 'id'>): string => `${topic} ${id}`

type Expected = {
  readonly row: FeedRow
  /** How many rows the journal has up to this one. */
  readonly rowCount: number
  readonly topic: string
  readonly key: string
  readonly id: string
  readonly body: unknown
}
function* expectedOf(journal: Records['journal']): Iterable<Expected> {
  let rowCount = 0
  for (const row of journal) {
    rowCount++
    if (row.position === undefined) continue
    for (const { channel, key, id, data } of lettersOf(row as FeedRow))
      yield { row: row as FeedRow, rowCount, topic: CATALOGUE[channel].topic, key, id, body: data }
  }
}
/**
 * Leaves out messages that only lost rows explain, and messages that were published before their row was lost and
 * written again.
 */
const withoutLost = ({ journal, topics, lost = [] }: Records): Topics | undefined => {
  if (!topics || lost.length === 0) return topics
  const gone = new Map<string, Set<string>>()
  for (const { rows } of lost)
    for (const row of rows)
      for (const { channel, key, id, data } of lettersOf({ ...row, position: '' })) {
        const { topic } = CATALOGUE[channel]
        const name = idOf({ topic, id })
        gone.set(name, (gone.get(name) ?? new Set()).add(`${key} ${said({ topic, body: data })}`))
      }
  const there = new Map<string, FeedRow>()
  for (const one of expectedOf(journal))
    if (gone.has(idOf(one))) there.set(`${idOf(one)} ${one.key} ${said(one)}`, one.row)
  const isGone = (message: TopicMessage): boolean => {
    const lostWords = gone.get(idOf(message))
    if (!lostWords || message.body === null) return false
    const words = `${message.key} ${said(message)}`
    if (!lostWords.has(words)) return false
    const again = there.get(`${idOf(message)} ${words}`)
    if (again === undefined) return true
    // the row that was written again may have the position of the lost row
    const { position, time } = message
    return (position !== null && position !== again.position) || (time !== null && time !== again.at)
  }
  return { ...topics, messages: topics.messages.filter((message) => !isGone(message)) }
}

const passed = ({ publishedTo }: Topics, { position }: FeedRow): boolean =>
  publishedTo !== null && !comesBefore(publishedTo, position)

/**
 * For each topic that lost messages by retention: the position from which on all messages are still there; null:
 * possibly none is.
 */
const keptFrom = ({ messages, cut }: Topics): ReadonlyMap<string, string | null> => {
  const oldest = new Map<string, string>()
  for (const { topic, partition, position } of messages) {
    const id = `${topic}/${partition}`
    if (position !== null && !oldest.has(id)) oldest.set(id, position)
  }
  const kept = new Map<string, string | null>()
  for (const id of cut) {
    const topic = id.slice(0, id.lastIndexOf('/'))
    const [known, own] = [kept.get(topic), oldest.get(id) ?? null]
    const later = known === undefined || (known !== null && (own === null || comesBefore(known, own)))
    if (later) kept.set(topic, own)
  }
  return kept
}

const published: Invariant = {
  name: 'PUBLISHED-1',
  meaning: 'what the journal holds up to the checkpoint of the relay was published on its topics',
  needs: ['topics'],
  judge: (evidence) => ({
    *end() {
      const { journal } = evidence
      const topics = withoutLost(evidence)
      if (!topics) return
      const there = new Set(topics.messages.map(idOf))
      const kept = keptFrom(topics)
      for (const { row, rowCount, topic, id } of expectedOf(journal)) {
        if (!passed(topics, row)) return
        const from = kept.get(topic)
        const forgotten = from === null || (from !== undefined && comesBefore(row.position, from))
        if (forgotten || there.has(idOf({ topic, id })) || there.has(`${DEAD} ${row.key}/${row.version}/dead`)) continue
        yield {
          found: `${row.key} ${row.version} at ${row.position}: message ${id} is not on ${topic}`,
          rowCount,
          keys: [row.key],
        }
      }
    },
  }),
}

const ordered: Invariant = {
  name: 'PUBLISHED-2',
  meaning: 'the first occurrences of the messages of a key are in the order of the journal',
  needs: ['topics'],
  judge: (evidence) => ({
    *end() {
      const topics = withoutLost(evidence)
      const seen = new Set<string>()
      const last = new Map<string, TopicMessage>()
      for (const message of topics?.messages ?? []) {
        if (!isInJournal(message) || message.position === null || seen.has(idOf(message))) continue
        seen.add(idOf(message))
        const key = `${message.topic} ${message.key}`
        const before = last.get(key)
        last.set(key, message)
        if (before && comesBefore(message.position, before.position!))
          yield {
            found: `${offsetText(message)}: ${message.id} at ${message.position} came first after ${before.id} at ${before.position}`,
            proof: [proof(before), proof(message)],
          }
      }
    },
  }),
}

/** Whether the message was published after the journal was read. */
const later = ({ open }: Topics, { now, slackMs = 30_000 }: Records, { position, time }: TopicMessage): boolean =>
  open !== null && (position === null ? time !== null && time > now - slackMs : !comesBefore(position, open))

function* judged(evidence: Records, fits: (message: TopicMessage) => boolean): Iterable<Finding> {
  const { journal } = evidence
  const topics = withoutLost(evidence)
  if (!topics) return
  for (const { position } of journal) if (position === undefined) return
  const unknown = new Map(
    Map.groupBy(
      topics.messages.filter((one) => isInJournal(one) && fits(one)),
      idOf,
    ),
  )
  for (const expected of expectedOf(journal)) {
    const found = unknown.get(idOf(expected))
    if (!found) continue
    const right = said(expected)
    // the same order may have been issued twice, with different deadlines
    const rest = found.filter((one) => one.key !== expected.key || one.body === null || said(one) !== right)
    unknown.set(idOf(expected), rest)
  }
  for (const messages of unknown.values())
    for (const message of messages)
      if (!later(topics, evidence, message))
        yield {
          found: `${offsetText(message)}: ${message.id ?? 'what cannot be read'} of ${message.key} is not what the journal holds`,
          keys: [...(message.id === null ? [] : [message.id.slice(0, message.id.indexOf('.'))]), ...entityOf(message)],
          proof: [proof(message)],
        }
}
/** Messages that are no orders: they follow from the state of the journal and from reports, not from one row. */
const ANSWERS: ReadonlySet<unknown> = new Set(['LedgerAnswer', 'Stop', 'TellSlots'])
const isAnswer = ({ body }: TopicMessage): boolean => ANSWERS.has((body as { readonly type?: unknown } | null)?.type)
/** The entity of the message; for an order, its deployable. */
const entityOf = ({ body }: TopicMessage): readonly string[] => {
  const { entity, deployableUuid } = (body ?? {}) as { readonly entity?: string; readonly deployableUuid?: string }
  if (entity !== undefined) return [entity]
  return deployableUuid === undefined ? [] : [deployableKey(deployableUuid)]
}

const known: Invariant = {
  name: 'PUBLISHED-3',
  meaning: 'nothing is published that the journal does not hold',
  needs: ['topics'],
  judge: (evidence) => ({ end: () => judged(evidence, ({ topic }) => topic !== ORDERS) }),
}
const given: Invariant = {
  name: 'PUBLISHED-5',
  meaning: 'each order that was sent is a recorded order',
  needs: ['topics'],
  judge: (evidence) => ({
    end: () => judged(evidence, (message) => message.topic === ORDERS && !isAnswer(message)),
  }),
}

type Cells = Readonly<Record<string, unknown>>
/** The view row of the entity, as it is published on its state topic. */
const rowOf = (entity: string, state: unknown): Cells | null => {
  const decider = ENTITIES[kindOf(entity)]!
  const view = VIEW_OF[kindOf(entity)]
  const change = decider.rows(decider.initial, state).findLast((one) => one.view === view)
  const gone = (change?.row as { readonly liveness?: string } | undefined)?.liveness === 'removed'
  return !change?.row || gone ? null : change.row
}
/**
 * Columns that a control of the previous release leaves out of its messages, even for rows that other controls wrote.
 */
const LATER: ReadonlySet<string> = new Set(['profile_version', 'failing', 'out_of_service'])
/** Compares a row with a message. A message of an earlier release lacks the columns that were added since then. */
const isShownAs = (row: Cells | null, shown: Cells | null): boolean => {
  if (row === null || shown === null) return row === shown
  const then = Object.entries(row).filter(
    ([column, value]) => column in shown || (value !== null && !LATER.has(column)),
  )
  return canonicalJson(Object.fromEntries(then)) === canonicalJson(shown)
}
const VIEW_OF: Readonly<Record<string, string>> = { arq: 'arqs', device: 'devices', host: 'hosts' }

/** Entities with messages newer than the journal that was read, so that their states may also be newer. */
const movedOn = ({ messages, open }: Topics): ReadonlySet<string> =>
  new Set(
    messages.flatMap((message) => {
      const after = open !== null && message.position !== null && !comesBefore(message.position, open)
      return after ? entityOf(message) : []
    }),
  )

function* lastStates({ reached }: History, { journal, lost = [] }: Records, topics: Topics): Iterable<Finding> {
  const last = new Map<string, TopicMessage>()
  for (const message of topics.messages) {
    const keyOf = STATES[message.topic]
    if (keyOf) last.set(keyOf(message.key), message)
  }
  const moved = movedOn(topics)
  const untold = untoldSince(lost)
  for (const [entity, message] of last) {
    const states = reached(entity)
    const newest = states.at(-1)
    const row = newest && (journal.at(newest.rowCount - 1) as FeedRow)
    const certain = topics.settled && row?.position !== undefined && passed(topics, row)
    const shown = message.body === null ? null : (message.body as { readonly state: Cells }).state
    const fits = (certain ? states.slice(-1) : states).some(({ state }) => isShownAs(rowOf(entity, state), shown))
    if (fits || moved.has(entity) || untold(entity, row?.version ?? 0)) continue
    yield {
      found: `${offsetText(message)}: the last state of ${entity} is ${shown ? canonicalJson(shown) : 'absent'}, the journal folds to ${newest ? canonicalJson(rowOf(entity, newest.state)) : 'nothing'}`,
      keys: [entity],
      proof: [proof(message)],
    }
  }
}
const latest: Invariant = {
  name: 'PUBLISHED-4',
  meaning: 'the last message of a key on a state topic is the state the journal folds to',
  needs: ['topics'],
  judge: (evidence) => ({
    *end(history) {
      if (evidence.topics) yield* lastStates(history, evidence, evidence.topics)
    },
  }),
}

export const topicInvariants: readonly Invariant[] = [published, ordered, known, latest, given]

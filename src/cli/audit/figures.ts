/** The counts of an audit. Pure. */
import type { Records, TopicMessage } from '../../audit/evidence.ts'
import { judgeHandles } from '../../audit/linear.ts'
import { type Arq, arq } from '../../actors/arq/decider.ts'
import type { InstanceEvent } from '../../actors/instance/messages.ts'
import { fold, kindOf } from '../../actors/runtime/memory.ts'
import type { JournalRow } from '../../actors/runtime/ports.ts'

type Counts = Readonly<Record<string, number>>
export type Figures = {
  readonly rows: number
  readonly lastPosition: string | null
  readonly from: string | null
  readonly to: string | null
  readonly entities: Counts
  readonly arqs: Counts
  /** ARQs by the outcome of their binds, and the number of binds that are still open. */
  readonly binds: Counts
  /** Time from acceptance to outcome, in ms. */
  readonly bindMs: { readonly p50: number; readonly p99: number; readonly max: number } | null
  readonly topics: Readonly<Record<string, { readonly messages: number; readonly repeats: number }>> | null
  readonly hosts: number | null
  /** The losses that the database declares; `adopted` null: no operator has accepted the remaining rows. */
  readonly lost: readonly { readonly rows: number; readonly entities: number; readonly adopted: string | null }[]
  readonly clients: { readonly requests: number; readonly handles: number; readonly undecided: number } | null
}

const countBy = <Item>(items: Iterable<Item>, name: (item: Item) => string): Record<string, number> => {
  const counts: Record<string, number> = {}
  for (const item of items) counts[name(item)] = (counts[name(item)] ?? 0) + 1
  return counts
}
const iso = (at: number | undefined): string | null => (at === undefined ? null : new Date(at).toISOString())

const bindsOf = (journal: Records['journal']) => {
  const counts: Record<string, number> = {}
  const since = new Map<string, number>()
  const took: number[] = []
  const settled = (arq: string, at: number): void => {
    if (since.has(arq)) took.push(at - since.get(arq)!)
    since.delete(arq)
  }
  const count = (event: InstanceEvent, at: number): void => {
    if (event.type === 'BindAccepted') for (const { arq } of event.parts) since.set(arq, at)
    if (event.type !== 'BindSettled') return
    counts[event.outcome] = (counts[event.outcome] ?? 0) + event.arqs.length
    for (const arq of event.arqs) settled(arq, at)
  }
  for (const { key, events, at } of journal)
    if (kindOf(key) === 'instance') for (const event of events as readonly InstanceEvent[]) count(event, at)
  took.sort((a, b) => a - b)
  /** `share`: less than 1. */
  const part = (share: number): number => took[Math.floor(took.length * share)]!
  return {
    binds: since.size > 0 ? { ...counts, 'open or left': since.size } : counts,
    bindMs: took.length === 0 ? null : { p50: part(0.5), p99: part(0.99), max: took.at(-1)! },
  }
}

/** The status of an ARQ depends only on its events, so nothing else of the ARQ is kept. */
const statusAfter = (row: JournalRow, status: Arq['status'] = arq.initial.status): Arq['status'] => {
  try {
    return fold<Arq>(arq, { ...arq.initial, status }, row.events, row.at).status
  } catch {
    // S3 reports a row that cannot be folded
    return status
  }
}

const topicsOf = (messages: readonly TopicMessage[]): NonNullable<Figures['topics']> =>
  Object.fromEntries(
    [...Map.groupBy(messages, ({ topic }) => topic)].map(([topic, own]) => {
      const ids = own.flatMap(({ id }) => id ?? [])
      return [topic, { messages: own.length, repeats: ids.length - new Set(ids).size }]
    }),
  )

export const figuresOf = ({ journal, topics, hosts, clients, lost = [] }: Records): Figures => {
  const keys = new Set<string>()
  const arqs = new Map<string, Arq['status']>()
  for (const row of journal) {
    keys.add(row.key)
    if (kindOf(row.key) === arq.kind) arqs.set(row.key, statusAfter(row, arqs.get(row.key)))
  }
  const judged = clients ? judgeHandles({ clients }) : []
  return {
    rows: journal.length,
    lastPosition: journal.at(-1)?.position ?? null,
    from: iso(journal.at(0)?.at),
    to: iso(journal.at(-1)?.at),
    entities: countBy(keys, kindOf),
    arqs: countBy(arqs.values(), (status) => status),
    ...bindsOf(journal),
    topics: topics ? topicsOf(topics.messages) : null,
    hosts: hosts?.length ?? null,
    lost: lost.map(({ rows, adoptedAt }) => ({
      rows: rows.length,
      entities: new Set(rows.map(({ key }) => key)).size,
      adopted: iso(adoptedAt ?? undefined),
    })),
    clients: clients
      ? {
          requests: clients.length,
          handles: judged.length,
          undecided: judged.filter(({ judged: { verdict } }) => verdict === 'undecided').length,
        }
      : null,
  }
}

/** What a relay would have told of a journal, as it would lie on the topics. */
import { kindOf } from '../../src/actors/runtime/memory.ts'
import type { Topics } from '../../src/audit/evidence.ts'
import type { FeedRow } from '../../src/actors/runtime/ports.ts'
import { reactions } from '../../src/actors/reactions.ts'
import { viewRowsOf } from '../../src/actors/entities.ts'
import type { Raw } from '../../src/bus/kafka/read.ts'
import { messageOf } from '../../src/cli/audit/topics.ts'
import { createLatest } from '../../src/actors/latest.ts'

const VIEW: Readonly<Record<string, string>> = { arq: 'arqs', device: 'devices', host: 'hosts' }

const stateOf = (row: FeedRow, own: readonly FeedRow[]) => {
  const state = viewRowsOf(row.key, own).findLast(({ view }) => view === VIEW[kindOf(row.key)])?.row ?? null
  const { presence, liveness } = (state ?? {}) as { readonly presence?: string; readonly liveness?: string }
  const gone = presence === 'retired' || liveness === 'removed'
  const latest = createLatest({ page: () => Promise.resolve([]) })
  return latest.record(row, gone || state === null ? null : JSON.stringify(state), `${row.key}.${row.version}.state`)
}

/** A partition a topic. */
export const rawTopics = (journal: readonly FeedRow[]): readonly Raw[] => {
  const offsets = new Map<string, number>()
  const last = new Map<string, FeedRow[]>()
  for (const row of journal) last.set(row.key, [...(last.get(row.key) ?? []), row])
  const states = [...last.values()].filter((own) => VIEW[kindOf(own[0]!.key)]).map((own) => stateOf(own.at(-1)!, own))
  return [...journal.flatMap(reactions), ...states].map(({ topic, key, value, tombstone }) => {
    const offset = offsets.get(topic) ?? 0
    offsets.set(topic, offset + 1)
    return { topic, partition: 0, offset, key, value: tombstone ? null : value, time: 0 }
  })
}
export const topicsOf = (journal: readonly FeedRow[]): Topics => ({
  messages: rawTopics(journal).map(messageOf),
  cut: new Set(),
  publishedTo: journal.at(-1)!.position,
  settled: true,
  open: null,
})

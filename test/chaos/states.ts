/** Compares the state topics with the views: readers of either must see the same current state. Pure. */
import type { Evidence, TopicMessage } from '../../src/audit/evidence.ts'
import { untoldSince } from '../../src/audit/loss.ts'
import { canonicalJson } from '../../src/wire/canonical.ts'
import { CATALOGUE } from '../../src/wire/catalogue.ts'

type Row = Readonly<Record<string, unknown>>
const PAIRS = [
  ['arqs', CATALOGUE.arqState.topic, 'uuid', 'arq'],
  ['devices', CATALOGUE.deviceState.topic, 'uuid', 'device'],
  ['hosts', CATALOGUE.hostState.topic, 'name', 'host'],
] as const
/** Rows that are not on the state topics. */
const over = ({ presence, liveness }: Row): boolean => presence === 'retired' || liveness === 'removed'

const lastOf = (messages: readonly TopicMessage[], topic: string): ReadonlyMap<string, TopicMessage> =>
  new Map(messages.filter((message) => message.topic === topic).map((message) => [message.key, message]))

type Shown = Pick<Evidence, 'topics' | 'views'> & Partial<Pick<Evidence, 'journal' | 'lost'>>
/** An entity that has lost rows keeps its last state on its topic until it has another row. */
const untoldIn = ({ journal = [], lost = [] }: Shown): ((entity: string) => boolean) => {
  if (lost.length === 0) return () => false
  const versions = new Map(journal.map(({ key, version }) => [key, version]))
  const untold = untoldSince(lost)
  return (entity) => untold(entity, versions.get(entity) ?? 0)
}

export const statesDiffer = (evidence: Shown): readonly string[] => {
  const { topics, views } = evidence
  const untold = untoldIn(evidence)
  return PAIRS.flatMap(([view, topic, key, kind]) => {
    const rows = ((views?.[view] ?? []) as readonly Row[]).filter((row) => !over(row))
    const shown = new Map(rows.map((row) => [String(row[key]), canonicalJson(row)]))
    const told = lastOf(topics?.messages ?? [], topic)
    const silent = [...shown.keys()].filter((id) => !told.has(id)).map((id) => `${topic} tells nothing of ${id}`)
    const other = [...told].flatMap(([id, { body }]) => {
      if (untold(`${kind}/${id}`)) return []
      const state = body === null ? 'absent' : canonicalJson((body as { readonly state: unknown }).state)
      const row = shown.get(id) ?? 'absent'
      return state === row ? [] : [`${topic} tells of ${id} ${state}, the view has ${row}`]
    })
    return [...silent, ...other]
  })
}

/** A small journal and what was told of it, and the ways to spoil that. */
import type { Evidence, TopicMessage, Topics } from '../../../src/audit/evidence.ts'
import { topicsOf } from '../topicsOf.ts'
import {
  type Append,
  FPGA,
  arq,
  bindStarted,
  board,
  card,
  created,
  deployable,
  granted,
  isBound,
  journalOf,
  order,
  profile,
} from './scene.ts'

/** Positions 1 to 7. */
export const LIFE: readonly Append[] = [
  profile(FPGA),
  card,
  board,
  created('a1'),
  arq('a1', bindStarted()),
  deployable('d1', granted('h1', 'a1', order('h1', 1))),
  arq('a1', isBound),
]
export type Change = (messages: readonly TopicMessage[]) => readonly TopicMessage[]
export const placed = (appends: readonly Append[]) =>
  journalOf(...appends).map((row, n) => ({ ...row, position: String(n + 1) }))
export const LIVED = placed(LIFE)
const SOUND = topicsOf(LIVED)
export const told = (change: Change = (all) => all, more: Partial<Topics> = {}): Partial<Evidence> => ({
  journal: LIVED,
  topics: { ...SOUND, messages: change(SOUND.messages), ...more },
})
export const message = (id: string): TopicMessage => SOUND.messages.find((one) => one.id === id)!
export const [MADE, STARTED, BOUND, ORDER] = ['arq/a1.1.0', 'arq/a1.2.0', 'arq/a1.3.0', 'h1.1'] as const
export const without =
  (...ids: readonly string[]): Change =>
  (all) =>
    all.filter(({ id }) => !ids.includes(id!))
export const plus =
  (...more: readonly TopicMessage[]): Change =>
  (all) => [...all, ...more]
export const instead =
  (id: string, change: Partial<TopicMessage>): Change =>
  (all) =>
    all.map((one) => (one.id === id ? { ...one, ...change } : one))
export const both =
  (first: Change, second: Change): Change =>
  (all) =>
    second(first(all))
export const proof = ({ topic, partition, offset, key, id, position }: TopicMessage) => ({
  of: 'topic' as const,
  topic,
  partition,
  offset,
  key,
  id,
  position,
})

/** Of a row that the journal does not have. */
export const invented: TopicMessage = { ...message(BOUND), id: 'arq/a1.4.0', offset: 9, position: '8' }

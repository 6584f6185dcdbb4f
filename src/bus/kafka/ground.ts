/** What a consumer has to know before its first join: which partition is its, and where it begins. */
import { partitionOf } from '../murmur2.ts'
import type { ConsumeOptions } from '../port.ts'
import type { Lookup } from './lookup.ts'

export type Ground = {
  /** The one partition it reads; null: its share. */
  readonly only: number | null
  /** For a consumer with its own place: which bus this is. */
  readonly bus: string
  /** Where a partition begins of which nothing is committed; a partition that is not named begins at its start. */
  readonly starts: ReadonlyMap<number, number>
}

/** Fixed once, so that what comes between the start and a later join is not passed over. */
const ends = async (lookup: Lookup, topic: string, group: string | null): Promise<readonly [number, number][]> => {
  const committed = group === null ? null : await lookup.committed(group, topic)
  return [...(await lookup.ends(topic))].filter(([partition]) => (committed?.get(partition) ?? null) === null)
}

/** `topic` and `group` as the broker knows them. */
export const survey = async (
  lookup: Lookup,
  { onlyKey, place, from }: ConsumeOptions,
  topic: string,
  group: string,
): Promise<Ground> => {
  const count = await lookup.partitions(topic)
  const only = onlyKey === undefined ? null : partitionOf(onlyKey, count)
  const bus = place === undefined ? '' : `${await lookup.clusterId()}/${topic}`
  const starts = new Map(from === 'latest' ? await ends(lookup, topic, place === undefined ? group : null) : [])
  const kept = place?.from ?? null
  if (kept !== null && kept.bus === bus && kept.partition === only) starts.set(kept.partition, kept.offset)
  return { only, bus, starts }
}

/** What a consumer has to know before its first join: which partition is its, and where it begins. */
import { partitionOf } from '../murmur2.ts'
import type { ConsumeOptions } from '../port.ts'
import type { Lookup, Questions } from './lookup.ts'

export type StartOffsets = {
  /** The one partition it reads; null: its share. */
  readonly only: number | null
  /** For a consumer with its own place: which bus this is. */
  readonly bus: string
  /** Where a partition begins of which nothing is committed; a partition that is not named begins at its start. */
  readonly starts: ReadonlyMap<number, number>
}

/** Fixed once, so that what comes between the start and a later join is not passed over. */
const endsOf = async (ask: Questions, topic: string, group: string | null): Promise<readonly [number, number][]> => {
  const committed = group === null ? null : await ask.committed(group, topic)
  return [...(await ask.ends(topic))].filter(([partition]) => (committed?.get(partition) ?? null) === null)
}

/** `topic` and `group` as the broker knows them. */
export const findStartOffsets = (
  lookup: Lookup,
  wanted: ConsumeOptions,
  topic: string,
  group: string,
): Promise<StartOffsets> =>
  lookup.asking(async (_admin, ask) => {
    const { onlyKey, place, from } = wanted
    const count = await ask.partitions(topic)
    const only = onlyKey === undefined ? null : partitionOf(onlyKey, count)
    const bus = place === undefined ? '' : `${await ask.clusterId()}/${topic}`
    const starts = new Map(from === 'latest' ? await endsOf(ask, topic, place === undefined ? group : null) : [])
    const kept = place?.from ?? null
    if (kept !== null && kept.bus === bus && kept.partition === only) starts.set(kept.partition, kept.offset)
    return { only, bus, starts }
  })

/** What a consumer has to know before its first join: the partition it reads, and its start offsets. */
import { partitionOf } from '../murmur2.ts'
import type { ConsumeOptions } from '../port.ts'
import type { Lookup, Questions } from './lookup.ts'

export type StartOffsets = {
  /** The only partition it reads; null: the partitions that the group assigns. */
  readonly only: number | null
  /** Identity of the bus, for a consumer that stores its own offset. */
  readonly bus: string
  /** Start offsets of partitions without a committed offset; a partition that is not listed starts at its oldest message. */
  readonly starts: ReadonlyMap<number, number>
}

/** Determined once, so that messages between the start and a later join are not skipped. */
const endsOf = async (ask: Questions, topic: string, group: string | null): Promise<readonly [number, number][]> => {
  const committed = group === null ? null : await ask.committed(group, topic)
  return [...(await ask.ends(topic))].filter(([partition]) => (committed?.get(partition) ?? null) === null)
}

/** `topic` and `group` are names with the prefix. */
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

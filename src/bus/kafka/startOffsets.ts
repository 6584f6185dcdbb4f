/** Finds the start offsets that a consumer needs before its first join, and checks that its topic exists. */
import type { ConsumeOptions } from '../port.ts'
import type { Lookup, Questions } from './lookup.ts'

export type StartOffsets = {
  /** Identity of the bus, for a consumer that stores its own offset. */
  readonly bus: string
  /**
   * Start offsets of partitions without a committed offset; a partition that is not listed starts at its oldest
   * message.
   */
  readonly starts: ReadonlyMap<number, number>
}

/** The end offsets are read once, so that messages between the start and a later join are not skipped. */
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
    const { offsetStore, from } = wanted
    // this fails, and names the topic, when the topic is missing
    await ask.partitions(topic)
    const bus = offsetStore === undefined ? '' : `${await ask.clusterId()}/${topic}`
    const starts = new Map(from === 'latest' ? await endsOf(ask, topic, offsetStore === undefined ? group : null) : [])
    const kept = offsetStore?.from ?? null
    if (kept !== null && kept.bus === bus) starts.set(kept.partition, kept.offset)
    return { bus, starts }
  })

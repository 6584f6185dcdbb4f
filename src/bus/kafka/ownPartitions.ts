/**
 * Chooses the partitions that a consumer of one key reads. An operator may add partitions to a topic at any time; then
 * most keys hash to another one.
 *
 * OWN-1 the partition of the key follows from the number of partitions that the broker reports at each join; kafkajs
 *    joins again when it learns of a new partition;
 * OWN-2 the former partitions are read as well until the consumer is stopped: messages may be waiting there, and a
 *    publisher that has not learned the new number yet goes on writing there.
 */
import { partitionOf } from '../murmur2.ts'

export type OwnPartitions = {
  /** The partitions to read when the topic has `count` of them. */
  readonly choose: (count: number) => readonly number[]
  /** The partition of the key at the last join; null: before the first join. */
  readonly current: () => number | null
}

/** `moved` is called when the key has another partition than before. */
export const createOwnPartitions = (key: string, moved: (from: number, to: number) => void): OwnPartitions => {
  const own = new Set<number>()
  let current: number | null = null
  return {
    choose: (count) => {
      // a topic that is being deleted has no partitions; the next join chooses again
      if (count < 1) return []
      const [before, now] = [current, partitionOf(key, count)]
      current = now
      own.add(now)
      if (before !== null && before !== now) moved(before, now)
      return [...own].filter((partition) => partition < count)
    },
    current: () => current,
  }
}

/**
 * The order of messages whose key has moved to another partition, because partitions were added. Offsets order only the
 * messages of one partition, so the partitions of such a key are put in the order in which the key came to them.
 */
import type { TopicMessage } from '../../audit/evidence.ts'

const movedKeys = (messages: readonly TopicMessage[]): ReadonlySet<string> => {
  const places = new Map<string, Map<string, number>>()
  const moved = new Set<string>()
  for (const { topic, key, partition } of messages) {
    const keys = places.get(topic) ?? new Map<string, number>()
    places.set(topic, keys)
    const known = keys.get(key)
    if (known === undefined) keys.set(key, partition)
    else if (known !== partition) moved.add(`${topic} ${key}`)
  }
  return moved
}

/**
 * When the first message with a time was written. Tombstones have no time: a part with nothing else comes last, because
 * it is the end of the key.
 */
const begun = (part: readonly TopicMessage[]): number => part.find(({ time }) => time !== null)?.time ?? Infinity
const inOrder = (messages: readonly TopicMessage[]): readonly TopicMessage[] => {
  const parts = [...Map.groupBy(messages, ({ partition }) => partition).values()]
  return parts.toSorted((a, b) => begun(a) - begun(b)).flat()
}

/**
 * `messages` in the order of offsets. In the result, the messages of one key have the order in which they were
 * published.
 */
export const byKey = (messages: readonly TopicMessage[]): readonly TopicMessage[] => {
  const moved = movedKeys(messages)
  if (moved.size === 0) return messages
  const nameOf = ({ topic, key }: TopicMessage): string => `${topic} ${key}`
  const staying = messages.filter((message) => !moved.has(nameOf(message)))
  const groups = Map.groupBy(
    messages.filter((message) => moved.has(nameOf(message))),
    nameOf,
  )
  return [...staying, ...[...groups.values()].flatMap(inOrder)]
}

/** Messages of keys that changed their partition, in the order in which an audit judges them. */
import { expect, test } from 'vitest'
import type { TopicMessage } from '../../src/audit/evidence.ts'
import { byKey } from '../../src/cli/audit/movedKeys.ts'

const said = (key: string, partition: number, offset: number, time: number | null): TopicMessage => ({
  topic: 'arq.state.v1',
  partition,
  offset,
  key,
  id: time === null ? null : `${key}.${time}`,
  type: null,
  position: null,
  time,
  body: time === null ? null : {},
})
const idsOf = (messages: readonly TopicMessage[], key: string) =>
  messages.filter((each) => each.key === key).map(({ id }) => id)

test('where no key has moved, the messages stay as they are', () => {
  const messages = [said('a', 0, 0, 1), said('b', 1, 0, 0), said('a', 0, 1, 2)]
  expect(byKey(messages)).toBe(messages)
})

test('what a key has in its later partition follows, even if that was read first', () => {
  const messages = [said('a', 0, 0, 3), said('a', 0, 1, 4), said('b', 0, 2, 5), said('a', 3, 0, 1), said('a', 3, 1, 2)]
  const ordered = byKey(messages)
  expect(idsOf(ordered, 'a')).toEqual(['a.1', 'a.2', 'a.3', 'a.4'])
  expect([ordered.length, idsOf(ordered, 'b')]).toEqual([5, ['b.5']])
})

test('a tombstone in the later partition is the end of its key', () => {
  const ordered = byKey([said('a', 0, 0, null), said('a', 3, 0, 1)])
  expect(idsOf(ordered, 'a')).toEqual(['a.1', null])
})

test('the same key of another topic has a partition of its own', () => {
  const messages = [said('a', 0, 0, 3), { ...said('a', 3, 0, 1), topic: 'arq.events.v1' }]
  expect(byKey(messages)).toBe(messages)
})

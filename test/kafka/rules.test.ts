/** What is decided about Kafka without a broker: wanted topics, their differences, lags, own partitions, refusals. */
import { expect, test } from 'vitest'
import { isLeaderUnknown, reasonOf } from '../../src/bus/kafka/errors.ts'
import { lagsOf } from '../../src/bus/kafka/groups.ts'
import { createOwnPartitions } from '../../src/bus/kafka/ownPartitions.ts'
import {
  differencesOf,
  type FoundTopic,
  judgeTopics,
  type WantedTopic,
  wantedTopics,
} from '../../src/bus/kafka/topics.ts'
import { partitionOf } from '../../src/bus/murmur2.ts'
import { offsetStoreRefusal, recordRefusal, topicRefusal } from '../../src/bus/refusal.ts'
import { CATALOGUE, KEEP_MS } from '../../src/wire/catalogue.ts'
import { MESSAGE_MAX_BYTES } from '../../src/wire/message.ts'

test('each topic of the catalogue is wanted, compacted or kept for a time, and never compressed', () => {
  const settings = { partitions: 4, replicas: 3, retentionMs: null }
  const wanted = wantedTopics('mine.', settings)
  const kept = Object.values(CATALOGUE).map(({ topic, keep }) => ({
    topic: `mine.${topic}`,
    partitions: 4,
    replicas: 3,
    configs: {
      ...(KEEP_MS[keep] === null
        ? { 'cleanup.policy': 'compact' }
        : { 'cleanup.policy': 'delete', 'retention.ms': String(KEEP_MS[keep]) }),
      'min.insync.replicas': '2',
      'compression.type': 'uncompressed',
    },
  }))
  expect(wanted).toEqual(kept)
  const policies = wanted.map(({ configs }) => configs['cleanup.policy'])
  expect(new Set(policies)).toEqual(new Set(['compact', 'delete']))
  // the configured time counts for those that are kept for a time, and for no other
  expect(wantedTopics('', { ...settings, retentionMs: 0 }).map(({ configs }) => configs['retention.ms'])).toEqual(
    policies.map((policy) => (policy === 'delete' ? '0' : undefined)),
  )
  const inSync = (replicas: number) => wantedTopics('', { ...settings, replicas })[0]!.configs['min.insync.replicas']
  expect([1, 2, 3, 4].map(inSync)).toEqual(['1', '1', '2', '3'])
})

const WANTED: WantedTopic = {
  topic: 't',
  partitions: 4,
  replicas: 3,
  configs: { 'cleanup.policy': 'compact,delete', 'retention.ms': '5' },
}
const found = (more: Partial<FoundTopic> = {}): FoundTopic => ({
  topic: 't',
  partitions: 4,
  replicas: 3,
  leaderless: 0,
  behind: 0,
  configs: { ...WANTED.configs, 'segment.bytes': '7' },
  ...more,
})

test('what differs is told with what is wanted, what is there, and what an operator can do', () => {
  expect(differencesOf(WANTED, found())).toEqual([])
  expect(differencesOf(WANTED, found({ partitions: 5, replicas: 2, configs: { 'retention.ms': '6' } }))).toEqual([
    {
      what: 'partitions',
      wanted: '4',
      is: '5',
      applies: false,
      advice:
        'the count is never changed here: partitions are added with kafka-topics.sh --alter, and running controls and hosts follow within ' +
        '10 s; or set kafka.partitions to what is there',
    },
    {
      what: 'replicas',
      wanted: '3',
      is: '2',
      applies: false,
      advice: 'copy the partitions with kafka-reassign-partitions.sh, or set kafka.replicas to what is there',
    },
    {
      what: 'cleanup.policy',
      wanted: 'compact,delete',
      is: '',
      applies: true,
      advice: 'topics create --apply sets it',
    },
    { what: 'retention.ms', wanted: '5', is: '6', applies: true, advice: 'topics create --apply sets it' },
  ])
})
test('a policy of two words is the same in any order, any other setting is not', () => {
  const configs = { 'cleanup.policy': 'delete,compact', 'retention.ms': '5' }
  expect(differencesOf(WANTED, found({ configs }))).toEqual([])
  const listed = { ...WANTED, configs: { 'other.list': 'a,b' } }
  expect(differencesOf(listed, found({ configs: { 'other.list': 'b,a' } }))).toMatchObject([
    { wanted: 'a,b', is: 'b,a' },
  ])
  expect(differencesOf(WANTED, found({ configs: { ...configs, 'cleanup.policy': 'delete' } }))).toHaveLength(1)
})
test('each wanted topic is there, differs or is missing', () => {
  const wanted = ['t', 'u', 'v'].map((topic) => ({ ...WANTED, topic }))
  const there = new Map([
    ['t', found()],
    ['v', found({ topic: 'v', partitions: 2 })],
    ['w', found({ topic: 'w' })],
  ])
  expect(judgeTopics(wanted, there)).toEqual([
    { topic: 't', state: 'there', differences: [] },
    { topic: 'u', state: 'missing', differences: [] },
    { topic: 'v', state: 'differs', differences: [expect.objectContaining({ what: 'partitions', is: '2' })] },
  ])
})

test('a group lags by what the partition still holds after its place, in the order of the partitions', () => {
  const ends = [
    { partition: 10, offset: '9', low: '0' },
    { partition: 2, offset: '9', low: '4' },
    { partition: 1, offset: '9', low: '4' },
    { partition: 3, offset: '9', low: '4' },
    { partition: 0, offset: '9', low: '9' },
    { partition: 4, offset: '5', low: '0' },
  ]
  const committed = [
    { partition: 10, offset: '0' },
    { partition: 1, offset: '7' },
    { partition: 2, offset: '3' },
    { partition: 3, offset: '-1' },
    { partition: 4, offset: '6' },
  ]
  expect(lagsOf(ends, committed)).toEqual([
    { partition: 0, behind: 0, never: true },
    { partition: 1, behind: 2, never: false },
    { partition: 2, behind: 5, never: false },
    { partition: 3, behind: 5, never: true },
    { partition: 4, behind: 0, never: false },
    { partition: 10, behind: 9, never: false },
  ])
  expect(lagsOf([], committed)).toEqual([])
})

test('OWN-1 OWN-2 a consumer of one key reads its partition and the former ones that are there', () => {
  const moves: (readonly [number, number])[] = []
  const own = createOwnPartitions('f', (from, to) => moves.push([from, to]))
  const of = (count: number) => partitionOf('f', count)
  expect([of(4), of(8), of(16)]).toEqual([3, 7, 15])
  expect([own.current(), own.choose(0), own.current()]).toEqual([null, [], null])
  expect([own.choose(4), own.current(), moves]).toEqual([[3], 3, []])
  expect([own.choose(4), moves]).toEqual([[3], []])
  expect([own.choose(8), own.current(), moves]).toEqual([[3, 7], 7, [[3, 7]]])
  // while a topic is deleted nothing is read, and nothing is forgotten
  expect([own.choose(0), own.current()]).toEqual([[], 7])
  // made anew with fewer partitions
  expect([own.choose(4), own.current()]).toEqual([[3], 3])
  expect(own.choose(16)).toEqual([3, 7, 15])
  expect(moves).toEqual([
    [3, 7],
    [7, 3],
    [3, 15],
  ])
  // a topic with a single partition has one to read
  expect(createOwnPartitions('f', () => expect.unreachable()).choose(1)).toEqual([0])
})

test('a partition whose leader this broker does not know yet is looked up again', () => {
  const of = (type: string) => Object.assign(new Error('said'), { type })
  const known = ['NOT_LEADER_FOR_PARTITION', 'LEADER_NOT_AVAILABLE']
  for (const type of known)
    expect([isLeaderUnknown(of(type)), isLeaderUnknown(new Error('gave up', { cause: of(type) }))]).toEqual([
      true,
      true,
    ])
  expect([of('REQUEST_TIMED_OUT'), new Error('e'), null, known[0]].map(isLeaderUnknown)).toEqual([
    false,
    false,
    false,
    false,
  ])
})
test('a group without a coordinator is explained, since Kafka does not say why', () => {
  const none = new Error('Failed to find group coordinator after 5 tries')
  const explained = `${none.message}: no right to the group, or its broker is away`
  expect([reasonOf(none), reasonOf(new Error('gave up', { cause: none }))]).toEqual([explained, explained])
  expect(reasonOf(new Error('group coordinator'))).toBe('group coordinator')
})

const TOPIC = CATALOGUE.hostReports.topic
const record = (more: object) => ({ topic: TOPIC, key: 'k', value: '', headers: {}, ...more })
test('a record is refused that no bus can take, with the reason', () => {
  const fits = 'ä'.repeat(MESSAGE_MAX_BYTES / 2)
  const taken = [{}, { value: fits }, { tombstone: true }, { tombstone: false, value: 'v' }]
  expect(taken.map((more) => recordRefusal(record(more)))).toEqual([null, null, null, null])
  expect(
    [
      { topic: 'none' },
      { value: 7 },
      { value: null, tombstone: true },
      { value: 'v', tombstone: true },
      { value: `${fits}x` },
    ].map((more) => recordRefusal(record(more))),
  ).toEqual([
    'there is no topic none',
    `${TOPIC}: only text crosses the bus`,
    `${TOPIC}: only text crosses the bus`,
    `${TOPIC}: the value of a tombstone is empty`,
    `${TOPIC}: a message of ${MESSAGE_MAX_BYTES + 1} bytes, more than ${MESSAGE_MAX_BYTES}`,
  ])
  expect(Object.values(CATALOGUE).map(({ topic }) => topicRefusal(topic))).toEqual(
    Object.keys(CATALOGUE).map(() => null),
  )
  expect([topicRefusal('none'), topicRefusal('')]).toEqual(['there is no topic none', 'there is no topic '])
})
test('an offset of its own belongs to one key', () => {
  const base = { topic: TOPIC, group: 'g', from: 'earliest', take: async () => {} } as const
  const offsetStore = { from: null, moved: () => {} }
  expect([base, { ...base, onlyKey: 'k' }, { ...base, onlyKey: 'k', offsetStore }].map(offsetStoreRefusal)).toEqual([
    null,
    null,
    null,
  ])
  expect(offsetStoreRefusal({ ...base, offsetStore })).toBe(
    `${TOPIC}: an offset store needs onlyKey: its offset belongs to one partition`,
  )
})

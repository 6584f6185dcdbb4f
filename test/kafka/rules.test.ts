/** Which topics are wanted, and how they differ from those that are there. */
import { expect, test } from 'vitest'
import {
  differencesOf,
  type FoundTopic,
  judgeTopics,
  type WantedTopic,
  wantedTopics,
} from '../../src/bus/kafka/topics.ts'
import { CATALOGUE, KEEP_MS } from '../../src/wire/catalogue.ts'

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

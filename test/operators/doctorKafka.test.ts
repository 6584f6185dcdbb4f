import { describe, expect, test } from 'vitest'
import { lagsOf } from '../../src/bus/kafka/groups.ts'
import type { KafkaFacts } from '../../src/bus/kafka/inspect.ts'
import { differencesOf, wantedTopics } from '../../src/bus/kafka/topics.ts'
import type { FoundTopic } from '../../src/bus/kafka/topics.ts'
import { hasProblems, reportLines } from '../../src/cli/doctor/doctor.ts'
import { judgeAll } from '../../src/cli/doctor/check.ts'
import { KAFKA_CHECKS } from '../../src/cli/doctor/kafka.ts'
import { API_CHECKS } from '../../src/cli/doctor/neighbours.ts'

const [ORDERS] = wantedTopics('', { partitions: 12, replicas: 1, retentionMs: null }).filter(
  ({ topic }) => topic === 'host.orders.v1',
)
const FOUND: FoundTopic = { ...ORDERS!, leaderless: 0, behind: 0 }
const CONTROL = { group: 'control', state: 'Stable', members: ['control-a at 10.0.0.1'] }
const FACTS: KafkaFacts = {
  brokers: ['kafka-1:9092'],
  topics: [{ topic: 'host.orders.v1', state: 'there', differences: [] }],
  found: [FOUND],
  groups: {
    control: CONTROL,
    lag: [{ partition: 0, behind: 0, never: false }],
    hosts: [{ group: 'host-compute-1-b1', state: 'Stable', members: ['x'] }],
    leftOver: [],
  },
  deadLetters: 0,
}
const said = (facts: Partial<KafkaFacts>) =>
  judgeAll(KAFKA_CHECKS, { ...FACTS, ...facts })
    .filter(({ verdict }) => verdict !== 'ok')
    .map(({ check, verdict, says }) => [check, verdict, says])
const differing = (found: Partial<FoundTopic>): KafkaFacts['topics'] => [
  { topic: 'host.orders.v1', state: 'differs', differences: differencesOf(ORDERS!, { ...FOUND, ...found }) },
]
const groups = (more: Partial<KafkaFacts['groups']>): Partial<KafkaFacts> => ({ groups: { ...FACTS.groups, ...more } })

describe('the brokers', () => {
  test('that are well', () => expect(said({})).toEqual([]))
  test('without a topic', () => {
    expect(said({ topics: [{ topic: 'host.orders.v1', state: 'missing', differences: [] }] })).toEqual([
      ['topics', 'problem', '1 of 1 missing: host.orders.v1'],
    ])
  })
  test('with a topic of another shape: what moves hosts or loses state is a problem, the rest a warning', () => {
    expect(said({ topics: differing({ partitions: 6 }) })).toEqual([
      ['topics: partitions', 'problem', 'host.orders.v1 has 6, not 12'],
    ])
    const configs = { ...ORDERS!.configs, 'cleanup.policy': 'compact', 'retention.ms': '1' }
    expect(said({ topics: differing({ configs }) })).toEqual([
      ['topics: cleanup.policy', 'problem', 'host.orders.v1 has compact, not delete'],
      ['topics: retention.ms', 'warning', 'host.orders.v1 has 1, not 259200000'],
    ])
    expect(said({ topics: differing({ replicas: 3 }) })).toMatchObject([
      ['topics: replicas', 'warning', expect.stringMatching(/3, not 1/)],
    ])
  })
  test('with partitions that nobody leads, or copies that lag', () => {
    expect(said({ found: [{ ...FOUND, leaderless: 1, behind: 1 }] })).toMatchObject([
      ['copies', 'problem', expect.stringMatching(/leader/)],
    ])
    expect(said({ found: [{ ...FOUND, behind: 2 }] })).toMatchObject([
      ['copies', 'warning', expect.stringMatching(/host.orders.v1/)],
    ])
  })
  test('too few for what has to be in sync', () => {
    const found = [{ ...FOUND, configs: { 'min.insync.replicas': '2' } }]
    expect(said({ found })).toMatchObject([['writable', 'problem', expect.stringMatching(/host.orders.v1/)]])
  })
})

describe('the groups', () => {
  test('without a control nobody takes reports', () => {
    expect(said(groups({ control: { group: 'control', state: 'Empty', members: [] } }))).toMatchObject([
      ['controls', 'problem', expect.stringMatching(/^0 members in group control \(Empty\)/)],
    ])
  })
  test('a control that does not keep up', () => {
    const lag = (behind: number) => groups({ lag: [{ partition: 3, behind, never: false }] })
    expect(said(lag(999))).toEqual([])
    expect(said(lag(1000))).toMatchObject([['controls', 'warning', expect.stringMatching(/partition 3: 1000/)]])
    expect(said(lag(100_000))).toMatchObject([['controls', 'problem', expect.stringMatching(/100000/)]])
  })
  test('left over by hosts that were started again', () => {
    expect(said(groups({ leftOver: ['host-a-1'] }))).toEqual([
      ['host groups', 'warning', '1 with a host, 1 left over: host-a-1'],
    ])
  })
  test('what was never committed counts from the oldest message that is kept', () => {
    const ends = [
      { partition: 1, offset: '50', low: '20' },
      { partition: 0, offset: '10', low: '0' },
    ]
    expect(lagsOf(ends, [{ partition: 0, offset: '4' }])).toEqual([
      { partition: 0, behind: 6, never: false },
      { partition: 1, behind: 30, never: true },
    ])
    expect(lagsOf(ends, [{ partition: 1, offset: '5' }])[1]!.behind).toBe(30)
  })
})

test('dead letters are a warning that names the command', () => {
  const [finding] = judgeAll(KAFKA_CHECKS, { ...FACTS, deadLetters: 2 }).filter(({ verdict }) => verdict !== 'ok')
  expect(finding).toMatchObject({ check: 'dead letters', verdict: 'warning', says: '2 messages on the topic' })
  expect(finding!.advice).toContain('accelerando dead-letter list')
})

describe('the neighbours', () => {
  const answer = { url: 'http://a/readyz', status: 200, reason: '', skewMs: 300 }
  const api = (more: Partial<typeof answer> | { readonly status: null; readonly reason: string }) =>
    judgeAll(API_CHECKS, { ...answer, ...more }).map(({ check, verdict }) => [check, verdict])
  test('an API that is ready, is not, or is not there', () => {
    expect(api({})).toEqual([
      ['api', 'ok'],
      ['clock of the api', 'ok'],
    ])
    expect(api({ status: 503 })[0]).toEqual(['api', 'problem'])
    expect(api({ status: 404 })[0]).toEqual(['api', 'problem'])
    expect(api({ status: null, reason: 'refused' })[0]).toEqual(['api', 'problem'])
  })
  test('an API whose clock is off', () => expect(api({ skewMs: -9000 })[1]).toEqual(['clock of the api', 'warning']))
})

test('the report: a line each, what to do below it, the sum at the end', () => {
  const findings = judgeAll(KAFKA_CHECKS, { ...FACTS, deadLetters: 1 })
  const lines = reportLines(findings)
  expect(lines[0]).toBe('ok       kafka         1 broker: kafka-1:9092')
  expect(lines.at(-2)).toMatch(/^ {23}-> see accelerando dead-letter list/)
  expect(lines.at(-1)).toBe('0 problems, 1 warning, 6 ok')
  expect(hasProblems(findings)).toBe(false)
})

import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { differencesOf, judgeTopics, wantedTopics } from '../../src/bus/kafka/topics.ts'
import type { FoundTopic, WantedTopic } from '../../src/bus/kafka/topics.ts'
import { type ScriptedBroker, scriptedBroker } from '../support/broker/broker.ts'
import { runProgram } from '../support/program.ts'

const SETTINGS = { partitions: 12, replicas: 3, retentionMs: null }
const wanted = (topic: string, prefix = ''): WantedTopic =>
  wantedTopics(prefix, SETTINGS).find((each) => each.topic === prefix + topic)!
const asWanted = ({ topic, partitions, replicas, configs }: WantedTopic): FoundTopic => ({
  topic,
  partitions,
  replicas,
  leaderless: 0,
  behind: 0,
  configs: { 'segment.bytes': '1073741824', ...configs },
})

describe('the topics that are wanted', () => {
  test('facts keep four weeks and orders three days, unless one time is chosen for all', () => {
    expect(wanted('arq.events.v1').configs).toEqual({
      'cleanup.policy': 'delete',
      'retention.ms': String(28 * 86_400_000),
      'min.insync.replicas': '2',
      'compression.type': 'uncompressed',
    })
    expect(wanted('host.orders.v1').configs['retention.ms']).toBe(String(3 * 86_400_000))
    const chosen = wantedTopics('', { ...SETTINGS, retentionMs: 5 })
    const kept = new Set(chosen.map(({ configs }) => configs['retention.ms']))
    expect(kept).toEqual(new Set(['5', undefined]))
  })
  test('a state topic is compacted and keeps the last message of each key for ever', () => {
    expect(wanted('arq.state.v1').configs).toMatchObject({ 'cleanup.policy': 'compact', 'min.insync.replicas': '2' })
  })
  test('TOPIC-3 no topic keeps a message compressed, which readers could not judge before they have unpacked it', () => {
    const compressions = wantedTopics('', SETTINGS).map(({ configs }) => configs['compression.type'])
    expect(new Set(compressions)).toEqual(new Set(['uncompressed']))
  })
  test('every name carries the prefix', () => {
    expect(wantedTopics('east.', SETTINGS).every(({ topic }) => topic.startsWith('east.'))).toBe(true)
  })
  test('with one copy one has to be in sync', () => {
    expect(wantedTopics('', { ...SETTINGS, replicas: 1 })[0]!.configs['min.insync.replicas']).toBe('1')
  })
})

describe('a topic that is there', () => {
  const topic = wanted('host.orders.v1')
  const whole = asWanted(topic)
  test('as it is wanted, there is nothing to say, whatever else is set on it', () => {
    expect(differencesOf(topic, whole)).toEqual([])
  })
  test('with another number of partitions: told how they are added, and never applied', () => {
    const [found, ...more] = differencesOf(topic, { ...whole, partitions: 6 })
    expect(more).toEqual([])
    expect(found).toMatchObject({ what: 'partitions', wanted: '12', is: '6', applies: false })
    expect(found!.advice).toContain('kafka-topics.sh --alter')
    expect(found!.advice).toContain('kafka.partitions')
  })
  test('with fewer copies: not applied either', () => {
    expect(differencesOf(topic, { ...whole, replicas: 1 })).toMatchObject([
      { what: 'replicas', wanted: '3', is: '1', applies: false },
    ])
  })
  test('with another retention, policy or number in sync: applied on request', () => {
    const configs = { 'retention.ms': '60000', 'cleanup.policy': 'compact', 'min.insync.replicas': '1' }
    const others = { 'compression.type': 'producer' }
    const found = differencesOf(topic, { ...whole, configs: { ...configs, ...others } })
    expect(found.map(({ what, is, applies }) => [what, is, applies])).toEqual([
      ['cleanup.policy', 'compact', true],
      ['retention.ms', '60000', true],
      ['min.insync.replicas', '1', true],
      ['compression.type', 'producer', true],
    ])
  })
  test('the order of two policies does not matter', () => {
    const both = { ...topic, configs: { 'cleanup.policy': 'compact,delete' } }
    expect(differencesOf(both, { ...whole, configs: { 'cleanup.policy': 'delete,compact' } })).toEqual([])
  })
})

test('each wanted topic is judged once: missing, there or differing', () => {
  const all = wantedTopics('', SETTINGS)
  const found = new Map(all.slice(1).map((each) => [each.topic, asWanted(each)]))
  const [odd] = all.slice(1)
  found.set(odd!.topic, { ...asWanted(odd!), partitions: 1 })
  const states = judgeTopics(all, found).map(({ state }) => state)
  expect(states.slice(0, 3)).toEqual(['missing', 'differs', 'there'])
  expect(states).toHaveLength(all.length)
})

describe('accelerando topic', () => {
  const run = async (...args: readonly string[]) => {
    const { exited, stdout } = runProgram({ args: ['topics', ...args, '--kafka', broker.address] })
    const { code } = await exited
    return { code, said: stdout() }
  }
  let broker: ScriptedBroker
  beforeAll(async () => void (broker = await scriptedBroker()))
  afterAll(() => broker.stop())

  test('its exit code says whether the topics are as they should be', async () => {
    expect(await run('list')).toMatchObject({ code: 7, said: expect.stringContaining('missing') })
    expect((await run('create', '--partitions', '4')).code).toBe(0)
    expect((await run('list', '--partitions', '4')).code).toBe(0)
    expect(await run('list', '--partitions', '5')).toMatchObject({ code: 7, said: expect.stringContaining('4') })
  })
})

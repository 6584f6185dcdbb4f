/** An audit of the topics alone: what it takes for the journal, and when they do not tell enough. */
import { afterEach, beforeEach, expect, test } from 'vitest'
import { kafkaBus, type KafkaBus } from '../../src/bus/kafka/bus.ts'
import { type AuditOptions, gatherEvidence } from '../../src/cli/audit/gather.ts'
import { gatherTopics } from '../../src/cli/audit/topics.ts'
import { systemClock } from '../../src/clock.ts'
import { silent } from '../../src/log.ts'
import { type ScriptedBroker, scriptedBroker } from '../support/broker/broker.ts'
import { optionsOf } from '../support/kafkaLab.ts'

let broker: ScriptedBroker
let bus: KafkaBus
beforeEach(async () => {
  broker = await scriptedBroker()
  bus = kafkaBus({ options: optionsOf(broker), clock: systemClock, log: silent })
})
afterEach(async () => {
  await bus.stop()
  await broker.stop()
})
const told = async (topic: string, entity: string, position: string) => {
  const value = JSON.stringify({
    specversion: '1.0',
    id: `${entity}.1.0`,
    source: '/here',
    type: 'accelerando.fact.T',
    time: '2026-01-01T00:00:00Z',
    datacontenttype: 'application/json',
    position,
    data: { entity, version: 1, event: { type: 'T' }, command: 'c', cause: { by: 'kim' } },
  })
  await bus.publish([{ topic, key: entity, value, headers: {} }])
}
const options = (more: object = {}): AuditOptions => ({
  config: { database: null, data: '/nowhere', kafka: optionsOf(broker) },
  folder: false,
  file: null,
  topicFile: null,
  hostData: [],
  clients: [],
  now: null,
  stopped: false,
  settled: false,
  slackMs: 5,
  skewMs: 6,
  ...more,
})

test('the journal is rebuilt from the facts, without those that are not told whole', async () => {
  for (const topic of ['arq.events.v1', 'placement.events.v1']) broker.topics.make(topic, 1)
  await told('arq.events.v1', 'arq/b', '7.2')
  await told('arq.events.v1', 'arq/a', '7.1')
  await told('placement.events.v1', 'placement/h', '7.3')
  const before = Date.now()
  const { evidence, sources } = await gatherEvidence(options(), silent)
  const { journal, now, topics, ...rest } = evidence
  expect(sources).toEqual(['facts on the topics', `the topics on ${broker.address}`])
  const row = {
    version: 1,
    commandId: 'c',
    events: [{ type: 'T' }],
    at: Date.parse('2026-01-01'),
    cause: { by: 'kim' },
  }
  expect([...journal]).toEqual([
    { ...row, key: 'arq/a', position: '7.1' },
    { ...row, key: 'arq/b', position: '7.2' },
  ])
  // a running system is judged as of now
  expect([now >= before, now <= Date.now()]).toEqual([true, true])
  expect((await gatherEvidence(options({ stopped: true }), silent)).evidence.now).toBe(row.at)
  const { messages, ...marks } = topics!
  expect(messages.map(({ topic, key, offset }) => [topic, key, offset])).toEqual([
    ['arq.events.v1', 'arq/b', 0],
    ['arq.events.v1', 'arq/a', 1],
  ])
  expect(marks).toEqual({ cut: new Set(), publishedTo: null, open: null, settled: false })
  expect(rest).toEqual({ quiet: false, slackMs: 5, unboundTtlMs: 0 })
  const all = await gatherTopics(optionsOf(broker), silent)
  expect([all.messages.length, all.missing.length, all.missing.includes('arq.events.v1')]).toEqual([3, 10, false])
})
test('topics of which the oldest messages are gone do not tell the whole journal, unless they keep only the last', async () => {
  for (const topic of ['arq.events.v1', 'arq.state.v1']) broker.topics.make(topic, 1)
  await told('arq.events.v1', 'arq/a', '7.1')
  await told('arq.events.v1', 'arq/b', '7.2')
  broker.topics.log('arq.state.v1', 0)!.forgetBefore(3)
  expect((await gatherEvidence(options(), silent)).evidence.journal.length).toBe(2)
  broker.topics.log('arq.events.v1', 0)!.forgetBefore(1)
  await expect(gatherEvidence(options(), silent)).rejects.toThrow(
    /^arq\.events\.v1\/0: the oldest messages are gone, so the topics alone do not tell the whole journal; name --database too$/,
  )
})
test('a broker without any of the topics is none to audit', async () => {
  await expect(gatherEvidence(options(), silent)).rejects.toThrow(
    `none of the topics is on Kafka at ${broker.address}, under the prefix ""`,
  )
})
test('a data folder that holds no store is said to, by the process that reads it', async () => {
  const config = { database: null, data: '/nowhere', kafka: null }
  await expect(gatherEvidence(options({ config }), silent)).rejects.toThrow(/^\/nowhere\/store holds no store$/)
})

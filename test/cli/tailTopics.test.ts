/** `accelerando tail` over Kafka: what is chosen, in which order it is shown, and what is not shown twice. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type KafkaBus, kafkaBus } from '../../src/bus/kafka/bus.ts'
import { type TailOptions, tail, topicsNamed } from '../../src/cli/operators/tail.ts'
import { systemClock } from '../../src/clock.ts'
import { silent } from '../../src/log.ts'
import { type ScriptedBroker, scriptedBroker } from '../support/broker/broker.ts'
import { KEYS, optionsOf, until } from '../support/kafkaLab.ts'

const TOPIC = 'arq.events.v1'
let broker: ScriptedBroker
let bus: KafkaBus
const told = (key: string, id: string, position: string | undefined, data: unknown = {}) => ({
  topic: TOPIC,
  key,
  headers: {},
  value: JSON.stringify({
    specversion: '1.0',
    id,
    source: '/test',
    type: 'accelerando.arq.Noted',
    time: '2026-01-01T00:00:00.000Z',
    datacontenttype: 'application/json',
    ...(position !== undefined && { position }),
    data,
  }),
})
const [ONE, , TWO] = KEYS
beforeAll(async () => {
  broker = await scriptedBroker()
  broker.topics.make(TOPIC, 4)
  broker.topics.make('host.orders.v1', 1)
  bus = kafkaBus({ options: optionsOf(broker), clock: systemClock, log: silent })
  for (const record of [
    told(ONE, '1.0', '5.1'),
    told(ONE, '1.1', '5.1'),
    told(TWO, '2.0', '6.1', { about: 'a' }),
    // the same again, by another program or after a failure
    told(ONE, '1.0', '5.1'),
    told(ONE, '3.0', '7.1'),
    told(ONE, '1.0', '5.1'),
    told(ONE, '3.0', '7.1'),
    told(TWO, '4.0', '10.1'),
    told(TWO, '2.9', '6.9'),
    told(TWO, 'none', undefined),
    told(TWO, 'none', undefined),
  ])
    await bus.publish([record])
})
afterAll(async () => {
  await bus.stop()
  await broker.stop()
})
const shown = async (more: Partial<TailOptions> = {}) => {
  const lines: string[] = []
  const options = { topic: 'arq.events', arq: null, since: null, once: true, ...more }
  const source = { kind: 'kafka', kafka: optionsOf(broker) } as const
  const never = new AbortController().signal
  await tail(
    source,
    options,
    ({ id, key, position }, at) => {
      expect(at).toBeTypeOf('number')
      lines.push(`${id} ${key} ${position}`)
    },
    never,
    silent,
  )
  return lines
}
const [A, C] = [ONE, TWO]

test('with --once all is shown in the order of the journal, what has no position first, and nothing twice', async () => {
  expect(await shown()).toEqual([
    `none ${C} null`,
    `none ${C} null`,
    `1.0 ${A} 5.1`,
    `1.1 ${A} 5.1`,
    `2.0 ${C} 6.1`,
    `3.0 ${A} 7.1`,
    `4.0 ${C} 10.1`,
  ])
})
test('with --since only what is later is shown, and what has no position', async () => {
  expect(await shown({ since: '6.1' })).toEqual([`none ${C} null`, `none ${C} null`, `3.0 ${A} 7.1`, `4.0 ${C} 10.1`])
  expect((await shown({ since: '5.9' }))[2]).toBe(`2.0 ${C} 6.1`)
})
test('of one request what has it as key or in its text is shown', async () => {
  expect(await shown({ arq: C })).toContain(`4.0 ${C} 10.1`)
  expect(await shown({ arq: '"about":"a"' })).toEqual([`2.0 ${C} 6.1`])
  expect(await shown({ arq: 'nobody' })).toEqual([])
})
test('without --once and --since only what comes from now on is shown', { timeout: 120_000 }, async () => {
  const [ids, stop] = [[] as (string | null)[], new AbortController()]
  const options = { topic: 'host.orders', arq: null, since: null, once: false }
  const order = (id: string) => ({ ...told('h1', id, undefined), topic: 'host.orders.v1' })
  await bus.publish([order('earlier')])
  const source = { kind: 'kafka', kafka: optionsOf(broker) } as const
  const ended = tail(source, options, ({ id }) => void ids.push(id), stop.signal, silent)
  const telling = setInterval(() => void bus.publish([order('later')]), 50)
  await until(() => ids.length > 0)
  clearInterval(telling)
  stop.abort()
  await ended
  expect(new Set(ids)).toEqual(new Set(['later']))
})
test('a topic that the broker does not have is named', async () => {
  await expect(shown({ topic: 'device.events' })).rejects.toThrow(`not on Kafka at ${broker.address}: device.events.v1`)
})

test('a topic is named with or without its version, and a database tells fewer than a broker', () => {
  const source = { kind: 'kafka', kafka: {} } as never
  const journal = { kind: 'journal', store: {} } as never
  expect(topicsNamed('arq.events', source)).toEqual(['arq.events.v1'])
  expect(topicsNamed('arq.state.v1', source)).toEqual(['arq.state.v1'])
  expect(topicsNamed('dead-letters', source)).toEqual(['dead-letters.v1'])
  expect(topicsNamed('host.orders', journal)).toEqual(['host.orders.v1'])
  const facts = ['arq', 'device', 'deployable', 'profile', 'host', 'placement'].map((name) => `${name}.events.v1`)
  expect(topicsNamed(null, source)).toEqual(facts)
  expect(topicsNamed(null, journal)).toEqual(facts)
  expect(() => topicsNamed('arq.state', journal)).toThrow(
    `topic: must be one of host.orders.v1, ${facts.join(', ')}, and is arq.state`,
  )
  expect(() => topicsNamed('arq', source)).toThrow(/^topic: must be one of host\.reports\.v1, .*, and is arq$/)
})

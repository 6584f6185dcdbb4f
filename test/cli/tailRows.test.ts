/** The columns of `accelerando tail`, of messages as anybody may have written them. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { kafkaBus, type KafkaBus } from '../../src/bus/kafka/bus.ts'
import { systemClock } from '../../src/clock.ts'
import { silent } from '../../src/log.ts'
import { type ScriptedBroker, scriptedBroker } from '../support/broker/broker.ts'
import { commandHere } from '../support/commandHere.ts'
import { optionsOf } from '../support/kafkaLab.ts'

const TOPIC = 'arq.events.v1'
const envelope = (id: string, position: string | null, data: unknown) =>
  JSON.stringify({
    specversion: '1.0',
    id: `${id}.0`,
    source: '/here',
    type: 'accelerando.told',
    time: '2026-01-01T00:00:00Z',
    datacontenttype: 'application/json',
    ...(position !== null && { position }),
    data,
  })
const MESSAGES: readonly (readonly [key: string, value: string])[] = [
  ['a1', envelope('one', '7.1', { entity: 'arq/a1', version: 1, event: { type: 'Bound', host: 'h1' }, more: 'x' })],
  ['a2', envelope('two', '7.2', { entity: 7, type: 'Reported', devices: 3 })],
  ['a3', envelope('three', '8.1', { entity: ['a'], event: { type: { odd: 1 } } })],
  ['a4', envelope('four', null, null)],
  ['a5', 'no JSON'],
]

let broker: ScriptedBroker
let bus: KafkaBus
beforeAll(async () => {
  broker = await scriptedBroker()
  bus = kafkaBus({ options: optionsOf(broker), clock: systemClock, log: silent })
  broker.topics.make(TOPIC, 1)
  for (const [key, value] of MESSAGES) await bus.publish([{ topic: TOPIC, key, value, headers: {} }])
})
afterAll(async () => {
  await bus.stop()
  await broker.stop()
})
const tailed = async (...more: readonly string[]) => {
  const env = { ACCELERANDO_KAFKA_BROKERS: broker.address, ACCELERANDO_LOG_LEVEL: 'silent' }
  const { code, out, err } = await commandHere(['tail', 'arq.events', ...more], env)
  expect([code, err]).toEqual([0, ''])
  return out.trimEnd().split('\n')
}
/** When a message without a time of its own was stored. */
const plain = (line: string) => line.replace(/^20(?!26-01-01T00:00:00.000Z)\d\d-[^,]+/, '<stored>')

test('each column has what the message says of it, or nothing', async () => {
  expect((await tailed('--once', '-f', 'csv')).map(plain)).toMatchInlineSnapshot(`
    [
      "time,topic,key,entity,type,detail,position",
      "2026-01-01T00:00:00.000Z,arq.events.v1,a4,,accelerando.told,,",
      "<stored>,arq.events.v1,a5,,,,",
      "2026-01-01T00:00:00.000Z,arq.events.v1,a1,arq/a1,Bound,host=h1,7.1",
      "2026-01-01T00:00:00.000Z,arq.events.v1,a2,7,Reported,,7.2",
      "2026-01-01T00:00:00.000Z,arq.events.v1,a3,,accelerando.told,,8.1",
    ]
  `)
})
test('the rows can be put in order, and be limited', async () => {
  const keys = (...more: readonly string[]) => tailed('-f', 'value', '-c', 'key', ...more)
  expect(await keys('--once', '--sort-column', 'key:desc', '--limit', '2')).toEqual(['a5', 'a4'])
  expect(await keys('--once', '--since', '7.1', '--sort-column', 'key')).toEqual(['a2', 'a3', 'a4', 'a5'])
  expect(JSON.parse((await tailed('--once', '-f', 'json', '-c', 'type')).join(''))).toHaveLength(5)
})
test('without --once it ends after as many rows as are asked for', async () => {
  const keys = (limit: number) => tailed('--since', '0', '--limit', String(limit), '-f', 'value', '-c', 'key')
  expect(await keys(2)).toEqual(['a1', 'a2'])
  expect(await keys(5)).toEqual(['a1', 'a2', 'a3', 'a4', 'a5'])
})

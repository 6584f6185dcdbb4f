/** Messages with very many headers, and the methods of kafkajs that are replaced because of them. */
import { expect, test } from 'vitest'
import { mendHeaders } from '../../src/bus/kafka/headers.ts'
import { mendTimer } from '../../src/bus/kafka/timer.ts'
import type { Delivered } from '../../src/bus/port.ts'
import { rawKafka } from '../support/kafka.ts'
import { kafkaLab, optionsOf, REPORTS, until } from '../support/kafkaLab.ts'

const lab = kafkaLab()

test('a message with 20,000 headers is read in a moment: the first 64 count, and the last value of each', async () => {
  const producer = rawKafka(optionsOf(lab.broker)).producer()
  await producer.connect()
  const numbered = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, at) => [`h${at}`, `${at}`]))
  const messages = [
    { key: 'a', value: 'many', headers: numbered(20_000), partition: 0 },
    { key: 'a', value: 'again', headers: { h: Array.from({ length: 20_000 }, (_, at) => String(at)) }, partition: 0 },
    { key: 'a', value: 'none', partition: 0 },
  ]
  await producer.send({ topic: REPORTS, messages })
  await producer.disconnect()
  const taken: Delivered[] = []
  const { bus } = lab.openBus()
  await bus.consume({ topic: REPORTS, group: 'g', from: 'earliest', take: async (one) => void taken.push(one) })
  await until(() => taken.length === 3)
  expect(taken.map(({ value, headers }) => [value, headers])).toEqual([
    ['many', numbered(64)],
    ['again', { h: '19999' }],
    ['none', {}],
  ])
})
test('the methods of kafkajs are replaced in the version that is installed', () =>
  expect([mendHeaders(), mendTimer()]).toEqual([true, true]))

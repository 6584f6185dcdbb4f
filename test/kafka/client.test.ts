/** The client of kafkajs as it is made here: what it says reaches our log, and its password stays what it is. */
import { afterEach, expect, test } from 'vitest'
import { lookup } from '../../src/bus/kafka/lookup.ts'
import type { KafkaOptions } from '../../src/bus/kafka/options.ts'
import { silent } from '../../src/vocabulary/log.ts'
import type { ScriptedBroker } from '../support/broker/broker.ts'
import { scriptedBroker } from '../support/broker/broker.ts'
import { kafkaLab, optionsOf, REPORTS } from '../support/kafkaLab.ts'
import { memoryLog } from '../support/lab.ts'
import { describeWith } from '../support/needs.ts'
import { OPENSSL, certificates, tlsProxy } from '../support/tls.ts'

const lab = kafkaLab()
const others: ScriptedBroker[] = []
afterEach(async () => void (await Promise.all(others.splice(0).map((broker) => broker.stop()))))
const partitions = (options: KafkaOptions, log = silent): Promise<number> =>
  lookup(options, log).asking((_admin, ask) => ask.partitions(REPORTS))

test('KAFKA-1 the password object stays as it was, and a copy of a used one does not keep the old password', async () => {
  const guarded = await scriptedBroker({ users: { bob: 'right' } })
  others.push(guarded)
  guarded.topics.make(REPORTS, 2)
  const sasl = Object.freeze({ mechanism: 'plain', username: 'bob', password: 'right' } as const)
  const options = optionsOf(guarded, { sasl })
  expect(await partitions(options)).toBe(2)
  expect(sasl).toEqual({ mechanism: 'plain', username: 'bob', password: 'right' })
  await expect(partitions({ ...options, sasl: { ...sasl, password: 'wrong' } })).rejects.toThrow(/refuses user bob/)
})

test('who does not say a user where one is wanted is not let in', async () => {
  const guarded = await scriptedBroker({ users: { bob: 'right' } })
  others.push(guarded)
  await expect(partitions(optionsOf(guarded))).rejects.toThrow(`Kafka at ${guarded.address}`)
})

test('KAFKA-3 a sentence of kafkajs is told once in a while, with where it comes from', async () => {
  const { address } = lab.broker
  await lab.broker.stop()
  const log = memoryLog()
  const options = optionsOf(lab.broker)
  await expect(partitions(options, log)).rejects.toThrow(/ECONNREFUSED/)
  const sentences = log.said.map(({ detail }) => `${String(detail['part'])} ${String(detail['says'])}`)
  expect(new Set(sentences).size).toBe(sentences.length)
  expect(log.said.find(({ detail }) => detail['part'] === 'Connection')).toMatchObject({
    level: 'info',
    message: 'kafka.client',
    detail: { says: `Connection error: connect ECONNREFUSED ${address}`, broker: address },
  })
  // another client has another memory
  const before = log.said.length
  await expect(partitions(options, log)).rejects.toThrow(/ECONNREFUSED/)
  expect(log.said.length).toBeGreaterThan(before)
  await lab.broker.start()
})

test('several brokers may be named: the first that answers is enough', async () => {
  const dead = await scriptedBroker()
  const { address } = dead
  await dead.stop()
  expect(await partitions(optionsOf(lab.broker, { brokers: [address, lab.broker.address] }))).toBe(4)
})

describeWith(OPENSSL, 'over TLS', (openssl) => {
  test('a broker is trusted that the given CA has signed, and no other', async () => {
    const [ours, theirs] = [certificates(openssl), certificates(openssl)]
    const proxy = await tlsProxy(`http://${lab.broker.address}`, ours)
    const connect = (ca: string | null) =>
      partitions(optionsOf(lab.broker, { brokers: [new URL(proxy.url).host], tls: { ca } }))
    // the broker names its own address next, at which it speaks no TLS
    await expect(connect(ours.ca)).rejects.toThrow('Connection timeout')
    await expect(connect(theirs.ca)).rejects.toThrow(/certificate/)
    await expect(connect(null)).rejects.toThrow(/certificate/)
    await proxy.close()
  })
})

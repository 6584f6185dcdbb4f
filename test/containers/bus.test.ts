/** The contract of the bus over a broker in a container. */
import { afterAll, beforeAll } from 'vitest'
import { kafkaBus } from '../../src/bus/kafka/bus.ts'
import type { KafkaOptions } from '../../src/bus/kafka/options.ts'
import { systemClock } from '../../src/vocabulary/clock.ts'
import { silent } from '../../src/vocabulary/log.ts'
import { busContract } from '../contracts/bus.contract.ts'
import { type Contained, kafkaContainer } from '../support/containers.ts'
import { freshPrefix, makeTopics } from '../support/kafka.ts'
import { describeWith } from '../support/needs.ts'

describeWith('docker', 'Kafka in a container', () => {
  let broker: Contained & { readonly broker: string }
  let options: KafkaOptions
  beforeAll(async () => {
    broker = await kafkaContainer()
    options = { brokers: [broker.broker], prefix: freshPrefix(), clientId: 'test', tls: null, sasl: null }
    await makeTopics(options)
  })
  afterAll(async () => broker?.stop())

  busContract('Kafka in a container', async (limits) =>
    kafkaBus({ options, clock: systemClock, log: silent, retry: { firstMs: 2, maxMs: 20 }, ...limits }),
  )
})

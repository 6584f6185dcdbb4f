/** The contract of the bus on a real broker. */
import { beforeAll } from 'vitest'
import { kafkaBus } from '../../src/bus/kafka/bus.ts'
import type { KafkaOptions } from '../../src/bus/kafka/options.ts'
import { systemClock } from '../../src/vocabulary/clock.ts'
import { silent } from '../../src/vocabulary/log.ts'
import { busContract } from '../contracts/bus.contract.ts'
import { freshPrefix, kafkaServer, makeTopics } from '../support/kafka.ts'
import { describeWith } from '../support/needs.ts'

describeWith('kafka', 'the contract of the bus', (rig) => {
  let options: KafkaOptions
  beforeAll(async () => {
    options = { ...(await kafkaServer(rig)).options, prefix: freshPrefix() }
    await makeTopics(options)
  })
  busContract('Kafka', async (limits) =>
    kafkaBus({ options, clock: systemClock, log: silent, retry: { firstMs: 2, maxMs: 20 }, ...limits }),
  )
})

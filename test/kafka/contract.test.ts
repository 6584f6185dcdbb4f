/** The contract of the bus, on the adapter of Kafka and a broker that lives in this process. */
import { afterAll, beforeAll } from 'vitest'
import { kafkaBus } from '../../src/bus/kafka/bus.ts'
import { systemClock } from '../../src/vocabulary/clock.ts'
import { silent } from '../../src/vocabulary/log.ts'
import { busContract } from '../contracts/bus.contract.ts'
import type { ScriptedBroker } from '../support/broker/broker.ts'
import { scriptedBroker } from '../support/broker/broker.ts'

let broker: ScriptedBroker
beforeAll(async () => {
  broker = await scriptedBroker()
  broker.topics.make('host.orders.v1', 4)
})
afterAll(() => broker.stop())

busContract('Kafka, on a scripted broker', async (limits) =>
  kafkaBus({
    options: { brokers: [broker.address], prefix: '', clientId: 'contract', tls: null, sasl: null },
    clock: systemClock,
    log: silent,
    retry: { firstMs: 2, maxMs: 20 },
    ...limits,
  }),
)

/** Two clouds on the same brokers: a control does not join a group in which there is a control of another cloud. */
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type KafkaBus, kafkaBus } from '../../src/bus/kafka/bus.ts'
import { clientIdIn, expectOwnGroup } from '../../src/cli/programs/oneCloud.ts'
import { StartProblem } from '../../src/cli/programs/startProblem.ts'
import { systemClock } from '../../src/clock.ts'
import { silent } from '../../src/log.ts'
import { CONTROL_GROUP } from '../../src/wire/catalogue.ts'
import { type ScriptedBroker, scriptedBroker } from '../support/broker/broker.ts'
import { optionsOf, REPORTS } from '../support/kafkaLab.ts'

let broker: ScriptedBroker
let bus: KafkaBus
beforeEach(async () => {
  broker = await scriptedBroker()
  broker.topics.make(`p.${REPORTS}`, 1)
  const options = optionsOf(broker, { prefix: 'p.', clientId: clientIdIn('cloud-2', 7) })
  bus = kafkaBus({ options, clock: systemClock, log: silent })
  await bus.consume({ topic: REPORTS, group: CONTROL_GROUP, from: 'earliest', take: async () => undefined })
})
afterEach(async () => {
  await bus.stop()
  await broker.stop()
})

test('with the same prefix it says so, its own cloud and another prefix are free', { timeout: 120_000 }, async () => {
  const kafka = optionsOf(broker, { prefix: 'p.' })
  const refused = () => expectOwnGroup(kafka, 'cloud-1', silent).catch((error: unknown) => error)
  await expect.poll(refused).toBeInstanceOf(StartProblem)
  expect(String(await refused())).toBe(
    `Error: another cloud (cloud-2) uses the topics at ${broker.address} with the prefix "p.", and this is cloud cloud-1: ` +
      'set kafka.prefix to another one for each cloud',
  )
  await expectOwnGroup(kafka, 'cloud-2', silent)
  await expectOwnGroup({ ...kafka, prefix: 'q.' }, 'cloud-1', silent)
})

/** Topics that a program needs on a broker: made where it may make them, and otherwise the end of its start. */
import { afterEach, beforeEach, expect, test } from 'vitest'
import { kafkaLink } from '../../src/cli/programs/kafkaLink.ts'
import { StartProblem } from '../../src/cli/programs/startProblem.ts'
import { MissingTopic, Misconfigured } from '../../src/bus/kafka/errors.ts'
import { silent } from '../../src/log.ts'
import { CATALOGUE } from '../../src/wire/catalogue.ts'
import { type ScriptedBroker, scriptedBroker } from '../support/broker/broker.ts'
import { optionsOf } from '../support/kafkaLab.ts'
import { handClock, quiet } from '../support/lab.ts'

let broker: ScriptedBroker
beforeEach(async () => {
  broker = await scriptedBroker()
})
afterEach(() => broker.stop())
const SETTINGS = { partitions: 2, replicas: 1, retentionMs: null }
type Seen = { lastError: { readonly at: number; readonly reason: string } | null }
const linked = (create: boolean | null, clock = handClock(), seen: Seen = { lastError: null }) =>
  kafkaLink({
    kafka: optionsOf(broker),
    bus: { state: () => ({ connected: true, ...seen }) } as never,
    topics: create === null ? null : { ...SETTINGS, create },
    clock,
    log: silent,
  })
const TOPICS = Object.values(CATALOGUE).map(({ topic }) => topic)

test('a program that may make topics makes all of them before it joins', async () => {
  const link = linked(true)
  const found: boolean[] = []
  const has = (topic: string, partition: number) => broker.topics.log(topic, partition) !== undefined
  await link.join(async () => void found.push(...TOPICS.map((topic) => has(topic, 1) && !has(topic, 2))))
  expect(found).toEqual(TOPICS.map(() => true))
  expect(link.whyFailing()).toBeNull()
  await link.stop()
})
test('topics that somebody deletes are made again once the bus has met an error, and at no other time', async () => {
  const [clock, seen] = [handClock(), { lastError: null } as Seen]
  const link = linked(true, clock, seen)
  await link.join(async () => undefined)
  const has = () => TOPICS.filter((topic) => broker.topics.log(topic, 0) !== undefined).length
  const remove = () => TOPICS.forEach((topic) => broker.topics.remove(topic))
  let looks = 0
  broker.on('Metadata', (_, answer) => {
    looks++
    return answer()
  })
  remove()
  await clock.pass(90_000)
  expect([has(), looks]).toEqual([0, 0])
  for (let time = 0; time < 2; time++) {
    remove()
    seen.lastError = { at: clock.now(), reason: 'no such topic' }
    // the next pause begins when the broker has answered everything of the look before
    while (has() < TOPICS.length) {
      await clock.pass(30_000)
      await quiet()
    }
  }
  await link.stop()
})
test('one that may not names those that are missing, and does not join', async () => {
  broker.topics.make(TOPICS[0]!, 2)
  const link = linked(false)
  const problem = await link.join(() => expect.fail('it has joined')).catch((error: unknown) => error)
  expect(problem).toBeInstanceOf(StartProblem)
  expect((problem as Error).message).toBe(
    `topics are missing: ${TOPICS.slice(1).join(', ')}: make them with "accelerando topic create", or set kafka.create_topics`,
  )
  await link.stop()
})
test('one that leaves the topics to another waits for those that are missing, and ends at other mistakes', async () => {
  const link = linked(null)
  await link.join(() => Promise.reject(new MissingTopic('no topic yet')))
  expect(link.whyFailing()).toBe('kafka: no topic yet')
  await link.stop()
  const other = linked(null)
  await expect(other.join(() => Promise.reject(new Misconfigured('the password is wrong')))).rejects.toThrow(
    'the password is wrong',
  )
  await other.stop()
})
test('a stop while the topics are looked at lets nobody join', async () => {
  const { promise, resolve } = Promise.withResolvers<void>()
  broker.on('Metadata', async (_, answer) => {
    await promise
    return answer()
  })
  const link = linked(true)
  let joined = 0
  const joining = link.join(async () => void joined++)
  await quiet()
  const stopped = link.stop()
  resolve()
  await Promise.all([stopped, joining])
  expect([joined, link.whyFailing()]).toEqual([0, 'kafka: not joined yet'])
})

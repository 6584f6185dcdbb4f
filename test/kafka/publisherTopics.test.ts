/** Publishing to topics that are not there, and to a broker that does not let the publisher in. */
import { expect, test } from 'vitest'
import type { ScriptedBroker } from '../support/broker/broker.ts'
import { scriptedBroker } from '../support/broker/broker.ts'
import { kafkaLab, optionsOf, ORDERS, REPORTS, say, until } from '../support/kafkaLab.ts'
import { quiet } from '../support/lab.ts'

const lab = kafkaLab()
const kept = (broker: ScriptedBroker, topic: string): number =>
  [0, 1, 2, 3].reduce((sum, at) => sum + (broker.topics.log(topic, at)?.end ?? 0), 0)

test('a topic that was never there is told at once to those who publish to it, and to nobody else', async () => {
  lab.broker.topics.remove(ORDERS)
  const { bus } = lab.openBus()
  const missing = new RegExp(`there is no topic ${ORDERS} on Kafka at .*: accelerando topic create makes it`)
  const asked = [
    bus.publish([say('a', '1', ORDERS)]),
    bus.publish([say('a', '2', REPORTS), say('a', '2', ORDERS)]),
    bus.publish([say('a', '3', REPORTS)]),
  ]
  const [first, mixed, fine] = await Promise.allSettled(asked)
  expect([first, mixed]).toEqual([
    { status: 'rejected', reason: expect.objectContaining({ message: expect.stringMatching(missing) }) },
    { status: 'rejected', reason: expect.objectContaining({ message: expect.stringMatching(missing) }) },
  ])
  expect(fine!.status).toBe('fulfilled')
  expect(kept(lab.broker, REPORTS)).toBe(1)
  // it is no failure of the broker
  expect(bus.state()).toMatchObject({ connected: true, lastError: null, publisher: { waiting: 0 } })
  lab.broker.topics.make(ORDERS, 4)
  await bus.publish([say('a', '4', ORDERS)])
  expect(kept(lab.broker, ORDERS)).toBe(1)
})

test('a topic is looked up once', async () => {
  const { bus } = lab.openBus()
  const lookedUp = () => lab.broker.seen('Metadata').filter(({ topics }) => topics?.[0] === ORDERS).length
  await bus.publish([say('a', '1', ORDERS)])
  const before = lookedUp()
  await bus.publish([say('a', '2', ORDERS)])
  await bus.publish([say('a', '3', ORDERS)])
  expect(lookedUp()).toBe(before)
})

test('a broker that is away is told with the innermost reason, and the messages are sent when it is back', async () => {
  const { bus, clock } = lab.openBus()
  const { address } = lab.broker
  await lab.broker.stop()
  const published = bus.publish([say('a', '1')])
  await until(() => bus.state().lastError !== null)
  expect(bus.state().lastError!.reason).toBe(`Connection error: connect ECONNREFUSED ${address}`)
  await lab.broker.start()
  await quiet()
  await clock.pass(100)
  await published
})

test('a topic that was there and is gone may come back: it is waited for', async () => {
  const { bus, clock } = lab.openBus()
  await bus.publish([say('a', '1')])
  lab.broker.topics.remove(REPORTS)
  let done = false
  const published = bus.publish([say('a', '2')]).then(() => (done = true))
  await until(() => bus.state().lastError !== null)
  await quiet()
  expect(done).toBe(false)
  lab.broker.topics.make(REPORTS, 4)
  await clock.pass(100)
  await published
  expect(kept(lab.broker, REPORTS)).toBe(1)
})

test('a message that comes while another topic is looked up waits for its own look', async () => {
  const { bus } = lab.openBus()
  const gate = Promise.withResolvers<void>()
  let held = false
  lab.broker.on('Metadata', async ({ topics }, answer) => {
    if (topics?.[0] === REPORTS && !held) {
      held = true
      await gate.promise
    }
    return answer()
  })
  const first = bus.publish([say('a', '1', REPORTS)])
  await until(() => held)
  lab.broker.topics.remove(ORDERS)
  const second = expect(bus.publish([say('a', '2', ORDERS)])).rejects.toThrow(`there is no topic ${ORDERS}`)
  const third = bus.publish([say('a', '3', REPORTS)])
  gate.resolve()
  await Promise.all([first, second, third])
  expect(kept(lab.broker, REPORTS)).toBe(2)
})

test('who is not let in is told at once; who was in before tries on until the time is up', async () => {
  const users: Record<string, string> = { bob: 'right' }
  const guarded = await scriptedBroker({ users })
  guarded.topics.make(REPORTS, 4)
  const sasl = { mechanism: 'plain', username: 'bob', password: 'wrong' } as const
  const { bus: stranger } = lab.openBus({ options: optionsOf(guarded, { sasl }) })
  await expect(stranger.publish([say('a', '1')])).rejects.toThrow(/refuses user bob: .*Authentication failed/)
  expect(stranger.state()).toMatchObject({ connected: false, publisher: { waiting: 0, waitingBytes: 0 } })
  expect(stranger.state().lastError!.reason).toMatch(/^SASL PLAIN authentication failed/)
  const { bus, clock } = lab.openBus({ options: optionsOf(guarded, { sasl: { ...sasl, password: 'right' } }) })
  await bus.publish([say('a', '1')])
  users['bob'] = 'new'
  guarded.cut()
  let over = false
  const published = bus.publish([say('a', '2')]).finally(() => (over = true))
  await until(() => bus.state().lastError !== null)
  for (let tries = 0; tries < 3; tries++) {
    await clock.pass(1000)
    await until(() => /Authentication failed/.test(bus.state().lastError!.reason))
  }
  expect(over).toBe(false)
  users['bob'] = 'right'
  await clock.pass(1000)
  await published
  expect(kept(guarded, REPORTS)).toBe(2)
  await Promise.all([bus.stop(), stranger.stop()])
  await guarded.stop()
})

test('names on the broker begin with the prefix, and a batch with one bad message is refused as a whole', async () => {
  lab.broker.topics.make(`mine.${REPORTS}`, 2)
  const { bus } = lab.openBus({ options: optionsOf(lab.broker, { prefix: 'mine.' }) })
  await bus.publish([say('a', '1')])
  expect(kept(lab.broker, `mine.${REPORTS}`)).toBe(1)
  expect(kept(lab.broker, REPORTS)).toBe(0)
  const bad = [say('a', '2', 'no.topic'), say('a', '2', 'none.such')]
  await expect(bus.publish([say('a', '2'), ...bad])).rejects.toThrow(/^there is no topic no\.topic$/)
  await bus.publish([])
  expect(kept(lab.broker, `mine.${REPORTS}`)).toBe(1)
})

/** Publishing, when the broker answers in part, late, wrongly or not at all. */
import { expect, test } from 'vitest'
import { Unpublishable } from '../../src/bus/port.ts'
import { Publisher } from '../../src/bus/kafka/publisher.ts'
import { lookup } from '../../src/bus/kafka/lookup.ts'
import { silent } from '../../src/vocabulary/log.ts'
import type { ResponseOf } from '../support/broker/protocol.ts'
import { ERRORS } from '../support/broker/protocol.ts'
import { KEYS, kafkaLab, optionsOf, ORDERS, REPORTS, say, SHORT, until } from '../support/kafkaLab.ts'
import { quiet } from '../support/lab.ts'
import { systemClock } from '../../src/vocabulary/clock.ts'

const lab = kafkaLab()
type Produced = ResponseOf<'Produce'>

/** How many messages each request asked to store, by partition. */
const counts = (): readonly Readonly<Record<string, number>>[] =>
  lab.broker.seen('Produce').map(({ topics }) =>
    Object.fromEntries(
      topics.flatMap(({ topic, partitions }) =>
        // the number of records stands at 57 in a batch
        partitions.map(({ partition, records }) => [`${topic}/${partition}`, records.readInt32BE(57)]),
      ),
    ),
  )
const sums = (): readonly number[] => counts().map((each) => Object.values(each).reduce((sum, count) => sum + count, 0))
const without =
  (partition: number) =>
  (answer: Produced): Produced => ({
    ...answer,
    topics: answer.topics.map(({ topic, partitions }) => ({
      topic,
      partitions: partitions.filter((each) => each.partition !== partition),
    })),
  })
/** The next answers to `Produce` are these, then it is honest again. */
const answers = (...changes: readonly ((answer: Produced) => Produced)[]): void => {
  const left = [...changes]
  lab.broker.on('Produce', async (_request, answer) => (left.shift() ?? ((same: Produced) => same))(await answer()))
}
const failing =
  (errorCode: number, partition: number) =>
  (answer: Produced): Produced => ({
    ...answer,
    topics: answer.topics.map(({ topic, partitions }) => ({
      topic,
      partitions: partitions.map((each) => (each.partition === partition ? { ...each, errorCode } : each)),
    })),
  })

test('what all partitions acknowledged is published, in one request that asks for all copies', async () => {
  const { bus } = lab.openBus()
  await bus.publish(KEYS.map((key) => say(key, '1')))
  expect(counts()).toEqual([{ [`${REPORTS}/0`]: 1, [`${REPORTS}/1`]: 1, [`${REPORTS}/2`]: 1, [`${REPORTS}/3`]: 1 }])
  expect(lab.broker.seen('Produce')[0]).toMatchObject({ acks: -1, timeoutMs: 5000, transactionalId: null })
  expect(bus.state()).toMatchObject({ connected: true, lastError: null, publisher: { waiting: 0, waitingBytes: 0 } })
})

test('a partition that is missing in the acknowledgement makes the round fail, and it is sent again', async () => {
  const { bus, clock, log } = lab.openBus()
  answers(without(1))
  let done = false
  const published = bus.publish(KEYS.map((key) => say(key, '1'))).then(() => (done = true))
  await until(() => bus.state().lastError !== null)
  expect(bus.state().lastError!.reason).toBe(`Kafka did not acknowledge ${REPORTS}/1`)
  expect(bus.state().connected).toBe(false)
  await quiet()
  expect([done, sums()]).toEqual([false, [4]])
  await clock.pass(100)
  await published
  expect(sums()).toEqual([4, 4])
  expect(bus.state().connected).toBe(true)
  expect(log.said.map(({ message }) => message)).toContain('bus.there')
})

test('an answer that names no partition acknowledges nothing', async () => {
  const { bus, clock } = lab.openBus()
  answers((answer) => ({ ...answer, topics: [] }))
  const published = bus.publish([say('a', '1'), say('d', '1')])
  await until(() => bus.state().lastError !== null)
  expect(bus.state().lastError!.reason).toBe(`Kafka did not acknowledge ${REPORTS}/0, ${REPORTS}/1`)
  await clock.pass(100)
  await published
})

test('what one partition was acknowledged for does not stand for the same partition of another topic', async () => {
  const { bus, clock } = lab.openBus()
  answers((answer) => ({ ...answer, topics: answer.topics.filter(({ topic }) => topic === REPORTS) }))
  const published = bus.publish([say('a', '1', REPORTS), say('a', '1', ORDERS)])
  await until(() => bus.state().lastError !== null)
  expect(bus.state().lastError!.reason).toBe(`Kafka did not acknowledge ${ORDERS}/0`)
  await clock.pass(100)
  await published
})

test('what was written in the round before is not asked of the next', async () => {
  const { bus } = lab.openBus()
  await bus.publish([say('a', '1')])
  await bus.publish([say('d', '1')])
  expect(bus.state().lastError).toBeNull()
  expect(counts()).toEqual([{ [`${REPORTS}/0`]: 1 }, { [`${REPORTS}/1`]: 1 }])
})

test('an error of one partition makes the round fail, and PUBLISHER-1 what was said later is stored behind it', async () => {
  const { bus, clock } = lab.openBus()
  answers(failing(ERRORS.NOT_ENOUGH_REPLICAS, 0))
  const first = bus.publish([say('a', '1'), say('d', '1')])
  await until(() => bus.state().lastError !== null)
  expect(bus.state().lastError!.reason).toMatch(/fewer in-sync replicas/)
  const second = bus.publish([say('a', '2')])
  expect(bus.state().publisher).toMatchObject({ waiting: 3 })
  await clock.pass(100)
  await Promise.all([first, second])
  expect(counts().map((each) => each[`${REPORTS}/0`])).toEqual([1, 2])
})

test('PUBLISHER-4 after a failure the next round goes over a new connection', async () => {
  const { bus, clock } = lab.openBus()
  await bus.publish([say('a', '1')])
  const before = lab.broker.seen('ApiVersions').length
  answers(without(0))
  const published = bus.publish([say('a', '2')])
  await until(() => bus.state().lastError !== null)
  await clock.pass(100)
  await published
  expect(lab.broker.seen('ApiVersions').length).toBe(before + 1)
  await bus.publish([say('a', '3')])
  expect(lab.broker.seen('ApiVersions').length).toBe(before + 1)
})

test('a broker that closes the connection, and one that never answers, are tried again', async () => {
  const { bus, clock } = lab.openBus({ options: optionsOf(lab.broker, { patience: SHORT }) })
  const troubles: ('silence' | 'close')[] = ['close', 'silence']
  lab.broker.on('Produce', (_request, answer) => troubles.shift() ?? answer())
  const published = bus.publish([say('a', '1')])
  await until(() => bus.state().lastError?.reason === 'Closed connection')
  await clock.pass(100)
  await until(() => /timed out/.test(bus.state().lastError!.reason))
  await clock.pass(2000)
  await published
  expect(sums()).toEqual([1, 1, 1])
})

test('the waits between failed rounds grow to a second, and begin anew after a round that was stored', async () => {
  const { bus, clock } = lab.openBus()
  await bus.publish([say('a', '0')])
  const pauses = () => clock.waits.filter((ms) => ms < 30_000 && ms !== 2000)
  answers(...Array.from({ length: 6 }, () => without(0)))
  const published = bus.publish([say('a', '1')])
  for (const [index, ms] of [100, 200, 400, 800, 1000, 1000].entries()) {
    await until(() => pauses().length > index)
    expect(pauses()[index]).toBe(ms)
    await quiet()
    const before = sums().length
    await clock.pass(ms - 1)
    expect(sums().length).toBe(before)
    await clock.pass(1)
    await until(() => sums().length > before)
  }
  await published
  const later = [Promise.resolve()]
  const stored = (answer: Produced): Produced => {
    later.push(bus.publish([say('a', '3')]))
    return answer
  }
  answers(stored, without(0))
  await bus.publish([say('a', '2')])
  await until(() => pauses().length > 6)
  expect(pauses()[6]).toBe(100)
  await clock.pass(100)
  await Promise.all(later)
})

test('who publishes is told after the time agreed, with what is wrong, and what was not stored is not sent later', async () => {
  const { bus, clock } = lab.openBus({ publishTimeoutMs: 700 })
  answers(...Array.from({ length: 3 }, () => without(0)))
  let told: Error | null = null
  void bus.publish([say('a', '1')]).catch((error: Error) => (told = error))
  await until(() => bus.state().lastError !== null)
  await clock.pass(100)
  await until(() => sums().length === 2)
  await quiet()
  await clock.pass(599)
  expect(told).toBeNull()
  await clock.pass(1)
  await quiet()
  expect(told!.message).toBe(
    `not stored on Kafka at ${lab.broker.address} within 700 ms: Kafka did not acknowledge ${REPORTS}/0`,
  )
  await clock.pass(1000)
  await until(() => bus.state().publisher.waitingBytes === 0)
  const before = sums().length
  lab.broker.off()
  const next = bus.publish([say('d', '1')])
  await clock.pass(1000)
  await next
  expect(counts().slice(before)).toEqual([{ [`${REPORTS}/1`]: 1 }])
})

test('before the first answer the reason is that there was none', async () => {
  const { address } = lab.broker
  const options = optionsOf(lab.broker, { brokers: [address, address] })
  const { bus, clock } = lab.openBus({ options, publishTimeoutMs: 50 })
  const gate = Promise.withResolvers<void>()
  lab.broker.on('Produce', (_request, answer) => gate.promise.then(answer))
  const published = bus.publish([say('a', '1')])
  const rejected = expect(published).rejects.toThrow(
    `not stored on Kafka at ${address}, ${address} within 50 ms: no answer yet`,
  )
  await until(() => sums().length === 1)
  await clock.pass(50)
  await rejected
  gate.resolve()
})

test('a round that has become empty is not a failure of the broker', async () => {
  const { bus, clock } = lab.openBus({ publishTimeoutMs: 50 })
  const gate = Promise.withResolvers<void>()
  lab.broker.on('Metadata', (_request, answer) => gate.promise.then(answer))
  const late = expect(bus.publish([say('a', '1')])).rejects.toThrow('within 50 ms')
  await until(() => lab.broker.seen('Metadata').length > 0)
  await clock.pass(50)
  await late
  gate.resolve()
  await until(() => bus.state().publisher.waiting === 0)
  await quiet()
  expect(bus.state()).toMatchObject({ connected: false, lastError: null })
  // no time passes here: there is no wait as after a failure
  await bus.publish([say('a', '2')])
  expect(counts()).toEqual([{ [`${REPORTS}/0`]: 1 }])
})

test('what is said while a round is under way goes with the next one', async () => {
  const { bus } = lab.openBus()
  await bus.publish([say('a', '0')])
  const gate = Promise.withResolvers<void>()
  lab.broker.on('Produce', (_request, answer) => gate.promise.then(answer))
  const first = bus.publish([say('a', '1')])
  await until(() => sums().length === 2)
  const rest = [bus.publish([say('a', '2')]), bus.publish([say('a', '3'), say('d', '1')])]
  expect(bus.state().publisher).toEqual({ waiting: 3, waitingBytes: 3 * 102 })
  gate.resolve()
  await Promise.all([first, ...rest])
  expect(sums()).toEqual([1, 1, 3])
})

test('a round has 2000 messages at most, and 1 MB for each topic', async () => {
  const { bus } = lab.openBus()
  await bus.publish(Array.from({ length: 4001 }, (_, index) => say('a', String(index))))
  expect(sums()).toEqual([2000, 2000, 1])
  const large = 'x'.repeat(400_000)
  await bus.publish([
    say('a', large),
    say('a', large, ORDERS),
    say('a', large),
    say('a', large, ORDERS),
    say('a', large),
    say('a', large, ORDERS),
  ])
  expect(sums().slice(3)).toEqual([4, 2])
})

test('a round may have 1 MB of a topic, not a byte more', async () => {
  const { bus } = lab.openBus()
  // with its key and what is counted for each message it has 500,000 bytes
  const half = 'x'.repeat(499_899)
  await bus.publish([say('a', half), say('a', half)])
  await bus.publish([say('a', half), say('a', `${half}x`)])
  expect(sums()).toEqual([2, 1, 1])
})

test('headers count as well', async () => {
  const { bus } = lab.openBus()
  const large = { ...say('a', ''), headers: { one: 'x'.repeat(300_000), two: 'y'.repeat(300_000) } }
  await bus.publish([large, large])
  expect(sums()).toEqual([1, 1])
})

test('no more than 64 MB wait for the broker', async () => {
  const { bus, clock } = lab.openBus({ publishTimeoutMs: 10 })
  await bus.publish([say('a', '0')])
  answers(without(0))
  const large = 'x'.repeat(900_000)
  const held = bus.publish(Array.from({ length: 74 }, () => say('a', large)))
  held.catch(() => undefined)
  await until(() => bus.state().lastError !== null)
  expect(bus.state().publisher.waitingBytes).toBe(74 * 900_101)
  await expect(bus.publish([say('a', large)])).rejects.toThrow(
    `no room on the bus: ${74 * 900_101} bytes wait for Kafka: Kafka did not acknowledge ${REPORTS}/0`,
  )
  await clock.pass(10)
  await expect(held).rejects.toThrow('within 10 ms')
  // what nobody waits for any more makes room with the next round
  await clock.pass(100)
  await until(() => bus.state().publisher.waitingBytes === 0)
  await bus.publish([say('a', 'small')])
})

test('a stop rejects at once who waits for the next try, and whoever comes later', async () => {
  const { bus, clock } = lab.openBus()
  answers(without(0))
  const published = bus.publish([say('a', '1')])
  const rejected = expect(published).rejects.toThrow('the bus is stopped')
  await until(() => bus.state().lastError !== null)
  await quiet()
  await bus.stop()
  await rejected
  await expect(bus.publish([say('a', '2')])).rejects.toThrow('the bus is stopped')
  await until(() => lab.broker.connections === 0)
  await clock.pass(5000)
  expect(sums()).toEqual([1])
})

test('a stop gives what is under way a moment: stored within it is published, later is not certain', async () => {
  const [quick, slow] = [lab.openBus(), lab.openBus()]
  const [soon, late] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  await Promise.all([quick, slow].map(({ bus }) => bus.publish([say('a', '0')])))
  lab.broker.on('Produce', async ({ topics }, answer) => {
    await (topics[0]!.topic === REPORTS ? soon.promise : late.promise)
    return answer()
  })
  const stored = quick.bus.publish([say('a', '1', REPORTS)])
  const lost = expect(slow.bus.publish([say('a', '1', ORDERS)])).rejects.toThrow('the bus is stopped')
  await until(() => sums().length === 4)
  const stops = [quick.bus.stop(), slow.bus.stop()]
  soon.resolve()
  await stored
  await stops[0]
  await slow.clock.pass(1999)
  expect(slow.clock.waits.filter((ms) => ms === 2000).length).toBe(1)
  await slow.clock.pass(1)
  await lost
  // the connection gets as long again
  let closed = false
  void stops[1]!.then(() => (closed = true))
  await slow.clock.pass(1999)
  expect(closed).toBe(false)
  await slow.clock.pass(1)
  await stops[1]
  late.resolve()
})

test('a message that comes in the very moment in which a round ends is sent as well', async () => {
  for (let ticks = 0; ticks < 12; ticks++) {
    const later: Promise<void>[] = []
    const { promise, resolve } = Promise.withResolvers<void>()
    const options = optionsOf(lab.broker)
    const told = async (): Promise<void> => {
      for (let tick = 0; tick < ticks; tick++) await Promise.resolve()
      if (later.length === 0) later.push(publisher.publish([say('a', 'second')]))
      resolve()
    }
    const publisher: Publisher = new Publisher({
      options,
      lookup: lookup(options, silent),
      clock: systemClock,
      log: silent,
      publishTimeoutMs: 20_000,
      attempted: () => void told(),
    })
    await publisher.publish([say('a', 'first')])
    await promise
    await later[0]
    await publisher.stop()
  }
})

test('PUBLISHER-5 a message that the broker refuses for what it is fails its own call only', async () => {
  const { bus, log } = lab.openBus()
  const TOO_LARGE = 10
  lab.broker.on('Produce', async (request, answer) => {
    const bad = request.topics.flatMap(({ partitions }) => partitions).find(({ records }) => records.includes('poison'))
    return bad === undefined ? answer() : failing(TOO_LARGE, bad.partition)(await answer())
  })
  const keys = Array.from({ length: 40 }, (_, at) => `k${at}`)
  const calls = keys.map((key, at) => bus.publish([say(key, at === 17 ? 'poison' : '1')]))
  const ended = await Promise.allSettled(calls)
  expect(ended.flatMap(({ status }, at) => (status === 'rejected' ? [at] : []))).toEqual([17])
  await expect(calls[17]).rejects.toBeInstanceOf(Unpublishable)
  await bus.publish([say('after', '1')])
  expect(bus.state()).toMatchObject({ connected: true })
  expect(log.said.filter(({ level }) => level === 'error')).toEqual([])
})

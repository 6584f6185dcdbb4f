/**
 * How a consumer becomes a member of its group, where it begins, and what it makes of a broker that does not let it.
 */
import { expect, test } from 'vitest'
import type { StoredOffset } from '../../src/bus/port.ts'
import { scriptedBroker } from '../support/broker/broker.ts'
import { ERRORS } from '../support/broker/protocol.ts'
import { listen } from '../support/busLab.ts'
import { KEYS, kafkaLab, optionsOf, REPORTS, say, until } from '../support/kafkaLab.ts'
import { quiet } from '../support/lab.ts'

const lab = kafkaLab()
const refuse = (times: number): void => {
  let left = times
  lab.broker.on('JoinGroup', async (request, answer) =>
    left-- > 0 ? { ...NO_JOIN, errorCode: ERRORS.GROUP_AUTHORIZATION_FAILED, member: request.member } : answer(),
  )
}
const NO_JOIN = { throttleMs: 0, generation: -1, protocol: '', leader: '', members: [] }
const texts = (heard: readonly { readonly value: string }[]): readonly string[] =>
  heard.map(({ value }) => value).toSorted()

test('a member says which partitions it has, and that it is well', async () => {
  const { bus, log, clock } = lab.openBus()
  expect(bus.state()).toMatchObject({ connected: false, consumers: [] })
  await listen(bus, 'g')
  const [state] = bus.state().consumers
  expect(state).toMatchObject({ topic: REPORTS, group: 'g', alive: true, partitions: [0, 1, 2, 3], restarts: 0 })
  expect(bus.state().connected).toBe(true)
  expect(log.said.filter(({ message }) => message === 'bus.joined')).toMatchObject([
    { detail: { topic: REPORTS, group: 'g', partitions: [0, 1, 2, 3] } },
  ])
  await until(() => bus.state().consumers[0]!.fetchAt === clock.now())
  const join = lab.broker.seen('JoinGroup')[0]!
  expect([join.sessionMs, join.rebalanceMs, join.protocols.map(({ name }) => name)]).toEqual([
    6000,
    9000,
    ['RoundRobinAssigner'],
  ])
  expect(lab.broker.seen('Fetch')[0]).toMatchObject({ maxWaitMs: 500, minBytes: 1 })
  await bus.publish([say('a', '1')])
  // nobody but an operator makes topics
  expect(lab.broker.seen('Metadata').filter(({ makeMissing }) => makeMissing)).toEqual([])
})

test('who consumes waits for the join as long as agreed, then goes on and is a member later', async () => {
  const { bus, log, clock } = lab.openBus({ joinWaitMs: 400 })
  const gate = Promise.withResolvers<void>()
  lab.broker.on('JoinGroup', async (_request, answer) => {
    await gate.promise
    return answer()
  })
  let there = false
  const listening = listen(bus, 'g').then((listener) => {
    there = true
    return listener
  })
  await until(() => lab.broker.seen('JoinGroup').length > 0)
  await clock.pass(399)
  expect([there, bus.state().consumers.map(({ alive }) => alive)]).toEqual([false, [false]])
  await clock.pass(1)
  const { heard } = await listening
  expect(log.said).toMatchObject([{ level: 'warn', message: 'bus.joinWaits', detail: { group: 'g', waitedMs: 400 } }])
  gate.resolve()
  await until(() => bus.state().consumers[0]!.alive)
  await bus.publish([say('a', '1')])
  await until(() => heard.length === 1)
})

test('a topic that is not there is told to who consumes, and nothing of the consumer remains', async () => {
  lab.broker.topics.remove(REPORTS)
  const { bus } = lab.openBus()
  await expect(listen(bus, 'g')).rejects.toThrow(`there is no topic ${REPORTS}`)
  expect(bus.state().consumers).toEqual([])
  expect(bus.state().lastError!.reason).toMatch('there is no topic')
})

test('when nobody waits any more, even a setting that is wrong is tried again', async () => {
  const users: Record<string, string> = { bob: 'right' }
  const guarded = await scriptedBroker({ users })
  guarded.topics.make(REPORTS, 1)
  const sasl = { mechanism: 'plain', username: 'bob', password: 'wrong' } as const
  const options = optionsOf(guarded, { sasl })
  await expect(listen(lab.openBus({ options }).bus, 'g')).rejects.toThrow(/refuses user bob/)
  const { bus, clock } = lab.openBus({ options, joinWaitMs: 50 })
  const gate = Promise.withResolvers<void>()
  guarded.on('SaslAuthenticate', async (_request, answer) => {
    await gate.promise
    return answer()
  })
  const listening = listen(bus, 'g')
  await until(() => guarded.seen('SaslAuthenticate').length > 1)
  await clock.pass(50)
  await listening
  gate.resolve()
  await until(() => bus.state().lastError !== null)
  users['bob'] = 'wrong'
  await clock.pass(200)
  await until(() => bus.state().connected)
  await bus.stop()
  await guarded.stop()
})

test('SUBSCRIPTION-1 a refused join is tried again with a new member after waits that grow to two seconds', async () => {
  const { bus, clock, log } = lab.openBus({ joinWaitMs: 1_000_000 })
  refuse(6)
  const listening = listen(bus, 'g')
  const lost = () => log.said.filter(({ message }) => message === 'bus.consumerLost').length
  for (const [index, ms] of [200, 400, 800, 1600, 2000, 2000].entries()) {
    await until(() => lost() === index + 1)
    await quiet()
    expect(bus.state().lastError!.reason).toMatch(/Not authorized to access group/)
    const before = lab.broker.seen('JoinGroup').length
    await clock.pass(ms - 1)
    expect(lab.broker.seen('JoinGroup').length).toBe(before)
    await clock.pass(1)
    await until(() => lab.broker.seen('JoinGroup').length > before)
  }
  await listening
  expect(bus.state()).toMatchObject({ connected: true, consumers: [{ alive: true, restarts: 0 }] })
  // after a join the waits begin anew
  lab.broker.on('Fetch', async (_request, answer) => {
    lab.broker.off('Fetch')
    const all = await answer()
    return {
      ...all,
      topics: all.topics.map(({ topic, partitions }) => ({
        topic,
        partitions: partitions.map((each) => ({ ...each, errorCode: ERRORS.TOPIC_AUTHORIZATION_FAILED })),
      })),
    }
  })
  await until(() => lost() === 7)
  expect(log.said.findLast(({ message }) => message === 'bus.consumerLost')).toMatchObject({
    detail: { topic: REPORTS, group: 'g', reason: expect.stringMatching(/Not authorized to access topics/) },
  })
  expect(bus.state()).toMatchObject({ connected: false, consumers: [{ alive: false, partitions: [] }] })
  await clock.pass(200)
  await until(() => bus.state().connected)
  expect(bus.state().consumers).toMatchObject([{ restarts: 1 }])
})

test('from the latest: what came between the look at the ends and the join is heard, what was before is not', async () => {
  const { bus } = lab.openBus()
  await bus.publish(KEYS.map((key) => say(key, 'before')))
  lab.broker.on('JoinGroup', async (_request, answer) => {
    lab.broker.off('JoinGroup')
    await bus.publish([say('a', 'while'), say('d', 'while')])
    return answer()
  })
  const { heard } = await listen(bus, 'g', { from: 'latest' })
  await bus.publish([say('f', 'after')])
  await until(() => heard.length === 3)
  expect(texts(heard)).toEqual(['after', 'while', 'while'])
})

test('from the latest: a partition with a committed position goes on there', async () => {
  const { bus } = lab.openBus()
  await bus.publish(KEYS.flatMap((key) => [say(key, `${key}1`), say(key, `${key}2`)]))
  lab.broker.groups.commit('g', REPORTS, 1, 1)
  lab.broker.groups.commit('g', REPORTS, 2, 0)
  const { heard } = await listen(bus, 'g', { from: 'latest' })
  await until(() => heard.length === 3)
  await quiet()
  expect(texts(heard)).toEqual(['c1', 'c2', 'd2'])
})

test('from the latest: a member made anew goes on where the first one was, not at the ends of then', async () => {
  const { bus, clock } = lab.openBus()
  await bus.publish([say('a', 'before'), say('d', 'before')])
  const { heard } = await listen(bus, 'g', { from: 'latest' })
  await bus.publish([say('a', '1')])
  await until(() => heard.length === 1)
  await clock.pass(200)
  await until(() => lab.broker.groups.committed('g', REPORTS, 0).offset === 2)
  await quiet()
  lab.broker.groups.rebalance('g')
  await until(() => lab.broker.seen('SyncGroup').length === 2)
  await bus.publish([say('a', '2'), say('d', '2')])
  await until(() => heard.length === 3)
  expect(texts(heard)).toEqual(['1', '2', '2'])
  // where nothing is committed it begins at the first look again, where something is it does not
  const offsets = lab.broker.seen('Fetch').map(({ topics }) => topics[0]!.partitions)
  const newest = offsets.at(-1)!.find(({ partition }) => partition === 0)!
  expect(newest.offset).toBeGreaterThan(1)
  const lowest = (at: number) =>
    Math.min(...offsets.flat().flatMap((each) => (each.partition === at ? each.offset : [])))
  expect([lowest(0), lowest(1)]).toEqual([1, 1])
})

const placed = async (from: StoredOffset | null, start: 'earliest' | 'latest' = 'earliest') => {
  const { bus } = lab.openBus()
  const places: StoredOffset[] = []
  const moved = (place: StoredOffset): void => void places.push(place)
  const { heard, stop } = await listen(bus, 'host-1', { onlyKey: 'd', from: start, offsetStore: { from, moved } })
  return { bus, heard, places, stop }
}

test('a consumer with its own place reads one partition, begins at the place and commits nothing', async () => {
  const { bus } = lab.openBus()
  await bus.publish(['1', '2', '3'].flatMap((value) => [say('a', value), say('d', value)]))
  const place = { bus: `scripted/${REPORTS}`, partition: 1, offset: 1 }
  const { heard, places } = await placed(place)
  await until(() => heard.length === 2 && places.length === 2)
  expect(texts(heard)).toEqual(['2', '3'])
  expect(places).toEqual([
    { ...place, offset: 2 },
    { ...place, offset: 3 },
  ])
  expect(lab.broker.seen('JoinGroup')[0]!.protocols.map(({ name }) => name)).toEqual(['own'])
  expect(lab.broker.seen('OffsetCommit')).toEqual([])
  expect(
    lab.broker.seen('Fetch').every(({ topics }) => topics[0]!.partitions.every((each) => each.partition === 1)),
  ).toBe(true)
})

test('a place of another bus or partition does not count: it begins as it was told to', async () => {
  const { bus } = lab.openBus()
  await bus.publish([say('d', '1'), say('d', '2')])
  for (const other of [
    { bus: 'other', partition: 1, offset: 1 },
    { bus: `scripted/${REPORTS}`, partition: 0, offset: 1 },
  ]) {
    const { heard, stop } = await placed(other)
    await until(() => heard.length === 2)
    await stop()
  }
  const late = await placed(null, 'latest')
  await bus.publish([say('d', '3')])
  await until(() => late.heard.length === 1)
  expect(texts(late.heard)).toEqual(['3'])
})

test('positions that the broker does not keep any more are passed over to the oldest it has', async () => {
  const { bus } = lab.openBus()
  await bus.publish(['1', '2', '3', '4'].map((value) => say('a', value)))
  lab.broker.groups.commit('g', REPORTS, 0, 1)
  lab.broker.topics.log(REPORTS, 0)!.forgetBefore(3)
  const { heard } = await listen(bus, 'g')
  await until(() => heard.length === 1, 'hearing')
  expect(texts(heard)).toEqual(['4'])
  expect(bus.state().consumers).toMatchObject([{ alive: true, restarts: 0 }])
})

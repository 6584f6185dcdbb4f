/** The end of a consumer, and what the bus says of itself. */
import { expect, test } from 'vitest'
import { ERRORS } from '../support/broker/protocol.ts'
import { listen } from '../support/busLab.ts'
import { kafkaLab, ORDERS, REPORTS, say, until } from '../support/kafkaLab.ts'
import { quiet } from '../support/lab.ts'

const lab = kafkaLab()
const place = () => ({ onlyKey: 'a', offsetStore: { from: null, moved: () => {} } })

test('a stop waits for what is in hand as long as agreed, and begins nothing more', async () => {
  const { bus, clock } = lab.openBus({ stopTimeoutMs: 700 })
  let [begun, done] = [0, false]
  const take = (): Promise<void> => {
    begun++
    return new Promise(() => {})
  }
  const consumer = await bus.consume({ topic: REPORTS, group: 'g', from: 'earliest', take })
  await bus.publish([say('a', '1'), say('a', '2'), say('d', '1')])
  await until(() => begun === 2)
  const stopped = consumer.stop().then(() => (done = true))
  await quiet()
  await clock.pass(699)
  expect(done).toBe(false)
  expect(lab.broker.groups.members('g').length).toBe(1)
  await clock.pass(1)
  await stopped
  expect([begun, lab.broker.groups.members('g')]).toEqual([2, []])
  expect(bus.state().consumers).toEqual([])
  expect(lab.broker.groups.committed('g', REPORTS, 0).offset).toBe(-1)
})

test('what ends during a stop is committed', async () => {
  const { bus } = lab.openBus()
  const gate = Promise.withResolvers<void>()
  const { stop } = await bus.consume({ topic: REPORTS, group: 'g', from: 'earliest', take: () => gate.promise })
  await bus.publish([say('a', '1'), say('a', '2')])
  await until(() => bus.state().consumers[0]!.inHand === 1)
  const stopped = stop()
  gate.resolve()
  await stopped
  expect(lab.broker.groups.committed('g', REPORTS, 0).offset).toBe(1)
})

test('a stop does not wait longer than agreed for a commit that gets no answer', async () => {
  const { bus, clock } = lab.openBus({ stopTimeoutMs: 300 })
  const { heard, stop } = await listen(bus, 'g')
  await bus.publish([say('a', '1')])
  await until(() => heard.length === 1)
  await quiet()
  lab.broker.on('OffsetCommit', () => new Promise(() => {}))
  const stopped = stop()
  await until(() => lab.broker.seen('OffsetCommit').length === 1)
  await clock.pass(300)
  await until(() => clock.waits.includes(5000))
  await clock.pass(5000)
  await stopped
})

test('nothing is taken during a stop, though it comes', async () => {
  const { bus } = lab.openBus()
  const [inHand, arrival] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const begun: string[] = []
  const take = async ({ key }: { readonly key: string }): Promise<void> => {
    begun.push(key)
    await inHand.promise
  }
  let held = false
  // set before the first fetch, since a fetch that waits already is answered without it; only the answer with the
  // second message is held
  lab.broker.on('Fetch', async (_request, answer) => {
    const all = await answer()
    const full = all.topics.some(({ partitions }) => partitions.some(({ records }) => records.length > 0))
    const isSecond = full && begun.length === 1
    held ||= isSecond
    if (isSecond) await arrival.promise
    return all
  })
  const { stop } = await bus.consume({ topic: REPORTS, group: 'g', from: 'earliest', take })
  await bus.publish([say('d', '1')])
  await until(() => begun.length === 1)
  await bus.publish([say('a', '1')])
  await until(() => held)
  const stopped = stop()
  await quiet()
  arrival.resolve()
  // it has to be on its way through kafkajs by then
  await new Promise((resolve) => setTimeout(resolve, 50))
  expect([begun, bus.state().consumers[0]!.waiting]).toEqual([['d'], 1])
  inHand.resolve()
  await stopped
  expect(begun).toEqual(['d'])
})

test('a stop ends the wait for the next member', async () => {
  const { bus, log } = lab.openBus()
  const { stop } = await listen(bus, 'g')
  lab.broker.on('Fetch', async (_request, answer) => {
    const all = await answer()
    const bad = <Row>(row: Row) => ({ ...row, errorCode: ERRORS.TOPIC_AUTHORIZATION_FAILED })
    return { ...all, topics: all.topics.map((each) => ({ ...each, partitions: each.partitions.map(bad) })) }
  })
  await until(() => log.said.some(({ message }) => message === 'bus.consumerLost'))
  const joins = lab.broker.seen('JoinGroup').length
  await stop()
  await quiet()
  expect(lab.broker.seen('JoinGroup').length).toBe(joins)
})

test('a stop of the bus ends who still waits for a join, and both can be told twice', async () => {
  const { bus } = lab.openBus()
  const gate = Promise.withResolvers<void>()
  lab.broker.on('JoinGroup', async (_request, answer) => {
    await gate.promise
    return answer()
  })
  const listening = expect(listen(bus, 'g')).rejects.toThrow('the bus is stopped')
  await until(() => lab.broker.seen('JoinGroup').length > 0)
  const stops = [bus.stop(), bus.stop()]
  gate.resolve()
  await Promise.all([...stops, listening])
  expect(lab.broker.groups.members('g')).toEqual([])
  await expect(listen(bus, 'g')).rejects.toThrow('the bus is stopped')
  await until(() => lab.broker.connections === 0)
})

test('the group of a consumer with its own place is deleted at its stop', async () => {
  const { bus } = lab.openBus()
  const { stop } = await listen(bus, 'host-1', place())
  await listen(bus, 'control')
  expect(lab.broker.groups.names.toSorted()).toEqual(['control', 'host-1'])
  await stop()
  await bus.stop()
  expect(lab.broker.groups.names).toEqual(['control'])
})

test('a deletion that is refused is tried three times, and told each time', async () => {
  const { bus, clock, log } = lab.openBus()
  const { stop } = await listen(bus, 'host-1', place())
  lab.broker.on('DeleteGroups', async ({ groups }) => ({
    throttleMs: 0,
    groups: groups.map((group) => ({ group, errorCode: ERRORS.GROUP_AUTHORIZATION_FAILED })),
  }))
  const stays = () => log.said.filter(({ message }) => message === 'kafka.groupStays')
  const stopped = stop()
  for (const tries of [1, 2, 3]) {
    await until(() => stays().length === tries)
    await quiet()
    await clock.pass(199)
    expect(lab.broker.seen('DeleteGroups').length).toBe(tries)
    await clock.pass(1)
  }
  await stopped
  expect(lab.broker.seen('DeleteGroups').length).toBe(3)
  expect(stays()[0]).toMatchObject({
    level: 'info',
    detail: { group: 'host-1', reason: expect.stringMatching(/[Aa]uthoriz/) },
  })
})

test('a deletion that works at the second try is not tried again', async () => {
  const { bus, clock, log } = lab.openBus()
  const { stop } = await listen(bus, 'host-1', place())
  let tries = 0
  lab.broker.on('DeleteGroups', (_request, answer) => (++tries === 1 ? 'close' : answer()))
  const stopped = stop()
  await until(() => log.said.some(({ message }) => message === 'kafka.groupStays'))
  await quiet()
  await clock.pass(200)
  await stopped
  expect([tries, lab.broker.groups.names]).toEqual([2, []])
})

test('a consumer that never joined deletes nothing', async () => {
  const { bus, clock } = lab.openBus({ joinWaitMs: 10 })
  lab.broker.on('JoinGroup', async (request) => ({
    throttleMs: 0,
    errorCode: ERRORS.GROUP_AUTHORIZATION_FAILED,
    generation: -1,
    protocol: '',
    leader: '',
    member: request.member,
    members: [],
  }))
  const listening = listen(bus, 'host-1', place())
  await until(() => lab.broker.seen('JoinGroup').length > 0)
  await clock.pass(10)
  const { stop } = await listening
  await stop()
  expect(lab.broker.seen('DeleteGroups')).toEqual([])
})

test('the lag is what a group has not done with, or what is behind the place of its own', async () => {
  const { bus, clock } = lab.openBus()
  const gate = Promise.withResolvers<void>()
  await bus.publish([say('a', '0'), say('a', '1'), say('d', '0')])
  const control = await listen(bus, 'control')
  const slow = { ...place(), take: () => gate.promise }
  await bus.consume({ topic: ORDERS, group: 'host-1', from: 'earliest', ...slow })
  await until(() => control.heard.length === 3)
  await clock.pass(200)
  await until(() => lab.broker.groups.committed('control', REPORTS, 0).offset === 2)
  expect(await bus.lag()).toEqual([
    { topic: REPORTS, group: 'control', messages: 0 },
    { topic: ORDERS, group: 'host-1', messages: 0 },
  ])
  await bus.publish([say('a', '1', ORDERS), say('a', '2', ORDERS), say('d', '1', ORDERS), say('f', '1')])
  await until(() => bus.state().consumers[1]!.waiting === 2)
  expect(await bus.lag()).toMatchObject([{ messages: 1 }, { messages: 2 }])
  const parts = await bus.lagsByPartition()
  const ofControl = parts.filter(({ group }) => group === 'control')
  expect(ofControl.length).toBeGreaterThan(1)
  expect(ofControl.filter(({ messages }) => messages > 0)).toEqual([
    { topic: REPORTS, group: 'control', partition: expect.any(Number), messages: 1 },
  ])
  expect(parts.filter(({ group }) => group === 'host-1')).toMatchObject([{ topic: ORDERS, messages: 2 }])
  gate.resolve()
  await until(() => bus.state().consumers[1]!.waiting === 0)
  expect((await bus.lag())[1]).toMatchObject({ messages: 0 })
})

test('the bus is connected when the last it heard was good and every consumer is alive; changes are told once', async () => {
  const { bus, log, clock } = lab.openBus()
  const told = () => log.said.map(({ message }) => message).filter((message) => /^bus\.(there|away)$/.test(message))
  await listen(bus, 'g')
  await bus.publish([say('a', '1')])
  expect([bus.state().connected, told()]).toEqual([true, ['bus.there']])
  lab.broker.on('Produce', async (_request, answer) => ({ ...(await answer()), topics: [] }))
  const published = bus.publish([say('a', '2')])
  await until(() => bus.state().lastError !== null)
  const first = bus.state().lastError!
  expect([first.at, bus.state().connected, told()]).toEqual([clock.now(), false, ['bus.there', 'bus.away']])
  await quiet()
  await clock.pass(100)
  await until(() => bus.state().lastError!.at > first.at)
  expect(told()).toEqual(['bus.there', 'bus.away'])
  lab.broker.off('Produce')
  await quiet()
  await clock.pass(200)
  await published
  expect(told()).toEqual(['bus.there', 'bus.away', 'bus.there'])
  expect(bus.state().lastError).not.toBeNull()
  expect(log.said.find(({ message }) => message === 'bus.away')).toMatchObject({
    level: 'warn',
    detail: { reason: `Kafka did not acknowledge ${REPORTS}/0` },
  })
})

test('a topic of nobody, and a place without a key, are refused before anything is asked', async () => {
  const { bus } = lab.openBus()
  const take = async (): Promise<void> => {}
  await expect(bus.consume({ topic: 'no.topic', group: 'g', from: 'earliest', take })).rejects.toThrow(
    'there is no topic no.topic',
  )
  const { offsetStore: own } = place()
  await expect(bus.consume({ topic: REPORTS, group: 'g', from: 'earliest', take, offsetStore: own })).rejects.toThrow(
    'onlyKey',
  )
  expect([bus.state().consumers, lab.broker.seen('ApiVersions')]).toEqual([[], []])
})

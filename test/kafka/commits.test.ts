/** What a group has done with, as the broker is told: when, how far, and what happens when it does not take it. */
import { expect, test } from 'vitest'
import type { Delivered } from '../../src/bus/port.ts'
import { ERRORS } from '../support/broker/protocol.ts'
import { listen } from '../support/busLab.ts'
import { kafkaLab, REPORTS, say, until } from '../support/kafkaLab.ts'
import { quiet } from '../support/lab.ts'

const lab = kafkaLab()
const committed = (): readonly number[] =>
  [0, 1, 2, 3].map((partition) => lab.broker.groups.committed('g', REPORTS, partition).offset)
/** By partition, each request. */
const requests = (): readonly Readonly<Record<number, number>>[] =>
  lab.broker
    .seen('OffsetCommit')
    .map(({ topics }) =>
      Object.fromEntries(
        topics.flatMap(({ partitions }) => partitions.map(({ partition, offset }) => [partition, offset])),
      ),
    )
/** Each message waits until it is let go. */
const holding = () => {
  const open = new Map<string, () => void>()
  const begun: string[] = []
  const take = ({ value }: Delivered): Promise<void> => {
    begun.push(value)
    return new Promise((resolve) => open.set(value, resolve))
  }
  const end = async (value: string): Promise<void> => {
    await until(() => open.has(value), value)
    open.get(value)!()
    await quiet()
  }
  return { take, begun, end }
}

test('offsets are committed 200 ms after the first message that was done with, all in one request', async () => {
  const { bus, clock } = lab.openBus()
  const { heard } = await listen(bus, 'g')
  await bus.publish([say('a', '1'), say('a', '2'), say('d', '1')])
  await until(() => heard.length === 3)
  await quiet()
  await clock.pass(199)
  expect(requests()).toEqual([])
  await clock.pass(1)
  await until(() => requests().length === 1)
  expect(requests()).toEqual([{ 0: 2, 1: 1 }])
  expect(committed()).toEqual([2, 1, -1, -1])
  const { group, generation } = lab.broker.seen('OffsetCommit')[0]!
  expect([group, generation]).toEqual(['g', 1])
})

test('what did not move since is not committed again', async () => {
  const { bus, clock } = lab.openBus()
  const { heard, stop } = await listen(bus, 'g')
  await bus.publish([say('a', '1'), say('d', '1')])
  await until(() => heard.length === 2)
  await clock.pass(200)
  await until(() => requests().length === 1)
  await quiet()
  await bus.publish([say('d', '2')])
  await until(() => heard.length === 3)
  await clock.pass(200)
  await until(() => requests().length === 2)
  expect(requests()[1]).toEqual({ 1: 2 })
  await quiet()
  await clock.pass(1000)
  await stop()
  expect(requests().length).toBe(2)
})

test('the position is that of the oldest message that is not done with', async () => {
  const { bus, clock } = lab.openBus()
  const { take, end } = holding()
  await bus.consume({ topic: REPORTS, group: 'g', from: 'earliest', window: 3, take })
  await bus.publish(['0', '1', '2'].map((value) => say('a', value)))
  await end('1')
  await end('2')
  await clock.pass(200)
  await quiet()
  expect(requests()).toEqual([])
  expect(bus.state().consumers).toMatchObject([{ inHand: 1, waiting: 3 }])
  await end('0')
  await clock.pass(200)
  await until(() => requests().length === 1)
  expect(requests()).toEqual([{ 0: 3 }])
  expect(bus.state().consumers).toMatchObject([{ inHand: 0, waiting: 0 }])
})

test('a commit of which one partition is refused counts for none, and is tried with the next', async () => {
  const { bus, clock, log } = lab.openBus()
  const { heard } = await listen(bus, 'g')
  lab.broker.on('OffsetCommit', async (_request, answer) => {
    lab.broker.off('OffsetCommit')
    const all = await answer()
    const some = <Row extends { readonly partition: number }>(row: Row) =>
      row.partition === 1 ? { ...row, errorCode: ERRORS.TOPIC_AUTHORIZATION_FAILED } : row
    return { ...all, topics: all.topics.map((each) => ({ ...each, partitions: each.partitions.map(some) })) }
  })
  await bus.publish([say('a', '1'), say('d', '1')])
  await until(() => heard.length === 2)
  await clock.pass(200)
  await until(() => log.said.some(({ message }) => message === 'kafka.uncommitted'))
  await bus.publish([say('c', '1')])
  await until(() => heard.length === 3)
  await quiet()
  await clock.pass(200)
  await until(() => requests().length === 2)
  expect(requests()).toEqual([
    { 0: 1, 1: 1 },
    { 0: 1, 1: 1, 2: 1 },
  ])
  expect(bus.state().consumers).toMatchObject([{ alive: true, restarts: 0 }])
})

test('commits wait for each other', async () => {
  const { bus, clock } = lab.openBus()
  const { heard } = await listen(bus, 'g')
  const gate = Promise.withResolvers<void>()
  lab.broker.on('OffsetCommit', async (_request, answer) => {
    await gate.promise
    return answer()
  })
  await bus.publish([say('a', '1')])
  await until(() => heard.length === 1)
  await clock.pass(200)
  await until(() => requests().length === 1)
  await bus.publish([say('a', '2')])
  await until(() => heard.length === 2)
  await clock.pass(200)
  await quiet()
  expect(requests()).toEqual([{ 0: 1 }])
  gate.resolve()
  await until(() => requests().length === 2)
  expect(requests()).toEqual([{ 0: 1 }, { 0: 2 }])
})

test('a stop commits what was done with, without the wait, and leaves the group', async () => {
  const { bus } = lab.openBus()
  const { heard, stop } = await listen(bus, 'g')
  await bus.publish([say('a', '1')])
  await until(() => heard.length === 1)
  await quiet()
  await stop()
  expect(committed()).toEqual([1, -1, -1, -1])
  expect(lab.broker.groups.members('g')).toEqual([])
  expect(lab.broker.seen('LeaveGroup').length).toBe(1)
})

test('a rebalance commits what was done with, and what is in hand is not begun again', async () => {
  const { bus } = lab.openBus()
  const { take, begun, end } = holding()
  await bus.consume({ topic: REPORTS, group: 'g', from: 'earliest', take })
  await bus.publish([say('a', 'a0'), say('a', 'a1'), say('d', 'd0')])
  await end('a0')
  await until(() => begun.includes('a1') && begun.includes('d0'))
  lab.broker.groups.rebalance('g')
  await until(() => lab.broker.seen('SyncGroup').length === 2)
  expect(requests()).toEqual([{ 0: 1 }])
  await until(() => bus.state().consumers[0]!.restarts === 1)
  await bus.publish([say('a', 'a2')])
  await end('a1')
  await end('d0')
  await end('a2')
  expect(begun.toSorted()).toEqual(['a0', 'a1', 'a2', 'd0'])
})

test('SUBSCRIPTION-3 what went to another member begins nothing more here, and is not committed from here', async () => {
  const { bus, clock } = lab.openBus()
  const { take, begun, end } = holding()
  await bus.consume({ topic: REPORTS, group: 'g', from: 'earliest', take })
  await bus.publish(['a', 'd', 'c', 'f'].flatMap((key) => [say(key, `${key}0`), say(key, `${key}1`)]))
  await until(() => begun.length === 4)
  const other = lab.openBus()
  const otherHeard = await listen(other.bus, 'g')
  await until(() => bus.state().consumers[0]!.partitions.length === 2)
  const left = bus.state().consumers[0]!.partitions
  const gone = ['a', 'd', 'c', 'f'].filter((_, partition) => !left.includes(partition))
  await until(() => otherHeard.heard.length === 4)
  expect(new Set(otherHeard.heard.map(({ key }) => key))).toEqual(new Set(gone))
  await other.clock.pass(200)
  await until(() => committed().filter((offset) => offset === 2).length === 2)
  const before = requests().length
  for (const key of gone) await end(`${key}0`)
  await clock.pass(200)
  await quiet()
  expect(begun.length).toBe(4)
  expect(requests().length).toBe(before)
  expect(bus.state().consumers).toMatchObject([{ inHand: 2, waiting: 4 }])
})

test('a topic that was made anew is read from its beginning', async () => {
  const { bus } = lab.openBus()
  const { heard } = await listen(bus, 'g')
  await bus.publish(['1', '2', '3'].map((value) => say('a', value)))
  await until(() => heard.length === 3)
  lab.broker.topics.make(REPORTS, 4)
  await bus.publish([say('a', '4')])
  await until(() => heard.length === 4, 'hearing')
  expect(heard.at(-1)).toMatchObject({ value: '4', offset: 0 })
})

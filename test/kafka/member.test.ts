/** One life of a consumer: signs of life, broken batches, and its end. */
import { afterEach, beforeEach, expect, test } from 'vitest'
import { kafkaClient } from '../../src/bus/kafka/client.ts'
import { HEADERS_MAX, mendHeaders } from '../../src/bus/kafka/headers.ts'
import type { Fetched, MemberOptions } from '../../src/bus/kafka/member.ts'
import { Member } from '../../src/bus/kafka/member.ts'
import { silent } from '../../src/log.ts'
import type { ResponseOf } from '../support/broker/protocol.ts'
import { ERRORS } from '../support/broker/protocol.ts'
import { listen } from '../support/busLab.ts'
import { kafkaLab, optionsOf, REPORTS, say, watchedClock, until } from '../support/kafkaLab.ts'
import { memoryLog, quiet } from '../support/lab.ts'

const lab = kafkaLab()
const members: Member[] = []
beforeEach(() => void (members.length = 0))
afterEach(async () => {
  lab.broker.off()
  lab.broker.cut()
  await Promise.all(members.map((member) => member.leave()))
})
const alone = (more: Partial<MemberOptions> = {}) => {
  const [clock, log] = [watchedClock(), memoryLog()]
  const [fetched, joins]: [Fetched[], (readonly number[])[]] = [[], []]
  let rebalances = 0
  const member = new Member({
    options: optionsOf(lab.broker),
    topic: REPORTS,
    group: 'g',
    choose: null,
    clock,
    log,
    silenceMs: 5000,
    joined: (partitions) => void joins.push(partitions),
    rebalancing: () => void rebalances++,
    fetched: (one) => fetched.push(one) > 0,
    ...more,
  })
  members.push(member)
  let ended: Error | null = null
  void member.ended.then((reason) => (ended = reason))
  return { member, clock, log, fetched, joins, rebalances: () => rebalances, ended: () => ended }
}
const failed = (all: ResponseOf<'Fetch'>, errorCode: number): ResponseOf<'Fetch'> => ({
  ...all,
  topics: all.topics.map(({ topic, partitions }) => ({
    topic,
    partitions: partitions.map((row) => ({ ...row, errorCode })),
  })),
})
const publish = async (...records: ReturnType<typeof say>[]): Promise<void> => lab.openBus().bus.publish(records)

test('messages come with their headers as text, the last of a repeated one, and with what the partition has', async () => {
  const producer = kafkaClient(optionsOf(lab.broker), silent, {}).producer()
  await producer.connect()
  await producer.send({
    topic: REPORTS,
    messages: [
      {
        key: 'a',
        value: 'x',
        headers: { one: 'eins', two: ['old', 'zwei'], three: Buffer.from('drei') },
        partition: 0,
      },
      { key: 'a', value: null, partition: 0 },
      { value: 'y', partition: 0 },
    ],
  })
  await producer.disconnect()
  lab.broker.topics.log(REPORTS, 0)!.leaveOut(2)
  const { member, fetched } = alone()
  await member.start()
  await until(() => fetched.length > 0)
  expect(fetched[0]).toEqual({
    partition: 0,
    end: 3,
    high: 5,
    messages: [
      {
        topic: REPORTS,
        key: 'a',
        value: 'x',
        headers: { one: 'eins', two: 'zwei', three: 'drei' },
        partition: 0,
        offset: 0,
      },
      { topic: REPORTS, key: 'a', value: '', headers: {}, tombstone: true, partition: 0, offset: 1 },
      { topic: REPORTS, key: '', value: 'y', headers: {}, partition: 0, offset: 2 },
    ],
  })
})

test('a message with very many headers is read in a moment: the first ones count, and the last value of each', async () => {
  const producer = kafkaClient(optionsOf(lab.broker), silent, {}).producer()
  await producer.connect()
  const numbered = (from: number, to: number) =>
    Object.fromEntries(Array.from({ length: to - from }, (_, at) => [`h${from + at}`, `${from + at}`]))
  const messages = [
    {
      key: 'a',
      value: 'many',
      headers: { ...numbered(0, HEADERS_MAX), ...numbered(HEADERS_MAX, 20_000) },
      partition: 0,
    },
    { key: 'a', value: 'again', headers: { h: Array.from({ length: 20_000 }, (_, at) => String(at)) }, partition: 0 },
    { key: 'a', value: 'none', partition: 0 },
  ]
  await producer.send({ topic: REPORTS, messages })
  await producer.disconnect()
  const { member, fetched } = alone()
  await member.start()
  await until(() => fetched.length > 0)
  expect(fetched[0]!.messages.map(({ value, headers }) => [value, headers])).toEqual([
    ['many', numbered(0, HEADERS_MAX)],
    ['again', { h: '19999' }],
    ['none', {}],
  ])
})

test('the headers of kafkajs are mended in the version that is installed', () => expect(mendHeaders()).toBe(true))

test('what was not taken comes again, what was taken does not', async () => {
  await publish(say('a', '1'))
  let takes = false
  const seen: Fetched[] = []
  const { member } = alone({ fetched: (one) => seen.push(one) > 0 && takes })
  await member.start()
  await until(() => seen.length > 2)
  takes = true
  const before = seen.length
  await until(() => seen.length > before)
  await publish(say('a', '2'))
  await until(() => seen.at(-1)!.end === 2)
  expect(seen.at(-1)!.messages.map(({ value }) => value)).toEqual(['2'])
  expect(seen[0]!.messages.map(({ offset }) => offset)).toEqual([0])
})

test('MEMBER-1 an error of the handler is logged, and the batch comes again after a second; the member lives on', async () => {
  await publish(say('a', '1'))
  let broken = true
  let tries = 0
  const { member, clock, log, ended } = alone({
    fetched: () => {
      tries++
      if (broken) throw new TypeError('undefined is not a function')
      return true
    },
  })
  await member.start()
  await until(() => tries === 1)
  await until(() => clock.waits.includes(1000))
  expect(log.said.filter(({ level }) => level === 'error')).toMatchObject([
    { message: 'kafka.broken', detail: { topic: REPORTS, partition: 0, error: { name: 'TypeError' } } },
  ])
  broken = false
  await quiet()
  expect(tries).toBe(1)
  await clock.pass(1000)
  await until(() => tries === 2)
  expect(ended()).toBeNull()
})

test('a member without a fetch or heartbeat ends after its time-out, and not earlier', async () => {
  const { member, clock, ended } = alone()
  await member.start()
  await until(() => member.seen.fetchAt !== null)
  lab.broker.on('Fetch', () => 'silence')
  const before = lab.broker.seen('Fetch').length
  await until(() => lab.broker.seen('Fetch').length > before)
  await quiet()
  await clock.pass(3000)
  expect([member.alive, member.assigned.length]).toEqual([true, 4])
  await clock.pass(1000)
  expect([member.alive, ended()]).toEqual([false, null])
  await clock.pass(1000)
  expect(ended()).toBeNull()
  await clock.pass(1000)
  expect(ended()!.message).toBe('no fetch or heartbeat for 5000 ms')
  expect([member.alive, member.assigned]).toEqual([false, []])
  expect(clock.pending()).toBe(0)
})

test('each answer to a fetch restarts the time-out', async () => {
  const { member, clock, ended } = alone()
  await member.start()
  for (let second = 1; second <= 12; second++) {
    await clock.pass(1000)
    const at = clock.now()
    await until(() => member.seen.fetchAt === at)
  }
  expect([member.alive, ended()]).toEqual([true, null])
})

test('a heartbeat is seen', async () => {
  const { member, clock } = alone()
  await member.start()
  await until(() => member.seen.heartbeatAt === clock.now())
  expect(lab.broker.seen('Heartbeat').length).toBeGreaterThan(0)
})

test('a join that gets no answer is silence as well', async () => {
  const { member, clock, ended } = alone()
  lab.broker.on('JoinGroup', () => 'silence')
  void member.start().catch(() => undefined)
  await until(() => lab.broker.seen('JoinGroup').length > 0)
  expect(member.alive).toBe(false)
  await clock.pass(6000)
  expect(ended()!.message).toBe('no fetch or heartbeat for 5000 ms')
})

test('MEMBER-2 an error that kafkajs would try again by itself ends the member as well', async () => {
  const { member, ended, joins } = alone()
  await member.start()
  lab.broker.on('Fetch', async (_request, answer) => failed(await answer(), ERRORS.REQUEST_TIMED_OUT))
  await until(() => ended() !== null, 'the end')
  expect(ended()!.message).toMatch(/The request timed out/)
  lab.broker.off()
  await quiet()
  expect([joins.length, member.alive, member.assigned]).toEqual([1, false, []])
})

test('a rebalance is told before and after', async () => {
  const { member, rebalances, joins } = alone()
  await member.start()
  expect([rebalances(), joins]).toEqual([0, [[0, 1, 2, 3]]])
  lab.broker.groups.rebalance('g')
  await until(() => joins.length === 2)
  expect([rebalances(), joins[1]]).toEqual([1, [0, 1, 2, 3]])
})

test('a member that the group has forgotten joins again by itself', async () => {
  const { member, joins, ended } = alone()
  await member.start()
  const [first] = lab.broker.groups.members('g')
  lab.broker.groups.expel('g', first!)
  await until(() => joins.length === 2)
  expect(lab.broker.groups.members('g')).not.toContain(first)
  expect([member.alive, ended()]).toEqual([true, null])
})

test('MEMBER-3 without a batch nothing can be committed, and nothing is', async () => {
  const { member, fetched } = alone()
  await member.start()
  expect(await member.commit(new Map([[0, 1]]))).toBe(false)
  await publish(say('a', '1'))
  await until(() => fetched.length === 1)
  expect(await member.commit(new Map())).toBe(false)
  expect(lab.broker.seen('OffsetCommit')).toEqual([])
  expect(await member.commit(new Map([[0, 1]]))).toBe(true)
  expect(lab.broker.groups.committed('g', REPORTS, 0).offset).toBe(1)
})

test('before its join and after its end it pauses nothing', async () => {
  const { member, log } = alone()
  member.pause(0, true)
  await member.start()
  member.pause(0, true)
  const fetched = () => lab.broker.seen('Fetch').at(-1)?.topics[0]!.partitions.length
  await until(() => fetched() === 3)
  member.pause(0, false)
  await until(() => fetched() === 4)
  await member.leave()
  member.pause(0, true)
  expect(log.said).toEqual([])
})

test('who leaves is not a member afterwards, and has no timers', async () => {
  const { member, clock, ended } = alone()
  await member.start()
  await member.leave()
  expect([ended()!.message, member.alive, member.assigned]).toEqual(['left', false, []])
  expect(lab.broker.groups.members('g')).toEqual([])
  expect(clock.pending()).toBe(0)
  await until(() => lab.broker.connections === 0)
})

test('MEMBER-4 who leaves during the first join is not left behind in the group', async () => {
  const { member, joins } = alone()
  const gate = Promise.withResolvers<void>()
  lab.broker.on('JoinGroup', async (_request, answer) => {
    const joined = await answer()
    await gate.promise
    return joined
  })
  const started = member.start().catch(() => undefined)
  await until(() => lab.broker.groups.members('g').length === 1)
  const left = member.leave()
  await quiet()
  gate.resolve()
  await left
  await started
  expect(lab.broker.groups.members('g')).toEqual([])
  expect(joins).toEqual([])
})

test('who leaves before the connection is there does not join', async () => {
  const { member } = alone()
  const gate = Promise.withResolvers<void>()
  lab.broker.on('ApiVersions', async (_request, answer) => {
    await gate.promise
    return answer()
  })
  const started = member.start().catch(() => undefined)
  await until(() => lab.broker.seen('ApiVersions').length > 0)
  const left = member.leave()
  gate.resolve()
  await left
  await started
  expect(lab.broker.seen('JoinGroup')).toEqual([])
})

test('who leaves before it knows the topic does not join', async () => {
  const { member } = alone()
  const gate = Promise.withResolvers<void>()
  lab.broker.on('Metadata', async (_request, answer) => {
    await gate.promise
    return answer()
  })
  const started = member.start().catch(() => undefined)
  await until(() => lab.broker.seen('Metadata').length > 0)
  const left = member.leave()
  gate.resolve()
  await left
  await started
  expect(lab.broker.seen('JoinGroup')).toEqual([])
})

test('a leave that gets no answer is left to itself after five seconds', async () => {
  const { member, clock, log } = alone()
  await member.start()
  lab.broker.on('LeaveGroup', () => 'silence')
  let gone = false
  const left = member.leave().then(() => (gone = true))
  await until(() => lab.broker.seen('LeaveGroup').length > 0)
  await clock.pass(4999)
  expect(gone).toBe(false)
  await clock.pass(1)
  await left
  expect(log.said).toMatchObject([{ level: 'info', message: 'kafka.leavesLater', detail: { group: 'g' } }])
})

test('a connection that breaks is made again, and nothing is lost or heard twice', async () => {
  const { bus } = lab.openBus()
  const { heard } = await listen(bus, 'g')
  await bus.publish([say('a', '1')])
  await until(() => heard.length === 1)
  lab.broker.cut()
  await publish(say('a', '2'), say('d', '2'))
  await until(() => heard.length === 3)
  expect(bus.state().consumers).toMatchObject([{ alive: true }])
})

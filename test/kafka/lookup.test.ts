/** What is asked of a broker over a connection of its own, and the sentence that says why there is no answer. */
import { expect, test } from 'vitest'
import { lookup } from '../../src/bus/kafka/lookup.ts'
import { isMisconfigured, isMissing, reasonOf } from '../../src/bus/kafka/errors.ts'
import { silent } from '../../src/vocabulary/log.ts'
import { ERRORS } from '../support/broker/protocol.ts'
import { scriptedBroker } from '../support/broker/broker.ts'
import { askingOf, failure } from './asking.ts'
import { kafkaLab, optionsOf, REPORTS, say, until } from '../support/kafkaLab.ts'

const lab = kafkaLab()
const UNSUPPORTED_SASL_MECHANISM = 33
const { ask, partitions } = askingOf(lab)
test('counts of partitions, ends and committed offsets are read by partition', async () => {
  const { bus } = lab.openBus()
  await bus.publish([say('d', '1'), say('d', '2'), say('f', '1')])
  lab.broker.groups.commit('g', REPORTS, 1, 2)
  lab.broker.groups.commit('g', REPORTS, 3, 0)
  await ask().asking(async (_admin, questions) => {
    expect(await questions.partitions(REPORTS)).toBe(4)
    expect(await questions.clusterId()).toBe('scripted')
    expect(await questions.ends(REPORTS)).toEqual(new Map(Object.entries([0, 2, 0, 1]).map(([at, end]) => [+at, end])))
    const committed = await questions.committed('g', REPORTS)
    expect([0, 1, 2, 3].map((at) => committed.get(at))).toEqual([null, 2, null, 0])
  })
})

const leaderless = (lasting: number) => {
  let left = lasting
  lab.broker.on('ListOffsets', async (_request, answer) => {
    const all = await answer()
    if (left-- <= 0) return all
    const errorCode = ERRORS.NOT_LEADER_FOR_PARTITION
    const topics = all.topics.map(({ topic, partitions: each }) => ({
      topic,
      partitions: each.map((partition) => ({ ...partition, errorCode })),
    }))
    return { ...all, topics }
  })
}
const ends = () => ask().asking((_admin, questions) => questions.ends(REPORTS))

test('a partition whose leader is not known yet is asked about again', async () => {
  leaderless(2)
  expect((await ends()).size).toBe(4)
})

test('the connection is closed afterwards, whatever came of it', async () => {
  await partitions()
  await until(() => lab.broker.connections === 0)
  await failure(
    ask().asking(async () => {
      throw new Error('of the work itself')
    }),
  )
  await until(() => lab.broker.connections === 0)
})

test('what the work throws itself stays as it is', async () => {
  const mine = new TypeError('of the work itself')
  const found = await failure(
    ask().asking(async () => {
      throw mine
    }),
  )
  expect(found).toBe(mine)
})

test('a topic that is not there is named with what to do', async () => {
  lab.broker.topics.remove(REPORTS)
  const found = await failure(partitions())
  expect(found.message).toBe(
    `there is no topic ${REPORTS} on Kafka at ${lab.broker.address}: accelerando topic create makes it`,
  )
  expect([isMissing(found), isMisconfigured(found)]).toEqual([true, true])
})

test('another trouble with a topic is not taken for its absence', async () => {
  lab.broker.on('Metadata', async ({ topics }, answer) => {
    const all = await answer()
    const errorCode = (topics ?? []).length > 0 ? ERRORS.TOPIC_AUTHORIZATION_FAILED : 0
    return { ...all, topics: all.topics.map((topic) => ({ ...topic, errorCode })) }
  })
  const found = await failure(partitions())
  expect(found.message).toBe(
    `Kafka at ${lab.broker.address} failed: Not authorized to access topics: [Topic authorization failed]`,
  )
  expect([isMissing(found), isMisconfigured(found)]).toEqual([false, false])
})

test('a broker that answers at first and then no more is named as well', async () => {
  let left = 1
  lab.broker.on('Metadata', ({ topics }, answer) => (topics === null || left-- > 0 ? answer() : 'close'))
  const found = await failure(partitions())
  expect(found.message).toBe(`Kafka at ${lab.broker.address} failed: no broker said which topics and brokers there are`)
})

test('nobody who listens: it cannot be reached', async () => {
  const { address } = lab.broker
  await lab.broker.stop()
  const found = await failure(partitions())
  expect(found.message).toBe(`Kafka at ${address} cannot be reached: Connection error: connect ECONNREFUSED ${address}`)
  expect(isMisconfigured(found)).toBe(false)
  await lab.broker.start()
})

test('a connection that ends in the middle of a request is a failure', async () => {
  lab.broker.on('OffsetFetch', () => 'close')
  const work = ask().asking((_admin, questions) => questions.committed('g', REPORTS))
  expect((await failure(work)).message).toBe(`Kafka at ${lab.broker.address} failed: Closed connection`)
})

test('a wrong password is a setting that is wrong, and the user is named', async () => {
  const guarded = await scriptedBroker({ users: { bob: 'right' } })
  guarded.topics.make(REPORTS, 3)
  const as = (password: string, mechanism: 'plain' | 'scram-sha-256' = 'plain') =>
    lookup(optionsOf(guarded, { sasl: { mechanism, username: 'bob', password } }), silent).asking((_admin, questions) =>
      questions.partitions(REPORTS),
    )
  expect(await as('right')).toBe(3)
  const found = await failure(as('wrong'))
  expect(found.message).toMatch(`Kafka at ${guarded.address} refuses user bob: `)
  expect(found.message).toMatch(/Authentication failed: Invalid username or password/)
  expect(isMisconfigured(found)).toBe(true)
  const unknown = await failure(as('right', 'scram-sha-256'))
  expect(unknown.message).toMatch(`Kafka at ${guarded.address} refuses user bob: `)
  expect(isMisconfigured(unknown)).toBe(true)
  await guarded.stop()
})

test('a broker that wants a user where none is set says so', async () => {
  lab.broker.on('Metadata', async ({ topics }, answer) => {
    const all = await answer()
    const errorCode = (topics ?? []).length > 0 ? UNSUPPORTED_SASL_MECHANISM : 0
    return { ...all, topics: all.topics.map((topic) => ({ ...topic, errorCode })) }
  })
  const found = await failure(partitions())
  expect(found.message).toMatch(`Kafka at ${lab.broker.address} refuses user (none): `)
  expect(isMisconfigured(found)).toBe(true)
})

test('the innermost reason is told, whatever is wrapped around it', () => {
  const inner = new Error('the disk is full')
  const outer = new Error('it went wrong', { cause: new Error('really', { cause: inner }) })
  expect(reasonOf(outer)).toBe('the disk is full')
  expect(reasonOf(new Error('alone', { cause: 'no error' }))).toBe('alone')
  expect(reasonOf('only words')).toBe('only words')
  let endless = new Error('0')
  for (let depth = 1; depth <= 20; depth++) endless = new Error(String(depth), { cause: endless })
  expect(reasonOf(endless)).toBe('13')
})

/** Groups on the broker as `doctor` sees them, and the deletion of those that are left over. */
import type { Admin } from 'kafkajs'
import { expect, test } from 'vitest'
import { deleteGroups, surveyGroups } from '../../src/bus/kafka/groups.ts'
import { inspectKafka } from '../../src/bus/kafka/inspect.ts'
import { lookup } from '../../src/bus/kafka/lookup.ts'
import { createTopics } from '../../src/bus/kafka/topics.ts'
import { silent } from '../../src/vocabulary/log.ts'
import { ERRORS } from '../support/broker/protocol.ts'
import { kafkaLab, optionsOf, REPORTS, say } from '../support/kafkaLab.ts'

const lab = kafkaLab()
const TOPICS = { partitions: 4, replicas: 1, retentionMs: null }
const CONTROL = { group: 'control', topic: REPORTS }
const asking = <T>(work: (admin: Admin) => Promise<T>): Promise<T> =>
  lookup(optionsOf(lab.broker), silent).asking((admin) => work(admin))
const numbered = (count: number): readonly string[] => Array.from({ length: count }, (_, index) => `host-${index}`)

/** Empty ones. */
const make = (...groups: readonly string[]): void => {
  for (const group of groups) lab.broker.groups.commit(group, REPORTS, 0, 0)
}
const join = async (group: string): Promise<void> => {
  const { bus } = lab.openBus()
  await bus.consume({ topic: REPORTS, group, from: 'earliest', take: async () => {} })
}

test('a group that is deleted is gone, and one that the broker refuses to delete is told with its reason', async () => {
  make('host-1', 'host-3')
  await join('host-2')
  const gone = await asking((admin) => deleteGroups(admin, ['host-1', 'host-2', 'host-3', 'host-4']))
  expect(gone).toEqual([
    { group: 'host-1', reason: null },
    { group: 'host-2', reason: expect.stringMatching(/not empty/) },
    { group: 'host-3', reason: null },
    { group: 'host-4', reason: expect.stringMatching(/not found/) },
  ])
  expect(lab.broker.groups.names).toEqual(['host-2'])
})

test('a group that the answer leaves out is not taken for deleted', async () => {
  make('host-1', 'host-2')
  lab.broker.on('DeleteGroups', async (_request, answer) => {
    const all = await answer()
    return { ...all, groups: all.groups.filter(({ group }) => group !== 'host-1') }
  })
  expect(await asking((admin) => deleteGroups(admin, ['host-1', 'host-2']))).toEqual([
    { group: 'host-1', reason: 'the broker did not report it as deleted' },
    { group: 'host-2', reason: null },
  ])
})

test('when the request fails, none of its groups is taken for deleted, and the others are', async () => {
  const names = numbered(401)
  make(...names)
  let requests = 0
  lab.broker.on('DeleteGroups', (_request, answer) => (++requests === 2 ? 'close' : answer()))
  const gone = await asking((admin) => deleteGroups(admin, names))
  expect(lab.broker.seen('DeleteGroups').map(({ groups }) => groups.length)).toEqual([200, 200, 1])
  expect(gone.map(({ group }) => group)).toEqual(names)
  expect(gone.filter(({ reason }) => reason === 'Closed connection').map(({ group }) => group)).toEqual(
    names.slice(200, 400),
  )
  expect(gone.filter(({ reason }) => reason === null).length).toBe(201)
})

test('with nothing to delete nothing is asked', async () => {
  expect(await asking((admin) => deleteGroups(admin, []))).toEqual([])
  expect(lab.broker.seen('DeleteGroups')).toEqual([])
})

test('groups used once are found by their names, and those without members are left over', async () => {
  make('mine.host-old', 'mine.reader-old', 'mine.control', 'mine.other', 'host-strange', 'mine.ahost-x', 'your.host-1')
  await join('mine.host-new')
  const facts = await asking((admin) => surveyGroups(admin, 'mine.', CONTROL))
  expect(facts.leftOver.toSorted()).toEqual(['mine.host-old', 'mine.reader-old'])
  expect(facts.hosts).toEqual([
    { group: 'mine.host-old', state: 'Empty', members: [] },
    { group: 'mine.host-new', state: 'Stable', members: ['test at 127.0.0.1'] },
  ])
  expect(facts.control).toEqual({ group: 'mine.control', state: 'Empty', members: [] })
  expect(facts.lag).toBeNull()
})

test('a group that was never there is dead', async () => {
  const facts = await asking((admin) => surveyGroups(admin, '', CONTROL))
  expect(facts.control).toEqual({ group: 'control', state: 'Dead', members: [] })
})

test('many groups are described in portions', async () => {
  make(...numbered(201))
  const facts = await asking((admin) => surveyGroups(admin, '', CONTROL))
  expect(facts.leftOver.length).toBe(201)
  expect(lab.broker.seen('DescribeGroups').map(({ groups }) => groups.length)).toEqual([200, 1, 1])
})

test('how far the controls are behind, by partition', async () => {
  const { bus } = lab.openBus()
  await bus.publish(['1', '2', '3'].flatMap((value) => [say('a', value), say('d', value), say('c', value)]))
  lab.broker.groups.commit('control', REPORTS, 0, 2)
  lab.broker.groups.commit('control', REPORTS, 2, 0)
  lab.broker.topics.log(REPORTS, 2)!.forgetBefore(1)
  const { lag } = await asking((admin) => surveyGroups(admin, '', CONTROL))
  expect(lag).toEqual([
    { partition: 0, behind: 1, never: false },
    { partition: 1, behind: 3, never: true },
    { partition: 2, behind: 2, never: false },
    { partition: 3, behind: 0, never: true },
  ])
})

test('an error that the broker gives for groups is an error of the look', async () => {
  make('host-1')
  lab.broker.on('DescribeGroups', async (_request, answer) => {
    const all = await answer()
    return { ...all, groups: all.groups.map((each) => ({ ...each, errorCode: ERRORS.GROUP_AUTHORIZATION_FAILED })) }
  })
  await expect(asking((admin) => surveyGroups(admin, '', CONTROL))).rejects.toThrow(
    /^Kafka at .* failed: Not authorized to access group/,
  )
})

test('a look at the broker changes nothing; with mend it deletes what is left over', async () => {
  const options = optionsOf(lab.broker)
  for (const topic of lab.broker.topics.names) lab.broker.topics.remove(topic)
  await createTopics(options, TOPICS, silent)
  const { bus } = lab.openBus()
  await bus.publish(['1', '2', '3'].map((value) => say('a', value, 'dead-letters.v1')))
  lab.broker.topics.log('dead-letters.v1', 0)!.forgetBefore(1)
  make('host-old')
  const first = await inspectKafka(options, TOPICS, false)
  expect(first.gone).toEqual([])
  expect(first.facts).toMatchObject({
    brokers: [lab.broker.address],
    deadLetters: 2,
    groups: { leftOver: ['host-old'] },
  })
  expect(first.facts.topics.map(({ state }) => state)).toEqual(first.facts.found.map(() => 'there'))
  expect(lab.broker.groups.names).toEqual(['host-old'])
  const second = await inspectKafka(options, TOPICS, true)
  expect(second.gone).toEqual([{ group: 'host-old', reason: null }])
  expect(lab.broker.groups.names).toEqual([])
})

test('a look at a broker without topics says which are missing', async () => {
  const { facts } = await inspectKafka(optionsOf(lab.broker, { prefix: 'none.' }), TOPICS, false)
  expect(facts).toMatchObject({ deadLetters: 0, found: [], groups: { lag: null, hosts: [], leftOver: [] } })
  expect(new Set(facts.topics.map(({ state }) => state))).toEqual(new Set(['missing']))
  expect(facts.topics[0]!.topic).toMatch(/^none\./)
})

/** Topics on a broker: made, compared with what is wanted, and changed when that is asked for. */
import { beforeEach, expect, test } from 'vitest'
import type { CreateHow } from '../../src/bus/kafka/topics.ts'
import { createTopics, findTopics, wantedTopics } from '../../src/bus/kafka/topics.ts'
import { lookup } from '../../src/bus/kafka/lookup.ts'
import { isMisconfigured } from '../../src/bus/kafka/errors.ts'
import { silent } from '../../src/vocabulary/log.ts'
import { ERRORS } from '../support/broker/protocol.ts'
import { kafkaLab, optionsOf, ORDERS, REPORTS } from '../support/kafkaLab.ts'
import { memoryLog } from '../support/lab.ts'

const lab = kafkaLab()
const SETTINGS = { partitions: 4, replicas: 1, retentionMs: null }
const WANTED = wantedTopics('', SETTINGS)
const PATIENCE = { leadersMs: 300, shownMs: 300 }
beforeEach(() => {
  for (const topic of lab.broker.topics.names) lab.broker.topics.remove(topic)
})

const create = async (how: CreateHow = {}, settings = SETTINGS) => {
  const log = memoryLog()
  const reports = await createTopics(optionsOf(lab.broker), settings, log, { patience: PATIENCE, ...how })
  return { states: Object.fromEntries(reports.map(({ topic, state }) => [topic, state])), reports, said: log.said }
}
const configs = (topic: string) => Object.fromEntries(lab.broker.topics.configs(topic))
const each = (state: string) => Object.fromEntries(WANTED.map(({ topic }) => [topic, state]))

test('what is missing is made as it is wanted, and what is there is left alone', async () => {
  const first = await create()
  expect(first.states).toEqual(each('made'))
  expect(first.said.map(({ message, detail }) => [message, detail['topic']])).toEqual(
    WANTED.map(({ topic }) => ['topic.made', topic]),
  )
  for (const { topic, configs: wanted } of WANTED) expect(configs(topic)).toEqual(wanted)
  expect(lab.broker.topics.log(REPORTS, 3)).toBeDefined()
  expect(lab.broker.topics.log(REPORTS, 4)).toBeUndefined()
  const again = await create()
  expect([again.states, again.said]).toEqual([each('there'), []])
  lab.broker.topics.remove(ORDERS)
  expect((await create()).states).toEqual({ ...each('there'), [ORDERS]: 'made' })
  expect(lab.broker.seen('CreateTopics').map(({ topics }) => topics.length)).toEqual([WANTED.length, 1])
})

test('a dry run makes and changes nothing', async () => {
  expect((await create({ dryRun: true, apply: true })).states).toEqual(each('missing'))
  await create()
  lab.broker.topics.configs(REPORTS).set('retention.ms', '5')
  expect((await create({ dryRun: true, apply: true })).states).toMatchObject({ [REPORTS]: 'differs' })
  expect(configs(REPORTS)).toMatchObject({ 'retention.ms': '5' })
  expect(lab.broker.seen('AlterConfigs')).toEqual([])
})

test('what differs is told, and changed only on request: TOPIC-2 settings that are not ours stay', async () => {
  await create()
  lab.broker.topics.configs(REPORTS).set('retention.ms', '5').set('segment.bytes', '1000000')
  const wanted = WANTED.find(({ topic }) => topic === REPORTS)!.configs
  const told = await create()
  expect(told.states).toEqual({ ...each('there'), [REPORTS]: 'differs' })
  expect(told.said).toMatchObject([
    {
      level: 'warn',
      message: 'topic.differs',
      detail: {
        topic: REPORTS,
        differences: [
          {
            what: 'retention.ms',
            wanted: wanted['retention.ms'],
            is: '5',
            applies: true,
            advice: 'topics create --apply sets it',
          },
        ],
      },
    },
  ])
  expect(lab.broker.seen('AlterConfigs')).toEqual([])
  const changed = await create({ apply: true })
  expect(changed.states).toEqual({ ...each('there'), [REPORTS]: 'changed' })
  expect(changed.said.map(({ message }) => message)).toEqual(['topic.changed'])
  // what holds by the broker's default is not written to the topic
  expect(configs(REPORTS)).toEqual({ ...wanted, 'segment.bytes': '1000000' })
  expect(lab.broker.seen('AlterConfigs').map(({ resources }) => resources.length)).toEqual([1])
})

test('TOPIC-1 another number of partitions is told and never changed, also beside what is changed', async () => {
  await create()
  lab.broker.topics.remove(REPORTS)
  lab.broker.topics.make(REPORTS, 2, { ...WANTED[0]!.configs, 'retention.ms': '5' })
  const { reports, said } = await create({ apply: true })
  const report = reports.find(({ topic }) => topic === REPORTS)!
  expect(report).toMatchObject({ state: 'differs', differences: [{ what: 'partitions', wanted: '4', is: '2' }] })
  expect(said.map(({ message }) => message)).toEqual(['topic.differs'])
  expect(lab.broker.topics.log(REPORTS, 2)).toBeUndefined()
})

test('what the broker refuses to make is told with its reasons, each once', async () => {
  const work = create({}, { ...SETTINGS, replicas: 3 })
  await expect(work).rejects.toThrow(
    `topics could not be made: Replication-factor is invalid (3 replicas asked for, brokers: 1): ${WANTED.map(({ topic }) => topic).join(', ')}`,
  )
  expect(isMisconfigured(await work.catch((error: unknown) => error))).toBe(true)
})

test('too few brokers for the moment may be tried again, where as many are listed as replicas are asked for', async () => {
  lab.broker.on('CreateTopics', async (_, answer) => {
    const made = await answer()
    const topics = made.topics.map((each) => ({ ...each, errorCode: 38, errorMessage: 'no broker is unfenced' }))
    return { ...made, topics }
  })
  const problem = await create().catch((error: unknown) => error)
  expect(String(problem)).toMatch(/^Error: topics could not be made: Replication-factor is invalid \(1 replicas asked/)
  expect(isMisconfigured(problem)).toBe(false)
})

test('what another process makes at the same time is no trouble', async () => {
  lab.broker.on('CreateTopics', (request, answer) => {
    lab.broker.topics.make(REPORTS, 4, WANTED[0]!.configs)
    return answer()
  })
  expect((await create()).states).toEqual(each('made'))
})

const leaderless = (times: number): void => {
  let left = times
  lab.broker.on('Metadata', async ({ topics }, answer) => {
    const all = await answer()
    if (topics === null || all.topics.some(({ errorCode }) => errorCode !== 0) || left-- <= 0) return all
    const [first, ...rest] = all.topics
    const partitions = first!.partitions.map((each, at) => (at === 1 ? { ...each, leader: -1 } : each))
    return { ...all, topics: [{ ...first!, partitions }, ...rest] }
  })
}

test('new topics are waited for until each partition has a leader', async () => {
  leaderless(2)
  expect((await create()).states).toEqual(each('made'))
  expect(lab.broker.seen('Metadata').filter(({ topics }) => topics?.length === WANTED.length).length).toBeGreaterThan(2)
})

test('leaders that do not come are told after the time for them', async () => {
  leaderless(1000)
  await expect(create()).rejects.toThrow(/^topics have no leader after 0.3 s: .*host\.reports\.v1/)
})

test('a topic that is still listed while it is being deleted is looked for again', async () => {
  await create()
  let left = 2
  lab.broker.on('Metadata', async ({ topics }, answer) => {
    const all = await answer()
    if (topics === null || left-- <= 0) return all
    return {
      ...all,
      topics: all.topics.map((topic) =>
        topic.topic === ORDERS ? { ...topic, errorCode: ERRORS.UNKNOWN_TOPIC_OR_PARTITION, partitions: [] } : topic,
      ),
    }
  })
  expect((await create()).states).toEqual(each('there'))
  left = 1000
  await expect(create()).rejects.toThrow(/^Kafka at .* failed: (This server does not host|no broker said)/)
})

test('another trouble while looking is told at once', async () => {
  await create()
  lab.broker.on('DescribeConfigs', async (_request, answer) => {
    const all = await answer()
    return { ...all, resources: all.resources.map((row) => ({ ...row, errorCode: ERRORS.TOPIC_AUTHORIZATION_FAILED })) }
  })
  await expect(create()).rejects.toThrow(/Not authorized to access topics/)
  expect(lab.broker.seen('DescribeConfigs').length).toBe(2)
})

test('a change that the broker shows a moment later is waited for', async () => {
  await create()
  lab.broker.topics.configs(REPORTS).set('retention.ms', '5')
  let left = 1
  lab.broker.on('DescribeConfigs', async (_request, answer) => {
    const all = await answer()
    if (lab.broker.seen('AlterConfigs').length === 0 || left-- <= 0) return all
    const old = (row: (typeof all.resources)[number]) =>
      row.name === REPORTS
        ? { ...row, configs: row.configs.map((one) => (one.name === 'retention.ms' ? { ...one, value: '5' } : one)) }
        : row
    return { ...all, resources: all.resources.map(old) }
  })
  expect((await create({ apply: true })).states).toMatchObject({ [REPORTS]: 'changed' })
  lab.broker.topics.configs(REPORTS).set('retention.ms', '5')
  left = 1000
  expect((await create({ apply: true })).states).toMatchObject({ [REPORTS]: 'differs' })
})

test('copies that are behind and partitions without a leader are counted', async () => {
  await create()
  lab.broker.on('Metadata', async (_request, answer) => {
    const all = await answer()
    const partitions = (topic: (typeof all.topics)[number]) =>
      topic.partitions.map((one, at) => ({
        ...one,
        leader: at === 0 ? -1 : at - 1,
        replicas: at < 3 ? [1, 2] : [1, 2, 3],
        inSync: at < 2 ? [1] : [1, 2],
      }))
    return { ...all, topics: all.topics.map((topic) => ({ ...topic, partitions: partitions(topic) })) }
  })
  const found = await lookup(optionsOf(lab.broker), silent).asking((admin) => findTopics(admin, [REPORTS, 'no.topic']))
  expect([...found.keys()]).toEqual([REPORTS])
  expect(found.get(REPORTS)).toMatchObject({ partitions: 4, replicas: 2, leaderless: 1, behind: 3 })
})

/** What an operator is told of a database and a broker with faults planted in them, and what the commands mend. */
import { randomUUID } from 'node:crypto'
import type { Admin } from 'kafkajs'
import { Client } from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { lookup } from '../../src/bus/kafka/lookup.ts'
import type { KafkaOptions } from '../../src/bus/kafka/options.ts'
import type { TopicReport } from '../../src/bus/kafka/topics.ts'
import type { Finding } from '../../src/cli/doctor/check.ts'
import { judgeAll } from '../../src/cli/doctor/check.ts'
import { DATABASE_CHECKS } from '../../src/cli/doctor/database.ts'
import { systemClock } from '../../src/vocabulary/clock.ts'
import { silent } from '../../src/vocabulary/log.ts'
import { upgradeSchema } from '../../src/persistence/upgradeSchema.ts'
import { inspectDatabase } from '../../src/persistence/inspect.ts'
import { CATALOGUE } from '../../src/wire/catalogue.ts'
import { freshPrefix, kafkaServer, makeTopics, rawKafka } from '../support/kafka.ts'
import { describeWith } from '../support/needs.ts'
import { freshDatabase, sqlOnce } from '../support/postgres.ts'
import type { Database } from '../support/postgres.ts'
import { runProgram } from '../support/program.ts'

type Ended = { readonly code: number | null; readonly said: string; readonly complained: string }
const command = async (...args: readonly string[]): Promise<Ended> => {
  const program = runProgram({ args })
  const { code } = await program.exited
  return { code, said: program.stdout(), complained: program.stderr() }
}
const findingsOf = ({ said }: Ended) => JSON.parse(said) as readonly Finding[]
const of = (findings: readonly Finding[], check: string) => findings.find((each) => each.check === check)

let kafka: KafkaOptions
const onKafka = (partitions = 4) => [
  ...['--kafka', kafka.brokers.join(','), '--kafka-prefix', kafka.prefix, '--partitions', String(partitions)],
]
const asked = <T>(work: (admin: Admin) => Promise<T>): Promise<T> => lookup(kafka, silent).asking(work)
const topics = async (verb: string, ...more: readonly string[]) => {
  const ended = await command('topics', verb, ...onKafka(), ...more, '--json')
  return { code: ended.code, reports: JSON.parse(ended.said) as readonly TopicReport[] }
}
const stateOf = (reports: readonly TopicReport[], topic: string) =>
  reports.find((report) => report.topic === kafka.prefix + topic)?.state

describeWith('kafka', 'topics on a real broker', (rig) => {
  beforeAll(async () => {
    kafka = { ...(await kafkaServer(rig)).options, prefix: freshPrefix() }
  })

  test('are made once, and listed', async () => {
    expect((await topics('list')).code).toBe(7)
    const dry = await topics('create', '--dry-run')
    expect(new Set(dry.reports.map(({ state }) => state))).toEqual(new Set(['missing']))
    const made = await topics('create')
    expect(made.code).toBe(0)
    expect(new Set(made.reports.map(({ state }) => state))).toEqual(new Set(['made']))
    const listed = await topics('list')
    expect(listed.code).toBe(0)
    expect(new Set(listed.reports.map(({ state }) => state))).toEqual(new Set(['there']))
  })
  test('of another shape are told; --apply changes settings, keeps what is not ours, and leaves the count alone', async () => {
    const topic = `${kafka.prefix}arq.events.v1`
    await asked((admin) => admin.deleteTopics({ topics: [topic] }))
    const configEntries = [
      { name: 'retention.ms', value: '60000' },
      { name: 'segment.bytes', value: '1048576' },
    ]
    await asked((admin) => admin.createTopics({ topics: [{ topic, numPartitions: 2, configEntries }] }))
    const before = await topics('create')
    expect(before.code).toBe(7)
    expect(stateOf(before.reports, 'arq.events.v1')).toBe('differs')
    const after = await topics('create', '--apply')
    const [left, ...none] = after.reports.find((report) => report.topic === topic)!.differences
    expect(none).toEqual([])
    expect(left).toMatchObject({ what: 'partitions', is: '2', wanted: '4', applies: false })
    const { resources } = await asked((admin) =>
      admin.describeConfigs({ resources: [{ type: 2, name: topic }], includeSynonyms: false }),
    )
    const valueOf = (name: string) =>
      resources[0]!.configEntries.find((entry) => entry.configName === name)?.configValue
    expect([valueOf('retention.ms'), valueOf('segment.bytes')]).toEqual([String(28 * 86_400_000), '1048576'])
  })
  test('that the broker refuses: why, and nothing else', async () => {
    kafka = { ...kafka, prefix: freshPrefix() }
    const { code, said, complained } = await command('topics', 'create', ...onKafka(), '--replicas', '3')
    expect([code, said]).toEqual([1, ''])
    expect(complained).toMatch(/^topics could not be made: .*3 replicas asked for, brokers: 1/)
  })
})

describeWith('postgres', 'the doctor', (bin) => {
  let database: Database
  const onDatabase = () => ['--database', database.url]
  const found = async (...more: readonly string[]) => {
    const ended = await command('doctor', '--json', ...onDatabase(), ...more)
    return { code: ended.code, findings: findingsOf(ended) }
  }
  beforeAll(async () => {
    database = await freshDatabase(bin)
    await upgradeSchema(database.url)
  })
  afterAll(() => database.drop())

  test('finds a database without its schema; migrate makes it, and lets a role in that may do no more', async () => {
    const empty = await freshDatabase(bin)
    const at = ['--database', empty.url]
    const before = findingsOf(await command('doctor', '--json', ...at))
    expect(of(before, 'schema')).toMatchObject({ verdict: 'problem', advice: 'run accelerando migrate' })
    const check = await command('migrate', '--check', ...at)
    expect(check.code).toBe(7)
    expect(check.said).toContain('pending 0001_journal_and_views')
    const role = `app_${randomUUID().replaceAll('-', '')}`
    await sqlOnce(empty.url, `create role ${role} login`)
    const asRole = new URL(empty.url)
    asRole.username = role
    expect((await command('migrate', ...at)).said).toContain('made    0001_journal_and_views')
    const refused = findingsOf(await command('doctor', '--json', '--database', asRole.href))
    expect(of(refused, 'rights')).toMatchObject({
      verdict: 'problem',
      says: expect.stringContaining(`role ${role} lacks`),
    })
    expect((await command('migrate', '--grant-to', role, ...at)).said).toContain(`granted role ${role}`)
    expect((await command('migrate', '--check', ...at)).code).toBe(0)
    const ended = await command('doctor', '--database', asRole.href)
    expect(ended.said).toMatch(/0 problems, 0 warnings, \d+ ok\n$/)
    expect(ended.code).toBe(0)
    await sqlOnce(empty.url, `drop owned by ${role}`)
    await sqlOnce(empty.url, `drop role ${role}`)
    await empty.drop()
  })
  test('names the open transaction that holds the journal back, and how many rows wait', async () => {
    const client = new Client({ connectionString: database.url, application_name: 'forgotten' })
    await client.connect()
    await client.query('begin')
    const { rows } = await client.query<{ pid: number }>(
      `insert into checkpoints (reader, position) values ('held', '') returning pg_backend_pid() as pid`,
    )
    await sqlOnce(
      database.url,
      `insert into journal (key, version, pos, command, data, at, cause) values ('arq/1', 1, 1, gen_random_uuid(), '[]', 0, '{}')`,
    )
    const look = () => inspectDatabase(database.url, systemClock, { relay: 'relay', bindDeadlineMs: 1000 })
    // other tests use the same server, and the oldest transaction of all databases is the one that counts
    let facts = await look()
    for (let tries = 0; tries < 50 && facts.holder?.name !== 'forgotten'; tries++) facts = await look()
    await client.query('rollback')
    await client.end()
    expect(facts.holder).toMatchObject({ pid: rows[0]!.pid, name: 'forgotten', state: 'idle in transaction' })
    expect(facts.heldRows).toBe(1)
    const old = { ...facts, holder: { ...facts.holder!, ageMs: 61_000 } }
    expect(of(judgeAll(DATABASE_CHECKS, old), 'open transactions')?.says).toMatch(/^pid \d+ \(forgotten, .*; 1 row of/)
  })
  test('finds what nobody relays, and work past its time', async () => {
    await sqlOnce(database.url, `insert into due (entity, kind, at) values ('instance/1', 'instance', 0)`)
    const { code, findings } = await found()
    expect(code).toBe(7)
    expect(of(findings, 'relay')).toMatchObject({ verdict: 'problem', says: expect.stringContaining('1 row to tell') })
    expect(of(findings, 'deadlines')).toMatchObject({
      verdict: 'problem',
      says: expect.stringContaining('1 of kind instance'),
    })
    await sqlOnce(database.url, 'delete from due')
  })
  test('finds a journal that was restored from another server, which migrate --adopt takes on', async () => {
    await sqlOnce(database.url, `update journal set xid = '999999999999'`)
    const { findings } = await found()
    expect(of(findings, 'origin of the journal')).toMatchObject({ verdict: 'problem' })
    expect((await command('migrate', '--adopt', ...onDatabase())).said).toContain('adopted the journal')
    expect(of((await found()).findings, 'origin of the journal')).toMatchObject({ verdict: 'ok' })
    await sqlOnce(database.url, 'delete from journal')
  })
  test('says in one line each that nobody is there', async () => {
    const nowhere = [
      '--database',
      'postgres://127.0.0.1:9/none',
      '--kafka',
      '127.0.0.1:9',
      '--api',
      'http://127.0.0.1:9',
    ]
    const ended = await command('doctor', ...nowhere)
    expect(ended.code).toBe(7)
    for (const part of ['database', 'kafka', 'api']) expect(ended.said).toMatch(new RegExp(`^problem +${part} .*`, 'm'))
  })
})

describeWith('kafka', 'the doctor on a real broker', (rig) => {
  const doctor = async (...more: readonly string[]) => {
    const ended = await command('doctor', '--json', ...onKafka(), ...more)
    return { code: ended.code, findings: findingsOf(ended) }
  }
  /** A broker shows a deletion a moment after the controller has taken it. */
  const untilFound = async (check: string, verdict: Finding['verdict'], tries = 20): ReturnType<typeof doctor> => {
    const found = await doctor()
    if (of(found.findings, check)?.verdict === verdict || tries === 0) return found
    return untilFound(check, verdict, tries - 1)
  }
  const joined = async (group: string) => {
    const consumer = rawKafka(kafka).consumer({
      groupId: kafka.prefix + group,
      maxWaitTimeInMs: 200,
    })
    const { promise, resolve } = Promise.withResolvers<unknown>()
    consumer.on(consumer.events.GROUP_JOIN, resolve)
    await consumer.connect()
    await consumer.subscribe({ topics: [`${kafka.prefix}host.orders.v1`] })
    await consumer.run({ eachMessage: async () => undefined })
    await promise
    return consumer
  }
  beforeAll(async () => {
    kafka = { ...(await kafkaServer(rig)).options, prefix: freshPrefix() }
    await makeTopics(kafka, 4)
  })

  test('finds topics that are missing, and those with another number of partitions', async () => {
    await asked((admin) => admin.deleteTopics({ topics: [`${kafka.prefix}arq.state.v1`] }))
    const topic = `${kafka.prefix}host.events.v1`
    await asked((admin) => admin.createPartitions({ topicPartitions: [{ topic, count: 6 }] }))
    const { code, findings } = await untilFound('topics', 'problem')
    expect(code).toBe(7)
    expect(of(findings, 'topics')).toMatchObject({
      verdict: 'problem',
      says: `1 of ${Object.keys(CATALOGUE).length} missing: ${kafka.prefix}arq.state.v1`,
    })
    expect(of(findings, 'topics: partitions')).toMatchObject({ verdict: 'problem', says: `${topic} has 6, not 4` })
    expect(of(findings, 'controls')).toMatchObject({ verdict: 'problem', says: expect.stringContaining('0 members') })
  })
  test('finds groups that hosts left over, and deletes those alone', async () => {
    const [gone, there] = [await joined('host-compute-1-a'), await joined('host-compute-2-b')]
    await gone.disconnect()
    const before = of((await doctor()).findings, 'host groups')
    expect(before).toMatchObject({
      verdict: 'warning',
      says: `1 with a host, 1 left over: ${kafka.prefix}host-compute-1-a`,
    })
    expect(of((await doctor('--mend')).findings, 'mended')).toMatchObject({ says: '1 left-over group deleted' })
    expect(of((await doctor()).findings, 'host groups')).toMatchObject({ says: '1 with a host, none left over' })
    await there.disconnect()
  })
})

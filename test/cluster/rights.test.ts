/**
 * The rights on the broker of `docs/security.md`, on a broker that denies everything else: enough for the programs, and
 * none too many.
 */
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { AclEntry } from 'kafkajs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { kafkaBus } from '../../src/bus/kafka/bus.ts'
import { followLetters } from '../../src/bus/kafka/deadLetters.ts'
import { inspectKafka } from '../../src/bus/kafka/inspect.ts'
import { lookup } from '../../src/bus/kafka/lookup.ts'
import type { KafkaOptions } from '../../src/bus/kafka/options.ts'
import { readTopics } from '../../src/bus/kafka/read.ts'
import { createTopics } from '../../src/bus/kafka/topics.ts'
import { systemClock } from '../../src/vocabulary/clock.ts'
import { silent } from '../../src/vocabulary/log.ts'
import { CATALOGUE } from '../../src/wire/catalogue.ts'
import type { Arq } from '../e2e/client.ts'
import { controlMember, hostMember } from '../support/cluster.ts'
import { type Broker, ownBroker } from '../support/kafka.ts'
import { memoryLog } from '../support/lab.ts'
import { describeWith } from '../support/needs.ts'
import { freshDatabase } from '../support/postgres.ts'
import { runProgram, tempFolder } from '../support/program.ts'

const LONG = 120_000
/** Numbers of Kafka's protocol; the enums of kafkajs are only types here. */
const KIND = { topic: 2, group: 3, cluster: 4 } as const
const MAY = { read: 3, write: 4, create: 5, delete: 6, describe: 8, describeConfigs: 10, alterConfigs: 11 } as const
const MATCH = { literal: 3, prefixed: 4 } as const
const ALLOW = 3

const PREFIX = 'cloud.'
const HOST = 'compute1'
const USERS = ['control', 'letters', 'host', 'operator', 'maker'] as const
type User = (typeof USERS)[number]
type Right = readonly [
  user: User,
  may: keyof typeof MAY,
  kind: keyof typeof KIND,
  name: string,
  match?: keyof typeof MATCH,
]
const topic = (name: string): string => PREFIX + name
const { hostOrders, hostReports, deadLetters } = CATALOGUE
const WRITTEN = Object.values(CATALOGUE).filter((each) => each !== hostReports)

/** As `docs/security.md` has them. */
const RIGHTS: readonly Right[] = [
  ['control', 'read', 'topic', topic(hostReports.topic)],
  ...WRITTEN.map((each): Right => ['control', 'write', 'topic', topic(each.topic)]),
  ['control', 'describeConfigs', 'topic', PREFIX, 'prefixed'],
  ['control', 'read', 'group', `${PREFIX}control`],
  ['letters', 'read', 'topic', topic(deadLetters.topic)],
  ...[deadLetters, hostOrders, hostReports].map((each): Right => ['letters', 'write', 'topic', topic(each.topic)]),
  ['letters', 'read', 'group', `${PREFIX}reader-`, 'prefixed'],
  ['letters', 'delete', 'group', `${PREFIX}reader-`, 'prefixed'],
  ['host', 'read', 'topic', topic(hostOrders.topic)],
  ['host', 'write', 'topic', topic(hostReports.topic)],
  ['host', 'write', 'topic', topic(deadLetters.topic)],
  ['host', 'read', 'group', `${PREFIX}host-${HOST}-`, 'prefixed'],
  ['host', 'delete', 'group', `${PREFIX}host-${HOST}-`, 'prefixed'],
  ['operator', 'read', 'topic', PREFIX, 'prefixed'],
  ['operator', 'describeConfigs', 'topic', PREFIX, 'prefixed'],
  ['operator', 'read', 'group', `${PREFIX}reader-`, 'prefixed'],
  ['operator', 'delete', 'group', `${PREFIX}reader-`, 'prefixed'],
  ['operator', 'describe', 'group', `${PREFIX}control`],
  ['operator', 'delete', 'group', `${PREFIX}host-`, 'prefixed'],
  ['maker', 'create', 'topic', PREFIX, 'prefixed'],
  ['maker', 'describe', 'topic', PREFIX, 'prefixed'],
  ['maker', 'alterConfigs', 'topic', PREFIX, 'prefixed'],
]
const aclOf = ([user, may, kind, resourceName, match = 'literal']: Right): AclEntry => ({
  principal: `User:${user}`,
  host: '*',
  operation: MAY[may],
  permissionType: ALLOW,
  resourceType: KIND[kind],
  resourceName,
  resourcePatternType: MATCH[match],
})

const LISTENER = 'org.apache.kafka.common.security.plain.PlainLoginModule'
/** Who comes to the plain listener may do everything. */
const guarded = (port: number): readonly string[] => {
  const users = USERS.map((user) => `user_${user}="of ${user}"`).join(' ')
  return [
    `listeners=PLAINTEXT://127.0.0.1:${port},CONTROLLER://127.0.0.1:${port + 1},GUARDED://127.0.0.1:${port + 2}`,
    `advertised.listeners=PLAINTEXT://127.0.0.1:${port},GUARDED://127.0.0.1:${port + 2}`,
    'listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT,GUARDED:SASL_PLAINTEXT',
    'sasl.enabled.mechanisms=PLAIN',
    `listener.name.guarded.plain.sasl.jaas.config=${LISTENER} required ${users};`,
    'authorizer.class.name=org.apache.kafka.metadata.authorizer.StandardAuthorizer',
    'allow.everyone.if.no.acl.found=false',
    'super.users=User:ANONYMOUS',
  ]
}

let broker: Broker
const asUser = (user: User): KafkaOptions => {
  const [host, port] = broker.options.brokers[0]!.split(':')
  const sasl = { mechanism: 'plain', username: user, password: `of ${user}` } as const
  return { ...broker.options, brokers: [`${host}:${Number(port) + 2}`], prefix: PREFIX, sasl }
}
const asRoot = <T>(work: Parameters<ReturnType<typeof lookup>['asking']>[0]): Promise<T> =>
  lookup(broker.options, silent).asking(work) as Promise<T>
const SETTINGS = { partitions: 2, replicas: 1, retentionMs: null }
const say = (name: string) => ({ topic: name, key: HOST, value: 'x', headers: {} })

/** What went wrong, in words; null: nothing. */
/**
 * Topics that may not be described are not listed; groups neither; kafkajs does not say why it found no coordinator, or
 * deleted no group.
 */
const TOLD = /not authorized|there is no topic|was not seen|right to the group|no leader|Error in DeleteGroups/i
type Deed = () => Promise<string | null>
const wrong = (work: Promise<unknown>): Promise<string | null> =>
  work.then(
    () => null,
    (error: Error) => error.message,
  )
const busOf = (user: User) => {
  const log = memoryLog()
  const bus = kafkaBus({ options: asUser(user), clock: systemClock, log, publishTimeoutMs: 1000, joinWaitMs: 2000 })
  return { bus, log }
}
const consumed = async (user: User, group: string, own: boolean): Promise<string | null> => {
  const { bus, log } = busOf(user)
  const take = async (): Promise<void> => {}
  const place = { from: null, moved: () => {} }
  const name = own ? hostOrders.topic : hostReports.topic
  const failed = await wrong(
    bus.consume({ topic: name, group, from: 'earliest', take, ...(own ? { onlyKey: HOST, offsetStore: place } : {}) }),
  )
  const { connected, lastError } = bus.state()
  const asked = failed ?? (connected ? null : (lastError?.reason ?? 'not joined'))
  const lag = asked ?? (own ? null : await wrong(bus.lag()))
  await bus.stop()
  const stays = log.said.find(({ message }) => message === 'kafka.groupStays')?.detail as { reason: string } | undefined
  return lag ?? stays?.reason ?? null
}
const published = async (user: User, names: readonly string[]): Promise<string | null> => {
  const { bus } = busOf(user)
  const results = await Promise.all(names.map((name) => wrong(bus.publish([say(name)]))))
  await bus.stop()
  return results.find((each) => each !== null) ?? null
}
const read = async (): Promise<string | null> => {
  const log = memoryLog()
  const names = Object.values(CATALOGUE).map((each) => each.topic)
  const take = (): void => {}
  const options = { kafka: asUser('operator'), log, topics: names, from: 'earliest', follow: false, take } as const
  const result = await readTopics(options).catch((error: Error) => error)
  if (result instanceof Error) return result.message
  const left = log.said.find(({ message }) => message === 'kafka.groupLeft')?.detail as { reason: string } | undefined
  return result.missing.length > 0 ? `there is no topic ${result.missing[0]}` : (left?.reason ?? null)
}
/** As a control does that shows dead letters. */
const followed = async (): Promise<string | null> => {
  const [log, end] = [memoryLog(), new AbortController()]
  const failed = await wrong(
    followLetters(asUser('letters'), log)(
      () => {},
      () => end.abort(),
      end.signal,
    ),
  )
  const left = log.said.find(({ message }) => message === 'kafka.groupLeft')?.detail as { reason: string } | undefined
  return failed ?? left?.reason ?? null
}
const inspected = async (): Promise<string | null> => {
  const group = `${PREFIX}host-gone-${randomUUID()}`
  const bus = kafkaBus({ options: { ...broker.options, prefix: PREFIX }, clock: systemClock, log: silent })
  await bus.consume({
    topic: hostOrders.topic,
    group: group.slice(PREFIX.length),
    from: 'earliest',
    take: async () => {},
  })
  await bus.stop()
  const looked = await inspectKafka(asUser('operator'), SETTINGS, true).catch((error: Error) => error)
  if (looked instanceof Error) return looked.message
  const { facts, gone } = looked
  const missing = facts.topics.find(({ state }) => state === 'missing')
  if (missing !== undefined) return `there is no topic ${missing.topic}`
  if (!gone.some((each) => each.group === group)) return `the group ${group} was not seen`
  return gone.find(({ reason }) => reason !== null)?.reason ?? null
}
const made = async (): Promise<string | null> => {
  const mine = topic(CATALOGUE.profileEvents.topic)
  await asRoot((admin) => admin.deleteTopics({ topics: [mine] }))
  await sleep(300)
  await asRoot((admin) =>
    admin.alterConfigs({
      validateOnly: false,
      resources: [{ type: 2, name: topic(CATALOGUE.hostEvents.topic), configEntries: [] }],
    }),
  )
  const patience = { leadersMs: 1500, shownMs: 1500 }
  const failed = await wrong(createTopics(asUser('maker'), SETTINGS, silent, { apply: true, patience }))
  await createTopics({ ...broker.options, prefix: PREFIX }, SETTINGS, silent, { apply: true })
  return failed
}
const DEEDS: Readonly<Record<User, readonly Deed[]>> = {
  control: [
    () => wrong(createTopics(asUser('control'), SETTINGS, silent, { dryRun: true })),
    () =>
      published(
        'control',
        WRITTEN.map((each) => each.topic),
      ),
    () => consumed('control', 'control', false),
  ],
  letters: [() => published('letters', [deadLetters.topic, hostOrders.topic, hostReports.topic]), followed],
  host: [
    () => published('host', [hostReports.topic, deadLetters.topic]),
    () => consumed('host', `host-${HOST}-${randomUUID()}`, true),
  ],
  operator: [read, inspected],
  maker: [made],
}
const done = async (user: User): Promise<string | null> => {
  for (const deed of DEEDS[user]) {
    const failed = await deed()
    if (failed !== null) return failed
  }
  return null
}

describeWith('postgres', 'least rights', (bin) =>
  describeWith('kafka', 'on a broker that denies by default', (rig) => {
    beforeAll(async () => {
      broker = await ownBroker(rig, { settings: guarded })
      await createTopics({ ...broker.options, prefix: PREFIX }, SETTINGS, silent)
      await asRoot((admin) => admin.createAcls({ acl: RIGHTS.map(aclOf) }))
      // a busy broker takes some seconds until they are in force
      for (let tries = 0; tries < 30 && (await published('host', [hostReports.topic])) !== null; tries++)
        await sleep(500)
    }, LONG)
    afterAll(() => broker.kill(), LONG)

    test.each(USERS)('are enough for what %s does', async (user) => expect(await done(user)).toBeNull(), LONG)

    describe('are all needed:', () => {
      test.each(RIGHTS.map((right) => [right.slice(0, 4).join(' '), right] as const))(
        'without %s something fails, and says so',
        async (_, right) => {
          const acl = aclOf(right)
          await asRoot((admin) => admin.deleteAcls({ filters: [acl] }))
          const failed = await done(right[0])
          await asRoot((admin) => admin.createAcls({ acl: [acl] }))
          expect(failed).toMatch(TOLD)
        },
        LONG,
      )
    })

    test(
      'a control and a host bind with them; tail and doctor read; nothing of the password is shown',
      async () => {
        const folder = tempFolder('rights')
        const login = (user: User) => ({
          ACCELERANDO_KAFKA_SASL_MECHANISM: 'plain',
          ACCELERANDO_KAFKA_SASL_USERNAME: user,
          ACCELERANDO_KAFKA_SASL_PASSWORD: `of ${user}`,
        })
        const { brokers } = asUser('control')
        const testCluster = { database: (await freshDatabase(bin)).url, brokers, prefix: PREFIX, folder: folder.path }
        const control = await controlMember(testCluster, 'control', login('control'))
        const host = hostMember(testCluster, HOST, { devices: 1, handles: 2, hostWork: true }, login('host'))
        const programs = await Promise.all([control, host].map((member) => member.start()))
        const { client } = control
        while ((await client.deployables()).length === 0) await sleep(100)
        const [place] = await client.deployables()
        await client.wanted(201, 'POST', '/device_profiles', [{ name: 'f', groups: [{ 'resources:FPGA': '1' }] }])
        const asked = await client.wanted(201, 'POST', '/accelerator_requests', { device_profile_name: 'f' })
        const { uuid } = (asked['arqs'] as readonly Arq[])[0]!
        const values = { hostname: HOST, device_rp_uuid: place!.rp_uuid, instance_uuid: randomUUID() }
        const ops = Object.entries(values).map(([key, value]) => ({ op: 'add', path: `/${key}`, value }))
        await client.wanted(202, 'PATCH', '/accelerator_requests', { [uuid]: ops })
        const state = async () => (await client.wanted(200, 'GET', `/accelerator_requests/${uuid}`))['state']
        while ((await state()) === 'BindStarted') await sleep(100)
        expect(await state()).toBe('Bound')
        const args = ['--kafka', brokers.join(','), '--kafka-prefix', PREFIX]
        const tail = runProgram({ args: ['tail', '--once', '--arq', uuid, ...args], env: login('operator') })
        expect((await tail.exited).code).toBe(0)
        expect(tail.stdout()).toContain(uuid)
        const doctor = runProgram({ args: ['doctor', '--json', '--partitions', '2', ...args], env: login('operator') })
        await doctor.exited
        const findings = JSON.parse(doctor.stdout()) as readonly { check: string; verdict: string }[]
        for (const check of ['kafka', 'topics', 'controls'])
          expect(findings.find((each) => each.check === check)).toMatchObject({ verdict: 'ok' })
        await host.end('SIGTERM')
        await control.end('SIGTERM')
        for (const program of [...programs, tail, doctor])
          expect(program.stdout() + program.stderr()).not.toMatch(/of (control|host|operator)\b"|not authorized/i)
        folder.remove()
      },
      LONG,
    )
  }),
)

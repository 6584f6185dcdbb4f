/**
 * A control and a host in this process, over PostgreSQL and a broker of tests: what they log, show and leave behind,
 * word for word. Where a change is meant: `npx vitest run test/cli/oneCluster.test.ts -u`.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { kafkaBus } from '../../src/bus/kafka/bus.ts'
import { type Config, loadConfig } from '../../src/cli/config/config.ts'
import { type ControlConfig, startControl } from '../../src/cli/programs/control.ts'
import { type HostConfig, startHostProgram } from '../../src/cli/programs/host.ts'
import { openTourNova } from '../../src/cli/programs/tourNova.ts'
import { systemClock } from '../../src/clock.ts'
import { silent } from '../../src/log.ts'
import { type ScriptedBroker, scriptedBroker } from '../support/broker/broker.ts'
import { optionsOf, REPORTS } from '../support/kafkaLab.ts'
import { memoryLog } from '../support/lab.ts'
import { describeWith } from '../support/needs.ts'
import type { Database } from '../support/postgres.ts'
import { type OwnServer, ownServer } from '../support/postgresOwn.ts'
import { tempFolder } from '../support/program.ts'
import { logged, read, readiness, series, toured, until } from './running.ts'
import { openTranscript, type Replacement } from './transcript.ts'

const folder = tempFolder('one-cluster')
afterAll(folder.remove)
/** A machine that does other work as well needs a multiple of what it takes alone. */
const LIMIT = { timeout: 180_000 }
const LOCAL = '127.0.0.1:0'
let broker: ScriptedBroker
beforeEach(async () => {
  broker = await scriptedBroker()
})
afterEach(() => broker.stop())

const configOf = (flags: object, env: Readonly<Record<string, string>> = {}): Config => {
  const loaded = loadConfig({
    flags: { kafka: broker.address, adminListen: LOCAL, uiListen: LOCAL, ...flags },
    env: {
      ACCELERANDO_KAFKA_PARTITIONS: '2',
      ACCELERANDO_HOST_REPORT_EVERY_SECONDS: '600',
      ACCELERANDO_HOST_HEARTBEAT_EVERY_SECONDS: '600',
      ACCELERANDO_HOST_STALE_AFTER_SECONDS: '3600',
      ACCELERANDO_HOST_DOWN_AFTER_SECONDS: '7200',
      ...env,
    },
    readFile: () => '',
    osHostname: 'this-machine',
  })
  if (!loaded.ok) throw new Error(loaded.problems.join('\n'))
  return loaded.config
}
const controlOf = (database: string, env: Readonly<Record<string, string>> = {}) =>
  configOf({ database, listen: LOCAL, auth: 'noauth' }, env) as ControlConfig
const hostOf = (data: string, name: string, more: object = {}) =>
  configOf({ data, name, demoDevices: '1', demoHandles: '2', ...more }) as HostConfig

const startedIn = (log: ReturnType<typeof memoryLog>) =>
  log.said.find(({ message }) => message === 'started')!.detail as { readonly admin: string }
const replaced = (database: string): readonly Replacement[] => [
  [new URL(database).pathname.slice(1), '<database>'],
  [folder.path, '<folder>'],
  [/PostgreSQL [\d.]+/g, 'PostgreSQL <version>'],
  [/tour-[0-9a-f]{8}/g, 'tour-<name>'],
  [/about \d+ rows?|\d+ rows? to tell/g, '<amount> rows'],
  [/(behind|ahead of) this machine/g, 'beside this machine'],
  [/ {2}\(\d+\.\d s late\)/g, ''],
  // whether offsets are committed yet, and how many states of an entity were passed over
  [/all reports consumed|reports not consumed: .*/g, 'reports <consumed>'],
  [/(\.state\.v1 +)\d+ messages/g, '$1<amount> messages'],
]

describeWith('postgres', 'a cluster', (bin) => {
  // of their own: an open transaction of another test on the same server would hide the last rows from the relay
  let server: OwnServer
  let database: Database
  beforeAll(async () => {
    server = await ownServer(bin)
  })
  afterAll(() => server.end())
  beforeEach(async () => {
    database = await server.freshDatabase()
  })
  afterEach(() => database.drop())

  test('is started, used, looked at and stopped', LIMIT, async () => {
    const env = { ACCELERANDO_DATABASE: database.url, ACCELERANDO_KAFKA_BROKERS: broker.address }
    const { run, note, text } = openTranscript(env, replaced(database.url))
    const partitions = '--partitions 2'
    const nova = await openTourNova()
    const [controlLog, hostLog] = [memoryLog(), memoryLog()]
    const control = await startControl(controlOf(database.url, { ACCELERANDO_NOVA_URL: nova.url }), controlLog)
    const host = await startHostProgram(hostOf(join(folder.path, 'host'), 'compute-1'), hostLog)
    try {
      await until('the host is recorded', async () =>
        (await (await fetch(`${control.base}/deployables`)).text()).includes('compute-1'),
      )
      note('the tour', await toured(control.base, nova))
      for (const [title, log] of [
        ['control', controlLog],
        ['host', hostLog],
      ] as const) {
        const { admin } = startedIn(log)
        // the relay tells facts and states one after the other
        if (title === 'control')
          await until('the last topic is told', async () =>
            (await read(`${admin}/metrics`)).includes('topic="arq.state.v1"'),
          )
        note(`${title}: readyz`, readiness(await read(`${admin}/readyz`)))
        note(`${title}: metrics`, series(await read(`${admin}/metrics`)), { sorted: true })
      }
      const bus = kafkaBus({ options: optionsOf(broker), clock: systemClock, log: silent })
      await bus.publish([{ topic: REPORTS, key: 'compute-1', value: 'no JSON', headers: {} }])
      await until('the message is buried', async () => controlLog.said.some(({ message }) => message === 'inbox.dead'))
      await bus.stop()
      await run('dead-letters list')
      await run(`doctor ${partitions} --api ${control.base.replace('/v2', '')}`)
      const { admin } = startedIn(controlLog)
      await until('all rows are told', async () => (await read(`${admin}/readyz`)).includes('"lagMs":0'))
    } finally {
      await host.stop()
      await control.stop()
      await nova.close()
    }
    note('control: log', logged(controlLog.said), { sorted: true })
    note('host: log', logged(hostLog.said), { sorted: true })
    await run(`doctor ${partitions}`)
    await run(`doctor ${partitions} --mend`)
    await run('tail --once', { sorted: true })
    await run('tail device.state --once')
    await run(`audit --stopped --settled --host-data ${join(folder.path, 'host')}`, { sorted: true })
    await expect(text()).toMatchFileSnapshot('golden/oneCluster.txt')
  })

  test('is not started where topics are missing and may not be made', async () => {
    const starting = startControl(controlOf(database.url, { ACCELERANDO_KAFKA_CREATE_TOPICS: 'false' }), silent)
    await expect(starting).rejects.toThrow(
      'topics are missing: host.reports.v1, host.orders.v1, arq.events.v1, device.events.v1, deployable.events.v1, profile.events.v1, ' +
        'host.events.v1, placement.events.v1, arq.state.v1, device.state.v1, host.state.v1, dead-letters.v1: make them with ' +
        '"accelerando topic create", or set kafka.create_topics',
    )
    expect(broker.topics.names).toEqual([])
  })

  test('is not started on a database that is not there', async () => {
    const nowhere = database.url.replace(/[^/]+$/, 'nowhere')
    await expect(startControl(controlOf(nowhere), silent)).rejects.toThrow(
      'database: cannot be used: database "nowhere" does not exist',
    )
  })
})

test('a folder belongs to one host, and to one process', async () => {
  const data = join(folder.path, 'owned')
  mkdirSync(data)
  writeFileSync(join(data, 'host.json'), '{"name": "compute-1"}')
  await expect(startHostProgram(hostOf(data, 'compute-2'), silent)).rejects.toThrow(
    `data: ${data} belongs to the host compute-1: take another folder for compute-2, or --name compute-1`,
  )
  writeFileSync(join(data, 'host.json'), '{"name": 1}')
  await expect(startHostProgram(hostOf(data, 'compute-1'), silent)).rejects.toThrow(
    `data: ${join(data, 'host.json')} does not say whose folder this is: Invalid type: Expected string but received 1`,
  )
})

/** The doctor beside a service that is well, and after somebody has killed a part of it. */
import { setTimeout as sleep } from 'node:timers/promises'
import { gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Finding } from '../../src/cli/doctor/check.ts'
import type { ControlMember, TestCluster, Member } from '../support/cluster.ts'
import { controlMember, hostMember } from '../support/cluster.ts'
import { freshPrefix, kafkaServer } from '../support/kafka.ts'
import { describeWith } from '../support/needs.ts'
import { freshDatabase } from '../support/postgres.ts'
import type { Database } from '../support/postgres.ts'
import { runProgram, tempFolder } from '../support/program.ts'

const folder = tempFolder('doctor')
let testCluster: TestCluster
let [database, control, host] = [{} as Database, {} as ControlMember, {} as Member]

const doctor = async () => {
  const kafka = ['--kafka', testCluster.brokers.join(','), '--kafka-prefix', testCluster.prefix]
  const own = ['doctor', '--json', '--database', testCluster.database, ...kafka, '--api', control.origin]
  const program = runProgram({ args: own })
  const { code } = await program.exited
  return { code, findings: JSON.parse(program.stdout()) as readonly Finding[] }
}
const of = (findings: readonly Finding[], check: string) => findings.find((each) => each.check === check)
const until = async (holds: (findings: readonly Finding[]) => boolean) => {
  for (let tries = 0; tries < 40; tries++) {
    const found = await doctor()
    if (holds(found.findings)) return found
    await sleep(250)
  }
  return doctor()
}

describeWith('postgres', 'the doctor', (bin) =>
  describeWith('kafka', 'beside a service', (rig) => {
    beforeAll(async () => {
      database = await freshDatabase(bin)
      const { options } = await kafkaServer(rig)
      testCluster = { database: database.url, brokers: options.brokers, prefix: freshPrefix(), folder: folder.path }
      control = await controlMember(testCluster, 'control-1')
      host = hostMember(testCluster, 'compute1', { devices: 1, handles: 4, hostWork: true })
      await Promise.all([control.start(), host.start()])
    })
    afterAll(async () => {
      await Promise.all([control, host].filter((each) => each.running() !== null).map((each) => each.end('SIGKILL')))
      await database.drop()
      folder.remove()
    })

    test('has no problem to tell: who relays, who reads, which host is up', async () => {
      const { code, findings } = await until((found) => of(found, 'hosts')?.says === '1 host, all up')
      expect(findings.filter(({ verdict }) => verdict === 'problem')).toEqual([])
      expect(code).toBe(0)
      expect(of(findings, 'hosts')?.says).toBe('1 host, all up')
      expect(of(findings, 'relay')?.says).toMatch(/ holds the lease \(epoch \d+\)/)
      expect(of(findings, 'controls')?.says).toMatch(/^1 member in group \S+control \(Stable\)/)
      expect(of(findings, 'host groups')?.says).toMatch(/^1 with a host/)
      expect(of(findings, 'api')?.verdict).toBe('ok')
      expect(of(findings, 'clock of the api')?.verdict).toBe('ok')
    })
    test('the control tells of its own lag by partition, and of the audit of its database, without a secret', async () => {
      const kafka = ['--kafka', testCluster.brokers.join(','), '--kafka-prefix', testCluster.prefix]
      const audit = runProgram({ args: ['audit', '--database', testCluster.database, ...kafka] })
      expect((await audit.exited).code).toBe(0)
      const asked = (path: string) => fetch(`${control.origin}/v2/${path}`, { signal: AbortSignal.timeout(60_000) })
      const text = await (await asked('system')).text()
      expect(JSON.parse(text)).toMatchObject({
        process: { program: 'control', pid: expect.any(Number) },
        store: { kind: 'postgres', power_loss: 'as_the_server_is_set' },
        consumers: {
          bus: 'kafka',
          problem: null,
          lags: expect.arrayContaining([
            { topic: expect.any(String), group: 'control', partition: 0, messages: expect.any(Number) },
          ]),
        },
        neighbours: expect.arrayContaining([
          { name: 'database', state: 'in_use', detail: null },
          { name: 'kafka', state: 'in_use', detail: null },
        ]),
        journal_writes: { count: expect.any(Number) },
        last_audit: { violations: 0, violated: [] },
      })
      expect(text).not.toContain(testCluster.database)
      const bundle = await asked('system/support_bundle')
      const archive = gunzipSync(Buffer.from(await bundle.arrayBuffer())).toString('utf8')
      expect(archive).toContain('"check": "relay"')
      expect(archive).toContain('accelerando_bus_consumer_lag_messages')
      expect(archive).not.toContain(testCluster.database)
    })
    test('the control asks its host for a report over Kafka, and shows the dead letters of the topic', async () => {
      const ask = (path: string, method = 'GET') =>
        fetch(`${control.origin}/v2/${path}`, { method, signal: AbortSignal.timeout(60_000) })
      expect([200, 202]).toContain((await ask('hosts/compute1/probe', 'POST')).status)
      const probed = async () => ((await (await ask('hosts/compute1')).json()) as { probe: object }).probe
      await expect.poll(probed, { timeout: 30_000 }).toMatchObject({ answer: { devices: 1, failed_drivers: [] } })
      const letters = async () => {
        const answered = await ask('dead_letters')
        return { status: answered.status, body: await answered.json() }
      }
      await expect.poll(letters, { timeout: 30_000 }).toMatchObject({ status: 200, body: { dead_letters: [] } })
    })
    test('says that nobody answers and nobody takes reports once the control is gone', async () => {
      await control.end('SIGKILL')
      const { code, findings } = await until((found) => of(found, 'controls')?.verdict === 'problem')
      expect(code).toBe(7)
      expect(of(findings, 'controls')).toMatchObject({ verdict: 'problem', says: expect.stringContaining('0 members') })
      expect(of(findings, 'api')).toMatchObject({ verdict: 'problem', says: expect.stringContaining('ECONNREFUSED') })
      expect(of(findings, 'relay')?.says).toMatch(/^the lease of .* ended .* ago and nobody took it/)
    })
  }),
)

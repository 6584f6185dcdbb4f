/** A host under another runtime: it joins the real broker, reports, and carries out what a control on Node orders. */
import { spawnSync } from 'node:child_process'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type ControlMember, type TestCluster, controlMember, hostArgs } from '../support/cluster.ts'
import { freshPrefix, kafkaServer } from '../support/kafka.ts'
import { describeWith } from '../support/needs.ts'
import { type Database, freshDatabase } from '../support/postgres.ts'
import { type Program, runProgram, tempFolder } from '../support/program.ts'

const LONG = 120_000
const NAME = 'compute-deno'
const folder = tempFolder('deno-host')
let database: Database
let control: ControlMember
let host: Program

/** What npm puts into the PATH starts the real one as a child, which a kill would not reach. */
const executable = (deno: string): string =>
  spawnSync(deno, ['eval', 'console.log(Deno.execPath())'], { encoding: 'utf8', timeout: 30_000 }).stdout.trim()

const sized = ['--demo-devices', '1', '--demo-handles', '4']
const settings = (prefix: string) => ({
  ACCELERANDO_KAFKA_PREFIX: prefix,
  ACCELERANDO_DEMO_HOST_WORK: 'true',
  ACCELERANDO_HOST_REPORT_EVERY_SECONDS: '1',
  ACCELERANDO_HOST_HEARTBEAT_EVERY_SECONDS: '0.5',
})

const open = async (bin: string, rig: string, deno: string): Promise<void> => {
  const [fresh, { options }] = await Promise.all([freshDatabase(bin), kafkaServer(rig)])
  database = fresh
  const testCluster: TestCluster = {
    database: fresh.url,
    brokers: options.brokers,
    prefix: freshPrefix(),
    folder: folder.path,
  }
  control = await controlMember(testCluster, 'control-1')
  await control.start()
  const args = [...hostArgs(testCluster, NAME), ...sized]
  host = runProgram({ args, env: settings(testCluster.prefix), runtime: [executable(deno), 'run', '-A'] })
  await host.said(new RegExp(`^ready ${NAME}$`, 'm'), LONG)
}

describeWith('deno', 'a host under Deno', (deno) =>
  describeWith('postgres', 'with a control on Node over PostgreSQL', (bin) =>
    describeWith('kafka', 'and Kafka', (rig) => {
      beforeAll(() => open(bin, rig, deno), LONG)
      afterAll(async () => {
        await Promise.all([host?.end('SIGKILL'), control?.running() && control.end('SIGKILL')])
        await database?.drop()
        folder.remove()
      }, LONG)

      test('it reports its device, binds one ARQ with work of its own, and ends in order', async () => {
        const { client } = control
        await expect.poll(client.deployables, { timeout: 30_000, interval: 100 }).toHaveLength(1)
        const [place] = await client.deployables()
        const bound = await client.bind(place!, NAME)
        expect(bound).toMatchObject({ state: 'Bound', hostname: NAME, attach_handle_type: 'PCI' })
        expect(host.logged().filter(({ level }) => level >= 50)).toEqual([])
        expect(await host.end('SIGTERM')).toMatchObject({ code: 0 })
      })
    }),
  ),
)

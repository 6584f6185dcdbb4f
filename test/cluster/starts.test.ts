/** How a control and a host start and end: what they refuse, what they wait for, what they load. */
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  type ControlMember,
  type TestCluster,
  type Member,
  controlMember,
  hostArgs,
  hostMember,
} from '../support/cluster.ts'
import { type Broker, freshPrefix, ownBroker } from '../support/kafka.ts'
import { recordLoads } from '../support/loads.ts'
import { describeWith } from '../support/needs.ts'
import { freshDatabase } from '../support/postgres.ts'
import { isAlive, runProgram, tempFolder } from '../support/program.ts'

const LONG = 90_000
/** What outlives a Ctrl-C for longer is killed by whoever supervises it. */
const STOP_MS = 10_000
const NOWHERE = { database: 'postgresql://postgres@127.0.0.1:9/none', brokers: ['127.0.0.1:9'], prefix: '' }
const folder = tempFolder('starts')
const SIZE = { devices: 1, handles: 2, hostWork: true }

const failed = async (args: readonly string[], env: Readonly<Record<string, string>> = {}) => {
  const program = runProgram({ args, env })
  const { code } = await program.exited
  return { code, stdout: program.stdout(), stderr: program.stderr() }
}

describe('what is refused', () => {
  test('a control without database, Kafka and authentication, each named', async () => {
    const { code, stdout, stderr } = await failed(['control'])
    expect([code, stdout]).toEqual([2, ''])
    for (const key of ['database', 'kafka.brokers', 'auth'])
      expect(stderr).toMatch(new RegExp(`^ {2}- ${key}: must`, 'm'))
  })
  test('a control beyond this machine without a word more', async () => {
    const given = [
      '--database',
      NOWHERE.database,
      '--kafka',
      '127.0.0.1:9',
      '--auth',
      'noauth',
      '--listen',
      '0.0.0.0:0',
    ]
    const { code, stderr } = await failed(['control', ...given])
    expect([code, stderr]).toEqual([2, expect.stringMatching(/listen: must be a loopback address.*--noauth-anywhere/)])
  })
  test('a host without Kafka', async () => {
    expect(await failed(['host'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('kafka.brokers: must be set'),
    })
  })
  test('a second host on a folder, and another host on it for good', async () => {
    const testCluster: TestCluster = { ...NOWHERE, folder: folder.path }
    const first = runProgram({ args: hostArgs(testCluster, 'one') })
    const mark = join(folder.path, 'one', 'host.json')
    while (!existsSync(mark)) await sleep(20)
    expect(await failed(hostArgs(testCluster, 'one'))).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(new RegExp(`data: .*one is in use by process ${first.pid}`)),
    })
    await first.end('SIGKILL')
    const moved = hostArgs(testCluster, 'two').map((word) => (word.endsWith('/two') ? join(folder.path, 'one') : word))
    expect(await failed(moved)).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/data: .*one belongs to the host one: take another folder for two, or --name one/),
    })
    writeFileSync(mark, 'x')
    expect(await failed(hostArgs(testCluster, 'one'))).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/data: .*host.json does not say whose folder this is/),
    })
  })
})

test('a host that is told to end while it waits for Kafka ends well', async () => {
  const host = runProgram({ args: hostArgs({ ...NOWHERE, folder: folder.path }, 'waiting') })
  while (!existsSync(join(folder.path, 'waiting', 'host.json'))) await sleep(20)
  const { code, tookMs } = await host.end('SIGTERM')
  expect(code).toBe(0)
  expect(tookMs).toBeLessThan(STOP_MS)
  expect(host.stdout()).toBe('')
})

describeWith('postgres', 'with a database', (bin) =>
  describeWith('kafka', 'and a broker that comes and goes', (rig) => {
    let [broker, testCluster] = [null as Broker | null, null as TestCluster | null]
    let control: ControlMember
    let host: Member
    /** What the host program loads. */
    const loads = recordLoads(folder.path)
    beforeAll(async () => {
      const { url } = await freshDatabase(bin)
      broker = await ownBroker(rig)
      testCluster = { database: url, brokers: broker.options.brokers, prefix: freshPrefix(), folder: folder.path }
      control = await controlMember(testCluster, 'control')
      host = hostMember(testCluster, 'compute1', SIZE, loads.env)
    }, LONG)
    afterAll(async () => {
      for (const { running } of [control, host]) if (isAlive(running()?.pid ?? -1)) await running()?.end('SIGKILL')
      await broker?.kill()
      folder.remove()
    }, LONG)
    const readyz = async () =>
      (await (await fetch(`${control.admin}/readyz`)).json()) as { readonly status: string; readonly reason?: string }

    test('a control that may not make topics does not start without them, and says what does', async () => {
      const strict = await controlMember(testCluster!, 'strict', { ACCELERANDO_KAFKA_CREATE_TOPICS: 'false' })
      await expect(strict.start()).rejects.toThrow(/topics are missing: .*host\.orders\.v1.*"accelerando topic create"/)
    })

    test('without a broker a control starts, says what is amiss, and goes on by itself when it is there', async () => {
      await broker!.stop()
      await control.start()
      expect(await readyz()).toMatchObject({ status: 'degraded', reason: expect.stringMatching(/^kafka: /) })
      expect(await control.client.hosts()).toEqual([])
      const late = host.start()
      await broker!.start()
      await late
      const end = performance.now() + 30_000
      while ((await readyz()).status !== 'ready' || (await control.client.deployables()).length === 0) {
        if (performance.now() > end) throw new Error(`not ready after 30 s: ${JSON.stringify(await readyz())}`)
        await sleep(50)
      }
      const [place] = await control.client.deployables()
      expect(await control.client.bind(place!, 'compute1')).toMatchObject({ state: 'Bound' })
    })

    test('the host program loads no database, no web framework and nothing of the control side', () => {
      const loaded = loads.loaded()
      expect(loaded.filter((url) => url.endsWith('/src/host/host.ts'))).toHaveLength(1)
      const heavy =
        /node_modules\/(@mikro-orm|pg|pg-pool|@electric-sql|hono|@hono)\/|\/src\/(cli\/system|actors\/controlPlane)\.ts$/
      expect(loaded.filter((url) => heavy.test(url))).toEqual([])
    })

    test('told to end while the broker stands still, both end well and in time', async () => {
      await broker!.pause()
      for (const member of [control, host]) {
        const { code, tookMs } = await member.end('SIGTERM')
        expect([member.name, code]).toEqual([member.name, 0])
        expect(tookMs).toBeLessThan(STOP_MS)
      }
    })
  }),
)

/** The hosts that a program starts: each with its own folder, its own devices, its names, and calls that are timed. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { inProcessBus } from '../../src/bus/inProcess/inProcess.ts'
import { loadConfig } from '../../src/cli/config/config.ts'
import { openMeter } from '../../src/cli/observe/metrics.ts'
import { demoHosts } from '../../src/cli/programs/demo.ts'
import { cleanerOf, type HostParts, startLocalHost, startSimulatedHosts } from '../../src/cli/programs/hosts.ts'
import { VERSION } from '../../src/cli/version.ts'
import { systemClock } from '../../src/clock.ts'
import { fakeDriver } from '../../src/drivers/simulated/fake.ts'
import { silent } from '../../src/log.ts'
import { CLEANED_HANDLE } from '../support/ansible.ts'
import { untraced } from '../../src/trace.ts'
import { folderFiles } from '../../src/neighbours/images/folder.ts'
import { pageOf, total } from '../telemetry/page.ts'
import { handClock, memoryLog, quiet, until } from '../support/lab.ts'
import { tempFolder } from '../support/program.ts'

const folder = tempFolder('host-programs')
afterAll(folder.remove)
type Reported = {
  readonly type: string
  readonly host: string
  readonly version: string
  readonly aliases: readonly string[]
  readonly observedAt: number
  readonly measured?: readonly { readonly at: number }[]
  readonly drivers: readonly { readonly driver: string; readonly devices: readonly unknown[] }[]
}
const opened = async (data: string, more: Partial<HostParts> = {}) => {
  const loaded = loadConfig({
    flags: { data: join(folder.path, data) },
    env: { ACCELERANDO_HOST_NAME: 'machine-1', ACCELERANDO_HOST_ALIASES: 'node-1,node-1.example.org' },
    readFile: () => '',
    osHostname: 'h',
  })
  const config = loaded.ok ? loaded.config : expect.fail(loaded.problems.join())
  const bus = inProcessBus({ clock: systemClock })
  const reports: Reported[] = []
  await bus.consume({
    topic: 'host.reports.v1',
    group: 'test',
    from: 'earliest',
    take: async ({ value }) => void reports.push((JSON.parse(value) as { readonly data: Reported }).data),
  })
  const parts: HostParts = { config, bus, images: folderFiles(null, silent), log: silent, ...more }
  const inventories = () => reports.filter(({ type }) => type === 'Inventory')
  return { config, bus, parts, reports, inventories }
}

test('simulated hosts report the devices of their plan under their names, and keep their files apart', async () => {
  const { config, bus, parts, inventories } = await opened('simulated')
  const plans = demoHosts({ kind: 'sized', seed: 's', hosts: 2, devices: 3, handles: 1, hostWork: false })
  const hosts = await startSimulatedHosts(parts, plans)
  expect(hosts.map(({ name }) => name)).toEqual(['sim-1', 'sim-2'])
  await until(() => new Set(inventories().map(({ host }) => host)).size === 2)
  for (const { host, version, aliases, drivers } of inventories()) {
    expect([version, aliases, drivers.map(({ driver }) => driver)]).toEqual([VERSION, [], ['simulated_driver']])
    expect(drivers[0]!.devices).toHaveLength(3)
    expect(existsSync(join(config.data, 'hosts', host))).toBe(true)
  }
  await Promise.all(hosts.map((host) => host.stop()))
  await bus.stop()
})
test('the host of this machine has its configured names, and the calls of its drivers are timed', async () => {
  const meter = openMeter()
  const { bus, parts, inventories } = await opened('local', { watching: { meter, tracer: untraced } })
  const host = await startLocalHost(parts, [fakeDriver()])
  expect(host.name).toBe('machine-1')
  await until(() => inventories().length > 0)
  expect(inventories()[0]).toMatchObject({
    host: 'machine-1',
    version: VERSION,
    aliases: ['node-1', 'node-1.example.org'],
    drivers: [{ driver: 'fake_driver' }],
  })
  const page = pageOf(await meter.registry.metrics())
  const labels = { driver: 'fake_driver', call: 'discover', outcome: 'done' }
  expect(total(page, 'accelerando_host_driver_seconds_count', labels)).toBeGreaterThan(0)
  await host.stop()
  await bus.stop()
})
test('what a driver warns of is logged with the name of its host, and what it keeps is apart from the rest', async () => {
  const log = memoryLog()
  const { config, bus, parts } = await opened('warned', { log })
  const states: string[] = []
  const driver = {
    ...fakeDriver(),
    discover: async (io: Parameters<ReturnType<typeof fakeDriver>['discover']>[0]) => {
      states.push(`${io.hostname} ${io.stateDir}`)
      io.warn('device.odd', { device: 'd1' })
      return []
    },
  }
  const host = await startLocalHost(parts, [driver])
  await until(() => states.length > 0)
  expect(states[0]).toBe(`machine-1 ${join(config.data, 'hosts', 'machine-1', 'drivers')}`)
  expect(log.said).toContainEqual({
    level: 'warn',
    detail: { host: 'machine-1', device: 'd1' },
    message: 'device.odd',
  })
  await host.stop()
  await bus.stop()
})
test('inventories, signs of life and measurements come as often as is configured', async () => {
  const clock = handClock()
  const { config, bus, parts, reports } = await opened('paced', { clock })
  const pace = { reportEveryMs: 70_000, heartbeatEveryMs: 8000, measureEveryMs: 9000 }
  const driver = { ...fakeDriver(), measure: async () => ({ devices: [] }) }
  const host = await startLocalHost({ ...parts, config: { ...config, host: { ...config.host, ...pace } } }, [driver])
  const of = (wanted: string) => reports.filter(({ type }) => type === wanted)
  const reaching = async (inventories: number) => {
    await until(() => of('Inventory').length === inventories)
    // the next one is planned when this one is sent
    await quiet()
  }
  await reaching(1)
  for (const inventories of [2, 3]) {
    for (let passed = 0; passed < 70_000; passed += 1000) await clock.pass(1000)
    await reaching(inventories)
  }
  const gaps = (moments: readonly number[]) => [...new Set(moments.slice(1).map((at, before) => at - moments[before]!))]
  const beats = of('Heartbeat')
  expect({
    reportEveryMs: gaps(of('Inventory').map(({ observedAt }) => observedAt)),
    heartbeatEveryMs: gaps(beats.map(({ observedAt }) => observedAt)),
    measureEveryMs: gaps(beats.flatMap(({ measured = [] }) => measured.map(({ at }) => at))),
  }).toEqual(Object.fromEntries(Object.entries(pace).map(([name, ms]) => [name, [ms]])))
  let stopped = false
  void host.stop().finally(() => (stopped = true))
  for (let n = 0; n < 1000 && !stopped; n++) await clock.pass(1000)
  expect(stopped).toBe(true)
  await bus.stop()
})

test('a playbook that cleans gets the search path and the home folder of this program, and nothing else of it', async () => {
  const { parts } = await opened('cleaner')
  const cleaning = [{ driver: 'pci_driver', kind: 'playbook', playbook: '/books/clean.yml', limitMs: 7 }] as const
  const config = { ...parts.config, cleaning, playbooks: { ...parts.config.playbooks, program: process.execPath } }
  const asked: unknown[] = []
  const { PATH, HOME } = process.env
  const cleaned = async () => {
    const cleaner = cleanerOf(config, {
      host: 'machine-1',
      clock: handClock(),
      run: async (program, args, environment, { timeoutMs, folder: where }, card) => {
        const own = Object.entries(environment).filter(([name]) => /^(?:PATH|HOME|PLANTED_SECRET)$/.test(name))
        asked.push([program, Object.fromEntries(own), timeoutMs, where, card])
        expect(args.join(' ')).toContain('"accelerando_host":"machine-1"')
        return { code: 1, why: null, outputSha256: '', outputBytes: 0, outputEnd: '' }
      },
    })
    expect([...cleaner.policies.keys()]).toEqual(['pci_driver'])
    await expect(cleaner.clean(CLEANED_HANDLE, new AbortController().signal)).rejects.toThrow(
      'cleaning failed: /books/clean.yml ended with exit code 1',
    )
  }
  process.env['PLANTED_SECRET'] = 'planted'
  try {
    await cleaned()
    Reflect.deleteProperty(process.env, 'HOME')
    await cleaned()
  } finally {
    Reflect.deleteProperty(process.env, 'PLANTED_SECRET')
    if (HOME !== undefined) process.env['HOME'] = HOME
  }
  const of = (own: object) => [process.execPath, own, 7, '/books', CLEANED_HANDLE.slot.deployable]
  expect(asked).toEqual([of({ PATH, ...(HOME === undefined ? {} : { HOME }) }), of({ PATH })])
})

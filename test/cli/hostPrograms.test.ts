/** The hosts that a program starts: each with its own folder, its own devices, its names, and calls that are timed. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { inProcessBus } from '../../src/bus/inProcess/inProcess.ts'
import { loadConfig } from '../../src/cli/config/config.ts'
import { openMeter } from '../../src/cli/observe/metrics.ts'
import { demoHosts } from '../../src/cli/programs/demo.ts'
import { type HostParts, startLocalHost, startSimulatedHosts } from '../../src/cli/programs/hosts.ts'
import { VERSION } from '../../src/cli/version.ts'
import { systemClock } from '../../src/clock.ts'
import { fakeDriver } from '../../src/drivers/simulated/fake.ts'
import { silent } from '../../src/log.ts'
import { untraced } from '../../src/trace.ts'
import { folderFiles } from '../../src/neighbours/images/folder.ts'
import { pageOf, total } from '../telemetry/page.ts'
import { until } from '../support/lab.ts'
import { tempFolder } from '../support/program.ts'

const folder = tempFolder('host-programs')
afterAll(folder.remove)
type Reported = {
  readonly type: string
  readonly host: string
  readonly version: string
  readonly aliases: readonly string[]
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
  return { config, bus, parts, inventories }
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

/** `accelerando start`, as an operator sees it: one folder, started, killed, stopped and started again. */
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { recordLoads } from '../support/loads.ts'
import { type Service, familyOf, isAlive, runProgram, startService, tempFolder } from '../support/program.ts'
import { type Arq, attributesOf, clientOf } from './client.ts'
import { expectCareOfHandle, handlesOf } from './handleCommands.ts'

const STOP_MS = 10_000
/** On a busy machine a start takes a multiple of what it takes alone. */
const STARTS = { timeout: 90_000 }
const folder = tempFolder('start')
const data = join(folder.path, 'made', 'with', 'parents')
const args = ['--data', data, '--listen', '127.0.0.1:0', '--admin-listen', '127.0.0.1:0']
const demo = {
  args: ['start', '--demo', ...args],
  // So that an idle minute is over soon.
  env: { ACCELERANDO_HOST_REPORT_EVERY_SECONDS: '0.2', ACCELERANDO_HOST_HEARTBEAT_EVERY_SECONDS: '0.2' },
}
let service: Service
let arq: Arq
let inventory: readonly string[]
const client = () => clientOf(service.base)
/** What may not change over a restart, a line each. */
const hardware = async () => [
  ...(await client().hosts()).map(({ name }) => name),
  ...(await client().devices()).map(({ uuid, hostname, type }) => `${uuid} ${hostname} ${type}`),
  ...(await client().deployables()).map(({ uuid, name, rp_uuid: rp }) => `${uuid} ${name} ${rp}`),
]

beforeAll(async () => {
  service = await startService(demo)
}, STARTS.timeout)
afterAll(async () => {
  if (isAlive(service.pid)) await service.end('SIGKILL')
  folder.remove()
})

describe('a demo', () => {
  test('says ready once, at column 0 and uncoloured, and serves from that moment', async () => {
    const lines = service.stdout().split('\n')
    expect(lines.filter((line) => line.includes('ready '))).toEqual([`ready ${service.origin}/v2`])
    expect(service.stdout()).not.toContain('\u001B')
    expect(await client().devices()).not.toEqual([])
  })
  test('prints the address of the API, the folder, and commands to try', () => {
    expect(service.stdout()).toContain(data)
    expect(service.stdout()).toMatch(/^ +(?:(?:npx )?accelerando|node \S+) status /m)
    expect(service.stdout()).toMatch(/^ +openstack .*accelerator/m)
  })
  test('logs on standard error only, a structure a line', () => {
    const lines = service.stderr().trimEnd().split('\n')
    for (const line of lines)
      expect(JSON.parse(line)).toMatchObject({ level: expect.any(Number), msg: expect.any(String) })
    expect(service.logged().map(({ msg }) => msg)).toContain('started')
  })
  test('answers health, readiness and its description without a token, and detail only beside the API', async () => {
    expect(await (await fetch(`${service.origin}/healthz`)).json()).toEqual({ status: 'ok' })
    expect(await (await fetch(`${service.origin}/readyz`)).json()).toEqual({ status: 'ready' })
    expect(await (await fetch(`${service.origin}/openapi.json`)).json()).toMatchObject({ openapi: /^3\.1/ })
    expect((await fetch(`${service.origin}/metrics`)).status).toBe(404)
    expect(await (await fetch(`${service.admin}/readyz`)).json()).toMatchObject({
      detail: { neighbours: { keystone: 'absent', placement: 'absent', nova: 'absent', images: 'absent' } },
    })
    expect(await (await fetch(`${service.admin}/metrics`)).text()).toContain('accelerando_actors_resident')
  })
  test('has no doors for tests', async () => {
    expect((await fetch(`${service.admin}/doors/residents`, { method: 'POST' })).status).toBe(404)
  })
  test('shows first an FPGA with 16 handles, on the host of the first device', async () => {
    const [device, place] = [(await client().devices())[0]!, (await client().deployables())[0]!]
    expect(device.type).toBe('FPGA')
    expect(place.num_accelerators).toBe(16)
    expect(place.name.startsWith(`${device.hostname}_`)).toBe(true)
    expect(attributesOf(place)['rc']).toBe('FPGA')
  })
  test('has several kinds of devices on several hosts, all of them up', async () => {
    expect(new Set((await client().devices()).map(({ type }) => type)).size).toBeGreaterThan(2)
    expect((await client().hosts()).length).toBeGreaterThan(2)
    expect(new Set((await client().hosts()).map(({ liveness }) => liveness))).toEqual(new Set(['up']))
  })
  test('binds an ARQ to a PCI address in hexadecimal', async () => {
    const [device, place] = [(await client().devices())[0]!, (await client().deployables())[0]!]
    arq = await client().bind(place, device.hostname)
    expect(arq).toMatchObject({ state: 'Bound', attach_handle_type: 'PCI' })
    for (const part of ['domain', 'bus', 'device', 'function'])
      expect(arq.attach_handle_info[part]).toMatch(/^[0-9a-f]+$/)
  })
  test('has handles that an operator lists, shows, keeps back and gives back', STARTS, async () => {
    await expectCareOfHandle(service, arq.hostname!)
    expect(await handlesOf(service).said('list', '--state', 'held')).toContain(arq.uuid)
  })
  test('changes no list while idle', async () => {
    const before = await client().everything()
    await sleep(1500)
    expect(await client().everything()).toBe(before)
  })
  test('keeps its folder from a second process, which says why and fails', STARTS, async () => {
    const second = runProgram(demo)
    const { code, signal } = await second.exited
    expect(signal).toBe(null)
    expect(code).not.toBe(0)
    expect(second.stderr()).toContain(`in use by process ${service.pid}`)
    expect(second.stdout()).toBe('')
    inventory = await hardware()
  })
})

describe('after a SIGKILL', () => {
  test('none of its processes is left', async () => {
    const family = familyOf(service.pid)
    await service.end('SIGKILL')
    await expect.poll(() => family.filter(isAlive)).toEqual([])
  })
  test(
    'the same command takes the folder over at once, and finds the same hosts, UUIDs and binds',
    STARTS,
    async () => {
      service = await startService(demo)
      expect(await hardware()).toEqual(inventory)
      expect(await client().bound(arq.uuid)).toMatchObject({
        state: 'Bound',
        attach_handle_info: arq.attach_handle_info,
      })
    },
  )
  test('SIGTERM ends it in order', async () => {
    const { code, tookMs } = await service.end('SIGTERM')
    expect(code).toBe(0)
    expect(tookMs).toBeLessThan(STOP_MS)
  })
})

describe('a plain start on the folder of a demo', () => {
  const loads = recordLoads(folder.path)
  const env = { ACCELERANDO_HOST_STALE_AFTER_SECONDS: '0.5', ...demo.env, ...loads.env }
  const plain = { args: ['start', ...args], env }

  test('has lost nothing and adds no simulated hosts', STARTS, async () => {
    service = await startService(plain)
    expect(await hardware()).toEqual(inventory)
    expect(await client().bound(arq.uuid)).toMatchObject({ state: 'Bound', attach_handle_info: arq.attach_handle_info })
  })
  test('shows the simulated hosts stale, and this machine up', async () => {
    const until = Date.now() + 15_000
    const stale = async () =>
      (await client().hosts()).filter(({ liveness }) => liveness === 'stale').map(({ name }) => name)
    while ((await stale()).length < 3 && Date.now() < until) await sleep(50)
    const hosts = await client().hosts()
    expect(await stale()).toEqual(hosts.map(({ name }) => name).filter((name) => name.startsWith('sim-')))
    expect(hosts.filter(({ liveness }) => liveness === 'up')).toHaveLength(1)
  })
  test('loads no MikroORM, because there is nothing to migrate', () => {
    const loaded = loads.loaded()
    expect(loaded.filter((url) => url.endsWith('/src/persistence/open.ts'))).toHaveLength(1)
    expect(loaded.filter((url) => /node_modules\/(@mikro-orm|kysely)\//.test(url))).toEqual([])
  })
  test('Ctrl-C ends it in order, too', async () => {
    const { code, tookMs } = await service.end('SIGINT')
    expect(code).toBe(0)
    expect(tookMs).toBeLessThan(STOP_MS)
  })
})

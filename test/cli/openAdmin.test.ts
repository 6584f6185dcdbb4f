/** The admin listener of a control: where it listens, what it says of readiness, and what it opens for tests. */
import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { afterEach, expect, test } from 'vitest'
import { openMeter } from '../../src/cli/observe/metrics.ts'
import { openAdmin } from '../../src/cli/programs/admin.ts'
import { type Listening, urlOf } from '../../src/cli/programs/listen.ts'
import { memoryStore } from '../../src/persistence/memory/memory.ts'
import { memoryLog } from '../support/lab.ts'

const NEIGHBOURS = { keystone: 'absent', placement: 'absent', nova: 'absent', images: 'absent' }
let open: Listening[] = []
afterEach(async () => {
  await Promise.all(open.map(({ close }) => close(0)))
  open = []
})

type Given = {
  readonly port?: number
  readonly chosen?: boolean
  readonly testDoors?: boolean
  readonly control?: string | null
  readonly notReady?: () => string | null
  readonly degraded?: () => string | null
  readonly hosts?: readonly object[]
}
const opened = async ({
  port = 0,
  chosen = true,
  testDoors = false,
  control = null,
  hosts = [],
  ...more
}: Given = {}) => {
  const [log, meter] = [memoryLog(), openMeter()]
  const system = {
    plane: {
      counts: () => ({}),
      region: { kill: (key: string) => key === 'arq/a', residents: () => ['arq/a'], counts: () => ({}) },
      sweeper: { nova: () => ({}) },
      control: { notReady: () => control },
    },
    relay: { state: () => ({ active: true }) },
    inbox: { counts: () => ({ taken: 3 }) },
    events: { state: () => ({ ended: {} }) },
    bus: {},
  }
  const listening = await openAdmin({
    config: { adminListen: { host: '127.0.0.1', port, chosen }, testDoors, http: { trustedHosts: [] } } as never,
    meter,
    store: memoryStore(),
    system: system as never,
    hosts: hosts as never,
    log,
    neighbours: () => NEIGHBOURS,
    ...more,
  })
  open.push(listening)
  const asked = async (path: string, init: RequestInit = {}) => {
    const answer = await fetch(`${urlOf(listening)}${path}`, init)
    return [answer.status, await answer.json()]
  }
  return { log, meter, listening, asked }
}

const DETAIL = { relay: { active: true }, inbox: { taken: 3 }, actors: 1, hosts: [], neighbours: NEIGHBOURS }
test('it is ready unless somebody says why not, and degraded where it works in part', async () => {
  const well = await opened()
  expect(await well.asked('/readyz')).toEqual([200, { status: 'ready', detail: DETAIL }])
  expect(well.log.said).toEqual([{ level: 'info', detail: NEIGHBOURS, message: 'neighbours' }])
  const degraded = () => 'kafka: away'
  const part = await opened({ degraded })
  expect(await part.asked('/readyz')).toEqual([200, { status: 'degraded', reason: 'kafka: away', detail: DETAIL }])
  const stopping = await opened({ degraded, control: 'the journal is stopped', notReady: () => 'stopping' })
  expect(await stopping.asked('/readyz')).toEqual([503, { status: 'not ready', reason: 'stopping', detail: DETAIL }])
  const stopped = await opened({ control: 'the journal is stopped', notReady: () => null })
  expect((await stopped.asked('/readyz'))[1]).toMatchObject({ reason: 'the journal is stopped' })
})

test('the hosts of the process are named, and measured together', async () => {
  const host = (name: string, ordersInHand: number) => ({
    name,
    bootId: `boot of ${name}`,
    load: () => ({ ordersInHand, resultsWaiting: 0 }),
    measured: () => [],
  })
  const { asked, meter } = await opened({ hosts: [host('h1', 1), host('h2', 2)] })
  const named = ['h1', 'h2'].map((name) => ({ name, bootId: `boot of ${name}` }))
  expect(await asked('/readyz')).toEqual([200, { status: 'ready', detail: { ...DETAIL, hosts: named } }])
  const name = 'accelerando_host_orders_in_hand'
  expect(await meter.registry.getSingleMetricAsString(name)).toMatch(/ 3$/m)
  expect((await opened()).meter.registry.getSingleMetric(name)).toBeUndefined()
})

test('a target that names another host than its Host header is refused', async () => {
  const { port } = (await opened()).listening
  const headers = { host: `127.0.0.1:${port}` }
  const statusOf = async (path: string): Promise<number | undefined> => {
    const [answer] = (await once(request({ port, path, headers }).end(), 'response')) as [IncomingMessage]
    answer.resume()
    return answer.statusCode
  }
  expect(await statusOf('http://evil.example/metrics')).toBe(400)
  expect(await statusOf(`http://127.0.0.1:${port}/healthz`)).toBe(200)
})

test('there are doors only for tests', async () => {
  const closed = await opened()
  const kill = (key: string) => ({ method: 'POST', body: JSON.stringify({ key }) })
  expect((await closed.asked('/doors/residents', { method: 'POST' }))[0]).toBe(404)
  const { asked } = await opened({ testDoors: true })
  expect(await asked('/doors/residents', { method: 'POST' })).toEqual([200, { result: ['arq/a'] }])
  expect(await asked('/doors/kill-actor', kill('arq/a'))).toEqual([200, { result: { killed: true } }])
  expect(await asked('/doors/kill-actor', kill('arq/b'))).toEqual([200, { result: { killed: false } }])
})

test('a default address that is taken is not insisted on, one that was chosen is', async () => {
  const { listening } = await opened()
  const { log, listening: other } = await opened({ port: listening.port, chosen: false })
  expect(other.port).not.toBe(listening.port)
  expect(log.said[1]).toMatchObject({
    level: 'warn',
    detail: { host: '127.0.0.1', port: listening.port },
    message: 'the default admin address is taken, any free port is used',
  })
  await expect(opened({ port: listening.port })).rejects.toThrow('EADDRINUSE')
})

/** The metrics page of the real program, after binds of every outcome. */
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { METRICS, METRIC_PREFIX } from '../../src/cli/observe/metricsTable.ts'
import { ROUTES } from '../../src/http/routes/all.ts'
import { CATALOGUE } from '../../src/wire/catalogue.ts'
import { clientOf, type Deployable } from '../e2e/client.ts'
import { embeddedStoreIn } from '../support/embedded.ts'
import { openNovaServer } from '../support/novaServer.ts'
import { type Service, startService, tempFolder } from '../support/program.ts'
import { type Page, pageOf, total } from './page.ts'

const STARTS = 90_000
const folder = tempFolder('metrics')
let nova: Awaited<ReturnType<typeof openNovaServer>>
let service: Service
let page: Page
let refusal = ''

const scrape = async (): Promise<Page> => {
  const response = await fetch(`${service.admin}/metrics`)
  expect(response.headers.get('content-type')).toContain('text/plain')
  return pageOf(await response.text())
}
const until = async (holds: (page: Page) => boolean): Promise<Page> => {
  for (const end = Date.now() + 20_000; ; await sleep(100)) {
    const now = await scrape()
    if (holds(now)) return now
    if (Date.now() > end) throw new Error(JSON.stringify(now.samples, null, 1))
  }
}
const count = (name: keyof typeof METRICS, labels: Readonly<Record<string, string>> = {}, part = '') =>
  total(page, `${METRIC_PREFIX}${name}${part}`, labels)

beforeAll(async () => {
  nova = await openNovaServer()
  nova.place('everyone', 'on a host')
  const size = ['--demo-hosts', '1', '--demo-devices', '1', '--demo-handles', '3']
  await embeddedStoreIn(join(folder.path, 'store'))
  service = await startService({
    args: ['start', ...size, '--data', folder.path, '--listen', '127.0.0.1:0', '--nova-url', nova.url],
    env: { ACCELERANDO_ADMIN_LISTEN: '127.0.0.1:0' },
  })
  const client = clientOf(service.base)
  const [place] = (await client.deployables()) as readonly [Deployable]
  for (const _ of [1, 2, 3]) await client.bind(place, 'sim-1')
  await client.bind(place, 'sim-1').catch((error: unknown) => (refusal = String(error)))
  await client.call('GET', `/devices/${randomUUID()}`)
  await client.call('GET', '/no/such/path')
  await until((now) => total(now, 'accelerando_nova_events_total', { outcome: 'delivered' }) === 3)
  // what is read from the database is some seconds old
  page = await until((now) => total(now, 'accelerando_hosts', { liveness: 'up' }) >= 2)
}, STARTS)
afterAll(async () => {
  await service?.end('SIGTERM')
  await nova?.close()
  folder.remove()
}, STARTS)

describe('the metrics page', () => {
  test('counts binds by outcome and reason, and times those that had a host to wait for', () => {
    expect(count('bind_requests_total', { outcome: 'accepted', reason: 'none' })).toBe(3)
    expect(refusal).toContain('answers 409')
    expect(count('bind_requests_total', { outcome: 'refused', reason: 'conflict' })).toBe(1)
    expect(count('binds_ended_total', { outcome: 'completed', reason: 'none' })).toBe(3)
    expect(count('binds_ended_total', { outcome: 'failed' })).toBe(0)
    expect(count('bind_seconds', { host_work: 'yes', outcome: 'completed' }, '_count')).toBe(3)
    expect(count('bind_seconds', {}, '_sum')).toBeLessThan(60)
    expect(count('deadlines_missed_total')).toBe(0)
  })
  test('counts what the journal, the bus and the host did for them', () => {
    expect(count('journal_appends_total', { verdict: 'appended' })).toBeGreaterThan(9)
    expect(count('journal_append_seconds', {}, '_count')).toBe(count('journal_appends_total'))
    expect(count('journal_batch_appends', {}, '_sum')).toBe(count('journal_appends_total', { verdict: 'appended' }))
    // three orders, and an answer to each of the two hosts, which started without a ledger
    expect(count('bus_messages_total', { topic: 'host.orders.v1' })).toBe(5)
    expect(count('host_orders_total', { type: 'PrepareSlot', outcome: 'done' })).toBe(3)
    expect(count('host_driver_seconds', { call: 'prepare', outcome: 'done' }, '_count')).toBe(3)
    expect(count('relay_active')).toBe(1)
    expect(page.samples.filter(({ name }) => name.endsWith('journal_writing_stopped'))).toMatchObject([{ value: 0 }])
    expect(count('relay_lag_seconds')).toBeLessThan(5)
    expect(count('inbox_messages_total', { outcome: 'taken' })).toBeGreaterThan(2)
    expect(count('actors_resident')).toBeGreaterThan(5)
    expect(count('dead_letters_total')).toBe(0)
  })
  test('times requests by route and class of status', () => {
    const bind = { method: 'PATCH', route: '/v2/accelerator_requests' }
    expect(count('http_request_seconds', { ...bind, status: '2xx' }, '_count')).toBe(3)
    expect(count('http_request_seconds', { ...bind, status: '4xx' }, '_count')).toBe(1)
    expect(count('http_request_seconds', { route: 'none', status: '4xx' }, '_count')).toBe(1)
  })
  test('shows the process', () => {
    for (const name of [
      'process_cpu_seconds_total',
      'process_resident_memory_bytes',
      'nodejs_eventloop_lag_p99_seconds',
    ])
      expect(total(page, name)).toBeGreaterThan(0)
  })
  test('holds metrics of the table only, under the types of the table', () => {
    const own = [...page.types].filter(([name]) => name.startsWith(METRIC_PREFIX))
    const table = Object.entries(METRICS).map(([name, { type }]) => [`${METRIC_PREFIX}${name}`, type])
    expect(table).toEqual(expect.arrayContaining(own))
    expect(own.length).toBeGreaterThan(25)
  })
  test('has labels from closed lists only: no uuid, no host, no project', () => {
    const closed: Readonly<Record<string, readonly string[]>> = {
      route: ['none', ...ROUTES.map(({ path }) => path)],
      topic: ['other', ...Object.values(CATALOGUE).map(({ topic }) => topic)],
    }
    const own = page.samples.filter(({ name }) => name.startsWith(METRIC_PREFIX))
    const values = own.flatMap(({ labels }) => Object.entries(labels))
    for (const [label, value] of values) {
      if (closed[label]) expect(closed[label]).toContain(value)
      else expect(value).toMatch(label === 'le' ? /^[\d.]+$|^\+Inf$/ : /^[A-Za-z0-9_]{1,30}$/)
      expect(value).not.toMatch(/sim-1|[0-9a-f]{8}-/)
    }
    const series = new Map<string, Set<string>>()
    for (const {
      name,
      labels: { le: _, ...labels },
    } of own)
      series.set(name, (series.get(name) ?? new Set()).add(JSON.stringify(labels)))
    expect(Math.max(...[...series.values()].map(({ size }) => size))).toBeLessThan(100)
  })
})

/** What the process that answers knows of itself, and the archive that it makes for maintainers. */
import { gunzipSync } from 'node:zlib'
import type { Hono } from 'hono'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { inProcessBus } from '../../src/bus/inProcess/inProcess.ts'
import { Unreadable } from '../../src/actors/runtime/unreadable.ts'
import { memoryStores } from '../support/memoryStore/memory.ts'
import { systemClock } from '../../src/vocabulary/clock.ts'
import { createApp } from '../../src/http/app.ts'
import { noauth } from '../../src/http/identity.ts'
import { silent } from '../../src/vocabulary/log.ts'
import { openTestStore } from '../support/stores.ts'
import { SECRET, systemHere } from '../support/systemHere.ts'
import { createTestApp } from './app.ts'
import { openWorkshop, speaker } from './cloud.ts'
import { as, expectRefusal } from './steps.ts'

type Shop = Awaited<ReturnType<typeof openWorkshop>>
let shop: Shop
beforeAll(async () => void (shop = await openWorkshop({ hostWork: false })))
afterAll(() => shop.close())

const POWER_LOSS = { memory: 'everything', pglite: 'last_commits', postgres: 'as_the_server_is_set' } as const

const over = (
  parts: Omit<Parameters<typeof systemHere>[0], 'app'>,
  rules: Readonly<Record<string, string>> = {},
  hindered: () => string | null = () => null,
): Hono => {
  const system = systemHere({ ...parts, app: () => app })
  const options = { policy: { enforceNewDefaults: true, rules } }
  const app: Hono = createApp({ control: shop.control, identify: noauth, log: silent, system, options, hindered })
  return app
}
const factsWith = async (parts: Parameters<typeof over>[0] = {}) =>
  (await speaker(over(parts)).must(200, 'GET /v2/system')).json

describe('the facts', () => {
  test('name each option with its value as an operator writes it and its source, and no secret', async () => {
    const { configuration } = await factsWith()
    const optionOf = (key: string) => configuration.find((each: { key: string }) => each.key === key)
    expect(optionOf('listen')).toEqual({
      key: 'listen',
      value: '127.0.0.1:7000',
      source: 'argument',
      from: '--listen',
      secret: false,
    })
    expect(optionOf('log.level')).toMatchObject({ source: 'environment', from: 'ACCELERANDO_LOG_LEVEL' })
    expect(optionOf('arq.unbound_ttl')).toMatchObject({ value: 90, source: 'file', from: '/etc/accelerando.toml' })
    expect(optionOf('bind.deadline_seconds')).toMatchObject({ source: 'default', from: null })
    expect(optionOf('bind.deadline_seconds').value).toBeLessThan(300)
    expect(optionOf('nova.headers')).toMatchObject({ value: '(hidden)', source: 'environment', secret: true })
    expect(optionOf('database')).toMatchObject({ value: null, source: 'default', secret: true })
    expect(JSON.stringify(configuration)).not.toContain(SECRET)
  })

  test('say of each neighbour whether it is used, not configured or failing, and why', async () => {
    const { neighbours } = await factsWith({
      neighbours: {
        keystone: 'in use',
        images: 'the image service',
        nova: 'absent',
        placement: `401 for http://user:pass-word@placement with ${SECRET}`,
      },
    })
    expect(neighbours).toEqual([
      { name: 'keystone', state: 'in_use', detail: null },
      { name: 'images', state: 'in_use', detail: 'the image service' },
      { name: 'nova', state: 'absent', detail: null },
      { name: 'placement', state: 'failing', detail: '401 for http://user:(hidden)@placement with (hidden)' },
    ])
  })

  test('count what each consumer group has not finished, by partition, the largest first', async () => {
    const bus = inProcessBus({ clock: systemClock, partitions: 2 })
    const { promise: never } = Promise.withResolvers<void>()
    await bus.consume({ topic: 'host.reports.v1', group: 'controls', from: 'earliest', take: () => never })
    await bus.publish(['a', 'a', 'a'].map((key) => ({ topic: 'host.reports.v1', key, value: '{}', headers: {} })))
    const { consumers } = await factsWith({ bus })
    expect(consumers).toMatchObject({ bus: 'in_process', lags_left_out: 0, problem: null })
    expect(consumers.lags.map(({ messages }: { messages: number }) => messages)).toEqual([3, 0])
    expect(consumers.lags[0]).toMatchObject({ topic: 'host.reports.v1', group: 'controls' })
  })

  test('say why the lag is not known, while the other facts are told', async () => {
    const away = {
      ...inProcessBus({ clock: systemClock }),
      lagsByPartition: async () => Promise.reject(new Error('Kafka at 127.0.0.1:9092 cannot be reached')),
    }
    const { consumers, versions } = await factsWith({ bus: away })
    expect(consumers).toMatchObject({ lags: null, problem: 'Kafka at 127.0.0.1:9092 cannot be reached' })
    expect(versions.api).toEqual({ min: '2.0', max: '2.3' })
  })

  test('tell how long the last writes of this process took, or that there were none', async () => {
    expect((await factsWith()).journal_writes).toBeNull()
    const writes = () => ({ count: 100, since: 1_000, p50: 50, p90: 90, p99: 99, max: 100 })
    expect((await factsWith({ writes })).journal_writes).toEqual({
      count: 100,
      since: '1970-01-01T00:00:01+00:00',
      p50_ms: 50,
      p90_ms: 90,
      p99_ms: 99,
      max_ms: 100,
    })
  })

  test('tell the last audit that is recorded in the store, and what a power loss takes away', async () => {
    const store = await openTestStore(() => 0)
    expect(await factsWith({ store })).toMatchObject({ last_audit: null, store: { kind: store.kind } })
    const audit = { version: '1.2.3', invariants: 57, violations: 2, violated: ['S1'], rows: 9, seconds: 0.5 }
    const recorded = { at: 1_000, ...audit, sources: ['the database'] }
    await store.journal.saveCheckpoint('audit', JSON.stringify(recorded))
    const facts = await factsWith({ store })
    expect(facts.last_audit).toEqual({ at: '1970-01-01T00:00:01+00:00', ...audit, sources: ['the database'] })
    expect(facts.store.power_loss).toBe(POWER_LOSS[store.kind])
    await store.close()
  })

  test('are told while the database does not answer, with what cannot be read of it', async () => {
    const beforeRead = async () => Promise.reject(new Unreadable('the journal cannot be read: ECONNREFUSED'))
    const store = memoryStores({ exclusive: false, beforeRead })()
    const away = { store, neighbours: { database: 'connect ECONNREFUSED' } }
    const app = over(away, {}, () => 'the database does not answer')
    expectRefusal(await speaker(app).say('GET /v2/hosts'), 503)
    const facts = (await speaker(app).must(200, 'GET /v2/system')).json
    expect(facts).toMatchObject({
      neighbours: [{ name: 'database', state: 'failing', detail: 'connect ECONNREFUSED' }],
      last_audit: null,
      last_audit_problem: 'the journal cannot be read: ECONNREFUSED',
    })
  })

  test('are refused to others than administrators, with the name of the rule', async () => {
    const member = speaker(createTestApp(shop.control), as('member'))
    for (const path of ['system', 'system/support_bundle']) {
      const got = await member.say(`GET /v2/${path}`)
      expectRefusal(got, 403)
      expect(got.text).toContain(path === 'system' ? 'cyborg:system:get' : 'cyborg:system:support_bundle')
    }
  })
})

describe('the support bundle', () => {
  const bundleOf = async (app: Hono, headers: Readonly<Record<string, string>> = {}) => {
    const answer = await app.request('/v2/system/support_bundle', { headers })
    expect(answer.status).toBe(200)
    const content = Buffer.from(await answer.arrayBuffer())
    const text = gunzipSync(content).toString('utf8')
    return { headers: answer.headers, text }
  }
  test('is an archive to be saved, with the parts of the command and without secrets', async () => {
    const { headers, text } = await bundleOf(over({}))
    expect(headers.get('content-type')).toBe('application/gzip')
    expect(headers.get('content-disposition')).toMatch(
      /^attachment; filename="accelerando-support-\d{8}T\d{6}Z\.tar\.gz"$/,
    )
    expect(headers.get('cache-control')).toBe('no-store')
    for (const name of [
      'manifest.json',
      'versions.json',
      'configuration.json',
      'doctor.json',
      'system.json',
      'hosts.json',
    ])
      expect(text).toContain(`${name}\0`)
    expect(text).toContain('"key": "nova.headers"')
    expect(text).toContain('"sim-1"')
    expect(text).not.toContain(SECRET)
  })

  test('holds only what the caller may read, and names the rules that keep the rest', async () => {
    const app = over({}, { 'cyborg:system:support_bundle': 'role:auditor' })
    const { text } = await bundleOf(app, as('auditor'))
    expect(text).not.toContain('"sim-1"')
    for (const rule of ['cyborg:system:get', 'cyborg:overview:get', 'cyborg:host:get_all', 'cyborg:drift:get_all'])
      expect(text).toContain(`403 Access to ${rule} is denied.`)
  })

  test('is made once at a time; another is refused until it is there', async () => {
    const app = over({})
    const first = app.request('/v2/system/support_bundle')
    const other = await app.request('/v2/system/support_bundle')
    expect([other.status, Number(other.headers.get('retry-after')) > 0]).toEqual([429, true])
    expect(await other.text()).toContain('this process is making another support bundle')
    expect((await first).status).toBe(200)
    expect((await app.request('/v2/system/support_bundle')).status).toBe(200)
  })
})

/** What surrounds each request: the headers of its answer, its entry in the log, its span and its measurement. */
import { Registry } from 'prom-client'
import { describe, expect, test } from 'vitest'
import { done } from '../../src/vocabulary/fault.ts'
import type { AppParts } from '../../src/http/app.ts'
import { memoryLog } from '../support/lab.ts'
import { version } from './steps.ts'
import type { Sent } from './steps.ts'
import { tell, uuid } from './toldControl.ts'

const [A, B, C] = [uuid(1), uuid(2), uuid(3)] as const
const NO_ROWS = { items: [], next: null }
const ANSWERS = { 'devices.list': NO_ROWS, 'devices.standings': [], 'devices.setStatus': null, 'arqs.unbind': null }
const unbind = { body: { [B]: [{ op: 'remove', path: '/hostname' }] } }
const failing = (kind: string) => async () => ({ ok: false, fault: { kind, reason: 'a secret', retryAfterSeconds: 4 } })

/** The clock moves by 250 ms while a request is answered. */
const observed = async (
  line: string,
  answers: Readonly<Record<string, unknown>> = ANSWERS,
  sent: Sent = {},
  parts: Partial<AppParts> = {},
) => {
  const [log, metrics] = [memoryLog(), new Registry()]
  const spans: unknown[] = []
  const enter = (name: string, caller: string | undefined) => ({
    trace: caller,
    end: (...given: readonly unknown[]) => void spans.push([name, ...given]),
  })
  let now = 1000
  const clock = { now: () => 0, monotonic: () => (now += 125), after: () => () => {} }
  const all = { log, metrics, clock, tracer: { enter } as never, ids: { uuid: () => A, ordered: () => A }, ...parts }
  const { got } = await tell(line, answers, sent, all)
  const entries = log.said.map(({ level, message, detail }) => [level, message, detail])
  return { got, entries, spans, metrics, headers: Object.fromEntries(got.headers) }
}
const OWN = { 'x-openstack-request-id': `req-${A}`, 'x-content-type-options': 'nosniff' }
const VERSIONED = {
  ...OWN,
  'openstack-api-minimum-version': '2.0',
  'openstack-api-maximum-version': '2.5',
  vary: 'OpenStack-API-Version',
}
const JSON_TYPE = { 'content-type': 'application/json' }

describe('the headers of an answer', () => {
  const at = (minor: number) => ({ ...VERSIONED, 'openstack-api-version': `accelerator 2.${minor}` })
  test.each<[line: string, sent: Sent, status: number, headers: object]>([
    ['GET /v2/devices', { headers: version(3) }, 200, { ...at(3), ...JSON_TYPE }],
    ['GET /', {}, 200, { ...OWN, ...JSON_TYPE }],
    [`POST /v2/devices/${C}/enable`, {}, 204, at(5)],
    ['PATCH /v2/accelerator_requests', unbind, 202, { ...at(5), 'content-length': '0' }],
    ['PUT /v2/devices', {}, 405, { ...at(5), ...JSON_TYPE, allow: 'GET, HEAD' }],
    ['GET /v2/nothing', {}, 404, { ...at(5), ...JSON_TYPE }],
    ['GET /v2/devices', { headers: version(9) }, 406, { ...VERSIONED, ...JSON_TYPE }],
  ])('%s', async (line, sent, status, headers) => {
    const { got, headers: found } = await observed(line, ANSWERS, sent)
    expect([got.status, found]).toEqual([status, headers])
  })
  test('say when to come back, and how callers are authenticated', async () => {
    const busy = await observed('GET /v2/devices', { 'devices.list': failing('unavailable') })
    expect([busy.got.status, busy.headers]).toEqual([503, { ...at(5), ...JSON_TYPE, 'retry-after': '4' }])
    const fault = { kind: 'unauthenticated', challenge: 'Keystone' } as const
    const identify = () => ({ ok: false, fault }) as const
    const nobody = await observed('GET /v2/devices', ANSWERS, {}, { identify })
    expect(nobody.headers).toEqual({ ...VERSIONED, ...JSON_TYPE, 'www-authenticate': 'Keystone' })
  })
  test('name no newer version than is offered', async () => {
    const options = { additiveMicroversion: false }
    const { headers } = await observed('GET /v2', ANSWERS, { headers: version(1) }, { options })
    expect(headers).toMatchObject({
      'openstack-api-maximum-version': '2.3',
      'openstack-api-version': 'accelerator 2.1',
    })
  })
})

describe('the entry in the log', () => {
  const fields = { request: `req-${A}`, caused_by: undefined, took_ms: expect.any(Number), remote: 'inside' }
  const caller = { user: expect.any(String), project: expect.any(String) }
  test('of a question is for those who look for errors, that of a change for all', async () => {
    const asked = await observed('GET /v2/devices?limit=3')
    const of = { ...fields, ...caller, method: 'GET', path: '/v2/devices', status: 200 }
    expect(asked.entries).toEqual([['debug', 'http.answered', of]])
    expect((await observed('HEAD /v2/devices')).entries).toMatchObject([['debug', 'http.answered', { method: 'HEAD' }]])
    const { entries } = await observed(`POST /devices/${C}/enable`, ANSWERS)
    const path = `/v2/devices/${C}/enable`
    expect(entries).toEqual([['info', 'http.answered', { ...fields, ...caller, method: 'POST', path, status: 204 }]])
  })
  test('names the request that caused it, and its trace', async () => {
    const headers = { 'X-OpenStack-Request-Id': `req-${B}`, traceparent: 't' }
    const { entries } = await observed('GET /healthz', ANSWERS, { headers })
    const of = { ...fields, caused_by: `req-${B}`, method: 'GET', path: '/healthz', status: 200, trace: 't' }
    expect(entries).toEqual([['debug', 'http.answered', { ...of, took_ms: 250 }]])
  })
  test('of what failed says why, which the answer does only where the hardware failed', async () => {
    const request = `req-${A}`
    const broken = await observed('GET /v2/devices', { 'devices.list': failing('broken') })
    expect([broken.got.status, broken.got.text.includes('secret')]).toEqual([500, false])
    expect(broken.entries[0]).toEqual(['error', 'http.failed', { request, reason: 'a secret' }])
    const failed = await observed('GET /v2/devices', { 'devices.list': failing('device_failure') })
    expect([failed.got.status, failed.got.text.includes('secret')]).toEqual([500, true])
    expect(failed.entries[0]).toEqual(['warn', 'http.device_failed', { request, reason: 'a secret' }])
    const thrown = await observed('GET /v2/devices', {})
    expect(thrown.entries[0]).toEqual(['error', 'http.failed', { request, err: expect.any(Error) }])
    for (const { entries } of [broken, failed, thrown])
      expect(entries.map(([, message]) => message)).toEqual([entries[0]![1], 'http.answered'])
  })
  test('of other refusals is the only one', async () => {
    const { entries } = await observed('GET /v2/devices', { 'devices.list': failing('conflict') })
    expect(entries.map(([, message]) => message)).toEqual(['http.answered'])
  })
})

describe('a list of several portions', () => {
  const device = (id: string) => ({ uuid: id, created_at: 0, updated_at: null })
  const first = done({ items: [device(A)], next: { value: 1, key: A } })
  const last = done({ items: [device(B)], next: null })
  /** What the control answers, one after the other. */
  const portions = (...all: readonly unknown[]) => {
    const left = [...all]
    return { 'devices.list': async () => left.shift(), 'devices.standings': [] }
  }
  const headers = { ...VERSIONED, ...JSON_TYPE, 'openstack-api-version': 'accelerator 2.5' }
  const entryOf = (method: string, status: number) => [
    'debug',
    'http.answered',
    expect.objectContaining({ request: `req-${A}`, method, path: '/v2/devices', status, took_ms: expect.any(Number) }),
  ]
  test('has the headers of any other, and one entry in the log', async () => {
    const whole = await observed('GET /v2/devices', portions(first, last))
    expect(whole.got.json.devices.map((one: { uuid: string }) => one.uuid)).toEqual([A, B])
    expect([whole.got.status, whole.headers, whole.entries]).toEqual([200, headers, [entryOf('GET', 200)]])
    const head = await observed('HEAD /v2/devices', portions(first))
    expect([head.got.status, head.got.text, head.headers, head.entries]).toEqual([
      200,
      '',
      headers,
      [entryOf('HEAD', 200)],
    ])
  })
  test('is refused while the places are taken, with the time after which to ask again', async () => {
    const longLists = { what: 'long lists', all: 1, project: 0, waiting: 0, retryAfterSeconds: 1 }
    const {
      got,
      headers: found,
      entries,
    } = await observed('GET /v2/devices', portions(first), {}, { shares: { longLists } })
    expect([got.status, got.fault, found, entries]).toEqual([
      429,
      'The project has 0 of the 1 places for long lists, which is its share.',
      { ...headers, 'retry-after': '1' },
      [entryOf('GET', 429)],
    ])
  })
  test('that is broken off says why in the log', async () => {
    const log = memoryLog()
    const refusal = { ok: false, fault: { kind: 'conflict', reason: 'no more' } }
    const why = 'the next portion of the list: no more'
    await expect(observed('GET /v2/devices', portions(first, refusal), {}, { log })).rejects.toThrow(why)
    const entries = log.said.map(({ level, message, detail }) => [level, message, detail])
    expect(entries).toEqual([['warn', 'http.broken_off', { request: `req-${A}`, reason: why }], entryOf('GET', 200)])
  })
})

describe('the span of a request', () => {
  const traced = { headers: { traceparent: 't' } }
  const of = (status: number, id = A) => ({
    'http.request.method': 'GET',
    'http.route': '/v2/devices',
    'http.response.status_code': status,
    'openstack.request_id': `req-${id}`,
  })
  test('says what was answered, and has failed where the service has', async () => {
    expect((await observed('GET /v2/devices', ANSWERS, traced)).spans).toEqual([
      ['GET /v2/devices', undefined, of(200)],
    ])
    const refusal = await observed('GET /v2/devices?limit=0', ANSWERS, traced)
    expect(refusal.spans).toEqual([['GET /v2/devices', undefined, of(400)]])
    const broken = await observed('GET /v2/devices', { 'devices.list': failing('broken') }, traced)
    expect(broken.spans).toEqual([['GET /v2/devices', 'answered 500', of(500)]])
  })
  test('carries the id of the request that caused it', async () => {
    const headers = { ...traced.headers, 'X-OpenStack-Request-Id': `req-${B}` }
    expect((await observed('GET /v2/devices', ANSWERS, { headers })).spans).toEqual([
      ['GET /v2/devices', undefined, of(200, B)],
    ])
  })
  test('that is not recorded is not ended', async () => expect((await observed('GET /v2/devices')).spans).toEqual([]))
})

test('answers are measured by route, by class of status, and by the methods that HTTP knows', async () => {
  const measured = async (line: string, answers: object = ANSWERS) => {
    const { metrics } = await observed(line, answers as never)
    const { values } = await metrics.getSingleMetric('accelerando_http_request_seconds')!.get()
    const named = (name: string) =>
      values.find((each) => 'metricName' in each && String(each.metricName).endsWith(name))!
    return [named('_count').labels, named('_count').value, named('_sum').value, values.length]
  }
  const labels = (method: string, route: string, status: string) => ({ method, route, status })
  // eleven buckets, the one without an end, the sum and the count
  expect(await measured('GET /healthz')).toEqual([labels('GET', '/healthz', '2xx'), 1, 0.25, 14])
  expect((await measured('PROPFIND /v2/devices'))[0]).toEqual(labels('other', 'none', '4xx'))
  for (const method of ['HEAD', 'POST', 'PATCH', 'PUT', 'DELETE', 'OPTIONS'])
    expect((await measured(`${method} /v2/nothing`))[0]).toEqual(labels(method, 'none', '4xx'))
  expect((await measured(`POST /v2/devices/${C}/enable`))[0]).toEqual(labels('POST', '/v2/devices/:uuid/enable', '2xx'))
  const broken = { 'devices.list': failing('broken') }
  expect((await measured('GET /v2/devices', broken))[0]).toEqual(labels('GET', '/v2/devices', '5xx'))
})

test('mistakes for which existing clients expect 500 have their real status where that is not wanted', async () => {
  const sent = { body: [{ name: '', groups: [{ 'resources:FPGA': '1' }] }] }
  const strict = { options: { compat: { tempestServerFaults: false } } }
  const [usual, other] = [
    await tell('POST /v2/device_profiles', {}, sent),
    await tell('POST /v2/device_profiles', {}, sent, strict),
  ]
  const [first, second] = [usual, other].map(({ got }) => [got.status, got.json.errors[0].code, got.fault])
  expect(first).toEqual([500, 'accelerator.invalid', 'Invalid name: it is empty'])
  expect(second).toEqual([400, 'accelerator.invalid', 'Invalid name: it is empty'])
})

test('a process that tells nothing of itself and serves no events says so, and when to ask again', async () => {
  const why = async (line: string) => {
    const { got } = await tell(line, {})
    return [got.status, got.headers.get('retry-after'), got.fault]
  }
  for (const path of ['system', 'system/support_bundle'])
    expect(await why(`GET /v2/${path}`)).toEqual([503, '60', 'this process tells nothing of itself'])
  expect(await why('GET /v2/events')).toEqual([503, '60', 'this process serves no events'])
})

/** A bind through the real program, as a collector of traces sees it. */
import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { clientOf, type Deployable } from '../e2e/client.ts'
import { embeddedStoreIn } from '../support/embedded.ts'
import { openNovaServer } from '../support/novaServer.ts'
import { type Service, startService, tempFolder } from '../support/program.ts'
import { type Collected, openCollector } from './collector.ts'

const STARTS = 90_000
const folder = tempFolder('trace')
let collector: Awaited<ReturnType<typeof openCollector>>
let nova: Awaited<ReturnType<typeof openNovaServer>>
let service: Service

beforeAll(async () => {
  collector = await openCollector()
  nova = await openNovaServer()
  nova.place('everyone', 'on a host')
  const size = ['--demo-hosts', '1', '--demo-devices', '1', '--demo-handles', '4']
  await embeddedStoreIn(join(folder.path, 'store'))
  service = await startService({
    args: ['start', ...size, '--data', folder.path, '--listen', '127.0.0.1:0', '--nova-url', nova.url],
    env: {
      ACCELERANDO_ADMIN_LISTEN: '127.0.0.1:0',
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_SERVICE_NAME: 'accelerators',
      OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment=test',
      OTEL_BSP_SCHEDULE_DELAY: '20',
      OTEL_TRACES_SAMPLER: 'sometimes',
    },
  })
}, STARTS)
afterAll(async () => {
  await service?.end('SIGTERM')
  await nova?.close()
  await collector?.close()
  folder.remove()
}, STARTS)

/** As Nova sends it, in a trace of its own. */
const bind = async (headers: Readonly<Record<string, string>>): Promise<string> => {
  const client = clientOf(service.base)
  const [place] = (await client.deployables()) as readonly [Deployable]
  const name = `traced-${randomUUID()}`
  await client.wanted(201, 'POST', '/device_profiles', [{ name, groups: [{ 'resources:FPGA': '1' }] }])
  const made = await client.wanted(201, 'POST', '/accelerator_requests', { device_profile_name: name })
  const { uuid } = (made['arqs'] as readonly { readonly uuid: string }[])[0]!
  const values = { hostname: 'sim-1', device_rp_uuid: place.rp_uuid, instance_uuid: randomUUID() }
  const operations = Object.entries(values).map(([key, value]) => ({ op: 'add', path: `/${key}`, value }))
  const response = await fetch(`${service.base}/accelerator_requests`, {
    method: 'PATCH',
    headers: { 'content-type': 'application/json', 'x-service-roles': 'service', ...headers },
    body: JSON.stringify({ [uuid]: operations }),
  })
  expect(response.status, await response.text()).toBe(202)
  expect(await client.bound(uuid)).toMatchObject({ state: 'Bound' })
  return uuid
}
const traceId = () => randomUUID().replaceAll('-', '')
const CALLER = '00f067aa0ba902b7'
const attributesOf = ({ attributes }: Collected) =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]))
const goesTo = (topic: string) => (span: Collected) =>
  String(attributesOf(span)['messaging.destination.name']).split(' ').includes(topic)

describe('a bind in a trace of its caller', () => {
  const trace = traceId()
  const of = () => collector.spans.filter((span) => span.traceId === trace)
  const one = (name: string) => {
    const found = of().filter((span) => span.name === name)
    expect(
      found,
      `${name} among ${of()
        .map((span) => span.name)
        .join(', ')}`,
    ).toHaveLength(1)
    return found[0]!
  }
  beforeAll(async () => {
    await bind({ traceparent: `00-${trace}-${CALLER}-01` })
    await collector.until((spans) => spans.some((span) => span.traceId === trace && span.name === 'nova notify'))
  }, STARTS)

  test('goes from the request through the bind, the host and its driver to the result, and to Nova', () => {
    const request = one('PATCH /v2/accelerator_requests')
    const accepted = one('bind')
    const order = one('order PrepareSlot')
    const chain = [request, accepted, order, one('driver prepare')]
    expect(chain.map(({ parentSpanId }) => parentSpanId)).toEqual([
      CALLER,
      request.spanId,
      accepted.spanId,
      order.spanId,
    ])
    expect(one('result taken').parentSpanId).toBe(order.spanId)
    expect(one('nova notify').parentSpanId).toBe(accepted.spanId)
    expect(of().every(({ status }) => (status.code ?? 0) === 0)).toBe(true)
  })
  test('shows what was published, and under what', () => {
    const published = of().filter(({ name }) => name === 'publish')
    const parents = (topic: string) => published.filter(goesTo(topic)).map(({ parentSpanId }) => parentSpanId)
    expect(parents('host.orders.v1')).toEqual([one('bind').spanId])
    expect(parents('host.reports.v1')).toEqual([one('order PrepareSlot').spanId])
  })
  test('names route, status and the request of OpenStack', () => {
    expect(attributesOf(one('PATCH /v2/accelerator_requests'))).toMatchObject({
      'http.request.method': 'PATCH',
      'http.route': '/v2/accelerator_requests',
      'openstack.request_id': expect.stringMatching(/^req-/),
    })
    expect(one('PATCH /v2/accelerator_requests').kind).toBe(2)
  })
  test('tells Nova its trace', () => {
    const headers = nova.requests.map((request) => request.headers['traceparent'])
    expect(headers).toContain(`00-${trace}-${one('nova notify').spanId}-01`)
  })
})

describe('the trace of a request', () => {
  test('is a new one when the caller has none, or one that cannot be read', async () => {
    const before = new Set(collector.spans.map((span) => span.traceId))
    await fetch(`${service.base}/devices`)
    await fetch(`${service.base}/devices`, { headers: { traceparent: `00-${'0'.repeat(32)}-${CALLER}-01` } })
    const fresh = () => collector.spans.filter((span) => span.name === 'GET /v2/devices' && !before.has(span.traceId))
    await collector.until(() => fresh().length >= 2)
    expect(new Set(fresh().map((span) => span.traceId)).size).toBe(2)
    expect(fresh().every(({ parentSpanId }) => !parentSpanId)).toBe(true)
  })
  test('is not recorded when the caller says so', async () => {
    const [quiet, heard] = [traceId(), traceId()]
    await bind({ traceparent: `00-${quiet}-${CALLER}-00` })
    await bind({ traceparent: `00-${heard}-${CALLER}-01` })
    await collector.until((spans) => spans.some((span) => span.traceId === heard && span.name === 'nova notify'))
    expect(collector.spans.filter((span) => span.traceId === quiet)).toEqual([])
  })
  test('comes from a service that is named as the operator wants, to the path of the standard', () => {
    expect(collector.resources[0]).toMatchObject({ 'service.name': 'accelerators', 'deployment.environment': 'test' })
    expect([...collector.paths]).toEqual(['/v1/traces'])
  })
  test('is recorded as usual when a variable cannot be used, and the log says which', () => {
    const warned = service.logged().filter(({ msg }) => msg === 'telemetry.variable')
    expect(warned).toMatchObject([{ variable: 'OTEL_TRACES_SAMPLER', rule: expect.stringContaining('traceidratio') }])
  })
})

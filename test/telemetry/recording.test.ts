/** The tracer over OpenTelemetry in this process: what a collector is sent of spans, and what is left out. */
import { expect, test } from 'vitest'
import { openTelemetry } from '../../src/cli/observe/telemetry.ts'
import { NO_SPAN, untraced } from '../../src/vocabulary/trace.ts'
import { memoryLog } from '../support/lab.ts'
import { type Collected, ENDPOINT, collectorOfEachTest } from './collector.ts'

const TRACE = 'a'.repeat(32)
const CALLER = '1'.repeat(16)
const parentOf = (flags: string, version = '00', more = '') => `${version}-${TRACE}-${CALLER}-${flags}${more}`

const collector = collectorOfEachTest()

const opened = async (more: Readonly<Record<string, string>> = {}) => {
  const log = memoryLog()
  const env = { [ENDPOINT]: collector().url, ...more }
  return { ...(await openTelemetry('accelerando-test', log, env)), log }
}
const shown = ({ name, kind, traceId, parentSpanId, status, attributes }: Collected) => ({
  name,
  kind,
  trace: traceId === TRACE ? 'given' : 'own',
  parent: parentSpanId ?? null,
  status,
  attributes: Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]])),
})

test('spans are sent with their kind, their parent, their end and their attributes', async () => {
  const { tracer, close, log } = await opened()
  const entered = tracer.enter('entered', parentOf('01'))
  expect(entered.trace).toMatch(new RegExp(`^00-${TRACE}-[0-9a-f]{16}-01$`))
  for (const kind of ['server', 'client', 'producer', 'consumer', 'internal'] as const)
    tracer.part(kind, kind, entered.trace, { kind }).end()
  tracer.part('internal', 'failed', entered.trace).end('f'.repeat(1001), { more: 'x'.repeat(1001), count: 3 })
  entered.end(undefined, { status: 200 })
  tracer.enter('alone', undefined).end()
  await close()
  const own = entered.trace!.slice(36, 52)
  const whole = { trace: 'given', parent: own, status: { code: 0 }, attributes: {} }
  expect(collector().spans.map(shown)).toEqual([
    ...['server', 'client', 'producer', 'consumer', 'internal'].map((name) => ({
      ...whole,
      name,
      kind: { internal: 1, server: 2, client: 3, producer: 4, consumer: 5 }[name],
      attributes: { kind: name },
    })),
    {
      ...whole,
      name: 'failed',
      kind: 1,
      status: { code: 2, message: 'f'.repeat(1000) },
      attributes: { more: 'x'.repeat(1000), count: 3 },
    },
    { ...whole, name: 'entered', kind: 2, parent: CALLER, attributes: { status: 200 } },
    { ...whole, name: 'alone', kind: 2, trace: 'own', parent: null },
  ])
  expect(collector().resources[0]).toMatchObject({
    'service.name': 'accelerando-test',
    'service.instance.id': String(process.pid),
  })
  expect(log.said).toEqual([
    {
      level: 'info',
      detail: { service: 'accelerando-test', sampler: 'parentbased_always_on' },
      message: 'telemetry.on',
    },
  ])
})

test.each([
  ['a caller of a later version, with fields that are not known', parentOf('01', '01', '-more'), 'given'],
  ['a text that is none', 'nonsense', 'own'],
  ['a version that is forbidden', parentOf('01', 'ff'), 'own'],
  ['a text with something before it', `x${parentOf('01')}`, 'own'],
  ['a text with something behind it', `${parentOf('01')}x`, 'own'],
  ['a trace of zeros', parentOf('01').replaceAll('a', '0'), 'own'],
])('%s', async (_, caller, trace) => {
  const { tracer, close } = await opened()
  tracer.enter('entered', caller).end()
  await close()
  expect(collector().spans.map(shown)).toMatchObject([{ trace }])
})

test.each([
  ['parentbased_always_on', '00', 0],
  ['parentbased_always_on', '03', 1],
  ['always_on', '00', 1],
  ['always_off', '01', 0],
  ['parentbased_always_off', '01', 1],
])('%s records of a caller with the flags %s so many spans: %d', async (sampler, flags, count) => {
  const { tracer, close } = await opened({ OTEL_TRACES_SAMPLER: sampler })
  const span = tracer.enter('entered', parentOf(flags))
  expect(span === NO_SPAN).toBe(count === 0)
  span.end()
  await close()
  expect(collector().spans).toHaveLength(count)
})
test.each([
  ['traceidratio', '0', 0],
  ['traceidratio', '1', 1],
  ['parentbased_traceidratio', '0', 0],
])('%s %s records %d of the traces that begin here', async (sampler, ratio, count) => {
  const { tracer, close } = await opened({ OTEL_TRACES_SAMPLER: sampler, OTEL_TRACES_SAMPLER_ARG: ratio })
  tracer.enter('entered', undefined).end()
  await close()
  expect(collector().spans).toHaveLength(count)
})

test('what belongs to no trace is not recorded, and neither is anything where nobody asked for it', async () => {
  const { tracer, close } = await opened()
  expect(tracer.part('internal', 'part', undefined)).toBe(NO_SPAN)
  await close()
  expect(collector().spans).toEqual([])
  for (const env of [
    {},
    { [ENDPOINT]: '' },
    { [ENDPOINT]: collector().url, OTEL_SDK_DISABLED: ' True ' },
    { [ENDPOINT]: collector().url, OTEL_TRACES_EXPORTER: ' none ' },
  ]) {
    const off = await openTelemetry('accelerando-test', memoryLog(), env)
    expect(off.tracer).toBe(untraced)
    await off.close()
  }
  const other = await openTelemetry('t', memoryLog(), { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${collector().url}/x` })
  expect(other.tracer).not.toBe(untraced)
  await other.close()
})

test('a variable that makes no sense is said', async () => {
  const { log, close } = await opened({ OTEL_TRACES_SAMPLER: 'sometimes' })
  await close()
  expect(log.said[0]).toMatchObject({
    level: 'warn',
    detail: { variable: 'OTEL_TRACES_SAMPLER' },
    message: 'telemetry.variable',
  })
})

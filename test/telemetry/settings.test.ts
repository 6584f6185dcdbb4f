/** The variables of the environment by which traces are set up. */
import { expect, test } from 'vitest'
import { traceSettings } from '../../src/cli/observe/telemetrySettings.ts'

const STANDARD = {
  sampler: 'parentbased_always_on',
  ratio: 1,
  queueMax: 2048,
  batchMax: 512,
  everyMs: 5000,
  exportMs: 30_000,
}
const RULE = 'must be a number from 1 to 1000000'
test.each<readonly [env: Readonly<Record<string, string>>, settings: object, told: readonly string[]]>([
  [{}, {}, []],
  [{ OTEL_TRACES_SAMPLER: ' always_off ' }, { sampler: 'always_off' }, []],
  [{ OTEL_TRACES_SAMPLER: 'always_on', OTEL_TRACES_SAMPLER_ARG: '7' }, { sampler: 'always_on' }, []],
  [{ OTEL_TRACES_SAMPLER: 'traceidratio', OTEL_TRACES_SAMPLER_ARG: '0' }, { sampler: 'traceidratio', ratio: 0 }, []],
  [
    { OTEL_TRACES_SAMPLER: 'traceidratio', OTEL_TRACES_SAMPLER_ARG: '2' },
    { sampler: 'traceidratio' },
    ['OTEL_TRACES_SAMPLER_ARG must be from 0 to 1'],
  ],
  [{ OTEL_TRACES_SAMPLER: 'traceidratio', OTEL_TRACES_SAMPLER_ARG: ' ' }, { sampler: 'traceidratio' }, []],
  [
    { OTEL_TRACES_SAMPLER: 'xtraceidratio' },
    {},
    [
      'OTEL_TRACES_SAMPLER must be one of always_on, always_off, traceidratio, parentbased_always_on, parentbased_always_off, parentbased_traceidratio',
    ],
  ],
  [{ OTEL_BSP_MAX_QUEUE_SIZE: '100.9' }, { queueMax: 100, batchMax: 100 }, []],
  [
    { OTEL_BSP_MAX_QUEUE_SIZE: '1000000', OTEL_BSP_MAX_EXPORT_BATCH_SIZE: '1' },
    { queueMax: 1_000_000, batchMax: 1 },
    [],
  ],
  [{ OTEL_BSP_MAX_QUEUE_SIZE: '1000001' }, {}, [`OTEL_BSP_MAX_QUEUE_SIZE ${RULE}`]],
  [{ OTEL_BSP_MAX_EXPORT_BATCH_SIZE: '0.9' }, {}, [`OTEL_BSP_MAX_EXPORT_BATCH_SIZE ${RULE}`]],
  [{ OTEL_BSP_SCHEDULE_DELAY: '7', OTEL_BSP_EXPORT_TIMEOUT: '8' }, { everyMs: 7, exportMs: 8 }, []],
  [{ OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json' }, {}, []],
  [
    { OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: 'grpc', OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json' },
    {},
    ['OTEL_EXPORTER_OTLP_PROTOCOL only http/json is spoken'],
  ],
])('settings of traces: %j', (env, settings, told) => {
  const heard: string[] = []
  expect(traceSettings(env, (variable, rule) => heard.push(`${variable} ${rule}`))).toEqual({
    ...STANDARD,
    ...settings,
  })
  expect(heard).toEqual(told)
})

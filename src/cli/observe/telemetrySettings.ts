/**
 * Trace settings, read from the standard `OTEL_*` variables. The exporter reads the variables about its destination
 * itself.
 */
import type { Tracer } from '../../vocabulary/trace.ts'

export type Telemetry = {
  readonly tracer: Tracer
  /** Sends the remaining spans, within a time limit. */
  readonly close: () => Promise<void>
}
export type Environment = Readonly<Record<string, string | undefined>>
export const SAMPLERS = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
] as const
export type TraceSettings = {
  readonly sampler: (typeof SAMPLERS)[number]
  readonly ratio: number
  readonly queueMax: number
  readonly batchMax: number
  readonly everyMs: number
  readonly exportMs: number
}

/** As the OpenTelemetry specification requires, an invalid value is reported and the default is used. */
export const traceSettings = (env: Environment, report: (variable: string, rule: string) => void): TraceSettings => {
  const number = (variable: string, standard: number, least: number, most: number, rule: string): number => {
    const text = env[variable]?.trim()
    if (text === undefined || text === '') return standard
    const value = Number(text)
    if (value >= least && value <= most) return value
    report(variable, rule)
    return standard
  }
  const count = (variable: string, standard: number) =>
    Math.floor(number(variable, standard, 1, 1_000_000, 'must be a number from 1 to 1000000'))
  const wanted = env['OTEL_TRACES_SAMPLER']?.trim() || 'parentbased_always_on'
  const sampler = SAMPLERS.find((name) => name === wanted)
  if (sampler === undefined) report('OTEL_TRACES_SAMPLER', `must be one of ${SAMPLERS.join(', ')}`)
  const ratio = wanted.endsWith('traceidratio') ? number('OTEL_TRACES_SAMPLER_ARG', 1, 0, 1, 'must be from 0 to 1') : 1
  const protocol = env['OTEL_EXPORTER_OTLP_TRACES_PROTOCOL'] || env['OTEL_EXPORTER_OTLP_PROTOCOL']
  if (protocol && protocol !== 'http/json') report('OTEL_EXPORTER_OTLP_PROTOCOL', 'only http/json is spoken')
  const queueMax = count('OTEL_BSP_MAX_QUEUE_SIZE', 2048)
  return {
    sampler: sampler ?? 'parentbased_always_on',
    ratio,
    queueMax,
    batchMax: Math.min(queueMax, count('OTEL_BSP_MAX_EXPORT_BATCH_SIZE', 512)),
    everyMs: count('OTEL_BSP_SCHEDULE_DELAY', 5000),
    exportMs: count('OTEL_BSP_EXPORT_TIMEOUT', 30_000),
  }
}

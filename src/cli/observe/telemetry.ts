/** Enables tracing when the standard `OTEL_*` variables ask for it. While it is off, no tracing library is loaded. */
import type { Log } from '../../vocabulary/log.ts'
import { untraced } from '../../vocabulary/trace.ts'
import { type Environment, type Telemetry, traceSettings } from './telemetrySettings.ts'

const OFF: Telemetry = { tracer: untraced, close: async () => {} }

const isOn = (env: Environment): boolean => {
  const endpoint = env['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'] || env['OTEL_EXPORTER_OTLP_ENDPOINT']
  const disabled = env['OTEL_SDK_DISABLED']?.trim().toLowerCase() === 'true'
  return Boolean(endpoint) && !disabled && env['OTEL_TRACES_EXPORTER']?.trim() !== 'none'
}

/** `service` is the service name to use when neither `OTEL_SERVICE_NAME` nor `OTEL_RESOURCE_ATTRIBUTES` gives one. */
export const openTelemetry = async (service: string, log: Log, env: Environment = process.env): Promise<Telemetry> => {
  if (!isOn(env)) return OFF
  const settings = traceSettings(env, (variable, rule) => log.warn({ variable, rule }, 'telemetry.variable'))
  const { recording } = await import('./telemetryRecording.ts')
  return recording(service, settings, log)
}

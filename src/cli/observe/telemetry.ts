/** Whether traces are recorded: the standard `OTEL_*` variables say. Nothing of it is loaded while it is off. */
import type { Log } from '../../log.ts'
import { untraced } from '../../trace.ts'
import { type Environment, type Telemetry, traceSettings } from './telemetrySettings.ts'

const OFF: Telemetry = { tracer: untraced, close: async () => {} }

const isOn = (env: Environment): boolean => {
  const endpoint = env['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'] || env['OTEL_EXPORTER_OTLP_ENDPOINT']
  const disabled = env['OTEL_SDK_DISABLED']?.trim().toLowerCase() === 'true'
  return Boolean(endpoint) && !disabled && env['OTEL_TRACES_EXPORTER']?.trim() !== 'none'
}

/** `service` is its name where `OTEL_SERVICE_NAME` and `OTEL_RESOURCE_ATTRIBUTES` give none. */
export const openTelemetry = async (service: string, log: Log, env: Environment = process.env): Promise<Telemetry> => {
  if (!isOn(env)) return OFF
  const settings = traceSettings(env, (variable, rule) => log.warn({ variable, rule }, 'telemetry.variable'))
  const { recording } = await import('./telemetryRecording.ts')
  return recording(service, settings, log)
}

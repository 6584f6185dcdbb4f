/**
 * The tracer based on OpenTelemetry. Contexts are passed as W3C trace context texts, and spans are exported in batches
 * by OTLP over HTTP. The context is always passed explicitly, never taken from the asynchronous call chain.
 */
import {
  type Context,
  DiagLogLevel,
  type Span as Recorded,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
  diag,
  isSpanContextValid,
  trace,
} from '@opentelemetry/api'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import {
  defaultResource,
  detectResources,
  resourceAttributesEnvDetector,
  resourceFromAttributes,
  serviceNameEnvDetector,
} from '@opentelemetry/resources'
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  type Sampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace'
import { systemClock } from '../../vocabulary/clock.ts'
import { endedWithin } from '../../vocabulary/waiting.ts'
import type { Log } from '../../vocabulary/log.ts'
import { NO_SPAN, type Span, type SpanKind as Kind, type Tracer } from '../../vocabulary/trace.ts'
import type { Telemetry, TraceSettings } from './telemetrySettings.ts'

const KINDS: Readonly<Record<Kind, SpanKind>> = {
  server: SpanKind.SERVER,
  client: SpanKind.CLIENT,
  producer: SpanKind.PRODUCER,
  consumer: SpanKind.CONSUMER,
  internal: SpanKind.INTERNAL,
}
/** A stop waits at most this long for the collector. */
const CLOSE_MS = 2000
const VALUE_MAX = 1000

/** Later versions of the format may append fields after those known here. */
const TRACEPARENT = /^(?!ff)[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/

/** Text that cannot be parsed is ignored, and a new trace begins. */
const contextOf = (traceparent: string): Context => {
  const [, traceId, spanId, flags] = TRACEPARENT.exec(traceparent) ?? []
  if (!traceId || !spanId || !flags) return ROOT_CONTEXT
  const known = { traceId, spanId, traceFlags: Number.parseInt(flags, 16) & TraceFlags.SAMPLED, isRemote: true }
  return isSpanContextValid(known) ? trace.setSpanContext(ROOT_CONTEXT, known) : ROOT_CONTEXT
}

const spanOf = (recorded: Recorded): Span => {
  if (!recorded.isRecording()) return NO_SPAN
  const { traceId, spanId } = recorded.spanContext()
  return {
    trace: `00-${traceId}-${spanId}-01`,
    end: (failed, attributes) => {
      if (attributes) recorded.setAttributes(attributes)
      if (failed !== undefined) recorded.setStatus({ code: SpanStatusCode.ERROR, message: failed.slice(0, VALUE_MAX) })
      recorded.end()
    },
  }
}

const samplerOf = ({ sampler, ratio }: TraceSettings): Sampler => {
  const based = sampler.startsWith('parentbased_')
  const plain = sampler.replace('parentbased_', '')
  const root =
    plain === 'traceidratio'
      ? new TraceIdRatioBasedSampler(ratio)
      : plain === 'always_off'
        ? new AlwaysOffSampler()
        : new AlwaysOnSampler()
  return based ? new ParentBasedSampler({ root }) : root
}

const providerOf = (service: string, settings: TraceSettings): TracerProvider => {
  const { queueMax, batchMax, everyMs, exportMs } = settings
  const named = resourceFromAttributes({ 'service.name': service, 'service.instance.id': `${process.pid}` })
  const given = detectResources({ detectors: [resourceAttributesEnvDetector, serviceNameEnvDetector] })
  const processor = new BatchSpanProcessor({
    // The exporter reads its endpoint, headers and timeout from its own environment variables.
    exporter: new OTLPTraceExporter(),
    maxQueueSize: queueMax,
    maxExportBatchSize: batchMax,
    scheduledDelayMillis: everyMs,
    exportTimeoutMillis: exportMs,
  })
  return new TracerProvider({
    resource: defaultResource().merge(named).merge(given),
    sampler: samplerOf(settings),
    spanLimits: { attributeValueLengthLimit: VALUE_MAX },
    spanProcessors: [processor],
  })
}

const complaints = (log: Log): void => {
  const say = (message: string) => log.warn({ reason: message.slice(0, VALUE_MAX) }, 'telemetry')
  const nothing = () => {}
  const logger = { error: say, warn: say, info: nothing, debug: nothing, verbose: nothing }
  diag.setLogger(logger, { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true })
}

export const recording = (service: string, settings: TraceSettings, log: Log): Telemetry => {
  complaints(log)
  const provider = providerOf(service, settings)
  const recorder = provider.getTracer('accelerando')
  const tracer: Tracer = {
    enter: (name, caller) =>
      spanOf(
        recorder.startSpan(name, { kind: SpanKind.SERVER }, caller === undefined ? ROOT_CONTEXT : contextOf(caller)),
      ),
    part: (kind, name, parent, attributes = {}) =>
      parent === undefined
        ? NO_SPAN
        : spanOf(recorder.startSpan(name, { kind: KINDS[kind], attributes }, contextOf(parent))),
  }
  const close = async () => {
    const sent = provider.shutdown().catch((error: unknown) => log.warn({ error: String(error) }, 'telemetry.close'))
    await endedWithin(systemClock, CLOSE_MS, sent)
  }
  log.info({ service, sampler: settings.sampler }, 'telemetry.on')
  return { tracer, close }
}

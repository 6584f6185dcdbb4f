/** The tracing port of all rooms: a span begins with the W3C `traceparent` of its parent and passes its own on. */
import { messageOf } from './errorText.ts'

export type SpanKind = 'server' | 'client' | 'producer' | 'consumer' | 'internal'
export type Attributes = Readonly<Record<string, string | number | boolean>>

export type Span = {
  /** The `traceparent` for child spans; undefined when the trace is not recorded. */
  readonly trace: string | undefined
  /** `failed`: the reason of a failure; absent: success. */
  readonly end: (failed?: string, attributes?: Attributes) => void
}
export type Tracer = {
  /** Continues the caller's trace, or begins one. */
  readonly enter: (name: string, caller: string | undefined) => Span
  /** A child span; does nothing when there is no trace. */
  readonly part: (kind: SpanKind, name: string, parent: string | undefined, attributes?: Attributes) => Span
}

export const NO_SPAN: Span = { trace: undefined, end: () => {} }
/** A tracer that records nothing. */
export const untraced: Tracer = { enter: () => NO_SPAN, part: () => NO_SPAN }

/** The field `trace`, absent when the trace is not recorded. */
export const traceField = (trace: string | undefined): { readonly trace?: string } =>
  trace === undefined ? {} : { trace }

/** Runs `work` within a span; an exception ends the span and is thrown on. */
export const inSpan = async <Value>(
  span: Span,
  work: (trace: string | undefined) => Promise<Value>,
  failed: (value: Value) => string | undefined = () => undefined,
): Promise<Value> => {
  try {
    const value = await work(span.trace)
    span.end(failed(value))
    return value
  } catch (error) {
    span.end(messageOf(error))
    throw error
  }
}

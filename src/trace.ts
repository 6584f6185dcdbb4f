/** Traces, as every room sees them: a span begins under the W3C text (`traceparent`) of its parent and hands on its own. */

export type SpanKind = 'server' | 'client' | 'producer' | 'consumer' | 'internal'
export type Attributes = Readonly<Record<string, string | number | boolean>>

export type Span = {
  /** What is begun under this span is told this text; undefined when nobody records it. */
  readonly trace: string | undefined
  /** `failed` says why. */
  readonly end: (failed?: string, attributes?: Attributes) => void
}
export type Tracer = {
  /** Goes on with the caller's trace, or begins one. */
  readonly enter: (name: string, caller: string | undefined) => Span
  /** A part of a trace; where there is no trace, nothing. */
  readonly part: (kind: SpanKind, name: string, parent: string | undefined, attributes?: Attributes) => Span
}

export const NO_SPAN: Span = { trace: undefined, end: () => {} }
/** Nobody records anything. */
export const untraced: Tracer = { enter: () => NO_SPAN, part: () => NO_SPAN }

/** As a field that is there only when it says something. */
export const traceField = (trace: string | undefined): { readonly trace?: string } =>
  trace === undefined ? {} : { trace }

/** Runs `work` as a part of a trace; what it throws ends the span and goes on. */
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
    span.end(error instanceof Error ? error.message : String(error))
    throw error
  }
}

/**
 * The metrics registry of a process, built from the table. Events are counted when they happen; current values are read
 * at the scrape.
 */
import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from 'prom-client'
import { type LabelsOf, METRICS, METRIC_PREFIX, type MetricName, type MetricRow, type NameOf } from './metricsTable.ts'
import { systemClock } from '../../vocabulary/clock.ts'
import { bounded } from '../../vocabulary/waiting.ts'

export type Shown<Name extends MetricName> = number | readonly (readonly [LabelsOf<Name>, number])[]
export type Meter = {
  readonly registry: Registry
  readonly count: <Name extends NameOf<'counter'>>(name: Name, labels: LabelsOf<Name>, by?: number) => void
  readonly observe: <Name extends NameOf<'histogram'>>(name: Name, labels: LabelsOf<Name>, value: number) => void
  /** `read` is called at each scrape. For a counter it returns the total so far. Null: no value is shown. */
  readonly show: <Name extends NameOf<'gauge' | 'counter'>>(
    name: Name,
    read: () => Shown<Name> | null | Promise<Shown<Name> | null>,
  ) => void
}

export const openMeter = (): Meter => {
  const registry = new Registry()
  const made = new Map<MetricName, Counter | Gauge | Histogram>()
  const options = (name: MetricName) => {
    const { help, labels }: MetricRow = METRICS[name]
    return { name: `${METRIC_PREFIX}${name}`, help, labelNames: [...labels], registers: [registry] }
  }
  /**
   * A metric is created when it is first used, so that a host program does not show the metrics of a control process.
   */
  const of = <Made extends Counter | Gauge | Histogram>(name: MetricName, make: () => Made): Made => {
    const known = made.get(name) as Made | undefined
    if (known) return known
    const fresh = make()
    made.set(name, fresh)
    return fresh
  }
  return {
    registry,
    count: (name, labels, by = 1) => of(name, () => new Counter(options(name))).inc(labels, by),
    observe: (name, labels, value) => {
      const { buckets } = METRICS[name]
      of(name, () => new Histogram({ ...options(name), buckets: [...buckets] })).observe(labels, value)
    },
    show: (name, read) => {
      const collect = async (metric: Counter | Gauge) => {
        const shown = await read()
        metric.reset()
        // Without labels a reset would show 0, which is not the same as no value.
        if (shown === null) return METRICS[name].labels.length === 0 ? metric.remove() : undefined
        for (const [labels, value] of typeof shown === 'number' ? [[{}, shown] as const] : shown)
          metric.inc(labels, value)
      }
      const counts = METRICS[name].type === 'counter'
      of<Counter | Gauge>(name, () =>
        counts
          ? new Counter({
              ...options(name),
              collect() {
                return collect(this)
              },
            })
          : new Gauge({
              ...options(name),
              collect() {
                return collect(this)
              },
            }),
      )
    },
  }
}

/** CPU, memory, handles, garbage collection and the delay of the event loop. */
export const showProcess = ({ registry }: Meter): void => collectDefaultMetrics({ register: registry })

export type Cached<Value> = () => Promise<Value | null>
/**
 * Caches a read that is too slow or expensive for every scrape. It is made at most once in `forMs` and awaited for
 * at most `withinMs`; after that the last known value is returned. Null: no value is known yet.
 */
export const cached = <Value>(
  read: () => Promise<Value>,
  limits: {
    readonly forMs: number
    readonly withinMs: number
    readonly now: () => number
    readonly failed: () => void
  },
): Cached<Value> => {
  let known: Value | null = null
  let readAt = Number.NEGATIVE_INFINITY
  let running: Promise<void> | null = null
  const begin = (): Promise<void> => {
    readAt = limits.now()
    return read()
      .then((value) => void (known = value), limits.failed)
      .finally(() => void (running = null))
  }
  return async () => {
    if (limits.now() - readAt < limits.forMs && running === null) return known
    running ??= begin()
    if ((await bounded(systemClock, running, limits.withinMs, 'late' as const)) === 'late') limits.failed()
    return known
  }
}

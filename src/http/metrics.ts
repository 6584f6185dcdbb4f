/** Measures the duration of answers for the metrics page. */
import { Histogram } from 'prom-client'
import type { Registry } from 'prom-client'

/** `row` is the path of the route with its parameter names, so that the number of time series stays small. */
export type Observe = (method: string, row: string, status: number, tookMs: number) => void

export const HTTP_REQUESTS = {
  type: 'histogram',
  help: 'Time from the first byte judged to the answer, by route and class of status.',
  labels: ['method', 'route', 'status'],
  buckets: [0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5, 30],
} as const
/** A client can send any method name. Unknown names share one label, so that they create no new time series. */
const METHODS = new Set(['GET', 'HEAD', 'POST', 'PATCH', 'PUT', 'DELETE', 'OPTIONS'])

export const observer = (registry: Registry): Observe => {
  const histogram = new Histogram({
    name: 'accelerando_http_request_seconds',
    help: HTTP_REQUESTS.help,
    labelNames: HTTP_REQUESTS.labels,
    buckets: [...HTTP_REQUESTS.buckets],
    registers: [registry],
  })
  return (method, row, status, tookMs) => {
    const labels = {
      method: METHODS.has(method) ? method : 'other',
      route: row,
      status: `${Math.floor(status / 100)}xx`,
    }
    histogram.observe(labels, tookMs / 1000)
  }
}

/** How long answers take, for the metrics page. */
import { Histogram } from 'prom-client'
import type { Registry } from 'prom-client'

/** `row` is the route's path as written in its row, so that the number of series stays small. */
export type Observe = (method: string, row: string, status: number, tookMs: number) => void

export const observer = (registry: Registry): Observe => {
  const histogram = new Histogram({
    name: 'accelerando_http_request_seconds',
    help: 'Time from the first byte judged to the answer, by route.',
    labelNames: ['method', 'route', 'status'],
    buckets: [0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5],
    registers: [registry],
  })
  return (method, row, status, tookMs) => histogram.observe({ method, route: row, status }, tookMs / 1000)
}

/** Endpoints for operators and probes, on a separate listener. */
import { Hono } from 'hono'
import type { Registry } from 'prom-client'
import { shownOf } from './faults.ts'
import { gateOf } from './gate.ts'

/**
 * Operations that only tests may perform on a running process. They are present only when the program was started for
 * tests.
 */
export type Doors = Readonly<Record<string, (input: unknown) => Promise<unknown>>>
export type AdminParts = {
  readonly metrics: Registry
  /**
   * `notReady`: the reason; null: ready. `detail` is shown in both cases. `degraded`: a problem of all processes of
   * this kind, for which it would not help to take this process out of service.
   */
  readonly readiness: () => {
    readonly notReady: string | null
    readonly degraded?: string | null
    readonly detail: Readonly<Record<string, unknown>>
  }
  /** Whether it may be addressed under any name, because it listens on other addresses than those of this machine. */
  readonly anyHost: boolean
  /** Names under which it may be addressed besides those of this machine. */
  readonly trustedHosts?: readonly string[]
  readonly doors?: Doors
}

const inputOf = async (request: Request): Promise<unknown> => {
  const text = await request.text()
  return text === '' ? null : JSON.parse(text)
}

export const adminApp = ({ metrics, readiness, anyHost, trustedHosts = [], doors = {} }: AdminParts): Hono => {
  const app = new Hono()
  // the same rules as for the API, so that no page of another site reads what is shown here, or reaches the doors
  const gates = { page: gateOf({ trustedHosts, anyHost }), doors: gateOf({ trustedHosts: [], anyHost: false }) }
  app.use('*', async (c, next) => {
    const barred = (c.req.path.startsWith('/doors/') ? gates.doors : gates.page)((name) => c.req.header(name))
    if (barred === null) return next()
    const { status, detail } = shownOf(barred.fault)
    return Response.json({ error: detail }, { status })
  })
  app.get(
    '/metrics',
    async () => new Response(await metrics.metrics(), { headers: { 'content-type': metrics.contentType } }),
  )
  app.get('/healthz', (c) => c.json({ status: 'ok' }))
  app.get('/readyz', (c) => {
    const { notReady, degraded = null, detail } = readiness()
    if (notReady !== null) return c.json({ status: 'not ready', reason: notReady, detail }, 503)
    return c.json(degraded === null ? { status: 'ready', detail } : { status: 'degraded', reason: degraded, detail })
  })
  for (const [name, open] of Object.entries(doors))
    app.post(`/doors/${name}`, async (c) => c.json({ result: (await open(await inputOf(c.req.raw))) ?? null }))
  app.notFound((c) => c.json({ error: 'there is nothing here' }, 404))
  app.onError((error, c) => c.json({ error: error.message }, 500))
  return app
}

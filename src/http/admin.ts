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
  readonly doors?: Doors
}

const inputOf = async (request: Request): Promise<unknown> => {
  const text = await request.text()
  return text === '' ? null : JSON.parse(text)
}

export const adminApp = ({ metrics, readiness, doors = {} }: AdminParts): Hono => {
  const app = new Hono()
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
  // the same rules as for the API, so that a page of another site cannot reach operations that change something
  const gate = gateOf({ trustedHosts: [], anyHost: false })
  app.use('/doors/*', async (c, next) => {
    const barred = gate((name) => c.req.header(name))
    if (barred === null) return next()
    const { status, detail } = shownOf(barred.fault)
    return Response.json({ error: detail }, { status })
  })
  for (const [name, open] of Object.entries(doors))
    app.post(`/doors/${name}`, async (c) => c.json({ result: (await open(await inputOf(c.req.raw))) ?? null }))
  app.notFound((c) => c.json({ error: 'there is nothing here' }, 404))
  app.onError((error, c) => c.json({ error: error.message }, 500))
  return app
}

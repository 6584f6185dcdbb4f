import { Counter, Registry } from 'prom-client'
import { describe, expect, test } from 'vitest'
import { adminApp } from '../../src/http/admin.ts'
import { strictApp } from './app.ts'
import { openCloud } from './cloud.ts'
import { send } from './steps.ts'

const open = (notReady: string | null = null, doors = {}) => {
  const metrics = new Registry()
  const app = adminApp({ metrics, readiness: () => ({ notReady, detail: { store: 'pglite' } }), anyHost: true, doors })
  return { metrics, app }
}

describe('the listener for operators', () => {
  test('shows the metrics of the registry', async () => {
    const { metrics, app } = open()
    new Counter({ name: 'binds_total', help: 'x', registers: [metrics] }).inc(3)
    const response = await app.request('/metrics')
    expect(response.headers.get('content-type')).toContain('text/plain')
    expect(await response.text()).toContain('binds_total 3')
  })
  test('says why it is not ready', async () => {
    expect((await send(open().app, 'GET /readyz')).json).toEqual({ status: 'ready', detail: { store: 'pglite' } })
    const got = await send(open('recovering').app, 'GET /readyz')
    expect([got.status, got.json]).toEqual([
      503,
      { status: 'not ready', reason: 'recovering', detail: { store: 'pglite' } },
    ])
    const alive = await send(open('recovering').app, 'GET /healthz')
    expect([alive.status, alive.json]).toEqual([200, { status: 'ok' }])
  })
  test('has no doors but those handed in', async () => {
    const none = await send(open().app, 'POST /doors/stop')
    expect([none.status, none.json]).toEqual([404, { error: 'there is nothing here' }])
    const doors = {
      stop: async (input: unknown) => ({ stopped: input }),
      jam: async () => {
        throw new Error('it is stuck')
      },
      mute: async () => undefined,
    }
    const { app } = open(null, doors)
    expect((await send(app, 'POST /doors/stop', { body: { key: 'arq/1' } })).json).toEqual({
      result: { stopped: { key: 'arq/1' } },
    })
    expect((await send(app, 'POST /doors/mute')).json).toEqual({ result: null })
    const stuck = await send(app, 'POST /doors/jam')
    expect([stuck.status, stuck.json]).toEqual([500, { error: 'it is stuck' }])
    expect((await send(app, 'GET /doors/stop')).status).toBe(404)
  })
})

describe('the public listener', () => {
  test('counts answers by route, not by path', async () => {
    const metrics = new Registry()
    const { app } = strictApp({}, { metrics })
    for (const path of ['/v2/devices/a', '/v2/devices/b', '/nothing']) await send(app, `GET ${path}`)
    const text = await metrics.metrics()
    expect(text).toContain(
      'accelerando_http_request_seconds_count{method="GET",route="/v2/devices/:uuid",status="4xx"} 2',
    )
    expect(text).toContain('accelerando_http_request_seconds_count{method="GET",route="none",status="4xx"} 1')
  })
  test('is ready or not, without detail', async () => {
    const cloud = await openCloud()
    expect((await cloud.say('GET /readyz')).json).toEqual({ status: 'ready' })
    await cloud.close()
    const got = await cloud.say('GET /readyz')
    expect([got.status, got.json]).toEqual([503, { status: 'not ready' }])
  })
})

/**
 * The five-minute look at production: everything of infra/compose.yaml is up, a bind goes through, and a dead control
 * is not missed.
 */
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Compose, openCompose } from '../support/compose.ts'
import { buildImage } from '../support/containers.ts'
import { describeWith } from '../support/needs.ts'
import { freePort } from '../support/port.ts'

const UP_MS = 120_000
type Json = Record<string, unknown>

describeWith('docker', 'the compose file', () => {
  let compose: Compose
  let [api, ui, prometheus] = ['', '', '']
  const project = `accelerando-${randomUUID().slice(0, 8)}`

  const json = async (url: string, init?: RequestInit): Promise<Json> => {
    const response = await fetch(url, { ...init, signal: AbortSignal.timeout(10_000) })
    if (!response.ok) throw new Error(`${url}: ${response.status} ${await response.text()}`)
    return (await response.json()) as Json
  }
  const send = (method: string, path: string, body: unknown): Promise<Json> =>
    json(`${api}${path}`, {
      method,
      body: JSON.stringify(body),
      headers: { 'content-type': 'application/json', 'x-service-roles': 'service' },
    })
  /** Asks again until it is so. */
  const until = async <Value>(ask: () => Promise<Value | false>, withinMs = 60_000): Promise<Value> => {
    const end = Date.now() + withinMs
    for (;;) {
      const found = await ask().catch((error: unknown) => {
        if (Date.now() > end) throw error
        return false as const
      })
      if (found !== false) return found
      if (Date.now() > end) throw new Error(`not within ${withinMs} ms: ${String(ask)}`)
      await sleep(250)
    }
  }
  const deployables = async () => (await json(`${api}/deployables`))['deployables'] as readonly Json[]

  /** Through the balancer, as Nova does it. Resolves to the state it ended in. */
  const bind = async (): Promise<string> => {
    const made = await send('POST', '/accelerator_requests', { device_profile_name: 'fpga' })
    const [{ uuid }] = made['arqs'] as [{ uuid: string }]
    const place = (await deployables())[0]!
    const values = {
      hostname: String(place['name']).replace(/_.*/, ''),
      device_rp_uuid: place['rp_uuid'],
      instance_uuid: randomUUID(),
    }
    const ops = Object.entries(values).map(([path, value]) => ({ op: 'add', path: `/${path}`, value }))
    const patched = await fetch(`${api}/accelerator_requests`, {
      method: 'PATCH',
      body: JSON.stringify({ [uuid]: ops }),
      headers: { 'content-type': 'application/json', 'x-service-roles': 'service' },
    })
    expect(patched.status).toBe(202)
    return until(async () => {
      const { state } = (await json(`${api}/accelerator_requests/${uuid}`)) as { state: string }
      return state !== 'Initial' && state !== 'BindStarted' && state
    })
  }

  beforeAll(async () => {
    await buildImage()
    const [apiPort, uiPort, prometheusPort] = [await freePort(), await freePort(), await freePort()]
    const ports = { API_PORT: String(apiPort), UI_PORT: String(uiPort), PROMETHEUS_PORT: String(prometheusPort) }
    compose = await openCompose(project, ports)
    ;[api, ui] = [`http://127.0.0.1:${apiPort}/v2`, `http://127.0.0.1:${uiPort}/ui/`]
    prometheus = `http://127.0.0.1:${prometheusPort}/api/v1`
    await compose.call('up', '-d', '--no-build')
    await until(async () => (await deployables()).length === 4, UP_MS)
  }, UP_MS * 2)
  afterAll(async () => {
    if (process.env['KEEP'] === undefined) await compose?.call('down', '-v', '-t', '5')
  }, 120_000)

  test('a bind through the balancer ends Bound', async () => {
    await send('POST', '/device_profiles', [{ name: 'fpga', groups: [{ 'resources:FPGA': '1' }] }])
    expect(await bind()).toBe('Bound')
  })

  const page = async (path: string): Promise<string> => {
    const response = await fetch(`${ui}${path}`, { signal: AbortSignal.timeout(10_000) })
    return `${response.status} ${await response.text()}`
  }

  test('the console shows the hosts through the balancer', async () => {
    const shown = await page('hosts')
    for (const part of [/^200 /, /compute-1/, /compute-2/]) expect(shown).toMatch(part)
  })

  test('a killed control is not missed, and comes back', async () => {
    await compose.call('kill', '-s', 'SIGKILL', 'control-1')
    for (let n = 0; n < 5; n++) expect((await deployables()).length).toBe(4)
    for (let n = 0; n < 5; n++) expect(await page('hosts')).toMatch(/^200 /)
    expect(await bind()).toBe('Bound')
    await compose.call('up', '-d', '--no-build', 'control-1')
    await until(async () => (await compose.running()).some((name) => name.includes('control-1')))
  })

  test('Prometheus reaches every process', async () => {
    const up = await until(async () => {
      const { data } = (await json(`${prometheus}/query?query=up`)) as {
        data: { result: { value: [number, string] }[] }
      }
      return data.result.length >= 5 && data.result.every(({ value }) => value[1] === '1') && data.result.length
    })
    expect(up).toBeGreaterThanOrEqual(5)
  })
})

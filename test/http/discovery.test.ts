import { describe, expect, test } from 'vitest'
import { silent } from '../../src/vocabulary/log.ts'
import { strictApp } from './app.ts'
import { send } from './steps.ts'

const REQUEST_ID = /^req-[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

describe('the two documents of discovery', () => {
  test.each(['/', '/.json', '/accelerator', '/accelerator/'])('%s lists one version', async (path) => {
    const got = await send(strictApp().app, `GET ${path}`)
    const entry = {
      id: 'v2',
      status: 'CURRENT',
      min_version: '2.0',
      max_version: '2.3',
      links: [{ href: 'http://localhost/accelerator/v2', rel: 'self' }],
    }
    expect(got.status).toBe(200)
    expect(got.json).toEqual({
      name: 'accelerando',
      description: expect.any(String),
      versions: [entry],
      default_version: entry,
    })
  })

  test.each(['/v2', '/v2/', '/v2.json', '/accelerator/v2', '/accelerator/v2/'])(
    '%s is one bare version',
    async (path) => {
      const got = await send(strictApp().app, `GET ${path}`)
      expect(got.json).toEqual({
        id: 'v2.0',
        status: 'CURRENT',
        min_version: '2.0',
        max_version: '2.3',
        links: [{ href: 'http://localhost/accelerator/v2/', rel: 'self' }],
      })
    },
  )

  test('a document beside the versions says that the process answers', async () => {
    const got = await send(strictApp().app, 'GET /healthz')
    expect([got.status, got.json]).toEqual([200, { status: 'ok' }])
  })

  test('they need no identity, not even a scope', async () => {
    for (const path of ['/', '/v2', '/healthz', '/openapi.json', '/asyncapi.json'])
      expect((await send(strictApp().app, `GET ${path}`, { headers: { 'X-Roles': 'reader' } })).status).toBe(200)
  })

  test('what they link to is there', async () => {
    for (const path of ['/', '/v2']) {
      const { app } = strictApp()
      const { json } = await send(app, `GET ${path}`)
      const [link] = json.links ?? json.versions[0].links
      expect((await app.request(link.href)).status).toBe(200)
    }
  })

  test('HEAD is GET without the body', async () => {
    const got = await send(strictApp().app, 'HEAD /v2')
    expect([got.status, got.text]).toEqual([200, ''])
    expect(got.headers.get('openstack-api-maximum-version')).toBe('2.3')
  })

  test('they do not care what the client accepts', async () => {
    const got = await send(strictApp().app, 'GET /', { headers: { Accept: 'text/html' } })
    expect(got.headers.get('content-type')).toBe('application/json')
  })
})

describe('the base of links', () => {
  const href = async (options: Parameters<typeof strictApp>[0], headers: Record<string, string> = {}) =>
    (await send(strictApp(options).app, 'GET /v2', { headers })).json.links[0].href

  test('is the public endpoint when there is one, without its trailing slash', async () => {
    expect(await href({ publicEndpoint: 'https://cloud.example/' })).toBe('https://cloud.example/accelerator/v2/')
    expect(await href({ publicEndpoint: 'https://cloud.example/x' })).toBe('https://cloud.example/x/accelerator/v2/')
  })
  const forwarded = { 'X-Forwarded-Proto': 'https', 'X-Forwarded-Host': 'api.example' }
  test('believes a proxy only when told to', async () => {
    expect(await href({}, forwarded)).toBe('http://localhost/accelerator/v2/')
    expect(await href({ proxyHeaders: true }, forwarded)).toBe('https://api.example/accelerator/v2/')
    expect(await href({ proxyHeaders: true }, { 'X-Forwarded-Proto': 'gopher' })).toBe(
      'http://localhost/accelerator/v2/',
    )
    expect(await href({ proxyHeaders: true })).toBe('http://localhost/accelerator/v2/')
  })
})

describe('every answer', () => {
  test.each(['GET /', 'GET /v2', 'GET /healthz', 'GET /nothing', 'PUT /v2/devices', 'DELETE /v2/device_profiles'])(
    'to %s has a request id of its own',
    async (line) => {
      const { app } = strictApp()
      const ids = [await send(app, line), await send(app, line)].map((got) =>
        got.headers.get('x-openstack-request-id')!,
      )
      expect(ids[0]).toMatch(REQUEST_ID)
      expect(ids[1]).toMatch(REQUEST_ID)
      expect(ids[0]).not.toBe(ids[1])
    },
  )

  test('is noted with the id the caller was called under', async () => {
    const noted: Record<string, unknown>[] = []
    const log = { ...silent, info: (fields: object) => void noted.push({ ...fields }) }
    const { app } = strictApp({}, { log })
    const globalId = 'req-0a1b2c3d-0a1b-4c3d-8a1b-0a1b2c3d4e5f'
    await send(app, 'DELETE /v2/device_profiles', { headers: { 'X-OpenStack-Request-ID': globalId } })
    await send(app, 'DELETE /v2/device_profiles', { headers: { 'X-OpenStack-Request-ID': 'req-x\tforged' } })
    expect(noted.map((fields) => fields['caused_by'])).toEqual([globalId, undefined])
    expect(noted[0]).toMatchObject({ method: 'DELETE', path: '/v2/device_profiles', status: 400 })
  })
})

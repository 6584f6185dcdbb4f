/** While the store is known to be away nobody waits for an answer that cannot come. */
import { expect, test } from 'vitest'
import { strictApp } from './app.ts'

const away = { hindered: () => 'the database does not answer' }

test.each([
  ['GET', '/v2/accelerator_requests', undefined],
  ['GET', '/v2/hosts', undefined],
  ['POST', '/v2/accelerator_requests', { device_profile_name: 'p' }],
  ['DELETE', '/v2/accelerator_requests?instance=6b1f4d8e-6f0c-4b6e-9d3c-0d5a5a0c8f11', undefined],
] as const)('%s %s is answered 503 at once, and when to come again', async (method, path, body) => {
  const { app, asked } = strictApp({}, away)
  const answer = await app.request(path, {
    method,
    headers: { 'content-type': 'application/json', 'x-service-roles': 'service' },
    ...(body ? { body: JSON.stringify(body) } : {}),
  })
  expect(answer.status).toBe(503)
  expect(answer.headers.get('retry-after')).toBe('1')
  expect(await answer.text()).toContain('the database does not answer')
  expect(asked).toEqual([])
})

test('what tells of the process itself is asked for all the same', async () => {
  for (const path of ['/v2/system', '/v2/system/support_bundle']) {
    const answer = await strictApp({}, away).app.request(path)
    expect(await answer.text()).toContain('this process tells nothing of itself')
  }
})

test('a mistake is still called a mistake, and what needs no store is answered', async () => {
  const { app } = strictApp({}, away)
  expect((await app.request('/v2/accelerator_requests?nonsense=1')).status).toBe(400)
  expect((await app.request('/v2')).status).toBe(200)
  expect((await app.request('/healthz')).status).toBe(200)
})

/** The spellings of a path that mean the same, and what is refused for its path or its method. */
import { expect, test } from 'vitest'
import { silent } from '../../src/vocabulary/log.ts'
import { strictApp } from './app.ts'
import { expectRefusal, send } from './steps.ts'

test.each([
  ['/', '/'],
  ['//', '/'],
  ['/.json', '/'],
  ['/accelerator', '/'],
  ['/accelerator/', '/'],
  ['/v2', '/v2'],
  ['/v2/', '/v2'],
  ['/v2.json', '/v2'],
  ['//v2', '/v2'],
  ['/accelerator/v2', '/v2'],
  ['/v2/devices/', '/v2/devices'],
  ['/v2//devices', '/v2/devices'],
  ['/v2/devices?a=/b//c', '/v2/devices'],
  ['/devices', '/v2/devices'],
  ['/accelerator/devices', '/v2/devices'],
  ['/accelerator/v2/devices/x', '/v2/devices/x'],
  ['/v2/device_profiles/a.json', '/v2/device_profiles/a.json'],
  ['/v3/devices', '/v2/v3/devices'],
  ['/foo/devices', '/v2/foo/devices'],
  ['/V2/devices', '/v2/V2/devices'],
  ['/healthz', '/healthz'],
  ['/healthzx', '/v2/healthzx'],
  ['/openapi.json', '/openapi.json'],
  ['/openapixjson', '/v2/openapixjson'],
  ['/accelerator/asyncapi.json', '/asyncapi.json'],
  ['/acceleratorx', '/v2/acceleratorx'],
])('%s means %s', async (given, meant) => {
  const paths: unknown[] = []
  const log = { ...silent, debug: (fields: object) => void paths.push((fields as { readonly path: string }).path) }
  await strictApp({ anyHost: true }, { log }).app.request(`http://h${given}`)
  expect(paths).toEqual([meant])
})

test.each([
  '/foo',
  '/foo/devices',
  '/v2/foo/devices',
  '/v3/devices',
  '/v2/devices/a/b',
  '/V2',
  '/v2/v2',
  '/v2/devicesx',
  '/v2/device%5Fprofiles',
])('there is nothing at %s', async (path) => {
  const { app, asked } = strictApp()
  for (const method of ['GET', 'PUT']) expectRefusal(await send(app, `${method} ${path}`), 404)
  expect(asked).toEqual([])
})

test.each([
  ['PUT', '/v2/devices', 'GET, HEAD'],
  ['OPTIONS', '/v2', 'GET, HEAD'],
  ['PATCH', '/v2/device_profiles', 'GET, HEAD, POST, DELETE'],
  ['PUT', '/device_profiles/x', 'GET, HEAD, PATCH, DELETE'],
  ['POST', '/v2/accelerator_requests/x', 'GET, HEAD, PATCH, DELETE'],
  ['PUT', '/v2/accelerator_requests/', 'POST, GET, HEAD, PATCH, DELETE'],
  ['GET', '/v2/deployables/x/program', 'PATCH'],
  ['HEAD', '/v2/deployables/x/program', 'PATCH'],
  ['DELETE', '/v2/devices/x/enable', 'POST'],
  ['POST', '/v2/devices/disable', 'GET, HEAD'],
  ['PROPFIND', '/v2/attributes', 'GET, HEAD, POST'],
])('%s %s is refused with what is possible', async (method, path, allow) => {
  const { app } = strictApp()
  const response = await app.request(path, { method })
  expect(response.status).toBe(405)
  expect(response.headers.get('allow')?.split(', ').toSorted()).toEqual(allow.split(', ').toSorted())
})

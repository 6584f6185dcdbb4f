import { expect, test } from 'vitest'
import { canonicalPath, originOf, pathOf, queryOf } from '../../src/http/paths.ts'
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
  ['/accelerator/v2/', '/v2'],
  ['/v2/devices', '/v2/devices'],
  ['/v2/devices/', '/v2/devices'],
  ['/v2//devices', '/v2/devices'],
  ['/devices', '/v2/devices'],
  ['/accelerator/devices', '/v2/devices'],
  ['/accelerator/v2/devices/x', '/v2/devices/x'],
  ['/v2/device_profiles/a.json', '/v2/device_profiles/a.json'],
  ['/v3/devices', '/v2/v3/devices'],
  ['/foo/devices', '/v2/foo/devices'],
  ['/V2/devices', '/v2/V2/devices'],
  ['/healthz', '/healthz'],
  ['/readyz/', '/readyz'],
  ['/openapi.json', '/openapi.json'],
  ['/accelerator/asyncapi.json', '/asyncapi.json'],
  ['/acceleratorx', '/v2/acceleratorx'],
])('%s means %s', (given, meant) => expect(canonicalPath(given)).toBe(meant))

test.each([
  ['http://h:6666', '/', '', 'http://h:6666'],
  ['http://h:6666/v2?a=/b//c', '/v2', 'a=/b//c', 'http://h:6666'],
  ['https://h/devices?x#y', '/v2/devices', 'x', 'https://h'],
  ['http://h/v2#?a=1', '/v2', 'a=1', 'http://h'],
])('the parts of %s', (url, path, query, origin) => {
  expect([pathOf({ url }), queryOf(url), originOf(url)]).toEqual([path, query, origin])
})

test.each([
  '/foo',
  '/foo/devices',
  '/v2/foo/devices',
  '/v3/devices',
  '/v2/devices/a/b',
  '/V2',
  '/v2/v2',
  '/v2/device%5Fprofiles',
])('there is nothing at %s', async (path) => {
  const { app, asked } = strictApp()
  expectRefusal(await send(app, `GET ${path}`), 404)
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

/** What a command says of a refusal of the API: its exit, its sentence, what to do next, and the page about it. */
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { addAsOf, addApiFlags, entryOf, limitFor, refusal, withQuery } from '../../src/cli/operators/api.ts'
import { CommandRow } from '../../src/cli/commandRow.ts'
import { keystoneDouble } from '../neighbours/openstack/keystoneDouble.ts'
import { commandHere } from '../support/commandHere.ts'

const base = 'http://h:6666/v2'
const refused = (given: Partial<Parameters<typeof refusal>[0]>) => {
  const all = { what: 'GET /hosts', base, status: 500, text: '', requestId: undefined, ...given }
  const { exit, message, next, requestId, about } = refusal(all)
  return { exit, message, next, requestId, about }
}
const said = (detail: string, code?: string): string => JSON.stringify({ errors: [{ detail, code }, { more: 1 }] })
const NOTHING = { next: undefined, requestId: undefined, about: undefined }

test.each([
  ['accelerator_requests/q1', 'accelerando arq list', 'accelerando arq show q1'],
  ['dead_letters/l1', 'accelerando dead-letter list', 'accelerando dead-letter show l1'],
  ['deployables/d1/program', 'accelerando device list', 'accelerando bitstream show d1'],
  ['device_profiles?name=x', 'accelerando profile list', undefined],
  ['devices', 'accelerando device list', undefined],
  ['handles/k1', 'accelerando handle list', 'accelerando handle show k1'],
  ['hosts/h1', 'accelerando host list', 'accelerando host show h1'],
  ['quotas/p1', undefined, undefined],
])(
  'of %s that is not there the list is named: %s; of one in conflict the command that shows it',
  (path, next, shows) => {
    const what = `POST /${path}`
    expect(refused({ what, status: 404, text: said('no') })).toEqual({
      ...NOTHING,
      exit: 'notFound',
      message: `${what}: 404 no`,
      next,
    })
    expect(refused({ what, status: 409, text: said('no') })).toMatchObject({ exit: 'conflict', next: shows })
    expect(refused({ what, status: 400, text: said('no') }).next).toBeUndefined()
  },
)
test('a line that names no path has no list', () => {
  expect(refused({ what: 'something', status: 404 }).next).toBeUndefined()
})
test.each([
  [403, 'accelerando policy show'],
  [503, 'accelerando doctor'],
  [500, undefined],
])('after %i the next step is: %s', (status, next) => expect(refused({ status }).next).toBe(next))
test('a service that shows no valid token is told with which account to sign in', () => {
  const next = "sign in with an account that has the role service, as Nova's has, or set OS_SERVICE_TOKEN"
  expect(refused({ status: 401, service: true })).toMatchObject({ exit: 'denied', next })
  expect(refused({ status: 401 }).next).toBeUndefined()
  expect(refused({ status: 403, service: true }).next).toBe('accelerando policy show')
})
test.each([
  ['accelerator.not_found', 'accelerando error not_found'],
  ['accelerator.kind_2', 'accelerando error kind_2'],
  ['accelerator.', undefined],
  ['x.accelerator.not_found', undefined],
  ['accelerator.not_found.more', undefined],
  ['accelerator.Not', undefined],
  [undefined, undefined],
])('the code %s is explained at %s', (code, about) => expect(refused({ text: said('no', code) }).about).toBe(about))
test('the request is named by its one id', () => {
  expect(refused({ requestId: 'req-1' }).requestId).toBe('req-1')
  expect(refused({ requestId: ['req-1', 'req-2'] }).requestId).toBeUndefined()
})
test('what is no answer of this service is shown by its beginning', () => {
  expect(refused({ text: 'x'.repeat(201) }).message).toBe(`GET /hosts: 500 it answered ${'x'.repeat(200)}`)
  expect(refused({ text: '{"errors": [{"detail": 1}]}' }).message).toContain('it answered {"errors"')
  expect(refused({})).toEqual({ ...NOTHING, exit: 'failed', message: 'GET /hosts: 500 it answered nothing' })
})

test('a query has the arguments that are given, and a limit only where the service can apply it', () => {
  expect(withQuery('/a', {})).toBe('/a')
  expect(withQuery('/a', { x: undefined, y: undefined })).toBe('/a')
  expect(withQuery('/a', { x: 'b c', y: undefined, z: '' })).toBe('/a?x=b+c&z=')
  expect(limitFor({ limit: '3' })).toBe('3')
  expect(limitFor({ limit: '3', json: true })).toBeUndefined()
  expect(limitFor({ limit: '3', sortColumn: 'name' })).toBeUndefined()
})
test('each command of the API has the same options', () => {
  const command = addAsOf(addApiFlags(new CommandRow('x')))
  expect(command.options.map(({ flags }) => flags)).toEqual([
    '--api <URL>',
    '--as <USER>',
    '--debug',
    '--json',
    '--as-of <MOMENT>',
  ])
})

const asked: { readonly url: string | undefined; readonly headers: IncomingHttpHeaders }[] = []
const server = createServer(({ url, headers }, response) => {
  asked.push({ url, headers })
  response.writeHead(202).end('{"arqs": []}')
})
let api = ''
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  api = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v2`
})
afterAll(() => void server.close())

const BIND = ['arq', 'bind', 'q1', '--host', 'h1', '--resource-provider', 'r1', '--instance', 'i1', '--json']
test.each([
  ['without authentication, by its role', {}, ['service', undefined, undefined]],
  ['with the token of the account a second time', { OS_TOKEN: 'own' }, [undefined, 'own', 'own']],
  ['with a token of its own', { OS_TOKEN: 'own', OS_SERVICE_TOKEN: 'of-service' }, [undefined, 'own', 'of-service']],
])('a bind is made as a service %s', async (_, env, headers) => {
  asked.splice(0)
  const { code, err } = await commandHere([...BIND, '--api', api], env)
  expect([code, err]).toEqual([0, ''])
  expect(['x-service-roles', 'x-auth-token', 'x-service-token'].map((name) => asked[0]!.headers[name])).toEqual(headers)
  expect(asked[0]!.headers['openstack-api-version']).toBe('accelerator latest, accelerando latest')
})
test('what is only read is read without the rights of a service', async () => {
  asked.splice(0)
  await commandHere(['arq', 'list', '--api', api], { OS_TOKEN: 'own', OS_SERVICE_TOKEN: 'of-service' })
  expect(asked[0]!.headers).not.toHaveProperty('x-service-token')
})

test('without an address and an account it is the usual address of this machine, without who asks', async () => {
  for (const name of ['ACCELERANDO_URL', 'OS_TOKEN', 'OS_CLOUD', 'OS_AUTH_URL', 'OS_CACERT']) vi.stubEnv(name, '')
  try {
    const headers = { 'openstack-api-version': 'accelerator latest, accelerando latest' }
    expect(await entryOf({})).toEqual({ base: 'http://127.0.0.1:6666/v2', ca: null, headers })
    expect(await entryOf({ as: 'kim' })).toEqual({
      base: 'http://127.0.0.1:6666/v2',
      ca: null,
      headers: {
        ...headers,
        'x-user-id': 'kim',
        'x-project-id': 'operations',
        'x-roles': 'admin,manager,member,reader',
      },
    })
  } finally {
    vi.unstubAllEnvs()
  }
})
test('an API that cannot be reached is told with the check to make, of its address alone', async () => {
  const { code, err } = await commandHere(['host', 'list', '--api', 'http://127.0.0.1:1/v2'])
  expect(code).toBe(8)
  expect(err).toContain('the API at http://127.0.0.1:1/v2 cannot be reached: ')
  expect(err).toContain('accelerando doctor --api http://127.0.0.1:1\n')
})

test('without an address the variable counts, then the one in the catalogue; the heads are told without the token', async () => {
  const keystone = await keystoneDouble()
  keystone.services = { accelerator: `${api}/` }
  const user = {
    OS_AUTH_URL: keystone.authUrl,
    OS_USERNAME: 'alpha-member',
    OS_PASSWORD: 'rig-secret',
    OS_PROJECT_NAME: 'alpha',
  }
  try {
    asked.splice(0)
    const found = await commandHere(['host', 'list', '--debug'], user)
    expect(found.err.split('\n')).toEqual(
      expect.arrayContaining([`> GET ${api}/hosts`, '> x-auth-token: (hidden)', '< 202']),
    )
    expect(found.err).not.toContain(asked[0]!.headers['x-auth-token'])
    const named = await commandHere(['host', 'list', '--debug'], { ...user, ACCELERANDO_URL: `${api}///` })
    expect(named.err).toContain(`> GET ${api}/hosts\n`)
    keystone.services = { accelerator: 'ftp://h/v2' }
    expect((await commandHere(['host', 'list'], user)).err).toContain(
      'the service catalogue: ftp://h/v2 must be the address of the API, like http://127.0.0.1:6666/v2',
    )
  } finally {
    await keystone.close()
  }
})
test.each([
  ['--api', ['--api', 'h:1'], {}, '--api: h:1 must be the address of the API, like http://127.0.0.1:6666/v2'],
  ['the variable', [], { ACCELERANDO_URL: 'no url' }, 'ACCELERANDO_URL: no url must be the address of the API'],
])('%s has to be an address', async (_, args, env, err) => {
  expect(await commandHere(['host', 'list', ...args], env)).toMatchObject({
    code: 2,
    out: '',
    err: expect.stringContaining(err),
  })
})

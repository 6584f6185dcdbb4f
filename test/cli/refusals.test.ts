/** How a command ends that the API refuses or that cannot reach it: its exit code, its sentence, what to do next. */
import { createServer } from 'node:http'
import { describe, expect, onTestFinished, test } from 'vitest'
import { keystoneDouble } from '../neighbours/openstack/keystoneDouble.ts'
import { commandHere } from '../support/commandHere.ts'
import { freePort, portThatFetchRefuses } from '../support/port.ts'
import { HOST } from './apiDocuments.ts'
import { type Answer, scriptedApi } from './scriptedApi.ts'

const { run, base, headers } = scriptedApi({
  'GET /hosts': { hosts: [HOST] },
  'PATCH /accelerator_requests': [202, {}],
})
const said = (detail: string, code?: string) => ({ errors: [{ detail, code }, { more: 1 }] })
const BIND = 'arq bind q1 --host h1 --resource-provider r1 --instance i1 --json'

test.each([
  [400, 2],
  [401, 4],
  [403, 4],
  [404, 3],
  [409, 5],
  [418, 1],
  [423, 5],
  [429, 8],
  [500, 1],
  [502, 8],
  [503, 8],
  [504, 8],
])('an answer %i ends with %i, and prints no result', async (status, code) => {
  const refused = await run('host list', { 'GET /hosts': [status, said('why')] })
  expect(refused).toMatchObject({ code, out: '' })
  expect(refused.err).toContain(
    `GET /hosts: ${status} ${status === 401 ? 'the API at API wants a valid token' : 'why'}`,
  )
})
test.each<readonly [answer: Answer, err: string]>([
  [[500, ''], 'GET /hosts: 500 it answered nothing\n'],
  [[502, `<html>${'x'.repeat(300)}`], `GET /hosts: 502 it answered <html>${'x'.repeat(194)}\n`],
  [[200, 'no JSON'], 'GET /hosts: 200 it answered no JSON\n'],
  [[300, '{}'], 'GET /hosts: 300 it answered {}\n'],
  [[409, { errors: [{ detail: 1 }] }], 'GET /hosts: 409 it answered {"errors":[{"detail":1}]}\n'],
])('what is no answer of this service is shown by its beginning: %j', async (answer, err) => {
  expect((await run('host list', { 'GET /hosts': answer })).err).toContain(err)
})
test.each([
  ['arq show q1', 'GET /accelerator_requests/q1', 404, 'accelerando arq list'],
  ['host show h1', 'GET /hosts/h1', 404, 'accelerando host list'],
  ['device show d1', 'GET /devices/d1', 404, 'accelerando device list'],
  ['profile show p1', 'GET /device_profiles/p1', 404, 'accelerando profile list'],
  ['handle release k1 --reason x', 'POST /handles/k1/release', 409, 'accelerando handle show k1'],
  ['host list', 'GET /hosts', 403, 'accelerando policy show'],
  ['host list', 'GET /hosts', 503, 'accelerando doctor'],
])('after %s and %s: %i the next command is named', async (line, what, status, next) => {
  expect((await run(line, { [what]: [status, said('no')] })).err).toContain(`\nnext: ${next}\n`)
})
test('a refusal names the request and its code, and is a document where the result would have been one', async () => {
  const refused: Answer = [409, said('it has one', 'accelerator.in_use'), { 'x-openstack-request-id': 'req-1' }]
  const answers = { 'PATCH /accelerator_requests': refused }
  expect(await run(BIND.replace(' --json', ''), answers)).toMatchObject({
    code: 5,
    err: 'PATCH /accelerator_requests: 409 it has one (req-1)\nsee: accelerando error in_use\n',
  })
  for (const format of ['json', 'jsonl'])
    expect(JSON.parse((await run(`${BIND} -f ${format}`.replace(' --json', ''), answers)).err)).toEqual({
      error: 'PATCH /accelerator_requests: 409 it has one',
      exit_code: 5,
      next: null,
      request_id: 'req-1',
      see: 'accelerando error in_use',
    })
})
test('each error code is explained without a service', async () => {
  const codes = (await run('error -f value -c code')).out.trim().split('\n')
  expect(codes.length).toBeGreaterThan(10)
  for (const code of codes) {
    const { code: exit, out } = await run(`error ${code}`)
    expect([exit, out]).toEqual([0, expect.stringMatching(/^what to do\s+\S/m)])
    // a link would lead to a page that is not part of the package
    expect(out).not.toMatch(/\]\(|\.md/)
  }
  expect(await run('error nope')).toMatchObject({
    code: 3,
    err: 'this release knows no error code nope\nnext: accelerando error\n',
  })
  expect(JSON.parse((await run('error accelerator.conflict -f json')).out)).toMatchObject({ status: 409, exit_code: 5 })
})

describe('who asks', () => {
  test('is named on demand only, in the newest versions', async () => {
    await run('host list')
    for (const name of ['x-user-id', 'x-auth-token', 'x-service-roles']) expect(headers()).not.toHaveProperty(name)
    expect(headers()['openstack-api-version']).toBe('accelerator latest, accelerando latest')
    await run('host list --as kim')
    expect(headers()).toMatchObject({
      'x-user-id': 'kim',
      'x-project-id': 'operations',
      'x-roles': 'admin,manager,member,reader',
    })
  })
  test.each([
    ['without authentication, by its role', {}, ['service', undefined, undefined]],
    ['with the token of the account a second time', { OS_TOKEN: 'own' }, [undefined, 'own', 'own']],
    ['with a token of its own', { OS_TOKEN: 'own', OS_SERVICE_TOKEN: 'of-service' }, [undefined, 'own', 'of-service']],
  ])('of a bind is a service %s', async (_, env, seen) => {
    await run(BIND, { 'GET /accelerator_requests/q1': { uuid: 'q1', state: 'Bound' } }, env)
    expect(['x-service-roles', 'x-auth-token', 'x-service-token'].map((name) => headers()[name])).toEqual(seen)
  })
  test('of what is only read has no rights of a service', async () => {
    await run('host list', {}, { OS_TOKEN: 'own', OS_SERVICE_TOKEN: 'of-service' })
    expect(headers()).not.toHaveProperty('x-service-token')
  })
  test('for a service that shows no valid token the account to sign in with is named', async () => {
    const { code, err } = await run(BIND, { 'PATCH /accelerator_requests': [401, {}] })
    expect([code, err]).toEqual([4, expect.stringContaining('sign in with an account that has the role service')])
  })
})

describe('--debug', () => {
  test('tells the heads of a request and its answer, in which nothing is secret', async () => {
    const more = {
      'set-cookie': 'planted',
      'x-my-secret-thing': 'planted',
      'x-storage-token': 'planted',
      vary: 'shown',
    }
    const { err } = await run(
      'host list --debug',
      { 'GET /hosts': [200, { hosts: [] }, more] },
      { OS_TOKEN: 'planted' },
    )
    const lines = err.split('\n')
    expect(lines).toEqual(
      expect.arrayContaining([
        '> GET API/hosts',
        '> x-auth-token: (hidden)',
        '< 200',
        '< set-cookie: (hidden)',
        '< vary: shown',
      ]),
    )
    expect(err).not.toContain('planted')
    const address = base().replace('http://', 'http://kim:planted@')
    expect((await run(`host list --debug --api ${address}`)).err).not.toContain('planted')
  })
})

describe('the address of the API', () => {
  test('is that of the option, of a variable, or of the catalogue, however many slashes it ends with', async () => {
    const keystone = await keystoneDouble()
    onTestFinished(() => keystone.close())
    keystone.services = { accelerator: `${base()}/` }
    const user = {
      OS_AUTH_URL: keystone.authUrl,
      OS_USERNAME: 'alpha-member',
      OS_PASSWORD: 'rig-secret',
      OS_PROJECT_NAME: 'alpha',
    }
    const nowhere = { ACCELERANDO_URL: 'http://127.0.0.1:1/v2' }
    for (const [line, env] of [
      [`host list --api ${base()}//`, nowhere],
      ['host list', { ACCELERANDO_URL: `${base()}///` }],
      ['host list', { ACCELERANDO_URL: '', ...user }],
    ] as const)
      expect(await run(line, {}, env)).toMatchObject({ code: 0, asked: ['GET /hosts'] })
    keystone.services = { accelerator: 'ftp://h/v2' }
    expect((await run('host list', {}, { ACCELERANDO_URL: '', ...user })).err).toContain(
      'the service catalogue: ftp://h/v2 must be the address of the API, like http://127.0.0.1:6666/v2',
    )
  })
  test('may have a port that fetch refuses, such as the usual one', async () => {
    const port = await portThatFetchRefuses()
    const server = createServer((_, response) => response.end('{"hosts": []}')).listen(port, '127.0.0.1')
    onTestFinished(() => void server.close())
    expect((await commandHere(['host', 'list', '--api', `http://127.0.0.1:${port}/v2`])).code).toBe(0)
  })
  test('where nobody listens is told with the check to make', async () => {
    const nobody = `http://127.0.0.1:${await freePort()}`
    const { code, err } = await commandHere(['host', 'list', '--api', `${nobody}/v2`])
    expect([code, err]).toEqual([8, expect.stringContaining(`the API at ${nobody}/v2 cannot be reached: `)])
    expect(err).toContain(`next: accelerando doctor --api ${nobody}\n`)
  })
})

describe('what is written of a list', () => {
  const LIST = { 'GET /hosts': { hosts: [HOST, { ...HOST, name: 'a', last_seen_at: null }, { ...HOST, name: 'c' }] } }
  const lines = async (more: string, terminal = true) =>
    (await run(`host list ${more}`, LIST, {}, terminal)).out.split('\n').slice(0, -1)
  test('has its rows in the order that is asked for; those without a value come last', async () => {
    const names = (more: string) => lines(`-f value -c name ${more}`)
    expect(await names('')).toEqual(['h1', 'a', 'c'])
    expect(await names('--sort-column name:desc')).toEqual(['h1', 'c', 'a'])
    expect(await names('--sort-column last_seen_at')).toEqual(['h1', 'c', 'a'])
    expect(await names('--sort-column name --limit 2')).toEqual(['a', 'c'])
  })
  test('has tabs in a pipe and one width at a terminal, and --no-header leaves out the names alone', async () => {
    expect(await lines('-c name -c liveness')).toEqual(['NAME  LIVENESS', 'h1    down', 'a     down', 'c     down'])
    expect(await lines('-c name -c liveness', false)).toEqual(['NAME\tLIVENESS', 'h1\tdown', 'a\tdown', 'c\tdown'])
    expect(await lines('-c name --no-header')).toEqual(['h1', 'a', 'c'])
    expect(JSON.parse((await lines('-f json -c name -c last_seen_at')).join(''))[1]).toEqual({
      name: 'a',
      last_seen_at: null,
    })
  })
  const COLUMNS = 'must be one of name, liveness, retired, last_seen_at, drivers (is size)'
  test.each([
    ['--column size', `--column: ${COLUMNS}`],
    ['--sort-column size', `--sort-column: ${COLUMNS}`],
    ['--sort-column name:up', '--sort-column: must be NAME or NAME:desc (is name:up)'],
    ['--sort-column name --limit 1000001', '--limit: must be a whole number from 1 to 1000000 (is 1000001)'],
    ['--sort-column name --limit 1.5', '--limit: must be a whole number from 1 to 1000000 (is 1.5)'],
  ])('is nothing with %s', async (more, says) => {
    expect(await run(`host list ${more} -f csv`, LIST)).toMatchObject({
      code: 2,
      out: '',
      err: expect.stringContaining(says),
    })
  })
})

/** What `doctor` takes from the answers of Keystone, Nova and the own endpoint, to the letter. */
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { lookAtEndpoint } from '../../src/cli/doctor/endpoint.ts'
import { lookAtKeystone } from '../../src/cli/doctor/keystone.ts'
import { lookAtNova, type NovaFacts } from '../../src/cli/doctor/nova.ts'
import { systemClock } from '../../src/clock.ts'
import type { NovaCall } from '../../src/neighbours/novaCall.ts'
import { NotInCatalogue } from '../../src/neighbours/openstack/send.ts'
import type { Session } from '../../src/neighbours/openstack/session.ts'
import { sessionOptions, SERVICE } from '../contracts/keystone.contract.ts'
import { keystoneDouble } from '../neighbours/openstack/keystoneDouble.ts'

test('of Keystone: the token, its roles and its project, or why there is none', async () => {
  const keystone = await keystoneDouble()
  const url = keystone.authUrl
  const look = (password: string = SERVICE.password) => {
    const session = { ...sessionOptions(url), credentials: { ...SERVICE, password } as typeof SERVICE }
    return lookAtKeystone({ session, ca: null }, systemClock)
  }
  const skewMs: unknown = expect.any(Number)
  const found = await look()
  expect(found).toEqual({
    url,
    reason: null,
    status: 201,
    roles: expect.arrayContaining(['admin', 'service']),
    projectId: expect.stringMatching(/./),
    skewMs,
  })
  const none = { url, roles: [], projectId: null }
  expect(await look('wrong')).toEqual({ ...none, reason: 'it gives this service no token (401)', status: 401, skewMs })
  keystone.mood = 'broken'
  expect(await look()).toEqual({ ...none, reason: 'it gives this service no token (503)', status: 503, skewMs })
  await keystone.close()
  const reason = expect.stringMatching(/^it does not answer: .*ECONNREFUSED/)
  expect(await look()).toEqual({ ...none, reason, status: null, skewMs: null })
})
test('Keystone is asked in JSON, and an answer without a token is told as none', async () => {
  const asked: unknown[] = []
  const server = createServer((request, response) => {
    const { 'content-type': type, accept }: IncomingHttpHeaders = request.headers
    void text(request).then((body) => {
      asked.push([request.method, request.url, type, accept, Object.keys(JSON.parse(body) as object)])
      response.writeHead(201, { connection: 'close' }).end('{}')
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v3`
  const { reason, status } = await lookAtKeystone({ session: sessionOptions(url), ca: null }, systemClock)
  expect([reason, status]).toEqual(['it gives this service no token (201)', 201])
  expect(asked).toEqual([['POST', '/v3/auth/tokens', 'application/json', 'application/json', ['auth']]])
  server.close()
})

type Said = readonly [status: number, body: unknown] | Error
const looked = async (versions: Said, event: Said = [404, {}], servers: Said = [200, { servers: [] }]) => {
  const asked: string[] = []
  const bodies: unknown[] = []
  const named: unknown[] = []
  const call: NovaCall = async ({ method, path, body }, headers = {}) => {
    if (method === 'POST') named.push(headers['x-openstack-request-id'])
    asked.push(`${method} ${path}`)
    if (body !== undefined) bodies.push(JSON.parse(body))
    const said = path === '/' ? versions : method === 'POST' ? event : servers
    if (said instanceof Error) throw said
    return { status: said[0], text: JSON.stringify(said[1]) }
  }
  return { facts: await lookAtNova('http://n', call, 1000), asked, bodies, named }
}
const version = (text: unknown) => ({ version: { version: text, status: 'CURRENT' } })
test.each<readonly [said: Said, answers: NovaFacts['answers']]>([
  [[200, version('2.81')], { is: 'known', highest: '2.81' }],
  [[200, { version: { version: '2.1' } }], { is: 'known', highest: '2.1' }],
  [[200, version('2.12345')], { is: 'strange', status: 200, said: expect.any(String) }],
  [[200, version('x2.82')], { is: 'strange', status: 200, said: expect.any(String) }],
  [[200, version('2.82x')], { is: 'strange', status: 200, said: expect.any(String) }],
  [[200, version('2')], { is: 'strange', status: 200, said: expect.any(String) }],
  [[200, version(7)], { is: 'strange', status: 200, said: expect.any(String) }],
  [[201, version('2.82')], { is: 'strange', status: 201, said: expect.any(String) }],
  [[404, { itemNotFound: { message: 'no page' } }], { is: 'strange', status: 404, said: 'no page' }],
  [[499, {}], { is: 'strange', status: 499, said: expect.any(String) }],
  [[500, version('2.82')], { is: 'failing', status: 500 }],
  [[503, {}], { is: 'failing', status: 503 }],
  [new NotInCatalogue('not there'), { is: 'absent' }],
  [new Error('cut'), { is: 'silent', reason: 'cut' }],
])('of Nova: %j', async (said, answers) => {
  const { facts, asked, bodies } = await looked(said)
  expect(facts).toEqual({ url: 'http://n', answers, event: null, blind: null })
  expect([asked, bodies]).toEqual([['GET /'], []])
})
test('of a Nova that is new enough: whether it takes an event, and shows the servers of all', async () => {
  const uuid = expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f-]{27}$/)
  const { facts, asked, bodies, named } = await looked([200, version('2.82')])
  expect(facts).toEqual({
    url: 'http://n',
    answers: { is: 'known', highest: '2.82' },
    event: expect.objectContaining({ code: 404 }),
    blind: null,
  })
  expect(asked.toSorted()).toEqual([
    'GET /',
    'GET /servers?all_tenants=true&limit=1',
    'POST /os-server-external-events',
  ])
  expect(bodies).toEqual([
    { events: [{ name: 'accelerator-request-bound', server_uuid: uuid, tag: uuid, status: 'completed' }] },
  ])
  const [{ events }] = bodies as [{ events: [{ server_uuid: string; tag: string }] }]
  expect(events[0].server_uuid).not.toBe(events[0].tag)
  expect(named).toEqual([expect.stringMatching(/^req-[0-9a-f]{8}-[0-9a-f-]{27}$/)])
  const { facts: blind } = await looked([200, version('2.999')], [403, {}], [403, {}])
  expect(blind.event).toMatchObject({ outcome: 'retry', code: 403 })
  expect(blind.blind).toContain('needs the role admin')
})

test('of the own endpoint: where it is, and whether this service answers there', async () => {
  const asked: unknown[] = []
  const look = (entry: string | Error, said: readonly [status: number, text: string] | Error) => {
    const given = <Value>(value: Value | Error): Value => {
      if (value instanceof Error) throw value
      return value
    }
    return lookAtEndpoint({
      entry: async (service: string) => ({ url: given(entry), service }),
      call: async (question: unknown) => {
        asked.push(question)
        const [status, text] = given(said)
        return { status, text, headers: {} }
      },
    } as unknown as Pick<Session, 'entry' | 'call'>)
  }
  const url = 'http://a/v2'
  const API = '{"id": "v2.0"}'
  const answer = { url, reason: null }
  expect(await look(url, [200, API])).toEqual({ ...answer, status: 200, isApi: true })
  expect(asked).toEqual([{ service: 'accelerator', method: 'GET', path: '' }])
  expect(await look(url, [200, '{"id": "v2.1"}'])).toEqual({ ...answer, status: 200, isApi: false })
  expect(await look(url, [200, '<html>'])).toEqual({ ...answer, status: 200, isApi: false })
  expect(await look(url, [203, API])).toEqual({ ...answer, status: 203, isApi: false })
  expect(await look(url, new Error('cut'))).toEqual({ url, reason: 'cut', status: null, isApi: false })
  const none = { url: null, status: null, isApi: false }
  expect(await look(new NotInCatalogue('no'), [200, API])).toEqual({ ...none, reason: null })
  expect(await look(new Error('no token'), [200, API])).toEqual({ ...none, reason: 'no token' })
})

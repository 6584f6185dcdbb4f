/** What `doctor` says of Keystone, Nova and the own endpoint, and what it advises. It signs in as the service does. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type Check, judgeAll } from '../../src/cli/doctor/check.ts'
import { ENDPOINT_CHECKS, type EndpointFacts, lookAtEndpoint } from '../../src/cli/doctor/endpoint.ts'
import { KEYSTONE_CHECKS, type KeystoneFacts, lookAtKeystone } from '../../src/cli/doctor/keystone.ts'
import { lookAtNova, NOVA_CHECKS, type NovaFacts } from '../../src/cli/doctor/nova.ts'
import { systemClock } from '../../src/clock.ts'
import { silent } from '../../src/log.ts'
import { inCatalogue } from '../../src/neighbours/novaCall.ts'
import { createSender, type Sender } from '../../src/neighbours/openstack/send.ts'
import { createSession } from '../../src/neighbours/openstack/session.ts'
import { SERVICE, sessionOptions } from '../contracts/keystone.contract.ts'
import { type KeystoneDouble, keystoneDouble } from '../neighbours/openstack/keystoneDouble.ts'

const said = <Facts>(checks: readonly Check<Facts>[], facts: Facts): readonly string[] =>
  judgeAll(checks, facts).map(
    ({ check, verdict, says, advice }) => `${verdict} ${check}: ${says}${advice === undefined ? '' : ` -> ${advice}`}`,
  )

let keystone: KeystoneDouble
let sender: Sender
beforeEach(async () => {
  keystone = await keystoneDouble()
  sender = createSender(null)
})
afterEach(async () => {
  await sender.close()
  await keystone.close()
})
const session = () =>
  createSession({ options: sessionOptions(keystone.authUrl), send: sender.send, clock: systemClock, log: silent })

describe('Keystone', () => {
  const look = async (account: Partial<Record<keyof typeof SERVICE, string>> = {}, clock = systemClock) => {
    const options = { ...sessionOptions(keystone.authUrl), credentials: { ...SERVICE, ...account } as typeof SERVICE }
    return said(KEYSTONE_CHECKS, await lookAtKeystone({ session: options, ca: null }, clock))
  }
  test('that is well: a token with both roles, and clocks that agree', async () =>
    expect(await look()).toEqual([
      `ok keystone: ${keystone.authUrl} gives this service a token`,
      'ok roles of the account: admin and service',
      expect.stringMatching(/^ok clock of keystone: \d+ ms (behind|ahead of) this machine/),
    ]))
  test('an account without admin is a problem, one without service a warning; both are named', async () => {
    const rolesOf = async (username: string, project: string) => (await look({ username, project }))[1]
    expect(await rolesOf('plain-service', 'service')).toMatch(
      /^problem roles of the account: it lacks admin: .* 404, .* -> give it the role admin in the project/,
    )
    expect(await rolesOf('admin', 'admin')).toMatch(
      /^warning roles of the account: it lacks service: .* refuses its events -> give it the role service in the project/,
    )
    expect(await rolesOf('alpha-member', 'alpha')).toMatch(
      /^problem roles of the account: it lacks admin and service: .* -> give it the role admin and the role service/,
    )
  })
  test('a clock that is off', async () => {
    keystone.skewMs = -60_000
    expect((await look())[2]).toMatch(
      /^warning clock of keystone: .* behind this machine .* -> set both clocks by NTP$/,
    )
  })
  test('that refuses the credentials, that is not well, and that does not answer', async () => {
    expect((await look({ password: 'wrong' }))[0]).toMatch(
      /^problem keystone: .*it gives this service no token \(401\): it refuses the credentials -> correct user, password/,
    )
    keystone.mood = 'broken'
    expect((await look())[0]).toMatch(/^problem keystone: .*no token \(503\) -> check that keystone_authtoken.auth_url/)
    keystone.mood = 'down'
    expect(await look()).toEqual([
      expect.stringMatching(/^problem keystone: .*it does not answer: .* -> check that Keystone runs there/),
    ])
  })
  test('a token for no project', () => {
    const facts: KeystoneFacts = {
      url: 'u',
      reason: null,
      status: 201,
      roles: ['admin', 'service'],
      projectId: null,
      skewMs: null,
    }
    expect(said(KEYSTONE_CHECKS, facts)).toEqual([
      'problem keystone: u gives a token, but for no project -> name the project of the service users (keystone_authtoken.project_name), or make the application credential there',
      'ok roles of the account: admin and service',
    ])
  })
})

/** Answers by method and path, and keeps what was asked. */
const service = async (answers: Readonly<Record<string, readonly [number, unknown]>>) => {
  const asked: string[] = []
  const server = createServer((request, response) => {
    const line = `${request.method} ${request.url?.split('?')[0]}`
    asked.push(line)
    const [status, body] = answers[line] ?? [404, 'nothing here']
    request.resume().on('end', () => response.writeHead(status).end(JSON.stringify(body)))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const close = async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked, close }
}

describe('Nova', () => {
  const VERSION = [200, { version: { version: '2.103', status: 'CURRENT' } }] as const
  const gone = [207, { events: [] }] as const
  const WELL = {
    'GET /v2.1/': VERSION,
    'POST /v2.1/os-server-external-events': [400, { badRequest: { message: 'no such server' } }],
    'GET /v2.1/servers': [200, { servers: [] }],
  } as const
  const look = async (answers: Parameters<typeof service>[0]) => {
    const nova = await service(answers)
    keystone.services = { compute: `${nova.url}/v2.1` }
    const timeoutMs = 2000
    const facts = await lookAtNova(null, inCatalogue(session(), { timeoutMs }), timeoutMs)
    await nova.close()
    return { facts, lines: said(NOVA_CHECKS, facts), asked: nova.asked }
  }
  const facts = (more: Partial<NovaFacts> = {}): NovaFacts => ({
    url: null,
    answers: { is: 'known', highest: '2.103' },
    event: { outcome: 'gone', code: 404 },
    blind: null,
    ...more,
  })

  test('is asked for its versions, told an event about a server that nobody has, and asked for the servers of all', async () => {
    const { asked, lines } = await look(WELL)
    expect(asked.toSorted()).toEqual(Object.keys(WELL).toSorted())
    expect(lines[0]).toBe('ok nova: the compute service of the catalogue answers, in versions up to 2.103')
  })
  test('that is well', () =>
    expect(said(NOVA_CHECKS, facts({ url: 'http://n/v2.1' }))).toEqual([
      'ok nova: http://n/v2.1 answers, in versions up to 2.103',
      'ok events to nova: Nova takes them, about the servers of all projects',
    ]))
  test('that is too old is not told anything', async () => {
    const { asked, lines } = await look({ ...WELL, 'GET /v2.1/': [200, { version: { version: '2.81' } }] })
    expect(asked).toEqual(['GET /v2.1/'])
    expect(lines).toEqual([expect.stringMatching(/^problem nova: .* up to 2\.81; 2\.82 is needed .* -> upgrade Nova/)])
    expect((await look({ ...WELL, 'GET /v2.1/': [200, { version: { version: '2.82' } }] })).lines[0]).toMatch(/^ok/)
  })
  test('that refuses the events of an account without rights', async () => {
    const refused = [403, { forbidden: { message: 'no' } }] as const
    const { lines } = await look({ ...WELL, 'POST /v2.1/os-server-external-events': refused })
    expect(lines[1]).toMatch(
      /^problem events to nova: Nova does not take them: .*admin and service.* -> give the account/,
    )
  })
  test('that answers 404 about servers of other projects, for want of the role admin', async () => {
    const post = 'POST /v2.1/os-server-external-events'
    const answers = { ...WELL, [post]: gone, 'GET /v2.1/servers': [403, { forbidden: { message: 'no' } }] } as const
    const { facts: found } = await look(answers)
    expect(found.blind).toContain('needs the role admin')
    expect(said(NOVA_CHECKS, facts({ blind: 'why' }))[1]).toMatch(
      /^problem events to nova: .*\(why\): it answers events about them with 404.* -> give the account/,
    )
  })
  test('that fails, that is something else, that does not answer, and that the catalogue lacks', async () => {
    expect((await look({ 'GET /v2.1/': [500, {}] })).lines).toEqual([
      'warning nova: the compute service of the catalogue answered 500 -> events are sent again until Nova accepts them, for at most nova.tell_for_seconds',
    ])
    expect((await look({})).lines).toEqual([
      expect.stringMatching(/^problem nova: .*answered 404, without the versions.* -> correct its endpoint in the cat/),
    ])
    expect((await look({ 'GET /v2.1/': [401, {}] })).lines[0]).toContain('-> check the token: nova.token_file')
    keystone.services = { compute: 'http://127.0.0.1:9/v2.1' }
    const now = async () => said(NOVA_CHECKS, await lookAtNova(null, inCatalogue(session(), { timeoutMs: 2000 }), 2000))
    expect(await now()).toEqual([
      expect.stringMatching(/^problem nova: .* does not answer: .* -> start it or correct its endpoint/),
    ])
    keystone.services = {}
    expect(await now()).toEqual([
      expect.stringMatching(/^warning nova: the catalogue has no compute service .* -> nothing, if there is no Nova/),
    ])
  })
  test('at a configured address that is wrong: the option is named', () =>
    expect(said(NOVA_CHECKS, facts({ url: 'http://n', answers: { is: 'silent', reason: 'r' }, event: null }))).toEqual([
      'problem nova: http://n does not answer: r -> start it or correct nova.url: Nova is not notified when binds end',
    ]))
})

describe('the own endpoint', () => {
  const look = async () => said(ENDPOINT_CHECKS, await lookAtEndpoint(session()))
  test('that answers as this service does', async () => {
    const own = await service({ 'GET /v2': [200, { id: 'v2.0' }] })
    keystone.services = { accelerator: `${own.url}/v2` }
    expect(await look()).toEqual([`ok own endpoint: ${own.url}/v2 in the catalogue answers`])
    keystone.services = { accelerator: own.url }
    expect(await look()).toEqual([expect.stringMatching(/^warning own endpoint: .* answered 404, .* ends in \/v2$/)])
    await own.close()
  })
  test('that the catalogue lacks, and that does not answer', async () => {
    expect(await look()).toEqual([
      expect.stringMatching(
        /^warning own endpoint: the catalogue has no service of the type accelerator .* register it/,
      ),
    ])
    keystone.services = { accelerator: 'http://127.0.0.1:9/v2' }
    expect(await look()).toEqual([
      expect.stringMatching(/^warning own endpoint: .* does not answer: .* -> start a control, or correct/),
    ])
  })
  test('a catalogue that cannot be read', () => {
    const facts: EndpointFacts = { url: null, reason: 'why', status: null, isApi: false }
    expect(said(ENDPOINT_CHECKS, facts)).toEqual([
      'problem own endpoint: the catalogue could not be read: why -> see what is said of keystone',
    ])
  })
})

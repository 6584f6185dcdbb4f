/** `accelerando doctor` beside the services of a cloud: what it looks at, says of each fault, and advises. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { SERVICE, sessionOptions } from '../contracts/keystone.contract.ts'
import { glanceDouble } from '../neighbours/openstack/glanceDouble.ts'
import { type KeystoneDouble, keystoneDouble } from '../neighbours/openstack/keystoneDouble.ts'
import { placementDouble } from '../neighbours/openstack/placementDouble.ts'
import { commandHere } from '../support/commandHere.ts'
import { placementLab } from '../support/placementLab.ts'

type Finding = { readonly check: string; readonly verdict: string; readonly says: string; readonly advice?: string }
let keystone: KeystoneDouble
beforeEach(async () => {
  keystone = await keystoneDouble()
})
afterEach(() => keystone.close())

const PREFIX = 'ACCELERANDO_KEYSTONE_AUTHTOKEN'
const account = (
  username: string = SERVICE.username,
  project: string = SERVICE.project,
  password: string = SERVICE.password,
) => ({
  ACCELERANDO_AUTH: 'keystone',
  [`${PREFIX}_AUTH_URL`]: keystone.authUrl,
  [`${PREFIX}_USERNAME`]: username,
  [`${PREFIX}_PASSWORD`]: password,
  [`${PREFIX}_PROJECT_NAME`]: project,
})
const findings = async (env: Readonly<Record<string, string>> = {}, ...args: readonly string[]) => {
  const { code, out } = await commandHere(['doctor', '--json', ...args], { ...account(), ...env })
  const found = JSON.parse(out) as readonly Finding[]
  expect(code).toBe(found.some(({ verdict }) => verdict === 'problem') ? 7 : 0)
  return found
}
/** What is said of one thing, in one line. */
const said = async (check: string, env: Readonly<Record<string, string>> = {}) => {
  const found = (await findings(env)).filter((one) => one.check === check)
  return found.map(({ verdict, says, advice }) => `${verdict}: ${says}${advice === undefined ? '' : ` -> ${advice}`}`)
}

describe('it looks at what is configured, and at nothing else', () => {
  const KEYSTONE = ['keystone: ok', 'roles of the account: ok', 'clock of keystone: ok']
  const REST = ['nova: warning', 'own endpoint: warning', 'requests of a project: warning']
  const NO_PLACEMENT = { ACCELERANDO_PLACEMENT_ENABLED: 'false' }
  test.each<readonly [string, Readonly<Record<string, string>>, readonly string[]]>([
    ['a cloud with nothing but Keystone', {}, [...KEYSTONE, 'placement: problem', 'images: warning', ...REST]],
    ['without Placement', NO_PLACEMENT, [...KEYSTONE, 'images: warning', ...REST]],
    ['with a folder of images', { ...NO_PLACEMENT, ACCELERANDO_IMAGES: '/tmp' }, [...KEYSTONE, ...REST]],
    [
      'with Nova at an address of its own',
      { ...NO_PLACEMENT, ACCELERANDO_IMAGES: '/tmp', ACCELERANDO_NOVA_URL: 'http://127.0.0.1:9/v2.1' },
      [...KEYSTONE, 'nova: problem', ...REST.slice(1)],
    ],
    [
      'with a quota',
      { ...NO_PLACEMENT, ACCELERANDO_IMAGES: '/tmp', ACCELERANDO_QUOTA_ARQS_PER_PROJECT: '1000' },
      [...KEYSTONE, ...REST.slice(0, 2), 'requests of a project: ok'],
    ],
  ])('%s', async (_, env, shown) => {
    expect((await findings(env)).map(({ check, verdict }) => `${check}: ${verdict}`)).toEqual(shown)
  })
  test('only at Keystone, and once, where it refuses the credentials: accounts are locked after many refusals', async () => {
    expect(await said('keystone', account('cyborg', 'service', 'wrong'))).toEqual([
      expect.stringMatching(/no token \(401\): it refuses the credentials -> correct user, password and project/),
    ])
    expect(keystone.asked).toEqual(['POST /v3/auth/tokens'])
  })
  test('the text has a line for each finding, the advice below it, and the sum at the end', async () => {
    const { out } = await commandHere(['doctor'], { ...account(), ...NO_PLACEMENT })
    expect(out).toMatch(/^ok {7}keystone {15}\S+ gives this service a token$/m)
    expect(out).toMatch(/^warning {2}images .*\n +-> nothing, if no profile does; otherwise check/m)
    expect(out).toMatch(/\n0 problems, 4 warnings, 3 ok\n$/)
  })
})

describe('Keystone', () => {
  test.each([
    ['plain-service', 'service', /^problem: it lacks admin: .* 404, .* -> give it the role admin in the project/],
    ['admin', 'admin', /^warning: it lacks service: .* refuses its events -> give it the role service in the project/],
    [
      'alpha-member',
      'alpha',
      /^problem: it lacks admin and service: .* -> give it the role admin and the role service/,
    ],
  ])('gives the account %s of %s too few roles', async (username, project, says) => {
    expect(await said('roles of the account', account(username, project))).toEqual([expect.stringMatching(says)])
  })
  test('has a clock that is off, is not well, or does not answer', async () => {
    keystone.skewMs = -60_000
    expect((await said('clock of keystone'))[0]).toMatch(
      /^warning: .* behind this machine .* -> set both clocks by NTP$/,
    )
    keystone.mood = 'broken'
    expect((await said('keystone'))[0]).toMatch(
      /^problem: .*no token \(503\) -> check that keystone_authtoken\.auth_url/,
    )
    keystone.mood = 'down'
    expect((await said('keystone'))[0]).toMatch(/^problem: .*does not answer: .* -> check that Keystone runs there/)
  })
})

type Answers = Readonly<Record<string, readonly [number, unknown]>>
/** Nova's answer to events about servers that it does not know. */
const UNKNOWN = Symbol('404 for each event')
const eventsIn = (sent: string) => (JSON.parse(sent) as { readonly events: readonly object[] }).events
/** Answers by method and path, and keeps what was asked. */
const served = async (answers: Answers) => {
  const asked: string[] = []
  const server = createServer((request, response) => {
    const line = `${request.method} ${request.url?.split('?')[0]}`
    asked.push(line)
    const [status, body] = answers[line] ?? [404, 'nothing here']
    void text(request).then((sent) => {
      const answer = body === UNKNOWN ? { events: eventsIn(sent).map((event) => ({ ...event, code: 404 })) } : body
      response.writeHead(status).end(JSON.stringify(answer))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked }
}

describe('Nova', () => {
  const POST = 'POST /v2.1/os-server-external-events'
  const NO = [403, { forbidden: { message: 'no' } }] as const
  const WELL: Answers = {
    'GET /v2.1/': [200, { version: { version: '2.103', status: 'CURRENT' } }],
    [POST]: [207, UNKNOWN],
    'GET /v2.1/servers': [200, { servers: [] }],
  }
  const look = async (answers: Answers) => {
    const nova = await served(answers)
    keystone.services = { compute: `${nova.url}/v2.1` }
    return { asked: nova.asked, lines: [...(await said('nova')), ...(await said('events to nova'))] }
  }
  test('is asked for its versions, told an event about a server that nobody has, and asked for the servers of all', async () => {
    const { asked, lines } = await look(WELL)
    expect([...new Set(asked)].toSorted()).toEqual(Object.keys(WELL).toSorted())
    expect(lines).toEqual([
      'ok: the compute service of the catalogue answers, in versions up to 2.103',
      'ok: Nova takes them, about the servers of all projects',
    ])
  })
  test('that is too old is not told anything', async () => {
    const { asked, lines } = await look({ ...WELL, 'GET /v2.1/': [200, { version: { version: '2.81' } }] })
    expect(new Set(asked)).toEqual(new Set(['GET /v2.1/']))
    expect(lines).toEqual([expect.stringMatching(/^problem: .* up to 2\.81; 2\.82 is needed .* -> upgrade Nova/)])
  })
  test.each<readonly [string, Answers, RegExp]>([
    [
      'refuses events',
      { ...WELL, [POST]: NO },
      /^problem: Nova does not take them: .*admin and service.* -> give the acc/,
    ],
    [
      'shows not all servers',
      { ...WELL, 'GET /v2.1/servers': NO },
      /^problem: .*it answers events about them with 404/,
    ],
    [
      'fails',
      { 'GET /v2.1/': [500, {}] },
      /^warning: .* answered 500 -> events are sent again until Nova accepts them/,
    ],
    ['is something else', {}, /^problem: .*answered 404, without the versions.* -> correct its endpoint in the cat/],
    ['wants another token', { 'GET /v2.1/': [401, {}] }, /^problem: .* -> check the token: nova\.token_file/],
  ])('that %s', async (_, answers, says) => {
    expect((await look(answers)).lines.at(-1)).toMatch(says)
  })
  test('that the catalogue lacks, and that does not answer at its configured address', async () => {
    expect((await said('nova'))[0]).toMatch(/^warning: the catalogue has no compute service .* -> nothing, if there is/)
    expect((await said('nova', { ACCELERANDO_NOVA_URL: 'http://127.0.0.1:9/v2.1' }))[0]).toMatch(
      /^problem: .* does not answer: .* -> start it or correct nova\.url: Nova is not notified when binds end$/,
    )
  })
})

describe('the own endpoint', () => {
  test('answers as this service does, or as something else, or not at all', async () => {
    const own = await served({ 'GET /v2': [200, { id: 'v2.0' }] })
    keystone.services = { accelerator: `${own.url}/v2` }
    expect(await said('own endpoint')).toEqual([`ok: ${own.url}/v2 in the catalogue answers`])
    keystone.services = { accelerator: own.url }
    expect((await said('own endpoint'))[0]).toMatch(/^warning: .* answered 404, .* ends in \/v2$/)
    keystone.services = { accelerator: 'http://127.0.0.1:9/v2' }
    expect((await said('own endpoint'))[0]).toMatch(/^warning: .* does not answer: .* -> start a control, or correct/)
    keystone.services = {}
    expect((await said('own endpoint'))[0]).toMatch(/^warning: the catalogue has no service of the type .* register it/)
  })
})

describe('the image service', () => {
  test('answers, is not in the catalogue, or cannot be used', async () => {
    const glance = await glanceDouble(keystone.holderOf)
    onTestFinished(() => glance.close())
    for (const image of [glance.url, `${glance.url}/v2/`]) {
      keystone.services = { image }
      expect(await said('images')).toEqual(['ok: the image service answers, and lets this service read'])
    }
    keystone.services = {}
    expect((await said('images'))[0]).toMatch(
      /^warning: the catalogue has no image service .* -> nothing, if no profile/,
    )
    keystone.services = { image: 'http://127.0.0.1:9' }
    expect((await said('images'))[0]).toMatch(
      /^problem: the image service cannot be used: .* -> check the image service/,
    )
    keystone.services = { image: (await served({ 'GET /v2/images': [403, {}] })).url }
    expect((await said('images'))[0]).toMatch(
      /^problem: the image service does not let this service read -> give the acc/,
    )
  })
})

describe('Placement', () => {
  const start = async (options: { readonly highest?: number } = {}) => {
    const double = await placementDouble({ authUrl: keystone.authUrl, ...options })
    onTestFinished(() => double.close())
    keystone.services = { placement: double.url }
    return double
  }
  test('is well, and shows devices that Nova shows below the same compute node as well', async () => {
    await start()
    const lab = placementLab(sessionOptions(keystone.authUrl))
    const [root, elsewhere] = [await lab.node('compute1'), await lab.node('compute2')]
    const provider = async (parent: string, name: string, trait: string) =>
      lab.setTraits(await lab.child(parent, name), [trait])
    await provider(root, 'c1_0000:af:00.0', 'OWNER_CYBORG')
    expect(await said('placement')).toEqual(['ok: it answers, in version 1.39; 1 provider of this service'])
    expect(await said('overlap with nova')).toEqual([])
    await provider(root, 'compute1_0000:AF:00.0', 'COMPUTE_MANAGED_PCI_DEVICE')
    await provider(elsewhere, 'compute2_0000:AF:00.0', 'COMPUTE_MANAGED_PCI_DEVICE')
    await lab.close()
    expect((await said('overlap with nova'))[0]).toMatch(
      /^problem: 1 device shown by Nova as well: c1_0000:af:00\.0 -> /,
    )
  })
  test('refuses the account, is too old, lacks a trait, is down, or is not there', async () => {
    const { model, close } = await start()
    expect((await said('placement', account('alpha-member', 'alpha')))[0]).toMatch(
      /^problem: .*needs the role admin or se/,
    )
    model.state.traits.delete('OWNER_CYBORG')
    expect((await said('placement'))[0]).toMatch(/^problem: .*No such trait\(s\): OWNER_CYBORG.* -> upgrade os-traits/)
    await close()
    expect((await said('placement'))[0]).toMatch(/^problem: .*ECONNREFUSED.* -> check the credentials/)
    await start({ highest: 29 })
    expect((await said('placement'))[0]).toMatch(/^problem: .*the versions 1\.0 to 1\.29.* -> upgrade Placement/)
    keystone.services = {}
    expect((await said('placement'))[0]).toMatch(/^problem: the catalogue has no endpoint of placement/)
  })
})

test('a control that is ready, is not, or is not there, and a database that does not answer', async () => {
  const api = await served({ 'GET /readyz': [200, {}] })
  const look = async (...args: readonly string[]) => {
    const { code, out } = await commandHere(['doctor', '-f', 'csv', '--no-header', ...args])
    return [code, ...out.trimEnd().split('\n')]
  }
  expect(await look('--api', `${api.url}//`)).toEqual([
    0,
    `api,ok,${api.url}/readyz is ready,`,
    expect.stringMatching(/^clock of the api,ok,.* this machine \(give or take 1 s\),$/),
  ])
  const starting = await served({ 'GET /readyz': [503, {}] })
  expect((await look('--api', starting.url))[1]).toContain(
    'is not ready,its log and /readyz of its admin listener say why',
  )
  expect(await look('--database', 'postgresql://127.0.0.1:1/d', '--api', 'https://127.0.0.1:1')).toEqual([
    7,
    expect.stringMatching(/^database,problem,.*ECONNREFUSED.*,"check that PostgreSQL is running there, and that user/),
    expect.stringMatching(/^api,problem,.*does not answer: .*ECONNREFUSED.*,check that a control is running there$/),
  ])
  expect((await look('--kafka', '127.0.0.1:1'))[1]).toMatch(/^kafka,problem,.*"?check that a broker is running there/)
})

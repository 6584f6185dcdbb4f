/** What the session sends to Keystone and to the neighbours, request by request. */
import { expect, test } from 'vitest'
import { type Answer, NotInCatalogue, type Request, Unanswered } from '../../../src/neighbours/openstack/send.ts'
import { createSession, type SessionOptions } from '../../../src/neighbours/openstack/session.ts'
import type { StreamRequest } from '../../../src/neighbours/openstack/stream.ts'
import { handClock, memoryLog } from '../../support/lab.ts'

const OPTIONS: SessionOptions = {
  authUrl: 'http://keystone/v3',
  credentials: { kind: 'application_credential', id: 'i', secret: 's' },
  region: null,
  interfaces: ['internal', 'public'],
  endpoints: { fixed: 'http://fixed/v1//' },
  timeoutMs: 700,
}
const CATALOG = [
  {
    type: 'image',
    endpoints: [
      { interface: 'public', url: 'http://image.public/', region: 'A' },
      { interface: 'internal', url: 'http://image.internal/v2/', region: 'A' },
      { interface: 'internal', url: 'http://image.b', region: 'A', region_id: 'B' },
    ],
  },
]
const LIFE_MS = 600_000
type Said = Partial<Answer> | Error
const opened = (answers: readonly Said[], options: Partial<SessionOptions> = {}, lifeMs = LIFE_MS) => {
  const [clock, log] = [handClock(), memoryLog()]
  const asked: Request[] = []
  const streamed: StreamRequest[] = []
  const left = [...answers]
  let tokens = 0
  const token = (): Answer => ({
    status: 201,
    headers: { 'x-subject-token': `t${++tokens}` },
    text: JSON.stringify({
      token: {
        expires_at: new Date(clock.now() + lifeMs).toISOString(),
        user: { id: 'u' },
        project: { id: 'p' },
        catalog: CATALOG,
      },
    }),
  })
  const next = (request: Request | StreamRequest): Answer => {
    const said = left[0] ?? {}
    // Keystone gives a token wherever no other answer is for it
    const forKeystone = request.url.endsWith('/auth/tokens') && request.method === 'POST'
    if (
      forKeystone &&
      !(said instanceof Error ? said.message.startsWith('keystone') : said.headers?.['for'] === 'keystone')
    )
      return token()
    left.shift()
    if (said instanceof Error) throw said
    return { status: 200, headers: {}, text: '', ...said }
  }
  const session = createSession({
    options: { ...OPTIONS, ...options },
    send: async (request) => (asked.push(request), next(request)),
    stream: async (request) => {
      streamed.push(request)
      const { status, headers } = next(request)
      return { status, headers, body: [] as never, drop: () => {} }
    },
    clock,
    log,
  })
  const sent = () => asked.map(({ method, url, headers }) => [method, url, headers['x-auth-token']])
  return { session, clock, log, asked, streamed, sent }
}
const ISSUE = ['POST', 'http://keystone/v3/auth/tokens', undefined]
const image = (method: string, token: string, path = '/x') => [method, `http://image.internal/v2${path}`, token]

test('Keystone itself is asked with the token, and an answer in parts with its own limits', async () => {
  const { session, asked, streamed } = opened([{}, {}, {}, {}])
  await session.ask('/users', { 'x-own': 'o' })
  await session.ask('/users')
  const rest = { method: 'GET', url: 'http://keystone/v3/users', timeoutMs: 700 }
  expect(asked.slice(1)).toEqual([
    { ...rest, headers: { accept: 'application/json', 'x-own': 'o', 'x-auth-token': 't1' } },
    { ...rest, headers: { accept: 'application/json', 'x-auth-token': 't1' } },
  ])
  const { signal } = new AbortController()
  await session.read({ service: 'image', path: '/f', headers: { range: 'r' }, timeoutMs: 5, idleMs: 3, signal })
  await session.read({ service: 'image', path: '/f', idleMs: 3, signal })
  const part = { method: 'GET', url: 'http://image.internal/v2/f', idleMs: 3, signal }
  expect(streamed).toEqual([
    { ...part, headers: { range: 'r', 'x-auth-token': 't1' }, timeoutMs: 5 },
    { ...part, headers: { 'x-auth-token': 't1' }, timeoutMs: 700 },
  ])
})
test('a session without a stream reads no answer in parts', async () => {
  const { clock, log } = opened([])
  const text = JSON.stringify({
    token: { expires_at: new Date(9e12).toISOString(), user: { id: 'u' }, catalog: CATALOG },
  })
  const send = async (): Promise<Answer> => ({ status: 201, headers: { 'x-subject-token': 't' }, text })
  const session = createSession({ options: OPTIONS, send, clock, log })
  const read = session.read({ service: 'image', path: '/f', idleMs: 3, signal: new AbortController().signal })
  await expect(read).rejects.toEqual(new Unanswered('this session does not read answers in parts'))
  expect((await session.entry('image')).projectId).toBeNull()
})

test.each([
  [{}, 'image', 'http://image.internal/v2'],
  [{ interfaces: ['public', 'internal'] }, 'image', 'http://image.public'],
  [{ interfaces: ['admin', 'internal'] }, 'image', 'http://image.internal/v2'],
  [{ region: 'B' }, 'image', 'http://image.b'],
  [{}, 'fixed', 'http://fixed/v1'],
  [{ endpoints: { image: 'http://other/' } }, 'image', 'http://other'],
] as const)('the endpoint with %j of the service %s is %s', async (options, service, url) => {
  const { session } = opened([], options)
  expect(await session.entry(service)).toEqual({ token: 't1', projectId: 'p', url })
})
test('SESSION-6 a service that the catalogue lacks is absent, and is named with what was looked for', async () => {
  const none = 'the catalogue has no endpoint of compute with the interface internal or public'
  const { session } = opened([])
  expect(session.lacks('compute')).toBe(false)
  await expect(session.entry('compute')).rejects.toEqual(new NotInCatalogue(none))
  await expect(session.call({ service: 'compute', method: 'GET', path: '/' })).rejects.toThrow(none)
  expect([session.lacks('compute'), session.lacks('image')]).toEqual([true, false])
  const far = opened([], { region: 'C', interfaces: ['admin'] }).session
  await expect(far.entry('image')).rejects.toThrow(
    'the catalogue has no endpoint of image with the interface admin in the region C',
  )
})

test('SESSION-4 a reading request whose connection failed is sent once more, and no other', async () => {
  const cut = new Unanswered('other side closed')
  const get = opened([cut, {}])
  const call = (method: 'GET' | 'PUT') => ({ service: 'image', method, path: '/x' }) as const
  expect((await get.session.call(call('GET'))).status).toBe(200)
  expect(get.sent()).toEqual([ISSUE, image('GET', 't1'), image('GET', 't1')])
  const put = opened([cut, {}])
  await expect(put.session.call(call('PUT'))).rejects.toBe(cut)
  const late = new Unanswered('no answer within 700 ms', { late: true })
  const slow = opened([late, {}])
  await expect(slow.session.call(call('GET'))).rejects.toBe(late)
  const bug = new TypeError('a bug')
  const broken = opened([bug, {}])
  await expect(broken.session.call(call('GET'))).rejects.toBe(bug)
  expect([put, slow, broken].map(({ asked }) => asked.length)).toEqual([2, 2, 2])
})

test('SESSION-1 the old token is used to its last millisecond while there is no new one', async () => {
  const away = () => new Unanswered('keystone is away')
  const { session, clock } = opened([{}, away(), away()])
  const token = async () => (await session.entry('image')).token
  await session.ask('/users')
  await clock.pass(LIFE_MS - 1)
  expect(await token()).toBe('t1')
  await clock.pass(1)
  await expect(token()).rejects.toThrow('keystone is away')
  expect(await token()).toBe('t2')
})

test('whoever does not answer is named with the reason, each neighbour by itself', async () => {
  const away = () => new Unanswered('away', { late: true })
  const { session } = opened([away(), away(), away(), {}])
  expect(session.whyFailing()).toEqual({})
  for (let call = 0; call < 3; call++)
    await expect(session.call({ service: 'image', method: 'GET', path: '/x' })).rejects.toThrow('away')
  expect(session.whyFailing()).toEqual({ image: 'away' })
  expect((await session.ask('/users')).status).toBe(200)
  expect(session.whyFailing()).toEqual({ image: 'away' })
})
test('CIRCUIT-4 while Keystone rests, a question without what a caller has sent finds out whether it is back', async () => {
  const away = () => new Unanswered('away', { late: true })
  const { session, clock, asked } = opened([away(), away(), away()])
  for (let call = 0; call < 3; call++) await expect(session.ask('/users')).rejects.toThrow('away')
  const before = asked.length
  await expect(session.askFor('/theirs')).rejects.toThrow('it is not asked again yet: away')
  await clock.pass(500)
  expect((await session.askFor('/theirs')).status).toBe(200)
  const paths = asked.slice(before).map(({ url }) => url.replace('http://keystone/v3', ''))
  expect([paths.length > 1, paths.indexOf('/theirs'), session.whyFailing()]).toEqual([true, paths.length - 1, {}])
})

/** What is asked of Glance, request by request, and what its answers become. */
import { expect, test } from 'vitest'
import { noImage } from '../../../src/vocabulary/images.ts'
import { createGlance } from '../../../src/neighbours/images/glance.ts'
import { NotInCatalogue, Unanswered } from '../../../src/neighbours/openstack/send.ts'
import type { Session } from '../../../src/neighbours/openstack/session.ts'

const UUID = '4a3bd0ae-0000-4000-8000-00000000abcd'
type Said = { readonly status: number; readonly body?: unknown; readonly headers?: Record<string, string> } | Error
type Entry = { readonly url?: string; readonly projectId?: string | null } | Error
const TERM = { timeoutMs: 1000, idleMs: 300 }

/** A session with these answers, in this order. */
const opened = (answers: readonly Said[], entry: Entry = {}, trustedProjects: readonly string[] = []) => {
  const asked: Readonly<Record<string, unknown>>[] = []
  const left = [...answers]
  let dropped = 0
  const next = (request: object) => {
    asked.push({ ...request })
    const said = left.shift() ?? expect.unreachable('nobody expected this')
    if (said instanceof Error) throw said
    return said
  }
  const body = (async function* () {
    yield Buffer.from('bits')
  })()
  const session: Session = {
    call: async (request) => {
      const { status, body: told, headers = {} } = next(request)
      return { status, headers, text: typeof told === 'string' ? told : JSON.stringify(told ?? null) }
    },
    read: async (request) => {
      const { status, headers = {} } = next(request)
      return { status, headers, body, drop: () => void dropped++ }
    },
    ask: () => expect.unreachable(),
    askFor: () => expect.unreachable(),
    entry: async (service) => {
      if (entry instanceof Error) throw entry
      expect(service).toBe('image')
      return { token: 't', url: entry.url ?? 'http://glance/v2', projectId: entry.projectId ?? null }
    },
    whyFailing: () => ({}),
    lacks: (service) => service === 'image',
  }
  const glance = createGlance(session, { ...TERM, trustedProjects })
  return { asked, glance, body, dropped: () => dropped }
}
const image = (more: object = {}) => ({ id: UUID, status: 'active', tags: ['FPGA'], visibility: 'public', ...more })
const GET = { service: 'image', method: 'GET', timeoutMs: TERM.timeoutMs }
const unavailable = (detail: string) => noImage('unavailable', detail)
const UNREADABLE = unavailable('the answer of the image service cannot be read')

test('an image is asked for by its id, whoever owns it', async () => {
  const { asked, glance } = opened([{ status: 200, body: image({ visibility: 'private', owner: 'other' }) }])
  expect(await glance.find('a/b')).toEqual({
    found: true,
    image: {
      uuid: UUID,
      name: null,
      size: null,
      digest: null,
      tags: ['FPGA'],
      properties: { id: UUID, status: 'active', visibility: 'private', owner: 'other' },
    },
  })
  expect(asked).toEqual([{ ...GET, path: '/images/a%2Fb' }])
  const bare = opened([{ status: 200, body: image() }], { url: 'http://glance/image' })
  await bare.glance.find(UUID)
  expect(bare.asked).toEqual([{ ...GET, path: `/v2/images/${UUID}` }])
})
test('a description that is none is no bitstream', async () => {
  for (const body of ['<html>', '7'])
    expect(await opened([{ status: 200, body }]).glance.find(UUID)).toEqual(
      noImage('unusable', 'its description cannot be read: must be an object'),
    )
})

const PROBLEMS = [
  [204, noImage('inactive')],
  [400, noImage('unusable')],
  [403, noImage('forbidden')],
  [404, noImage('unknown')],
  [410, noImage('unknown')],
  [201, unavailable('the image service answers 201')],
  [401, unavailable('the image service answers 401')],
  [500, unavailable('the image service answers 500')],
] as const
test.each(PROBLEMS)(
  'the status %i means the same of a description, of bytes, of a list and of a look',
  async (status, problem) => {
    const each = () => opened([{ status }], { projectId: null }).glance
    expect([await each().find(UUID), await each().look(), await each().search({ by: 'all' })]).toEqual([
      problem,
      problem,
      problem,
    ])
    const { glance, dropped } = opened([{ status }])
    expect(await glance.bytes(UUID, 5, new AbortController().signal)).toEqual(problem)
    expect(dropped()).toBe(1)
  },
)

test('a service that cannot be asked, or not with this account, is failing until it answers', async () => {
  const { glance } = opened([
    { status: 500 },
    { status: 200, body: image() },
    { status: 401 },
    { status: 499 },
    new Unanswered('no answer'),
    { status: 404 },
    { status: 599 },
    new NotInCatalogue('not in the catalogue'),
  ])
  const failing: (string | null)[] = [glance.whyFailing()]
  const found: unknown[] = []
  for (let call = 0; call < 8; call++) {
    found.push(await glance.find(UUID))
    failing.push(glance.whyFailing())
  }
  expect(failing).toEqual([
    null,
    'it answers 500',
    null,
    'it answers 401',
    null,
    'no answer',
    null,
    'it answers 599',
    null,
  ])
  expect([found[4], found[7]]).toEqual([unavailable('no answer'), unavailable('not in the catalogue')])
  expect(glance.isAbsent()).toBe(true)
})
test('without a token nothing is asked, and why is told', async () => {
  const { asked, glance } = opened([], new Unanswered('no token'))
  const none = unavailable('no token')
  const bytes = await glance.bytes(UUID, 0, new AbortController().signal)
  expect([await glance.search({ by: 'all' }), await glance.find(UUID), await glance.look(), bytes]).toEqual([
    none,
    none,
    none,
    none,
  ])
  expect([glance.whyFailing(), asked]).toEqual(['no token', []])
})
test('a look asks for one image', async () => {
  const { asked, glance } = opened([{ status: 200 }])
  expect(await glance.look()).toBeNull()
  expect(asked).toEqual([{ ...GET, path: '/images?tag=FPGA&limit=1' }])
})

const list = (...images: readonly unknown[]) => ({ status: 200, body: { images } })
const queries = (asked: readonly Readonly<Record<string, unknown>>[]) =>
  asked.map(({ path }) => Object.fromEntries(new URLSearchParams(String(path).split('?')[1])))
test('GLANCE-1 a search asks for public images and for those of each trusted project, by each name of the property', async () => {
  const [a, b, c] = ['a', 'b', 'c'].map((letter) => UUID.replace('abcd', letter.repeat(4))) as [string, string, string]
  const { asked, glance } = opened(
    [
      list(image({ id: a }), image({ id: b, visibility: 'private' }), image({ id: c, visibility: undefined })),
      list(image({ id: b }), image({ id: c, tags: [] })),
      list(image({ id: a, owner: 'own' }), image({ id: c, owner: 'other' })),
      list(),
      list(image({ id: c, owner: 'friend', visibility: 'private' }), 7),
      list(),
    ],
    { projectId: 'own' },
    ['friend', 'own'],
  )
  const found = await glance.search({ by: 'function_id', value: 'f' })
  expect(found).toEqual({
    found: true,
    images: [a, b, c].map((uuid) => expect.objectContaining({ uuid })),
    among: "public images, and those of the service's project and of glance.trusted_projects",
  })
  const base = { tag: 'FPGA', status: 'active', limit: '100' }
  const owners = [{ visibility: 'public' }, { owner: 'own' }, { owner: 'friend' }]
  expect(queries(asked)).toEqual(
    owners.flatMap((owned) => ['function_uuid', 'accel:function_id'].map((key) => ({ ...base, ...owned, [key]: 'f' }))),
  )
  expect(asked.map(({ service, method, timeoutMs }) => ({ service, method, timeoutMs }))).toEqual(asked.map(() => GET))
})
test('a service without a project searches those of others', async () => {
  const { asked, glance } = opened([list(), list()], { projectId: null }, ['friend'])
  expect(await glance.search({ by: 'function_name', value: 'f' })).toMatchObject({ found: true, images: [] })
  expect(queries(asked).map(({ owner }) => owner)).toEqual([undefined, 'friend'])
})
test('a search of which one part fails fails', async () => {
  const { asked, glance } = opened([list(image()), { status: 503 }], {}, ['friend', 'other'])
  expect(await glance.search({ by: 'all' })).toEqual(unavailable('the image service answers 503'))
  expect(asked).toHaveLength(2)
})
test.each(['<html>', {}, { images: {} }, { images: Array(1001).fill(7) }, { images: [], next: 7 }])(
  'a list that is none cannot be read, %#',
  async (body) => expect(await opened([{ status: 200, body }]).glance.search({ by: 'all' })).toEqual(UNREADABLE),
)
test('a list has a thousand images at most', async () => {
  expect(await opened([list(...Array(1000).fill(image()))]).glance.search({ by: 'all' })).toMatchObject({
    images: { length: 1 },
  })
})

const bytesOf = async (from: number, said: Said) => {
  const { signal } = new AbortController()
  const { asked, glance, body, dropped } = opened([said])
  return { got: await glance.bytes(UUID, from, signal), asked, body, signal, dropped: dropped() }
}
test('bytes are asked for from a position on, and taken from there or from the beginning', async () => {
  const range = (text: string) => ({ 'content-range': text })
  const whole = await bytesOf(0, { status: 200 })
  expect(whole.got).toEqual({ found: true, start: 0, body: whole.body })
  const sent = { service: 'image', path: `/images/${UUID}/file`, ...TERM }
  expect(whole.asked).toEqual([{ ...sent, headers: {}, signal: whole.signal }])
  const rest = await bytesOf(4, { status: 206, headers: range('bytes 4-9/10') })
  expect(rest.got).toEqual({ found: true, start: 4, body: rest.body })
  expect(rest.asked).toEqual([{ ...sent, headers: { range: 'bytes=4-' }, signal: rest.signal }])
  const anew = await bytesOf(4, { status: 200, headers: range('bytes 4-9/10') })
  expect([anew.got, anew.dropped]).toEqual([{ found: true, start: 0, body: anew.body }, 0])
  for (const headers of [range('bytes 3-9/10'), range('x bytes 4-9/10'), range('bytes 4'), range('bytes */10'), {}]) {
    const other = await bytesOf(4, { status: 206, headers })
    expect([headers, other.got, other.dropped]).toEqual([headers, null, 1])
  }
  const beyond = await bytesOf(4, { status: 416, headers: range('bytes 4-9/10') })
  expect([beyond.got, beyond.dropped]).toEqual([null, 1])
  expect((await bytesOf(4, new Unanswered('no answer'))).got).toEqual(unavailable('no answer'))
})

/**
 * A change with an `Idempotency-Key` that is sent again is not made again, and is answered as the first one was
 * (rest-api 8.6).
 */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Nova } from '../../src/actors/neighbours.ts'
import { type Lived, type UiWorld, apiOf, lived, openUiWorld } from '../ui/world.ts'

const nova: Nova = { notify: async (events) => events.map(({ tag }) => ({ tag, outcome: 'delivered', code: 200 })) }
let world: UiWorld
let seen: Lived
let api: ReturnType<typeof apiOf>
beforeAll(async () => {
  world = await openUiWorld(undefined, { nova })
  seen = await lived(world)
  api = apiOf(world, { additive: true })
})
afterAll(() => world.close())

type Who = { readonly 'x-user-id': string; readonly 'x-project-id': string }
const sent = async (line: string, key: string, body?: object, who?: Who) => {
  const [method, path] = line.split(' ') as [string, string]
  const answer = await api(
    new Request(`http://h${path}`, {
      method,
      headers: {
        'openstack-api-version': 'accelerator latest',
        'idempotency-key': key,
        'x-openstack-request-id': `req-${key.slice(0, 36)}`,
        ...(body && { 'content-type': 'application/json' }),
        ...(who && { ...who, 'x-roles': 'admin' }),
      },
      ...(body && { body: JSON.stringify(body) }),
    }),
  )
  const text = await answer.text()
  return { status: answer.status, json: text === '' ? null : JSON.parse(text) }
}
/** How many entities have recorded something under this request. */
const recorded = async (key: string): Promise<number> => {
  await world.pump()
  const { json } = await sent('GET /v2/events?after=0&limit=1000', key)
  const events = json.events as readonly { event: { data: { cause?: { requestId?: string } } } }[]
  return events.filter(({ event }) => event.data.cause?.requestId === `req-${key}`).length
}

const REASON = { reason: 'said so' }
const GROUPS = [{ 'resources:FPGA': '1' }]
const CHANGES = (): readonly (readonly [line: string, body?: object])[] => [
  [`POST /v2/devices/${seen.card}/disable`],
  [`POST /v2/devices/${seen.card}/enable`],
  [`POST /v2/handles/${seen.handle}/release`, REASON],
  [`POST /v2/handles/${seen.handle}/quarantine`, REASON],
  ['POST /v2/hosts/compute-2/restore', REASON],
  ['POST /v2/hosts/compute-2/retire', REASON],
  [`POST /v2/deliveries/${seen.bound.instance}/resend`, REASON],
  [`POST /v2/accelerator_requests/${seen.bound.uuid}/force_unbind`, REASON],
  [`DELETE /v2/accelerator_requests?arqs=${seen.bound.uuid}`],
  ['POST /v2/device_profiles', [{ name: 'new-one', groups: GROUPS }]],
  ['PATCH /v2/device_profiles/new-one', { groups: GROUPS, description: 'second', ...REASON }],
  ['DELETE /v2/device_profiles/new-one'],
]
const NAMES = [
  'disable a device',
  'enable it',
  'release a handle',
  'withhold it',
  'restore a host',
  'retire it',
  'tell Nova once more',
  'unbind by force',
  'delete a request',
  'create a profile',
  'make a version of it',
  'delete it',
]
test.each(NAMES.map((name, at) => [name, at] as const))(
  'sent three times, twice at once, it is recorded once: %s',
  async (_, at) => {
    const [line, body] = CHANGES()[at]!
    const key = randomUUID()
    const answers = await Promise.all([sent(line, key, body), sent(line, key, body)])
    const first = await recorded(key)
    expect(first, JSON.stringify(answers)).toBeGreaterThan(0)
    answers.push(await sent(line, key, body))
    expect(new Set(answers.map(({ status }) => status)).size, JSON.stringify(answers)).toBe(1)
    expect(answers[0].status).toBeLessThan(300)
    expect(await recorded(key)).toBe(first)
  },
)

test('what others have changed since is not changed back', async () => {
  const [first, between] = [randomUUID(), randomUUID()]
  const status = async () => (await sent(`GET /v2/devices/${seen.card}`, first)).json.status
  await sent(`POST /v2/devices/${seen.card}/disable`, first)
  await sent(`POST /v2/devices/${seen.card}/enable`, between)
  expect((await sent(`POST /v2/devices/${seen.card}/disable`, first)).status).toBe(204)
  expect(await status()).toBe('enabled')
})

test('the same key for something else is another command', async () => {
  const key = randomUUID()
  await sent(`POST /v2/devices/${seen.card}/disable`, key)
  expect((await sent(`POST /v2/devices/${seen.card}/enable`, key)).status).toBe(204)
  expect((await sent(`GET /v2/devices/${seen.card}`, key)).json.status).toBe('enabled')
})

test.each<[string, Who]>([
  ['user', { 'x-user-id': 'u2', 'x-project-id': 'p1' }],
  ['project', { 'x-user-id': 'u1', 'x-project-id': 'p2' }],
])('the same key of another %s is another command', async (_, other) => {
  const key = randomUUID()
  const disable = (who: Who) => sent(`POST /v2/devices/${seen.card}/disable`, key, undefined, who)
  const enable = () => sent(`POST /v2/devices/${seen.card}/enable`, randomUUID())
  await disable({ 'x-user-id': 'u1', 'x-project-id': 'p1' })
  await enable()
  await disable(other)
  expect((await sent(`GET /v2/devices/${seen.card}`, key)).json.status).toBe('maintaining')
  await enable()
})

test('what was refused is not done, and is decided anew when it is sent again', async () => {
  const [key, other] = [randomUUID(), randomUUID()]
  const [line, body] = ['POST /v2/device_profiles', [{ name: 'taken', groups: GROUPS }]]
  await sent(line, other, body)
  expect((await sent(line, key, body)).status).toBe(409)
  await sent('DELETE /v2/device_profiles/taken', other)
  expect((await sent(line, key, body)).status).toBe(201)
})

test('a key must be visible text of at most 255 characters', async () => {
  for (const key of ['x'.repeat(256), 'a b'])
    expect((await sent(`POST /v2/devices/${seen.card}/enable`, key)).status).toBe(400)
  expect((await sent(`GET /v2/devices/${seen.card}`, 'a b')).status).toBe(200)
})

/**
 * S10: nobody but an administrator learns of accelerator requests of another project: every route, every role, every
 * scope, both modes of the policy, the ordinary and the newest version, with every filter and marker that could name
 * something foreign. What a driver or an operator said in words is for administrators too, and so are profiles of other
 * projects.
 */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ROUTES } from '../../src/http/routes/all.ts'
import { latestMinor } from '../../src/http/versions.ts'
import { until } from '../support/lab.ts'
import { createTestApp } from './app.ts'
import { bindBody, openWorkshop } from './cloud.ts'
import type { Arq } from './cloud.ts'
import { as, send, service, version } from './steps.ts'

const OWNER = { 'X-User-Id': 'owner-user', 'X-Project-Id': 'owner-project' } as const
const WORDS = 'firmware of slot 7 rejects key 0xDEADBEEF'
const owner = as('member', OWNER)
/** A profile that only projects of others may use. */
const SHARED = 'profile-of-the-owner'
const HANDLE_STATES = ['free', 'held', 'releasing', 'quarantined', 'missing']
type Route = (typeof ROUTES)[number]
const ROLES = ['manager', 'member', 'reader', 'service', 'manager,member,reader,service', 'wizard'] as const

/** Who forces an unbind, which its project may learn only as a decision of somebody else. */
const OPERATOR = as('admin', { 'X-User-Id': 'operator-7', 'X-Project-Id': 'operations' })

const NEW_RULES = { enforceNewDefaults: true, rules: {} } as const
const NEWEST = latestMinor(true)
const OTHER = { 'X-Project-Id': 'another-project', 'X-User-Id': 'eve' } as const

let shop: Awaited<ReturnType<typeof openWorkshop>>
/** All that belongs to the other project. */
let secrets: readonly string[]
let arqs: readonly string[]
let instances: readonly string[]
let apps: readonly (readonly [mode: string, app: ReturnType<typeof createTestApp>, minor: number])[]

const create = async (profile: string): Promise<Arq> =>
  (await shop.must(201, 'POST /v2/accelerator_requests', { body: { device_profile_name: profile }, headers: owner }))
    .json.arqs[0]
const bind = (arq: Arq, instance: string) =>
  shop.must(202, 'PATCH /v2/accelerator_requests', {
    body: bindBody([arq], shop.fpga.rp_uuid, instance),
    headers: { ...owner, ...service },
  })
let next = 0
/** The answer of the host to the next of its orders. */
const answered = async (result: Parameters<typeof shop.answer>[1]) => {
  await until(() => shop.orders.length > next)
  await shop.answer(shop.orders[next++]!, result)
}
const FAILED = { status: 'failed', reason: WORDS, final: true } as const

beforeAll(async () => {
  shop = await openWorkshop({ answering: 'when told' })
  const profile = await shop.newProfile()
  const [initial, bound, failed, left] = [
    await create(profile),
    await create(profile),
    await create(profile),
    await create(profile),
  ]
  instances = [randomUUID(), randomUUID(), randomUUID()]
  await bind(bound, instances[0]!)
  await answered({ status: 'done' })
  // its release fails as well, so that its handle is in quarantine
  await bind(failed, instances[1]!)
  await answered(FAILED)
  await answered(FAILED)
  await bind(left, instances[2]!)
  await answered({ status: 'done' })
  await shop.must(200, `POST /v2/accelerator_requests/${left.uuid}/force_unbind`, {
    body: { reason: 'owner-reason' },
    headers: OPERATOR,
  })
  await answered(FAILED)
  await shop.must(201, 'POST /v2/device_profiles', {
    body: [{ name: SHARED, groups: [{ 'resources:FPGA': '1' }] }],
  })
  const additive = createTestApp(shop.control, { additiveMicroversion: true }, shop.events)
  const shared = await send(additive, `PATCH /v2/device_profiles/${SHARED}`, {
    body: { projects: ['owner-project', 'third-project'], reason: 'contract' },
    headers: { ...as('admin'), ...version(NEWEST) },
  })
  if (shared.status !== 200) throw new Error(shared.text)
  await shop.report('silent', [{ driver: 'd', status: 'failed', error: WORDS }])
  arqs = [initial, bound, failed, left].map(({ uuid }) => uuid)
  secrets = [...arqs, ...instances, 'owner-user', 'owner-project', 'owner-reason', WORDS, SHARED]
  apps = [
    ['older rules too', createTestApp(shop.control, {}, shop.events), 3],
    ['new rules', createTestApp(shop.control, { policy: NEW_RULES }, shop.events), 3],
    ['older rules too, newest version', additive, NEWEST],
    [
      'new rules, newest version',
      createTestApp(shop.control, { policy: NEW_RULES, additiveMicroversion: true }, shop.events),
      NEWEST,
    ],
  ]
})
afterAll(() => shop.close())

/** Values of path parameters and arguments: those of the other project, and all that everybody may know. */
const known = async () => {
  const uuids = async (collection: string, key = collection) =>
    (await shop.must(200, `GET /v2/${collection}`)).json[key].map(({ uuid }: { uuid: string }) => uuid) as string[]
  const [devices, deployables, attributes, handles] = await Promise.all(
    ['devices', 'deployables', 'attributes', 'handles'].map((name) => uuids(name)),
  )
  const profiles = await uuids('device_profiles')
  return { name: ['sim-1', 'silent'], id: profiles, devices, deployables, attributes, handles: handles! }
}
type Known = Awaited<ReturnType<typeof known>>

const pathsOf = (row: Route, all: Known): readonly string[] => {
  const [, collection = '', parameter] = /^\/v2\/(\w+)(?:\/:(\w+))?/.exec(row.path) ?? []
  if (parameter === undefined) return [row.path]
  const values =
    collection === 'accelerator_requests' ? arqs : (all[parameter as 'id'] ?? all[collection as 'devices'] ?? [])
  return values.map((value) => row.path.replace(/:\w+/g, value))
}
/** Each argument with each value that may tell something foreign. */
const queriesOf = (row: Route, all: Known): readonly string[] => {
  const values: Readonly<Record<string, readonly string[]>> = {
    limit: ['1', '100'],
    marker: [...arqs, ...all.handles.slice(0, 2), 'sim-1'],
    instance: instances,
    arqs: [arqs.join(',')],
    state: HANDLE_STATES,
    hostname: ['sim-1'],
    bind_state: ['resolved'],
    sort_dir: ['desc'],
  }
  const names = Object.keys(row.query ?? {})
  const each = names.flatMap((name) => (values[name] ?? []).map((value) => `?${name}=${value}`))
  const together = names.includes('instance') ? instances.map((one) => `?bind_state=resolved&instance=${one}`) : []
  return ['', ...each, ...together]
}
/** What the answer tells that the question did not name. */
const leaks = (text: string, line: string): readonly string[] =>
  secrets.filter((secret) => !line.includes(secret) && text.includes(secret))

const reads = ROUTES.filter(({ method, rule }) => method === 'GET' && rule !== null)
type Asking = {
  readonly headers: Readonly<Record<string, string>>
  /** What the caller may read of it after all, by the question. */
  readonly may?: (line: string) => boolean
  /** Projects of the caller among those of the profile. */
  readonly knows?: readonly string[]
}
/** Asks everything; each answer is looked through. Answers with the statuses there were. */
const readAll = async ({ headers, may = () => false, knows = [] }: Asking): Promise<ReadonlySet<number>> => {
  const all = await known()
  const statuses = new Set<number>()
  for (const [mode, app, minor] of apps)
    for (const row of reads)
      for (const path of pathsOf(row, all))
        for (const query of queriesOf(row, all)) {
          const line = `${row.method} ${path}${query}`
          const got = await send(app, line, { headers: { ...headers, ...version(minor) } })
          statuses.add(got.status)
          expect(got.status, `${mode}: ${line}`).toBeLessThan(500)
          if (may(line)) continue
          const leaked = leaks(got.text, line).filter((secret) => !knows.includes(secret))
          expect(leaked, `${mode}: ${line}`).toEqual([])
        }
  return statuses
}

describe.each(ROLES)('a %s of another project', (roles) => {
  const headers = { ...as(roles, OTHER), ...version(3) }
  test('reads nothing of it', async () => {
    await readAll({ headers })
  })
  test('of a project that may use the same profile: reads of it only that', async () => {
    await readAll({ headers: as(roles, { ...OTHER, 'X-Project-Id': 'third-project' }), knows: [SHARED] })
  })
  test('with a service token: reads what belongs to an instance that it names, and nothing else', async () => {
    const may = (line: string): boolean => line.includes('instance=')
    await readAll({ headers: { ...headers, ...service }, may })
  })
  test('is answered as if its requests and instances did not exist', async () => {
    const answerOf = async (app: (typeof apps)[number][1], line: string, id: string) => {
      const body = /^(POST|PATCH)/.test(line) ? { body: patch(id) } : {}
      const { status, text } = await send(app, line.replace(':uuid', id), { ...body, headers })
      return [status, text.replaceAll(/req-[0-9a-f-]{36}/g, 'req').replaceAll(id, 'id')]
    }
    const patch = (id: string) => ({ [id]: [{ op: 'remove', path: '/hostname' }], reason: 'x' })
    const lines = [
      ...ROUTES.filter(({ path }) => path.startsWith('/v2/accelerator_requests/:uuid')).map(
        ({ method, path }) => `${method} ${path}`,
      ),
      ...['arqs', 'marker', 'instance'].map((name) => `GET /v2/accelerator_requests?${name}=:uuid`),
      'GET /v2/accelerator_requests?bind_state=resolved&instance=:uuid',
      'DELETE /v2/accelerator_requests?arqs=:uuid',
      'DELETE /v2/accelerator_requests?instance=:uuid',
    ]
    for (const [mode, app] of apps)
      for (const line of lines)
        for (const id of [...arqs, ...instances])
          expect(await answerOf(app, line, id), `${mode}: ${line}`).toEqual(await answerOf(app, line, randomUUID()))
  })
})

const SCOPES: readonly (readonly [string, Readonly<Record<string, string>>])[] = [
  ['for the system', { 'OpenStack-System-Scope': 'all' }],
  ['for a domain', { 'X-Domain-Id': 'default' }],
  ['without scope', {}],
]
describe.each(SCOPES)('a token %s', (_, scope) => {
  test.each(['admin,manager,member,reader', 'reader', 'service', ''])(
    'with the roles "%s" reads nothing',
    async (roles) => {
      const headers = { 'X-User-Id': 'eve', 'X-Roles': roles, ...scope }
      expect([...(await readAll({ headers }))]).toEqual([403])
      await readAll({ headers: { ...headers, ...service }, may: (line) => line.includes('instance=') })
    },
  )
})

test('an administrator reads all of it', async () => {
  const texts = await Promise.all(
    ['accelerator_requests', 'handles', 'hosts', 'hosts/sim-1', `accelerator_requests/${arqs[2]}/timeline`].map(
      async (path) => (await shop.must(200, `GET /v2/${path}`)).text,
    ),
  )
  const text = texts.join('')
  expect([...arqs, instances[0], 'owner-project', WORDS].filter((secret) => !text.includes(secret!))).toEqual([])
  const { handles } = (await shop.must(200, 'GET /v2/handles?state=quarantined')).json
  const details = await Promise.all(
    handles.map(
      async ({ uuid }: { uuid: string }) => (await shop.must(200, `GET /v2/handles/${uuid}`)).json.last_arq_uuid,
    ),
  )
  expect(details).toContain(arqs[3])
})

test('a manager of the project itself sees which handles its requests hold', async () => {
  const headers = as('manager', OWNER)
  const host = (await shop.must(200, 'GET /v2/hosts/sim-1', { headers })).json
  expect(host.arqs).toEqual([arqs[1]])
  const { handles } = (await shop.must(200, 'GET /v2/handles?state=held', { headers })).json
  expect(handles.map(({ arq_uuid }: { arq_uuid: string }) => arq_uuid)).toEqual([arqs[1]])
})

test('the timeline gives a tenant the code of a failure, and an administrator also the words', async () => {
  const step = async (arq: string, name: string, headers: Record<string, string>) => {
    const { steps } = (await shop.must(200, `GET /v2/accelerator_requests/${arq}/timeline`, { headers })).json
    return steps.find((each: { step: string }) => each.step === name).detail
  }
  expect(await step(arqs[2]!, 'bind failed', owner)).toEqual({ code: 'host_failed' })
  expect(await step(arqs[2]!, 'bind failed', as('admin'))).toEqual({ code: 'host_failed', reason: WORDS })
  expect(await step(arqs[3]!, 'release failed on the host', owner)).toEqual({ code: 'host_failed' })
  const forced = { code: 'operator_decided', attach_handle: expect.any(String) }
  expect(await step(arqs[3]!, 'unbound by force', owner)).toEqual(forced)
  expect(await step(arqs[3]!, 'unbound by force', as('admin'))).toMatchObject({ ...forced, reason: 'owner-reason' })
})

describe('which user acted', () => {
  const causes = async (headers: Record<string, string>) => {
    const path = `GET /v2/accelerator_requests/${arqs[3]}/timeline?events=true`
    const { json, text } = await shop.must(200, path, { headers })
    type Step = { step: string; cause: string | null; event: { data: { cause: { by?: string } } } | null }
    const steps = (json.steps as Step[]).map(({ step, cause, event }) => [step, cause, event?.data.cause.by])
    return { text, steps }
  }
  const events = (headers: Record<string, string>) => shop.must(200, 'GET /v2/events?limit=1000', { headers })
  const colleague = as('member', { ...OWNER, 'X-User-Id': 'colleague' })

  test('is told to the user itself and to administrators, and to others only that it was somebody else', async () => {
    const forced = 'unbound by force'
    const owners = await causes(owner)
    expect(owners.steps).toContainEqual(['created', 'owner-user', 'owner-user'])
    expect(owners.steps).toContainEqual(['bind accepted', 'service', 'service'])
    expect(owners.steps).toContainEqual(['bound', 'host sim-1', 'host sim-1'])
    expect(owners.steps).toContainEqual([forced, 'another user', 'another user'])
    expect((await causes(colleague)).steps).toContainEqual(['created', 'another user', 'another user'])
    const administrators = await causes(as('admin'))
    expect(administrators.steps).toContainEqual(['created', 'owner-user', 'owner-user'])
    expect(administrators.steps).toContainEqual([forced, 'operator-7', 'operator-7'])
  })
  test('stands in no event that another user of the project reads', async () => {
    const read = await events(owner)
    expect(read.text).toContain('owner-user')
    expect((await events(colleague)).text).not.toContain('owner-user')
    for (const headers of [owner, colleague]) {
      expect((await events(headers)).text).not.toContain('operator-7')
      expect((await causes(headers)).text).not.toContain('operator-7')
    }
    expect((await events(OPERATOR)).text).toContain('operator-7')
  })
})

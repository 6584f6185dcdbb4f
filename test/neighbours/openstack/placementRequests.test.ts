/** Each call of the client of Placement as one request, whole, and what its answer becomes. */
import { expect, test } from 'vitest'
import { CANDIDATES_MAX, type Placement, type PlacementResult } from '../../../src/actors/placement/port.ts'
import { createPlacement, versionOf } from '../../../src/neighbours/openstack/placement.ts'
import { type Answer, Unanswered } from '../../../src/neighbours/openstack/send.ts'
import type { Call } from '../../../src/neighbours/openstack/session.ts'

const [A, B] = ['00000000-0000-4000-8000-00000000000a', '00000000-0000-4000-8000-00000000000b'] as const
const json = (body: unknown, status = 200): Answer => ({
  status,
  headers: {},
  text: body === null ? '' : JSON.stringify(body),
})
const offering = (lowest: string, highest: string): Answer =>
  json({ versions: [{ min_version: lowest, max_version: highest }] })
const denied = (status: number, detail: string): Answer => json({ errors: [{ status, detail }] }, status)
/** A session with these answers, in this order. */
const scripted = (...answers: readonly (Answer | Error)[]) => {
  const asked: Call[] = []
  const left = [...answers]
  const call = async (one: Call): Promise<Answer> => {
    asked.push(one)
    const next = left.shift()!
    if (next instanceof Error) throw next
    return next
  }
  return { asked, session: { call } }
}
/** The request that the call makes after the versions are known, and what becomes of its answer. */
const said = async (ask: (placement: Placement) => Promise<unknown>, answer: Answer | Error) => {
  const { asked, session } = scripted(offering('1.0', '1.39'), answer)
  const result = await ask(createPlacement(session))
  expect(asked[0]).toEqual({ service: 'placement', method: 'GET', path: '/', headers: {} })
  return { result, asked: asked.slice(1) }
}

const provider = (uuid: string, parent: string | null) => ({
  uuid,
  name: 'n',
  generation: 3,
  parent_provider_uuid: parent,
  root_provider_uuid: A,
})
const PROVIDER = { uuid: B, name: 'n', generation: 3, parent: A, root: A }
const LIST = json({ resource_providers: [provider(B, A), provider(A, null)] })
const BOTH = [PROVIDER, { ...PROVIDER, uuid: A, parent: null }]
const RECORD = { total: 4, reserved: 1, min_unit: 1, max_unit: 2, step_size: 1, allocation_ratio: 1.5 }
const GENERATION = { resource_provider_generation: 7 }
type Asked = readonly [method: Call['method'], path: string, body?: object]
type Case = readonly [string, (placement: Placement) => Promise<PlacementResult<unknown>>, Asked, Answer, unknown]

const CASES: readonly Case[] = [
  ['named', ({ named }) => named('a b'), ['GET', '/resource_providers?name=a%20b'], LIST, PROVIDER],
  ['provider', ({ provider: of }) => of(B), ['GET', `/resource_providers/${B}`], json(provider(B, A)), PROVIDER],
  ['tree', ({ tree }) => tree(A), ['GET', `/resource_providers?in_tree=${A}`], LIST, BOTH],
  ['owned', ({ owned }) => owned(), ['GET', '/resource_providers?required=OWNER_CYBORG'], LIST, BOTH],
  ['ofNova', ({ ofNova }) => ofNova(), ['GET', '/resource_providers?required=COMPUTE_MANAGED_PCI_DEVICE'], LIST, BOTH],
  [
    'ownedIn',
    ({ ownedIn }) => ownedIn(A),
    ['GET', `/resource_providers?in_tree=${A}&required=OWNER_CYBORG`],
    LIST,
    BOTH,
  ],
  [
    'create',
    ({ create }) => create({ uuid: B, name: 'n', parent: A }),
    ['POST', '/resource_providers', { uuid: B, name: 'n', parent_provider_uuid: A }],
    json(provider(B, A)),
    PROVIDER,
  ],
  [
    'update',
    ({ update }) => update({ uuid: B, name: 'n', parent: A }),
    ['PUT', `/resource_providers/${B}`, { name: 'n', parent_provider_uuid: A }],
    json(provider(B, A)),
    PROVIDER,
  ],
  ['remove', ({ remove }) => remove(B), ['DELETE', `/resource_providers/${B}`], json(null, 204), null],
  [
    'inventories',
    ({ inventories }) => inventories(B),
    ['GET', `/resource_providers/${B}/inventories`],
    json({ ...GENERATION, inventories: { VGPU: RECORD } }),
    { generation: 7, inventories: { VGPU: RECORD } },
  ],
  [
    'setInventories',
    ({ setInventories }) => setInventories({ uuid: B, generation: 6, inventories: { VGPU: RECORD } }),
    ['PUT', `/resource_providers/${B}/inventories`, { resource_provider_generation: 6, inventories: { VGPU: RECORD } }],
    json(GENERATION),
    7,
  ],
  [
    'traits',
    ({ traits }) => traits(B),
    ['GET', `/resource_providers/${B}/traits`],
    json({ ...GENERATION, traits: ['T', 'U'] }),
    { generation: 7, traits: ['T', 'U'] },
  ],
  [
    'setTraits',
    ({ setTraits }) => setTraits({ uuid: B, generation: 6, traits: ['T'] }),
    ['PUT', `/resource_providers/${B}/traits`, { resource_provider_generation: 6, traits: ['T'] }],
    json(GENERATION),
    7,
  ],
  [
    'allocations',
    ({ allocations }) => allocations(B),
    ['GET', `/resource_providers/${B}/allocations`],
    json({ ...GENERATION, allocations: { c: { resources: { VGPU: 1 } } } }),
    { generation: 7, consumers: { c: { VGPU: 1 } } },
  ],
  ['ensureTrait', ({ ensureTrait }) => ensureTrait('CUSTOM_A'), ['PUT', '/traits/CUSTOM_A'], json(null, 201), null],
  ['ensureTrait', ({ ensureTrait }) => ensureTrait('HW_A/'), ['GET', '/traits/HW_A%2F'], json(null, 204), null],
  [
    'ensureClass',
    ({ ensureClass }) => ensureClass('CUSTOM_B'),
    ['PUT', '/resource_classes/CUSTOM_B'],
    json(null, 201),
    null,
  ],
  [
    'ensureClass',
    ({ ensureClass }) => ensureClass('MY_CUSTOM_'),
    ['GET', '/resource_classes/MY_CUSTOM_'],
    json(null),
    null,
  ],
]

test.each(CASES)(
  '%s is one request with the version and its body',
  async (_, ask, [method, path, body], answer, value) => {
    const { result, asked } = await said(ask, answer)
    expect(result).toEqual({ ok: true, value })
    expect(asked).toEqual([
      {
        service: 'placement',
        method,
        path,
        headers: {
          'openstack-api-version': 'placement 1.39',
          ...(body && { 'content-type': 'application/json' }),
        },
        ...(body && { body: JSON.stringify(body) }),
      },
    ])
  },
)

test.each(CASES)('%s passes a refusal and a missing answer on', async (_, ask) => {
  expect((await said(ask, denied(403, 'why'))).result).toEqual({
    ok: false,
    error: 'denied',
    reason: 'the account of this service needs the role admin or service for Placement: why',
  })
  const none = { ok: false, error: 'unanswered', reason: 'no answer' }
  expect((await said(ask, new Unanswered('no answer'))).result).toEqual(none)
  const unread = scripted(new Unanswered('no answer'))
  expect(await ask(createPlacement(unread.session))).toEqual(none)
  expect(unread.asked).toHaveLength(1)
})

test('a name that is looked up and not there is unknown, whatever else is gone stays gone', async () => {
  const gone = denied(404, 'nothing')
  const reason = 'Placement answers 404: nothing'
  for (const ask of [
    ({ ensureTrait }: Placement) => ensureTrait('A'),
    ({ ensureClass }: Placement) => ensureClass('A'),
  ])
    expect((await said(ask, gone)).result).toEqual({ ok: false, error: 'unknownName', reason })
  expect((await said(({ traits }) => traits(B), gone)).result).toEqual({ ok: false, error: 'gone', reason })
})

test('a provider without a name is not asked for, and none of that name is none', async () => {
  const { asked, session } = scripted()
  expect(await createPlacement(session).named('')).toEqual({ ok: true, value: null })
  expect(asked).toEqual([])
  expect((await said(({ named }) => named('n'), json({ resource_providers: [] }))).result).toEqual({
    ok: true,
    value: null,
  })
})

const GROUPS = [
  { resources: { VGPU: 1, CUSTOM_X: 2 }, required: ['T', 'U'], forbidden: ['V'] },
  { resources: { FPGA: 1 }, required: [], forbidden: [] },
  { resources: { FPGA: 1 }, required: [], forbidden: ['W'] },
]
const candidates =
  (eligible: boolean) =>
  ({ candidates: of }: Placement) =>
    of({ groups: GROUPS, tree: A, eligible })

test('candidates are asked for as Nova does, each group in the tree, and are the providers by group', async () => {
  const mappings = [
    { '1': [A], '2': [B], '3': [B, A] },
    { '': [A], '1': [B], '2': [] },
  ]
  const answer = json({ allocation_requests: mappings.map((each) => ({ mappings: each })) })
  const { result, asked } = await said(candidates(true), answer)
  // of a group that an answer leaves out nothing is known
  expect(result).toEqual({
    ok: true,
    value: [
      [A, B, B],
      [B, '', ''],
    ],
  })
  const [path, query] = asked[0]!.path.split('?')
  expect([asked[0]!.method, path, asked.length]).toEqual(['GET', '/allocation_candidates', 1])
  const sent = {
    group_policy: 'none',
    limit: String(CANDIDATES_MAX),
    resources1: 'VGPU:1,CUSTOM_X:2',
    in_tree1: A,
    required1: 'T,U,!V',
    resources2: 'FPGA:1',
    in_tree2: A,
    resources3: 'FPGA:1',
    in_tree3: A,
    required3: '!W',
  }
  const eligible = { root_required: 'COMPUTE_ACCELERATORS,!COMPUTE_STATUS_DISABLED' }
  expect(Object.fromEntries(new URLSearchParams(query))).toEqual({ ...sent, ...eligible })
  const others = await said(candidates(false), json({ allocation_requests: [] }))
  expect(others.result).toEqual({ ok: true, value: [] })
  expect(Object.fromEntries(new URLSearchParams(others.asked[0]!.path.split('?')[1]))).toEqual(sent)
  expect((await said(candidates(true), denied(400, 'No such trait T'))).result).toMatchObject({ error: 'unknownName' })
})

test.each([
  ['1.0', '1.30', '1.30'],
  ['1.0', '1.29', null],
  ['1.39', '1.60', '1.39'],
  ['1.40', '1.60', null],
])('PLACEMENT-1 a Placement from %s to %s is spoken to in %s', async (lowest, highest, version) => {
  const { session } = scripted(offering(lowest, highest))
  const reason = `Placement offers the versions ${lowest} to ${highest}: one of 1.30 to 1.39 is needed`
  expect(await versionOf(session)).toEqual(
    version === null ? { ok: false, error: 'refused', reason } : { ok: true, value: version },
  )
})

test('PLACEMENT-1 versions that are no answer of Placement are not used, and read again by the next call', async () => {
  const { asked, session } = scripted(json({ versions: [] }), denied(406, 'no'), offering('1.0', '1.39'), LIST, LIST)
  const placement = createPlacement(session)
  expect(await placement.owned()).toMatchObject({ error: 'unanswered', reason: expect.stringContaining('at versions') })
  expect(await placement.owned()).toMatchObject({ ok: false, error: 'refused' })
  expect([await placement.owned(), await placement.owned()]).toEqual([
    { ok: true, value: BOTH },
    { ok: true, value: BOTH },
  ])
  expect(asked.map(({ path }) => path.split('?')[0])).toEqual([
    '/',
    '/',
    '/',
    '/resource_providers',
    '/resource_providers',
  ])
})

test('a call takes no longer than its six requests may', () => {
  const { session } = scripted()
  expect([createPlacement(session).longestCallMs, createPlacement(session, 100).longestCallMs]).toEqual([30_000, 600])
})

test.each([199, 300, 304])('an answer with the status %i is none', async (status) => {
  expect((await said(({ owned }) => owned(), json(null, status))).result).toEqual({
    ok: false,
    error: 'unanswered',
    reason: `Placement answers ${status}`,
  })
})

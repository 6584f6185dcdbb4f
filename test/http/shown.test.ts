/** What the API shows of each object, whole, with another value in each field, and what absent values become. */
import { describe, expect, test } from 'vitest'
import type { ArqRow, AttributeRow, DeployableRow, DeviceRow, ProfileRow } from '../../src/actors/control.ts'
import type { DeviceHealth } from '../../src/actors/device/health.ts'
import type { ComparisonState } from '../../src/actors/placement/comparison.ts'
import { as, version } from './steps.ts'
import { at, bodyOf, selfLink, shown, tell, uuid } from './toldControl.ts'

const [A, B, C, D, E] = [uuid(1), uuid(2), uuid(3), uuid(4), uuid(5)] as const

const ARQ = {
  uuid: A,
  state: 'Bound',
  profile_name: 'fpga',
  profile_version: 4,
  group_id: 2,
  hostname: 'h1',
  device_rp_uuid: B,
  instance_uuid: C,
  project_id: 'p9',
  handle_type: 'PCI',
  handle_uuid: D,
  handle_info: { bus: '0c' },
  created_at: at(1),
  updated_at: at(2),
} as unknown as ArqRow
describe('an accelerator request', () => {
  const bound = {
    uuid: A,
    state: 'Bound',
    device_profile_name: 'fpga',
    device_profile_version: 4,
    device_profile_group_id: 2,
    hostname: 'h1',
    device_rp_uuid: B,
    instance_uuid: C,
    project_id: 'p9',
    attach_handle_type: 'PCI',
    attach_handle_uuid: D,
    attach_handle_info: { bus: '0c' },
    created_at: shown(1),
    updated_at: shown(2),
    links: [selfLink('accelerator_requests', A)],
  }
  const of = (more: object, minor?: number) =>
    bodyOf(`accelerator_requests/${A}`, { 'arqs.get': { ...ARQ, ...more } }, minor)
  test('that is bound shows its attach handle, and from 2.5 the version of its profile', async () => {
    const { device_profile_version: _, ...older } = bound
    expect([await of({}), await of({}, 5), await of({}, 4)]).toEqual([bound, bound, older])
  })
  test('that is not bound shows no attach handle, also where it has one already', async () => {
    const none = { attach_handle_type: '', attach_handle_uuid: null, attach_handle_info: {} }
    expect(await of({ state: 'BindStarted' })).toEqual({ ...bound, state: 'BindStarted', ...none })
    expect(await of({ handle_type: null, handle_uuid: null, handle_info: null })).toEqual({ ...bound, ...none })
  })
  test('that was never changed says so', async () =>
    expect(await of({ updated_at: null })).toEqual({ ...bound, updated_at: null }))
})

const DEVICE = {
  uuid: A,
  type: 'FPGA',
  vendor: '0x10ee',
  model: 'u50',
  std_board_info: 'std',
  vendor_board_info: 'own',
  hostname: 'h1',
  status: 'maintaining',
  failing: 'too hot',
  created_at: at(1),
  updated_at: at(2),
} as unknown as DeviceRow
describe('a device', () => {
  const plain = {
    uuid: A,
    type: 'FPGA',
    vendor: '0x10ee',
    model: 'u50',
    std_board_info: 'std',
    vendor_board_info: 'own',
    hostname: 'h1',
    created_at: shown(1),
    updated_at: shown(2),
    links: [selfLink('devices', A)],
  }
  const STANDING = { state: 'missing', reason: 'gone', since: at(4), held: 2 } as const
  const standing = { state: 'missing', state_reason: 'gone', state_since: shown(4), arqs: 2 }
  const listed = async (minor: number) =>
    bodyOf('devices', { 'devices.list': { items: [DEVICE], next: null }, 'devices.standings': [STANDING] }, minor)
  test('shows its status from 2.3, and its state and whether it counts as bad from 2.4', async () => {
    expect(await listed(2)).toEqual({ devices: [plain] })
    expect(await listed(3)).toEqual({ devices: [{ ...plain, status: 'maintaining' }] })
    expect(await listed(4)).toEqual({ devices: [{ ...plain, status: 'maintaining', failing: 'too hot', ...standing }] })
  })
  const health = async (said: Partial<DeviceHealth>, minor?: number) => {
    const answers = {
      'devices.get': DEVICE,
      'devices.standings': [STANDING],
      'devices.health': { standing: STANDING, failing: null, measured: null, held: [], ...said },
    }
    return bodyOf(`devices/${A}`, answers, minor)
  }
  const measured = { at: at(3), health: 'warning' as const, reasons: ['one', 'two'], numbers: { power_watts: 7 } }
  const rich = { ...plain, status: 'maintaining', failing: 'too hot', ...standing }
  test('shows its health from 2.4 where it is asked for alone', async () => {
    expect(await health({}, 3)).toEqual({ ...plain, status: 'maintaining' })
    const none = { state: 'unknown', reason: null, since: null, measured_at: null, numbers: {}, held: [] }
    expect(await health({}, 4)).toEqual({ ...rich, health: none })
  })
  test('is as it was measured last, with all reasons and what is held of it', async () => {
    const held = [{ deployable: B, handle: C, state: 'held' as const, arq: D, instance: E }]
    expect(await health({ measured, held })).toEqual({
      ...rich,
      health: {
        state: 'warning',
        reason: 'one; two',
        since: null,
        measured_at: shown(3),
        numbers: { power_watts: 7 },
        held: [{ deployable_uuid: B, attach_handle_uuid: C, state: 'held', arq_uuid: D, instance_uuid: E }],
      },
    })
    const well = { ...measured, health: 'ok' as const, reasons: [] }
    expect(await health({ measured: well })).toMatchObject({ health: { state: 'ok', reason: null } })
  })
  test('that counts as bad is bad for the recorded reason, whatever was measured since', async () => {
    const failing = { reason: 'fatal', since: at(9) } as DeviceHealth['failing']
    const bad = { state: 'bad', reason: 'fatal', since: shown(9) }
    expect(await health({ failing, measured })).toMatchObject({ health: { ...bad, measured_at: shown(3) } })
    expect(await health({ failing })).toMatchObject({ health: { ...bad, measured_at: null } })
  })
})

const DEPLOYABLE = {
  uuid: A,
  id: 7,
  parent_id: 8,
  root_id: 9,
  name: 'd1',
  num_accelerators: 3,
  device_id: 11,
  device_uuid: B,
  parent_uuid: C,
  root_uuid: D,
  kind: 'region',
  attributes: [{ rc: 'FPGA' }],
  rp_uuid: E,
  driver_name: 'fake',
  bitstream_id: 'b1',
  created_at: at(1),
  updated_at: at(2),
} as unknown as DeployableRow
const PLACED: ComparisonState = {
  state: 'pending',
  reason: 'why',
  since: at(5),
  reserving: ['disabled' as never],
  comparedAt: at(6),
}
describe('a deployable', () => {
  const plain = {
    uuid: A,
    parent_id: 8,
    root_id: 9,
    name: 'd1',
    num_accelerators: 3,
    device_id: 11,
    attributes_list: '[{"rc":"FPGA"}]',
    rp_uuid: E,
    driver_name: 'fake',
    bitstream_id: 'b1',
    created_at: shown(1),
    updated_at: shown(2),
    links: [selfLink('deployables', A), { href: `http://api/accelerator/deployables/${A}`, rel: 'bookmark' }],
  }
  const rich = { ...plain, id: 7, device_uuid: B, parent_uuid: C, root_uuid: D, kind: 'region' }
  const placement = { state: 'pending', reason: 'why', since: shown(5), reserving: ['disabled'], compared_at: shown(6) }
  const answers = (placed: readonly (ComparisonState | null)[] = [PLACED]) => ({
    'deployables.get': DEPLOYABLE,
    'deployables.list': { items: [DEPLOYABLE, { ...DEPLOYABLE, uuid: B }].slice(0, placed.length), next: null },
    'deployables.inPlacement': placed,
  })
  const one = (placed?: ComparisonState | null, minor?: number) =>
    bodyOf(`deployables/${A}`, answers(placed === undefined ? [] : [placed]), minor)
  test('shows UUIDs, its kind and how it stands in Placement from 2.4', async () => {
    expect([await one(PLACED, 3), await one(PLACED, 4)]).toEqual([plain, { ...rich, placement }])
  })
  test('that Placement does not show, or was not compared with yet', async () => {
    expect([await one(null), await one()]).toEqual([
      { ...rich, placement: null },
      { ...rich, placement: null },
    ])
    const early = { ...PLACED, since: null, comparedAt: null }
    expect(await one(early)).toEqual({ ...rich, placement: { ...placement, since: null, compared_at: null } })
  })
  test('of a list stands in Placement as the same place of the answer says, and before 2.4 nobody is asked', async () => {
    expect(await bodyOf('deployables', answers([null, PLACED]))).toMatchObject({
      deployables: [
        { uuid: A, placement: null },
        { uuid: B, placement },
      ],
    })
    const { got, asked } = await tell('GET /v2/deployables', answers(), { headers: version(3) })
    expect(got.json).toEqual({ deployables: [plain] })
    expect(asked.map(([call]) => call)).toEqual(['deployables.list'])
  })
  test.each([
    ['GET /v2/deployables', undefined],
    [`GET /v2/deployables/${A}`, undefined],
    [`PATCH /v2/deployables/${A}/program`, [{ op: 'add', path: '/program', value: [{ image_uuid: B }] }]],
  ])('of which Placement tells nothing is refused by %s', async (line, sent) => {
    const refusal = { ok: false, fault: { kind: 'unavailable', reason: 'not now', retryAfterSeconds: 3 } }
    const said = {
      ...answers(),
      'deployables.inPlacement': async () => refusal,
      'deployables.program': { deployable: DEPLOYABLE, finished: true },
    }
    const { got } = await tell(line, said, sent === undefined ? {} : { body: sent })
    expect([got.status, got.fault, got.headers.get('retry-after')]).toEqual([503, 'not now', '3'])
  })
  test.each([
    [true, 200],
    [false, 202],
  ])('that is programmed is answered whole; finished: %s', async (finished, status) => {
    const said = { ...answers(), 'deployables.program': { deployable: DEPLOYABLE, finished } }
    const sent = { body: [{ op: 'add', path: '/program', value: [{ image_uuid: B }] }] }
    const { got, asked } = await tell(`PATCH /v2/deployables/${A}/program`, said, sent)
    expect([got.status, got.json]).toEqual([status, { ...rich, placement }])
    expect(asked[0]).toEqual(['deployables.program', 'the caller', A, B])
  })
})

const ATTRIBUTE = {
  uuid: A,
  deployable_id: 7,
  key: 'k',
  value: 'v',
  deployable_uuid: B,
  parent_uuid: C,
  created_at: at(1),
  updated_at: at(2),
} as unknown as AttributeRow
test('an attribute shows UUIDs from 2.4', async () => {
  const plain = {
    uuid: A,
    deployable_id: 7,
    key: 'k',
    value: 'v',
    created_at: shown(1),
    updated_at: shown(2),
    links: [selfLink('attributes', A)],
  }
  const of = (minor: number) => bodyOf(`attributes/${A}`, { 'attributes.get': ATTRIBUTE }, minor)
  expect([await of(3), await of(4)]).toEqual([plain, { ...plain, deployable_uuid: B, parent_uuid: C }])
})

const PROFILE = {
  uuid: A,
  name: 'fpga',
  description: 'text',
  groups: [{ 'resources:FPGA': '1' }],
  version: 3,
  enabled: true,
  projects: ['p1', 'p2'],
  created_at: at(1),
  updated_at: at(2),
} as unknown as ProfileRow
describe('a device profile', () => {
  const plain = {
    uuid: A,
    name: 'fpga',
    description: 'text',
    groups: [{ 'resources:FPGA': '1' }],
    created_at: shown(1),
    updated_at: shown(2),
    links: [selfLink('device_profiles', A)],
  }
  const said = { 'profiles.find': PROFILE }
  test('shows its version and its projects from 2.5', async () => {
    expect(await bodyOf('device_profiles/fpga', said, 4)).toEqual({ device_profile: plain })
    const rich = { ...plain, version: 3, enabled: true, projects: ['p1', 'p2'] }
    expect(await bodyOf('device_profiles/fpga', said, 5)).toEqual({ device_profile: rich })
  })
  test('shows a project only itself among those that may use it', async () => {
    const headers = { ...as('reader'), ...version('latest') }
    const { got } = await tell(`GET /v2/device_profiles/${A}`, said, { headers })
    expect(got.json.device_profile.projects).toEqual(['p1'])
    const shared = { 'profiles.find': { ...PROFILE, projects: null } }
    expect((await tell(`GET /v2/device_profiles/${A}`, shared, { headers })).got.json.device_profile.projects).toBe(
      null,
    )
  })
  test('shows its versions as they are, in the order of the answer', async () => {
    const versions = [
      { version: 2, enabled: false, description: null, groups: [{ a: '1' }], createdAt: at(4) },
      { version: 3, enabled: true, description: 'd', groups: [{ b: '2' }], createdAt: at(5) },
    ]
    expect(await bodyOf('device_profiles/fpga/versions', { ...said, 'profiles.versions': versions })).toEqual({
      versions: [
        { version: 2, enabled: false, description: null, groups: [{ a: '1' }], created_at: shown(4) },
        { version: 3, enabled: true, description: 'd', groups: [{ b: '2' }], created_at: shown(5) },
      ],
    })
  })
})

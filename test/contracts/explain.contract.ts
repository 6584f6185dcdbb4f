/**
 * Explain agrees with Placement: a table of worlds, each with what Nova finds by its own question. On the double over
 * each store, and on a real Placement.
 */
import { randomUUID } from 'node:crypto'
import { afterEach, describe, expect, test } from 'vitest'
import { placedHost, type PlacedHost } from '../support/placedHost.ts'
import { customName, type PlacementLab, record } from '../support/placementLab.ts'
import { NOVA, value } from '../support/plane.ts'
import { type Source, openTestStore } from '../support/stores.ts'

type Group = Readonly<Record<string, string>>
type Case = readonly [
  name: string,
  given: (host: PlacedHost, lab: PlacementLab) => Promise<unknown>,
  groups: readonly Group[],
  /**
   * Whether Placement offers the host, whether the host fits, and the obstacles of the nearest device and of the host.
   */
  told: readonly [placement: boolean, fits: boolean, obstacles: string],
]
const ONE: readonly Group[] = [{ 'resources:FPGA': '1' }]
const ALL: readonly Group[] = [{ 'resources:FPGA': '4' }]
const TWICE: readonly Group[] = [{ 'resources:FPGA': '2' }, { 'resources:FPGA': '2' }]
const THRICE: readonly Group[] = [...TWICE, { 'resources:FPGA': '1' }]
const NOTHING = async () => {}
const allocates = (units: number) => (host: PlacedHost, lab: PlacementLab) =>
  lab.allocate(randomUUID(), { [host.card.uuid]: { FPGA: units } })
const withNodeTraits =
  (...traits: readonly string[]) =>
  (host: PlacedHost) =>
    host.retraitNode(host.root, traits)

const WORLDS: readonly Case[] = [
  ['everything is well', NOTHING, ONE, [true, true, '']],
  ['all units of a device', NOTHING, ALL, [true, true, '']],
  ['two groups share a device', NOTHING, TWICE, [true, true, '']],
  ['three groups ask for more than there is', NOTHING, THRICE, [false, false, 'not_together']],
  ['a class that the host does not have', NOTHING, [{ 'resources:VGPU': '1' }], [false, false, 'resource_class']],
  [
    'two classes in one group',
    NOTHING,
    [{ 'resources:FPGA': '1', 'resources:PGPU': '1' }],
    [false, false, 'several_classes'],
  ],
  ['two classes in two groups', NOTHING, [...ONE, { 'resources:PGPU': '1' }], [true, true, '']],
  [
    'more units than a device has',
    NOTHING,
    [{ 'resources:FPGA': '5' }],
    [false, false, 'no_free_handle placement_capacity'],
  ],
  [
    'the device is disabled',
    async (host) => {
      await host.disable()
      await host.heal()
    },
    ONE,
    [false, false, 'device_disabled'],
  ],
  [
    'units are allocated by a server that has not bound them yet',
    allocates(4),
    ONE,
    [false, false, 'not_in_candidates'],
  ],
  ['some units are', allocates(2), [{ 'resources:FPGA': '2' }], [true, true, '']],
  ['too few are left', allocates(2), [{ 'resources:FPGA': '3' }], [false, false, 'not_in_candidates']],
  [
    'units are bound without an allocation, and reserved',
    async (host) => {
      await host.binds(4)
      await host.heal()
    },
    ONE,
    [false, false, 'no_free_handle placement_capacity'],
  ],
  [
    'a handle is in quarantine',
    async (host) => {
      const [handle] = value(await host.control.handles.list(NOVA, { deployable_uuid: host.card.deployable }, {})).items
      value(await host.control.handles.quarantine(NOVA, handle!.uuid, { by: 'kim', reason: 'a test' }))
      await host.heal()
    },
    ALL,
    [false, false, 'no_free_handle placement_capacity'],
  ],
  [
    'somebody has reserved all units in Placement',
    async ({ card }, lab) => lab.setInventories(card.uuid, { FPGA: record(4, 4) }),
    ONE,
    [false, false, 'not_in_candidates'],
  ],
  [
    'somebody has taken the traits away in Placement',
    async ({ card }, lab) => lab.setTraits(card.uuid, []),
    [{ ...ONE[0], 'trait:OWNER_CYBORG': 'required' }],
    [false, false, 'not_in_candidates'],
  ],
  [
    'the provider was deleted',
    async ({ card }, lab) => lab.placement.remove(card.uuid),
    ONE,
    [false, false, 'not_in_candidates'],
  ],
  [
    'the compute node has no accelerators for Nova',
    withNodeTraits('COMPUTE_NODE'),
    ONE,
    [false, false, 'node_not_eligible'],
  ],
  [
    'the compute service is disabled',
    withNodeTraits('COMPUTE_ACCELERATORS', 'COMPUTE_STATUS_DISABLED'),
    ONE,
    [false, false, 'node_not_eligible'],
  ],
]

/** The question of Nova's scheduler: whether one of these providers is in an answer. */
const novaFinds = async (lab: PlacementLab, groups: readonly Group[], providers: readonly string[]) => {
  const query = new URLSearchParams({
    group_policy: 'none',
    root_required: 'COMPUTE_ACCELERATORS,!COMPUTE_STATUS_DISABLED',
  })
  for (const [at, group] of groups.entries()) {
    const named = (prefix: string) => Object.entries(group).filter(([key]) => key.startsWith(prefix))
    const amounts = named('resources:').map(([key, amount]) => `${key.slice(10)}:${amount}`)
    const traits = named('trait:').map(([key, how]) => `${how === 'forbidden' ? '!' : ''}${key.slice(6)}`)
    query.set(`resourcesdevice_profile_${at}`, amounts.join(','))
    if (traits.length > 0) query.set(`requireddevice_profile_${at}`, traits.join(','))
  }
  const { status, body } = await lab.ask('GET', `/allocation_candidates?${query.toString()}`)
  expect(status, JSON.stringify(body)).toBe(200)
  const { allocation_requests: found } = body as {
    readonly allocation_requests: readonly { readonly mappings: Readonly<Record<string, readonly string[]>> }[]
  }
  return found.some(({ mappings }) =>
    Object.values(mappings)
      .flat()
      .some((one) => providers.includes(one)),
  )
}

export const explainContract = (given: () => PlacementLab, stores: Source = openTestStore): void => {
  describe('explain beside Placement', () => {
    let host: PlacedHost
    afterEach(() => host.stop())
    const judge = async (groups: readonly Group[]) => {
      const explanation = value(await host.control.profiles.check({ groups, host: host.host, limit: 1 }))
      const judged = explanation.hosts[0]!
      const devices = judged.groups.map((group) => group.devices[0]?.obstacles ?? [])
      const codes = [...judged.obstacles, ...devices.flat()].map(({ code }) => code)
      return { explanation, judged, codes: [...new Set(codes)].toSorted().join(' ') }
    }
    test.each(WORLDS)('%s', async (_, change, groups, [placement, fits, obstacles]) => {
      const lab = given()
      host = await placedHost(lab, { stores })
      await change(host, lab)
      const providers = (await host.places()).map(({ rp_uuid: uuid }) => uuid!)
      const { explanation, judged, codes } = await judge(groups)
      const found = await novaFinds(lab, groups, providers)
      expect([explanation.placement, judged.placement, judged.fits, codes]).toEqual([
        'asked',
        placement,
        fits,
        obstacles,
      ])
      expect(judged.placement).toBe(found)
    })
    test('Placement does not know a trait of the profile: Nova is refused', async () => {
      host = await placedHost(given(), { stores })
      const { judged } = await judge([{ ...ONE[0], [`trait:${customName()}`]: 'forbidden' }])
      expect([judged.fits, judged.placement]).toEqual([false, false])
      expect(judged.obstacles).toMatchObject([{ code: 'not_in_candidates', reason: expect.stringContaining('trait') }])
    })
    test('without a compute node, and when it has come', async () => {
      const lab = given()
      host = await placedHost(lab, { stores, node: false })
      expect((await judge(ONE)).codes).toBe('no_compute_node')
      await host.node()
      await host.heal()
      expect((await judge(ONE)).judged).toMatchObject({ fits: true, placement: true })
    })
    test('a Placement that does not answer: what is recorded counts, and that is said', async () => {
      const lab = given()
      host = await placedHost(lab, { stores })
      lab.meddle(async () => Promise.reject(new Error('no answer')))
      const { explanation, judged } = await judge(ONE)
      lab.meddle(null)
      expect([explanation.placement, judged.placement, judged.fits]).toEqual(['unreachable', null, true])
    })
    test('it writes nothing, neither to the journal nor to Placement', async () => {
      host = await placedHost(given(), { stores })
      const rows = async () => (await host.store.journal.feed('', 10_000)).length
      const before = await rows()
      expect(await host.writesDuring(() => judge(TWICE))).toEqual([])
      expect(await rows()).toBe(before)
    })
  })
}

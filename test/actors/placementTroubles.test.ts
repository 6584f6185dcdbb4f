/** What becomes of providers that others have changed in Placement, and of passes over a host while Placement fails. */
import { expect, test } from 'vitest'
import { PLACEMENT_ERRORS, type Placement, type PlacementError } from '../../src/actors/placement/port.ts'
import { memoryStore } from '../support/memoryStore/memory.ts'
import { handClock } from '../support/lab.ts'
import { placementInMemory } from '../support/placement.ts'
import { NOVA, TENANT, openPlane, value } from '../support/plane.ts'
import { card, part, shown, slot } from './cards.ts'
import { type SetUp, setUp } from './placementSetUp.ts'

const id = (n: number): string => `70000000-0000-4000-8000-0000000000${String(n).padStart(2, '0')}`
const [NODE, OTHER] = [id(1), id(2)]
/** As they follow from the names. */
const [CARD, GPU] = ['81760012-3dd7-3c84-9885-42fd78de608a', 'a31f004d-9616-39c2-8564-2fac9e4f0c63']
const deviceOf = (bus: number, name: string, rc: string) =>
  card(bus, {
    deployables: [
      part(name, {
        handles: [1, 2].map((fn) => ({ type: 'PCI', info: slot(bus, fn) })),
        attributes: [{ key: 'rc', value: rc }, ...part(name).attributes.slice(1)],
      }),
    ],
  })
const BOTH = [deviceOf(1, 'h1_card', 'FPGA'), deviceOf(2, 'h1_gpu', 'PGPU')]
const OPTIONS = {
  sweepEveryMs: 86_400_000,
  placementAuditMs: 86_400_000,
  staleAfterMs: 1e9,
  downAfterMs: 2e9,
  missingRounds: 1,
}

type Failing = { error: PlacementError; call: string; times: number }
const open = async () => {
  const [clock, cloud] = [handClock(), placementInMemory()]
  const failing: Failing = { error: 'stale', call: '', times: 0 }
  const calls = Object.entries(cloud.placement).map(([name, call]) => [
    name,
    typeof call !== 'function'
      ? call
      : async (...given: readonly never[]) =>
          name === failing.call && failing.times-- > 0
            ? { ok: false, error: failing.error, reason: 'it fails' }
            : (call as (...all: readonly never[]) => unknown)(...given),
  ])
  const placement = Object.fromEntries(calls) as Placement
  const store = memoryStore({ now: clock.now })
  const world = await openPlane({ clock, placement, options: OPTIONS }, store)
  const pass = async () => {
    const passing = world.plane.sweeper.placer!.now('h1')
    await clock.pass(2000)
    return passing
  }
  const drift = async () => {
    const [host] = value(await world.control.drift.list('h1', {})).items
    const entries = host!.entries.map(({ name, state, reason }) => `${name} ${state}: ${reason}`)
    return host!.trouble === null ? entries : [`${host!.trouble.state}: ${host!.trouble.reason}`, ...entries]
  }
  return { ...world, ...cloud, clock, at: setUp(cloud), failing, pass, drift, stop: () => world.plane.stop() }
}
type World = Awaited<ReturnType<typeof open>>
type Listed = { readonly uuid: string; readonly name: string; readonly parent_provider_uuid: string | null }
/** Each provider with the one above it, its inventories and its traits. */
const seen = ({ ask }: Pick<World, 'ask'>): readonly string[] => {
  const { resource_providers: all } = ask('GET', '/resource_providers') as { readonly resource_providers: Listed[] }
  const named = new Map(all.map(({ uuid, name }) => [uuid, name]))
  return all
    .filter((one) => one.parent_provider_uuid !== null)
    .map(({ uuid, name, parent_provider_uuid: parent }) => {
      const get = (what: string) => ask('GET', `/resource_providers/${uuid}/${what}`) as Record<string, object>
      const inventories = Object.entries(get('inventories')['inventories'] as Record<string, Record<string, number>>)
      const units = inventories.map(([rc, { total, reserved }]) => `${rc} ${total! - reserved!} of ${total}`)
      const traits = (get('traits')['traits'] as readonly string[]).toSorted()
      return `${name} below ${named.get(parent!)}: ${[...units, ...traits].join(', ')}`
    })
    .toSorted()
}

/** In Placement where nothing is in the way; what differs is told of each scene. */
const USUAL = [
  'h1_card below h1: FPGA 2 of 2, CUSTOM_A, OWNER_CYBORG',
  'h1_gpu below h1: PGPU 2 of 2, CUSTOM_A, OWNER_CYBORG',
]
type Change = (at: SetUp) => void
type Scene = readonly [
  what: string,
  world: { readonly before?: Change; readonly after?: Change; readonly cardLeaves?: true },
  found: readonly string[],
]
const below = (at: SetUp, uuid: string, name: string, traits: readonly string[] = []) => {
  at.provider(uuid, name, NODE)
  if (traits.length > 0) at.traits(uuid, traits)
}
const conflict = (why: string) => `h1_card placement_conflict: the provider ${CARD} ${why}`
const SCENES: readonly Scene[] = [
  [
    'a provider that was moved and renamed comes back',
    {
      after: (at) => {
        at.provider(OTHER, 'h2')
        at.ask('DELETE', `/resource_providers/${CARD}`)
        at.provider(CARD, 'h2_card', OTHER)
        at.traits(CARD, ['OWNER_CYBORG'])
      },
    },
    USUAL,
  ],
  [
    'a provider that was deleted is made again',
    { after: (at) => at.ask('DELETE', `/resource_providers/${CARD}`) },
    USUAL,
  ],
  [
    'traits of operators stay, those of functions go',
    { after: (at) => at.traits(CARD, ['CUSTOM_OPERATOR', 'CUSTOM_FPGA_FUNCTION_ID_1', 'OWNER_CYBORG']) },
    ['h1_card below h1: FPGA 2 of 2, CUSTOM_A, CUSTOM_OPERATOR, OWNER_CYBORG', USUAL[1]!],
  ],
  [
    'what only our trait explains is taken back by a pass that an operator orders',
    { before: (at) => below(at, id(20), 'h1_former', ['OWNER_CYBORG']) },
    USUAL,
  ],
  [
    'a provider that has our trait is taken over',
    { before: (at) => below(at, CARD, 'h1_card', ['OWNER_CYBORG', 'CUSTOM_OPERATOR']) },
    ['h1_card below h1: FPGA 2 of 2, CUSTOM_A, CUSTOM_OPERATOR, OWNER_CYBORG', USUAL[1]!],
  ],
  [
    'a provider that has nothing else than ours would have is taken over',
    { before: (at) => below(at, CARD, 'h1_card', ['CUSTOM_A']) },
    USUAL,
  ],
  [
    'a provider with another trait is not',
    { before: (at) => below(at, CARD, 'h1_card', ['CUSTOM_A', 'CUSTOM_B']) },
    [conflict('(h1_card) exists and is not known to be ours'), 'h1_card below h1: CUSTOM_A, CUSTOM_B', USUAL[1]!],
  ],
  [
    'a provider with another name is not',
    { before: (at) => below(at, CARD, 'h9_card') },
    [conflict('(h9_card) exists and is not known to be ours'), USUAL[1]!, 'h9_card below h1: '],
  ],
  [
    'a provider below another compute node is not',
    {
      before: (at) => {
        at.provider(OTHER, 'h2')
        at.provider(CARD, 'h1_card', OTHER)
      },
    },
    [conflict(`stands below another compute node, ${OTHER}`), 'h1_card below h2: ', USUAL[1]!],
  ],
  [
    'a provider whose name is taken is not made',
    { before: (at) => below(at, id(31), 'h1_card') },
    [
      `h1_card placement_conflict: the name h1_card belongs to the provider ${id(31)}, which is not ours`,
      'h1_card below h1: ',
      USUAL[1]!,
    ],
  ],
  [
    'a provider of Nova is left alone',
    { before: (at) => below(at, CARD, 'h1_card', ['OWNER_NOVA', 'OWNER_CYBORG']) },
    [conflict('carries OWNER_NOVA: it belongs to Nova'), 'h1_card below h1: OWNER_CYBORG, OWNER_NOVA', USUAL[1]!],
  ],
  [
    'a device that Nova tracks is left alone, though it was ours',
    { after: (at) => at.traits(CARD, ['COMPUTE_MANAGED_PCI_DEVICE']) },
    [
      conflict('carries COMPUTE_MANAGED_PCI_DEVICE: it belongs to Nova'),
      'h1_card below h1: FPGA 2 of 2, COMPUTE_MANAGED_PCI_DEVICE',
      USUAL[1]!,
    ],
  ],
  [
    'an inventory of another class stays, reserved, while it is used',
    {
      after: (at) => {
        at.inventories(CARD, { VGPU: at.units(2) })
        at.allocates(id(40), CARD, { VGPU: 1 })
      },
    },
    [
      'h1_card pending: units of VGPU are still allocated',
      'h1_card null: allocated units: 1',
      'h1_card below h1: VGPU 0 of 2, CUSTOM_A, OWNER_CYBORG',
      USUAL[1]!,
    ],
  ],
  ['what has left is taken back', { cardLeaves: true }, USUAL.slice(1)],
  [
    'what has left while it is used is reserved and kept',
    { after: (at) => at.allocates(id(40), CARD, { FPGA: 1 }), cardLeaves: true },
    [
      `h1_card pending: units are allocated to ${id(40)}`,
      'h1_card below h1: FPGA 0 of 2, CUSTOM_A, OWNER_CYBORG',
      USUAL[1]!,
    ],
  ],
  [
    'what has left is kept while others stand below it',
    { after: (at) => at.provider(id(32), 'under', CARD), cardLeaves: true },
    ['h1_card in_sync: null', ...USUAL, 'under below h1_card: '],
  ],
  [
    'what has left and Nova has taken over is left to it',
    { after: (at) => at.traits(CARD, ['OWNER_NOVA']), cardLeaves: true },
    [
      conflict('(h1_card) carries OWNER_NOVA: it belongs to Nova'),
      'h1_card below h1: FPGA 2 of 2, OWNER_NOVA',
      USUAL[1]!,
    ],
  ],
]
test.each(SCENES)('%s', async (_, { before, after, cardLeaves }, found) => {
  const world = await open()
  world.at.provider(NODE, 'h1')
  before?.(world.at)
  await world.report('h1', [shown(...BOTH)])
  await world.pass()
  after?.(world.at)
  if (cardLeaves) await world.report('h1', [shown(...BOTH.slice(1))])
  expect(await world.pass()).toMatchObject({ ok: true })
  expect([...(await world.drift()), ...seen(world)]).toEqual(found)
  await world.stop()
})

const CALLS: readonly (keyof Placement)[] = [
  ...(['named', 'tree', 'ownedIn', 'ensureClass', 'ensureTrait', 'create', 'provider'] as const),
  ...(['inventories', 'traits', 'setTraits', 'setInventories', 'update', 'allocations', 'remove'] as const),
]
test.each(CALLS)(
  'whatever is wrong with %s, and however often, the next pass leaves Placement as it should be',
  async (call) => {
    for (const error of PLACEMENT_ERRORS)
      for (const times of [1, 6]) {
        const world = await open()
        world.at.provider(NODE, 'h1')
        await world.report('h1', [shown(...BOTH)])
        await world.pass()
        // one is to be made, one to be moved and renamed, one to be taken back, and one is not ours
        for (const uuid of [CARD, GPU]) world.at.ask('DELETE', `/resource_providers/${uuid}`)
        world.at.provider(OTHER, 'h2')
        world.at.provider(GPU, 'h2_gpu', OTHER)
        below(world.at, id(20), 'h1_former', ['OWNER_CYBORG'])
        below(world.at, id(21), 'not ours')
        Object.assign(world.failing, { call, error, times })
        await world.pass()
        world.failing.times = 0
        expect(await world.pass(), `${error} ${times}`).toMatchObject({ ok: true })
        expect(seen(world), `${error} ${times}`).toEqual([...USUAL, 'not ours below h1: '])
        expect(await world.drift(), `${error} ${times}`).toEqual([])
        await world.stop()
      }
  },
)

const NOTE = { by: 'op', reason: 'r' }
const deviceOfCard = async ({ control }: World) =>
  value(await control.devices.list({}, {})).items.find(({ type }) => type === 'FPGA')!.uuid
const bindsOne = async ({ at, control }: World) => {
  value(await control.profiles.create(NOVA, { name: 'p', description: null, groups: [{ 'resources:FPGA': '1' }] }))
  const [arq] = value(await control.arqs.create(TENANT, 'p'))
  const instance = id(30)
  at.allocates(instance, CARD, { FPGA: 1 })
  const bound = { arq: arq!.uuid, hostname: 'h1', deviceRpUuid: CARD, instanceUuid: instance }
  value(await control.arqs.bind(NOVA, [bound]))
}
test.each<[what: string, happens: (world: World) => Promise<unknown>, free: number]>([
  ['nothing, when nothing is wrong', async () => {}, 2],
  ['nothing of a card that is used', bindsOne, 2],
  [
    'all of a card that is disabled',
    async (world) => value(await world.control.devices.setStatus(NOVA, await deviceOfCard(world), 'maintaining')),
    0,
  ],
  [
    'one unit for a handle in quarantine',
    async ({ control }) => {
      const { items } = value(await control.handles.list(NOVA, {}, {}))
      const handle = items.find(({ canonical }) => canonical.includes('"bus":"01"'))!
      value(await control.handles.quarantine(NOVA, handle.uuid, NOTE))
    },
    1,
  ],
  [
    'all of a card that its host shows no more while a server has a part of it',
    async (world) => {
      await bindsOne(world)
      await world.report('h1', [shown(BOTH[1]!)])
    },
    0,
  ],
  [
    'all of a host that was retired while a server has a part of its card',
    async (world) => {
      await bindsOne(world)
      value(await world.control.hosts.retire(NOVA, 'h1', NOTE))
    },
    0,
  ],
  ['all of a host that is not heard from', async ({ clock }) => clock.pass(3e9), 0],
])('reserved in Placement is %s', async (_what, happens, free) => {
  const world = await open()
  world.at.provider(NODE, 'h1')
  await world.report('h1', [shown(...BOTH)])
  await world.pass()
  await happens(world)
  await world.pass()
  expect(seen(world)[0]).toBe(`h1_card below h1: FPGA ${free} of 2, CUSTOM_A, OWNER_CYBORG`)
  await world.stop()
})

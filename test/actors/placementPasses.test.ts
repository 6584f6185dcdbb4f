/**
 * A pass over a host, call by call. Where a change of it is meant: `npx vitest run test/actors/placementPasses.test.ts
 * -u`, and the difference shows what Placement will be asked and what is found.
 */
import { expect, test } from 'vitest'
import type { HeldProvider } from '../../src/actors/placement/decider.ts'
import { PLACEMENT_ERRORS, type Inventories, type Placement } from '../../src/actors/placement/port.ts'
import { fenced } from '../../src/services/placement/fence.ts'
import { placementInMemory } from '../support/placement.ts'
import { inventoriesOf } from '../../src/actors/placement/wanted.ts'
import {
  CARD,
  NODE,
  type Scene,
  fault,
  heldAs,
  id,
  playDryPass,
  playPass,
  wantedCard,
  wantedGpu,
} from './placementScenes.ts'

const OTHER_NODE = id(2)
const ORPHAN = id(20)
const WANTED = { wanted: [wantedCard] }
const providers = (...all: readonly HeldProvider[]) => ({
  held: { providers: Object.fromEntries(all.map((one) => [one.uuid, one])) },
})
const OURS = { ...WANTED, ...providers(heldAs(wantedCard)) }
const units = (name: string): Inventories => inventoriesOf({ resourceClass: name, total: 2, reserved: 0 })
const consumers = (count: number) => Array.from({ length: count }, (_, n) => id(40 + n))

const STANDING: Readonly<Record<string, Scene>> = {
  'nothing is known, and nothing wanted': {},
  'no compute node': { task: WANTED },
  'no compute node, and something is left': {
    before: ({ provider }) => provider(CARD, 'h1_card'),
    task: { ...WANTED, ...providers(heldAs(wantedCard), heldAs(wantedGpu)) },
  },
  'a provider of that name stands below another': {
    before: ({ provider }) => {
      provider(NODE, 'other')
      provider(id(3), 'h1', NODE)
    },
    task: { ...WANTED, aliases: ['h1', 'h1.example'] },
  },
  'found by another name': {
    before: ({ provider }) => provider(NODE, 'h1.example'),
    task: { ...WANTED, aliases: ['h1', 'h1.example'] },
  },
  'renamed, and its former compute node is still there': {
    before: ({ node, provider, stands }) => {
      node()
      stands(wantedCard)
      provider(OTHER_NODE, 'h1.example')
    },
    task: { ...OURS, aliases: ['h1.example'] },
  },
  'the compute node is still the one that was recorded, by another name': {
    before: ({ provider, stands }) => {
      provider(NODE, 'h1.example')
      stands(wantedCard)
    },
    task: { ...OURS, aliases: ['h1.example'] },
  },
  'for the first time': { before: ({ node }) => node(), task: { wanted: [wantedCard, wantedGpu] } },
  'in agreement': {
    before: ({ node, stands }) => {
      node()
      stands(wantedCard)
    },
    task: OURS,
  },
  'in agreement, and unchanged since': {
    before: ({ node, stands }) => {
      node()
      stands(wantedCard)
      stands(wantedGpu, NODE, 'another name')
    },
    task: { wanted: [wantedCard, wantedGpu], ...providers(heldAs(wantedCard), heldAs(wantedGpu)) },
    unchanged: true,
  },
  'unchanged, but something was left to do': {
    before: ({ node, stands }) => {
      node()
      stands(wantedCard)
    },
    task: { ...WANTED, ...providers(heldAs(wantedCard, { state: 'pending' })) },
    unchanged: true,
  },
  'fewer units are offered': {
    before: ({ node, stands }) => {
      node()
      stands(wantedCard)
    },
    task: { ...OURS, wanted: [{ ...wantedCard, reserved: 4, reasons: ['device disabled'] }] },
  },
  'under another compute node and name, and ours': {
    before: ({ node, provider, stands }) => {
      node()
      provider(OTHER_NODE, 'h2')
      stands(wantedCard, OTHER_NODE, 'h2_card')
    },
    task: OURS,
  },
  'ours is gone': { before: ({ node }) => node(), task: OURS },
  'traits: others stay, former ones and functions go': {
    before: ({ node, stands, traits }) => {
      node()
      stands(wantedCard)
      traits(CARD, ['CUSTOM_OPERATOR', 'CUSTOM_OLD', 'CUSTOM_FPGA_FUNCTION_ID_1', 'OWNER_CYBORG'])
    },
    task: { ...WANTED, ...providers(heldAs(wantedCard, { traits: ['CUSTOM_OLD', 'OWNER_CYBORG'] })) },
  },
}

const others = (change: (at: Parameters<NonNullable<Scene['before']>>[0]) => void, more: Scene = {}): Scene => ({
  before: (at) => {
    at.node()
    at.provider(OTHER_NODE, 'h2')
    change(at)
  },
  task: { wanted: [wantedCard, wantedGpu] },
  ...more,
})
const OF_OTHERS: Readonly<Record<string, Scene>> = {
  'nothing explains two of them, but one belongs to another host that finds the same compute node': others(
    ({ provider, traits }) => {
      for (const uuid of [ORPHAN, id(21)]) {
        provider(uuid, `h2_${uuid.slice(-2)}`, NODE)
        traits(uuid, ['OWNER_CYBORG'])
      }
    },
    { task: {}, ofOthers: [ORPHAN] },
  ),
  'a conflict over a provider that nothing explains goes on': others(
    ({ provider, traits }) => {
      provider(ORPHAN, 'former', NODE)
      traits(ORPHAN, ['OWNER_CYBORG', 'OWNER_NOVA'])
    },
    {
      task: providers({
        ...heldAs(wantedCard),
        uuid: ORPHAN,
        name: 'former',
        deployable: null,
        traits: [],
        state: 'placement_conflict',
        reason: `the provider ${ORPHAN} (former) carries OWNER_NOVA: it belongs to Nova`,
        ours: false,
      }),
    },
  ),
  'only its trait says that it is ours': others(({ orphan }) => orphan(ORPHAN, 'of others'), { task: {} }),
  'its name is of the host': others(({ orphan }) => orphan(wantedGpu.uuid, 'h1_gpu'), { task: { names: ['h1_gpu'] } }),
  'adopted by its trait': others(({ provider, traits }) => {
    provider(CARD, 'h1_card', NODE)
    traits(CARD, ['OWNER_CYBORG', 'CUSTOM_OPERATOR'])
  }),
  'adopted by its content': others(({ provider, traits, inventories }) => {
    provider(CARD, 'h1_card', NODE)
    traits(CARD, ['CUSTOM_A', 'CUSTOM_FPGA_FUNCTION_ID_1'])
    inventories(CARD, units('FPGA'))
  }),
  'another class': others(({ provider, inventories }) => {
    provider(CARD, 'h1_card', NODE)
    inventories(CARD, { ...units('FPGA'), ...units('VGPU') })
  }),
  'another trait': others(({ provider, traits }) => {
    provider(CARD, 'h1_card', NODE)
    traits(CARD, ['CUSTOM_A', 'CUSTOM_B'])
  }),
  'another name': others(({ provider }) => provider(CARD, 'h9_card', NODE)),
  'below another compute node': others(({ provider }) => provider(CARD, 'h1_card', OTHER_NODE)),
  'a UUID that does not follow from the name': others(
    ({ provider, traits }) => {
      provider(id(30), 'h1_card', NODE)
      traits(id(30), ['OWNER_CYBORG'])
    },
    { task: { wanted: [{ ...wantedCard, uuid: id(30) }] } },
  ),
  'the name is taken': others(({ provider }) => provider(id(31), 'h1_card', NODE)),
  'the name is taken, and ours is gone': others(({ provider }) => provider(id(31), 'h1_card'), { task: OURS }),
  'of Nova': others(({ stands, traits }) => {
    stands(wantedCard)
    traits(CARD, ['OWNER_NOVA', 'OWNER_CYBORG'])
  }),
  'a device that Nova tracks, though it was ours': others(
    ({ stands, traits }) => {
      stands(wantedCard)
      traits(CARD, ['COMPUTE_MANAGED_PCI_DEVICE'])
    },
    { task: { ...OURS, ...providers(heldAs(wantedCard, { traits: ['CUSTOM_OLD'] })) } },
  ),
}

const used = (consumer: string, more: Scene): Scene => ({
  before: (at) => {
    at.node()
    at.stands({ ...wantedCard, resourceClass: 'VGPU' })
    at.allocates(consumer, CARD, { VGPU: 1 })
  },
  ...more,
})
const bound = (...instances: readonly string[]) => ({
  bound: new Map([[CARD, instances.map((instance, n) => ({ arq: id(60 + n), instance }))]]),
})
const IN_USE: Readonly<Record<string, Scene>> = {
  'units of another class': used(id(40), { task: OURS }),
  'units of another class, while it cannot be written': used(id(40), {
    task: OURS,
    instead: { setInventories: [null, fault('refused')] },
  }),
  'bound by an instance with an allocation, and by one without': {
    before: (at) => {
      at.node()
      at.stands(wantedCard)
      at.allocates(id(40), CARD, { FPGA: 1 })
    },
    task: { ...OURS, ...bound(id(40), id(41), id(41), id(40)) },
  },
  'bound by more than there is': { before: ({ node }) => node(), task: { ...WANTED, ...bound(...consumers(6)) } },
  'bound, and nobody can tell by whom': {
    before: ({ node }) => node(),
    task: { ...WANTED, ...bound(id(40)) },
    instead: { allocations: [fault('refused')] },
  },
}

const unwanted = (more: Scene, change: Scene['before'] = () => {}): Scene => ({
  before: (at) => {
    at.node()
    at.stands(wantedCard)
    change(at)
  },
  task: providers(heldAs(wantedCard)),
  ...more,
})
const users = (count: number): Scene =>
  unwanted({}, (at) => {
    at.inventories(CARD, inventoriesOf({ resourceClass: 'FPGA', total: 6, reserved: 0 }))
    for (const one of consumers(count)) at.allocates(one, CARD, { FPGA: 1 })
  })
const UNWANTED: Readonly<Record<string, Scene>> = {
  'nobody uses it': unwanted({}),
  'five use it': users(5),
  'six use it': users(6),
  'used, and reserved already': unwanted({}, (at) => {
    at.allocates(id(40), CARD, { FPGA: 1 })
    at.inventories(CARD, inventoriesOf({ ...wantedCard, reserved: 4 }))
  }),
  'used meanwhile': unwanted({ instead: { remove: [fault('inUse')] } }),
  'used meanwhile, and not to be read': unwanted({
    instead: { remove: [fault('inUse')], traits: [null, fault('refused')] },
  }),
  'used meanwhile, and not to be written': unwanted({
    instead: { remove: [fault('inUse')], setInventories: [fault('stale')] },
  }),
  'others stand below it': unwanted({}, ({ provider }) => provider(id(32), 'below', CARD)),
  'it is gone': unwanted({ task: providers(heldAs(wantedGpu)) }),
  'it carries a trait of Nova': unwanted({}, ({ traits }) => traits(CARD, ['OWNER_NOVA'])),
  'it was never ours, or only in conflict': unwanted({
    task: providers(
      heldAs(wantedCard, { ours: false }),
      heldAs(wantedGpu, { ours: false, state: 'placement_conflict' }),
    ),
  }),
  'orphans with our trait, but not the compute node': unwanted(
    { task: { ...WANTED, held: { root: id(33) } } },
    (at) => {
      at.traits(NODE, ['OWNER_CYBORG'])
      for (const uuid of [id(33), ORPHAN]) {
        at.provider(uuid, `former ${uuid}`, NODE)
        at.traits(uuid, ['OWNER_CYBORG'])
      }
    },
  ),
}

const both = { wanted: [wantedCard, wantedGpu], ...providers(heldAs(wantedGpu, { ours: false })) }
const leaving = providers(heldAs(wantedCard), heldAs(wantedGpu, { ours: false }))
const SUPERSEDED: Readonly<Record<string, Scene>> = {
  'with the compute node': { before: ({ node }) => node(), task: both, supersededAt: 0 },
  'after the first provider': { before: ({ node }) => node(), task: both, supersededAt: 1 },
  'while something is forgotten': unwanted({ task: leaving, supersededAt: 1 }),
  'while something is taken back': unwanted({ task: leaving, supersededAt: 2 }),
  'without a compute node': { task: { ...WANTED, held: leaving.held }, supersededAt: 0 },
}

const GROUPS = { STANDING, OF_OTHERS, IN_USE, UNWANTED, SUPERSEDED }
test('a pass asks, writes and finds the same', async () => {
  const text: string[] = []
  for (const [group, scenes] of Object.entries(GROUPS))
    for (const [title, scene] of Object.entries(scenes))
      text.push(`== ${group}: ${title}`, ...(await playPass(scene)), '')
  await expect(text.join('\n')).toMatchFileSnapshot('placementPasses.txt')
})

test('a comparison finds what a pass would find and do, and writes nothing', async () => {
  const text: string[] = []
  for (const [group, scenes] of Object.entries({ STANDING, OF_OTHERS, IN_USE, UNWANTED }))
    for (const [title, scene] of Object.entries(scenes)) {
      const { lines, writes } = await playDryPass(scene)
      expect(writes, title).toEqual([])
      text.push(`== ${group}: ${title}`, ...lines, '')
    }
  await expect(text.join('\n')).toMatchFileSnapshot('placementComparisons.txt')
})

const WRITES: readonly (keyof Placement)[] = [
  'create',
  'update',
  'remove',
  'setInventories',
  'setTraits',
  'ensureTrait',
  'ensureClass',
]
test('once a caller may not write any more, only reads are carried out', async () => {
  const calls = Object.entries(placementInMemory().placement).filter(([, call]) => typeof call === 'function')
  const names = calls.map(([name]) => name) as (keyof Placement)[]
  const [done, asked]: readonly [object, string[]] = [{ ok: true, value: null }, []]
  const answering = names.map((name) => [
    name,
    async (given: unknown) => (asked.push(`${name} ${String(given)}`), done),
  ])
  const port = Object.fromEntries(answering) as Placement
  const barred = { ok: false, error: 'unanswered', reason: 'another process works on this host now' }
  for (const may of [true, false]) {
    const fence = fenced(port, async () => may) as unknown as Readonly<
      Record<string, (given: unknown) => Promise<unknown>>
    >
    for (const name of names)
      expect(await fence[name]!(name), name).toEqual(may || !WRITES.includes(name) ? done : barred)
  }
  const reads = names.filter((name) => !WRITES.includes(name))
  expect(asked).toEqual([...names, ...reads].map((name) => `${name} ${name}`))
})

/** A host whose pass makes one provider, moves and renames a second, and takes a third back. */
const BUSY: Scene = {
  before: (at) => {
    at.node()
    at.provider(OTHER_NODE, 'h2')
    at.stands({ ...wantedGpu, resourceClass: 'VGPU' }, OTHER_NODE, 'h2_gpu')
    at.provider(ORPHAN, 'former', NODE)
    at.traits(ORPHAN, ['OWNER_CYBORG'])
  },
  task: { wanted: [wantedCard, wantedGpu], ...providers(heldAs(wantedGpu, { traits: ['CUSTOM_OLD'] })) },
  ordered: true,
}
const CALLS: readonly (keyof Placement)[] = [
  'named',
  'tree',
  'ownedIn',
  'ensureClass',
  'ensureTrait',
  'create',
  'provider',
  'inventories',
  'traits',
  'setTraits',
  'setInventories',
  'update',
  'allocations',
  'remove',
]
/**
 * What is seen from outside: the end, waits, findings that nothing would lead to otherwise; and how often each call was
 * made.
 */
const summary = (lines: readonly string[], untroubled: readonly string[]): string => {
  const seen = lines.filter((line) => /^(found|waited|ended)/.test(line) && !untroubled.includes(line))
  const calls = [...Map.groupBy(lines, callOf)].map(([name, all]) => `${name} ${all.length}`)
  return [...seen, `calls ${calls.join(', ')}`].join('\n')
}
const callOf = (line: string): string => line.split(' ', 1)[0]!

test('whatever fails, and however often, the pass ends the same', async () => {
  const text: string[] = []
  const untroubled = await playPass(BUSY)
  for (const call of CALLS)
    for (const trouble of PLACEMENT_ERRORS)
      for (const times of [1, 6]) {
        const instead = { [call]: Array.from({ length: times }, () => fault(trouble)) }
        text.push(
          `== ${call}: ${trouble}, ${times} times`,
          summary(await playPass({ ...BUSY, instead }), untroubled),
          '',
        )
      }
  await expect(text.join('\n')).toMatchFileSnapshot('placementFailures.txt')
})

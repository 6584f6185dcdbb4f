/**
 * Passes over a host in a Placement in memory: each call with what it was given, what was found, and how the pass
 * ended.
 */
import type { Finding, HeldProvider } from '../../src/actors/placement/decider.ts'
import type { Inventories, Placement, PlacementFault, PlacementError } from '../../src/actors/placement/port.ts'
import { type Wanted, inventoriesOf } from '../../src/actors/placement/wanted.ts'
import { dryPass } from '../../src/services/placement/dryPass.ts'
import { type Task, pass } from '../../src/services/placement/pass.ts'
import { rpUuidOf } from '../../src/rpUuid.ts'
import { type PlacementInMemory, placementInMemory } from '../support/placement.ts'

export const id = (n: number): string => `70000000-0000-4000-8000-0000000000${String(n).padStart(2, '0')}`
export const NODE = id(1)
export const [CARD, GPU] = [rpUuidOf('h1_card'), rpUuidOf('h1_gpu')]
export const wantedCard: Wanted = {
  uuid: CARD,
  name: 'h1_card',
  deployable: id(10),
  resourceClass: 'FPGA',
  total: 4,
  reserved: 0,
  reasons: [],
  traits: ['CUSTOM_A', 'OWNER_CYBORG'],
}
export const wantedGpu: Wanted = { ...wantedCard, uuid: GPU, name: 'h1_gpu', deployable: id(11), resourceClass: 'PGPU' }
export const heldAs = (wanted: Wanted, more: Partial<HeldProvider> = {}): HeldProvider => ({
  uuid: wanted.uuid,
  name: wanted.name,
  deployable: wanted.deployable,
  traits: wanted.traits,
  state: 'in_sync',
  reason: null,
  reserving: [],
  ours: true,
  since: 1,
  ...more,
})
export const fault = (trouble: PlacementError): PlacementFault => ({
  ok: false,
  error: trouble,
  reason: `it is ${trouble}`,
})

/** What an operator or Nova does in this Placement. */
export const setUp = ({ ask }: PlacementInMemory) => {
  const generation = (uuid: string) =>
    (ask('GET', `/resource_providers/${uuid}`) as { readonly generation: number }).generation
  const inventories = (uuid: string, all: Inventories) =>
    ask('PUT', `/resource_providers/${uuid}/inventories`, {
      resource_provider_generation: generation(uuid),
      inventories: all,
    })
  const traits = (uuid: string, all: readonly string[]) => {
    for (const trait of all) if (trait.startsWith('CUSTOM_')) ask('PUT', `/traits/${trait}`)
    ask('PUT', `/resource_providers/${uuid}/traits`, { resource_provider_generation: generation(uuid), traits: all })
  }
  const provider = (uuid: string, name: string, parent: string | null = null) =>
    ask('POST', '/resource_providers', { uuid, name, parent_provider_uuid: parent })
  return {
    ask,
    provider,
    inventories,
    traits,
    node: () => provider(NODE, 'h1'),
    /** Below the compute node, with our trait. */
    orphan: (uuid: string, name: string) => (provider(uuid, name, NODE), traits(uuid, ['OWNER_CYBORG'])),
    /** As this service leaves it. */
    stands: (wanted: Wanted, parent = NODE, name = wanted.name) => {
      provider(wanted.uuid, name, parent)
      traits(wanted.uuid, wanted.traits)
      inventories(wanted.uuid, inventoriesOf(wanted))
    },
    allocates: (consumer: string, uuid: string, resources: Readonly<Record<string, number>>) =>
      ask('PUT', `/allocations/${consumer}`, {
        allocations: { [uuid]: { resources } },
        project_id: 'project',
        user_id: 'user',
        consumer_generation: null,
        consumer_type: 'INSTANCE',
      }),
  }
}
export type SetUp = ReturnType<typeof setUp>

/** By the name of a call: what is answered instead, first to last; null: what Placement says. */
export type Instead = Partial<Record<keyof Placement, readonly (PlacementFault | null)[]>>
export type Scene = {
  readonly before?: (at: SetUp) => void
  readonly task?: Partial<Omit<Task, 'held'>> & { readonly held?: Partial<Task['held']> }
  readonly instead?: Instead
  /** Somebody else has the host from this finding on, counted from 1; 0: when the compute node is found. */
  readonly supersededAt?: number
  /** Providers that belong to deployables of another host. */
  readonly ofOthers?: readonly string[]
  /** By an operator. */
  readonly ordered?: boolean
  /** All that was in agreement is said to have stayed so. */
  readonly unchanged?: boolean
}

const written = (value: unknown): string => JSON.stringify(value) ?? 'undefined'
/** Notes each call of a port, and answers some of them otherwise. */
const noting = (port: Placement, lines: string[], instead: Instead): Placement => {
  const left = new Map(Object.entries(instead).map(([name, all]) => [name, [...all]]))
  const calls = Object.entries(port).map(([name, call]) => [
    name,
    async (...given: readonly never[]) => {
      const other = left.get(name)?.shift() ?? null
      lines.push(`${name} ${given.map(written).join(' ')}${other === null ? '' : `: ${other.error}`}`)
      return other ?? (call as (...all: readonly never[]) => unknown)(...given)
    },
  ])
  return Object.fromEntries(calls) as Placement
}

const findingText = ({ uuid, name, deployable, ...rest }: Finding): string =>
  `found ${name} (${uuid}, ${deployable}) ${written(rest)}`

const CLOCK = {
  after: (_ms: number, run: () => void) => {
    setImmediate(run)
    return () => {}
  },
}
const taskOf = ({ task = {} }: Scene): Task => ({
  host: 'h1',
  aliases: [],
  wanted: [],
  bound: new Map(),
  names: [],
  ...task,
  held: { root: NODE, providers: {}, ...task.held },
})

const othersOf = (scene: Scene) => async () => ({ ok: true, value: new Set(scene.ofOthers) }) as const

/** What a pass that writes nothing finds, and what it asked. */
export const playDryPass = async (scene: Scene) => {
  const cloud = placementInMemory()
  scene.before?.(setUp(cloud))
  const [before, lines]: readonly [number, string[]] = [cloud.asked.length, []]
  const placement = noting(cloud.placement, lines, scene.instead ?? {})
  const tools = {
    placement,
    clock: CLOCK,
    ordered: scene.ordered ?? false,
    ofOthers: othersOf(scene),
    isUnchanged: () => scene.unchanged === true,
    agreed: () => {},
  }
  const { findings, root, trouble } = await dryPass(tools, taskOf(scene))
  const writes = cloud.asked.slice(before).filter((line) => !line.startsWith('GET '))
  return { lines: [...lines, ...findings.map(findingText), `ended ${written({ root, trouble })}`], writes }
}

export const playPass = async (scene: Scene) => {
  const { before, instead = {}, supersededAt, unchanged = false } = scene
  const cloud = placementInMemory()
  before?.(setUp(cloud))
  const lines: string[] = []
  let count = 0
  const isLast = () => count++ === supersededAt
  const passed = await pass(
    {
      placement: noting(cloud.placement, lines, instead),
      clock: {
        after: (ms, run) => {
          const end = () => {
            lines.push(`waited ${ms} ms`)
            run()
          }
          return CLOCK.after(ms, end)
        },
      },
      names: new Set(),
      ordered: scene.ordered ?? false,
      ofOthers: othersOf(scene),
      rooted: async ({ uuid }) => {
        lines.push(`root ${uuid}`)
        return !isLast()
      },
      found: async (finding) => {
        lines.push(findingText(finding))
        return !isLast()
      },
      isUnchanged: () => unchanged,
      agreed: ({ name }, { generation }) => void lines.push(`agrees ${name} in generation ${generation}`),
    },
    taskOf(scene),
  )
  return [...lines, `ended ${written(passed)}`]
}

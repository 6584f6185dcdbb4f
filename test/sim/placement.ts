/**
 * A simulated Placement: the model of the tests behind a network, with compute nodes and providers of others, and
 * people who change things.
 */
import type { PlacementSeen } from '../../src/audit/evidence.ts'
import type { Placement } from '../../src/actors/placement/port.ts'
import { FOREIGN_TRAITS, OWNER_TRAIT } from '../../src/actors/placement/names.ts'
import { CONTROL_DEFAULTS } from '../../src/services/kernel/kernel.ts'
import { createPlacement } from '../../src/neighbours/openstack/placement.ts'
import { placementModel } from '../neighbours/openstack/placement/model.ts'
import { type HeldProvider, holdersOf } from '../neighbours/openstack/placement/state.ts'
import type { Mood, Reach } from './keystone.ts'
import { type Bite } from './lies.ts'
import type { Random } from './random.ts'
import type { Life, Schedule } from './schedule.ts'

export type SimPlacement = {
  mood: Mood
  readonly reach: (life: Life) => Reach
  readonly seenBy: (life: Life) => Placement
  /** An operator, or Nova, changes a provider of ours. */
  readonly meddle: () => void
  readonly seen: () => PlacementSeen
  /** Traits that operators have set on our providers and that are gone, although their providers are not. */
  readonly lostTraits: () => readonly string[]
}
type Ports = {
  readonly schedule: Schedule
  readonly random: Random
  readonly hosts: readonly string[]
  readonly say: (line: string) => void
}

const VERSION = ['placement', '1.39'].join(' ')
const TRAITS_MAX = 9
const uuidOf = (kind: number, at: number): string =>
  `${String(kind).padStart(8, '0')}-0000-4000-8000-${String(at).padStart(12, '0')}`

export const simPlacement = ({ schedule, random, hosts, say }: Ports): SimPlacement => {
  const server = schedule.life('placement')
  const model = placementModel()
  const { providers } = model.state
  const writes: PlacementSeen['writes'][number][] = []
  const set = new Map<string, Set<string>>()
  const ask = (method: string, path: string, body?: unknown) => {
    const reply = model.handle({ method, path, version: VERSION, body })
    if (reply.status >= 300) throw new Error(`${method} ${path}: ${reply.status} ${JSON.stringify(reply.body)}`)
  }
  const withTraits = (uuid: string, traits: readonly string[]) => {
    const resource_provider_generation = providers.get(uuid)!.generation
    ask('PUT', `/resource_providers/${uuid}/traits`, { resource_provider_generation, traits })
  }
  for (const [at, name] of hosts.entries()) {
    const [root, other] = [uuidOf(1, at), uuidOf(2, at)]
    ask('POST', '/resource_providers', { uuid: root, name })
    withTraits(root, ['COMPUTE_NODE', 'OWNER_NOVA'])
    ask('POST', '/resource_providers', { uuid: other, name: `${name}_0000:81:00.0`, parent_provider_uuid: root })
    withTraits(other, ['OWNER_NOVA', 'COMPUTE_MANAGED_PCI_DEVICE'])
  }
  const isForeign = ({ traits, parent }: HeldProvider): boolean =>
    parent === null || FOREIGN_TRAITS.some((trait) => traits.has(trait))
  /** Whether it was foreign when its traits were last read. */
  const shownForeign = new Map<string, boolean>()
  /**
   * The write as it counts if it is carried out. Placement checks no generation when a provider is renamed, moved or
   * deleted: there somebody may claim it between the read and the write, and all that can be asked is that what was
   * read was not foreign.
   */
  const writeOf = (method: string, path: string): PlacementSeen['writes'][number] | null => {
    const [, uuid, part] = /^\/resource_providers\/([^/?]+)(\/[^?]*)?/.exec(path) ?? []
    const provider = uuid === undefined ? undefined : providers.get(uuid)
    if (provider === undefined) return null
    if (method === 'GET') {
      if (part === '/traits') shownForeign.set(provider.uuid, isForeign(provider))
      return null
    }
    const foreign = (part === undefined ? shownForeign.get(provider.uuid) : null) ?? isForeign(provider)
    return { uuid: provider.uuid, what: method, foreign, allocated: holdersOf(model.state, provider.uuid).length > 0 }
  }
  const ours = (): readonly HeldProvider[] => [...providers.values()].filter(({ traits }) => traits.has(OWNER_TRAIT))

  const addTrait = ({ uuid, traits }: HeldProvider): void => {
    const name = `CUSTOM_OPERATOR_${random.below(1000)}`
    ask('PUT', `/traits/${name}`)
    withTraits(uuid, [...traits, name])
    set.set(uuid, (set.get(uuid) ?? new Set()).add(name))
  }
  const meddlings: readonly (readonly [string, (provider: HeldProvider) => void])[] = [
    ['has deleted', ({ uuid }) => (ask('DELETE', `/resource_providers/${uuid}`), void set.delete(uuid))],
    [
      'has renamed',
      ({ uuid, parent }) =>
        ask('PUT', `/resource_providers/${uuid}`, {
          name: `renamed-${random.below(1e9)}`,
          parent_provider_uuid: parent,
        }),
    ],
    ['has taken traits from', ({ uuid }) => (withTraits(uuid, [OWNER_TRAIT]), void set.delete(uuid))],
    ['has given a trait to', addTrait],
    // as its provider configuration does; from then on the provider is not ours
    ['has claimed for Nova', ({ uuid, traits }) => withTraits(uuid, [...traits, 'OWNER_NOVA'])],
    [
      'has changed the inventory of',
      ({ uuid, generation }) =>
        ask('PUT', `/resource_providers/${uuid}/inventories`, {
          resource_provider_generation: generation,
          inventories: { FPGA: { total: random.between(1, 9) } },
        }),
    ],
  ]
  const meddle = (): void => {
    const all = ours()
    if (all.length === 0) return
    const [provider, [what, act]] = [random.pick(all), random.pick(meddlings)]
    say(`placement: an operator ${what} ${provider.uuid}`)
    act(provider)
  }
  const answer = (method: string, path: string, version: string | undefined, text: string | undefined) => {
    if (placement.mood === 'torn' && random.chance(0.2)) return { status: 500, headers: {}, text: '{}' }
    const written = writeOf(method, path)
    const body = text === undefined ? undefined : (JSON.parse(text) as unknown)
    const reply = model.handle({ method, path, version, body })
    if (written && reply.status < 300) writes.push(written)
    for (const uuid of set.keys()) if (!providers.has(uuid)) set.delete(uuid)
    // somebody else is quicker than the write that follows
    const uuid = method === 'GET' ? /^\/resource_providers\/([^/]+)\/traits$/.exec(path)?.[1] : undefined
    const provider = uuid === undefined ? undefined : providers.get(uuid)
    if (
      provider?.traits.has(OWNER_TRAIT) &&
      provider.traits.size < TRAITS_MAX &&
      random.chance(provider.traits.size === 1 ? 0.6 : 0.25)
    )
      addTrait(provider)
    return { status: reply.status, headers: {}, text: reply.body === undefined ? '' : JSON.stringify(reply.body) }
  }
  const placement: SimPlacement = {
    mood: 'well',
    meddle,
    reach:
      (life) =>
      async ({ method, path, headers, body }) => {
        if (placement.mood === 'away') throw new Error('no answer in time')
        const told = await schedule.across(
          life,
          server,
          () => random.below(placement.mood === 'slow' ? 4000 : 20),
          async () => answer(method, path, headers['openstack-api-version'], body),
        )
        if (placement.mood === 'deaf' && random.chance(0.5)) throw new Error('no answer in time')
        return told
      },
    seenBy: (life) => {
      const reach = placement.reach(life)
      return createPlacement({ call: ({ headers = {}, ...rest }) => reach({ headers, ...rest }) })
    },
    seen: () => ({
      providers: [...providers.values()].map(({ uuid, name, inventories, traits }) => ({
        allocated: Object.fromEntries(
          holdersOf(model.state, uuid).map(([consumer, , amounts]) => [
            consumer,
            Object.values(amounts).reduce((sum, units) => sum + units, 0),
          ]),
        ),
        uuid,
        name,
        inventories: Object.fromEntries(inventories),
        traits: [...traits],
      })),
      writes: [...writes],
      reserveSilent: CONTROL_DEFAULTS.reserveSilent,
    }),
    lostTraits: () =>
      [...set].flatMap(([uuid, names]) => {
        const provider = providers.get(uuid)
        return provider ? [...names].filter((name) => !provider.traits.has(name)) : []
      }),
  }
  return placement
}

/**
 * Planted bugs: a client that hides whose a provider is, and one that writes with the newest generation whatever was
 * read.
 */
export const lyingPlacement = (bite: Bite | null, port: Placement): Placement => {
  if (bite === 'ownership off')
    return {
      ...port,
      traits: async (uuid) => {
        const told = await port.traits(uuid)
        if (!told.ok) return told
        const traits = told.value.traits.filter((trait) => !FOREIGN_TRAITS.includes(trait))
        return { ok: true, value: { ...told.value, traits } }
      },
    }
  if (bite === 'generation ignored')
    return {
      ...port,
      setTraits: async (it) => {
        const now = await port.provider(it.uuid)
        return port.setTraits(now.ok ? { ...it, generation: now.value.generation } : it)
      },
    }
  return port
}

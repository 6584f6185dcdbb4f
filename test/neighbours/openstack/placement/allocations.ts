/** The routes of allocations, as Nova uses them, and of usages (placement.md 5.1, 5.2). */
import * as v from 'valibot'
import { bodyAs, POSITIVE, type Reply, type Route, UUID } from './route.ts'
import {
  type Amounts,
  checkClasses,
  type Consumer,
  type HeldProvider,
  holdersOf,
  isUnit,
  type PlacementState,
  providerOf,
  Refusal,
  stale,
  usedOf,
} from './state.ts'

const TEXT = v.pipe(v.string(), v.minLength(1), v.maxLength(255))
const WANTED = v.strictObject({
  allocations: v.record(
    UUID,
    v.strictObject({
      resources: v.pipe(v.record(v.string(), POSITIVE), v.minEntries(1)),
      generation: v.optional(v.number()),
    }),
  ),
  project_id: TEXT,
  user_id: TEXT,
  consumer_generation: v.nullable(v.number()),
  consumer_type: v.optional(v.pipe(v.string(), v.regex(/^[A-Z0-9_]+$/))),
  mappings: v.optional(v.record(v.string(), v.array(UUID))),
})
type Holds = Consumer['holds']
type Whose = Pick<v.InferOutput<typeof WANTED>, 'project_id' | 'user_id' | 'consumer_type'>

const consumerOf = ({ project_id: project, user_id: user, consumer_type: type }: Whose, generation: number) => ({
  generation,
  project,
  user,
  type: type ?? 'unknown',
})

const refuse = (name: string, uuid: string, why: string): never => {
  throw new Refusal(409, `Unable to allocate inventory: '${name}' on resource provider '${uuid}'. ${why}`)
}
/** An amount beyond the capacity is granted when the consumer held at least as much before. */
const checkAmount = (
  state: PlacementState,
  one: HeldProvider,
  [name, amount]: readonly [string, number],
  before: number,
) => {
  const inventory = one.inventories.get(name) ?? refuse(name, one.uuid, 'Inventory invalid.')
  if (!isUnit(amount, inventory)) refuse(name, one.uuid, 'The requested amount would violate inventory constraints.')
  const used = (usedOf(state, one)[name] ?? 0) - before + amount
  if (used > (inventory.total - inventory.reserved) * inventory.allocation_ratio && amount > before)
    refuse(name, one.uuid, 'The requested amount would exceed the capacity.')
}

export const allocationRoutes = (state: PlacementState): readonly Route[] => {
  const { consumers, providers } = state
  const checkAll = (wanted: Holds, held: Holds | undefined): void => {
    for (const [uuid, amounts] of wanted) {
      const one = providers.get(uuid)!
      for (const entry of Object.entries(amounts)) checkAmount(state, one, entry, held?.get(uuid)?.[entry[0]] ?? 0)
    }
  }
  const checkProviders = (wanted: Holds): void => {
    for (const uuid of wanted.keys())
      if (!providers.has(uuid))
        throw new Refusal(400, `Allocation for resource provider '${uuid}' that does not exist.`)
  }
  const checkNames = (id: string, wanted: Holds): void => {
    for (const amounts of wanted.values())
      checkClasses(state, Object.keys(amounts), `Unable to allocate inventory for consumer ${id}: `)
  }
  const put = (name: string, body: unknown, minor: number): Reply => {
    const id = bodyAs(UUID, name)
    const { allocations, consumer_generation: told, ...rest } = bodyAs(WANTED, body)
    if (minor >= 38 && rest.consumer_type === undefined)
      throw new Refusal(400, "'consumer_type' is a required property")
    const held = consumers.get(id)
    if ((held?.generation ?? null) !== told)
      throw stale(`consumer generation conflict - expected ${held?.generation ?? 'null'} but got ${told ?? 'None'}`)
    const wanted: Holds = new Map(Object.entries(allocations).map(([uuid, { resources }]) => [uuid, resources]))
    try {
      checkProviders(wanted)
    } catch (error) {
      // As in the real one, the consumer was made before its allocations are looked at, and stays.
      if (held === undefined) consumers.set(id, { ...consumerOf(rest, 0), holds: new Map() })
      throw error
    }
    checkNames(id, wanted)
    checkAll(wanted, held?.holds)
    // Without allocations those that are taken away count as changed, otherwise only those that are written.
    for (const uuid of (wanted.size > 0 ? wanted : (held?.holds ?? new Map())).keys()) providers.get(uuid)!.generation++
    if (wanted.size === 0) consumers.delete(id)
    else consumers.set(id, { ...consumerOf(rest, (told ?? 0) + 1), holds: wanted })
    return { status: 204 }
  }
  const shown = (name: string, minor: number) => {
    const consumer = consumers.get(name.toLowerCase())
    if (consumer === undefined || consumer.holds.size === 0) return { allocations: {} }
    const entries = [...consumer.holds].map(([uuid, resources]) => [
      uuid,
      { resources, generation: providers.get(uuid)!.generation },
    ])
    return {
      allocations: Object.fromEntries(entries),
      project_id: consumer.project,
      user_id: consumer.user,
      consumer_generation: consumer.generation,
      ...(minor >= 38 && { consumer_type: consumer.type }),
    }
  }
  const remove = (name: string): Reply => {
    const held = consumers.get(name.toLowerCase())
    if (held === undefined || held.holds.size === 0) throw new Refusal(404, `No allocations for consumer '${name}'`)
    consumers.delete(name.toLowerCase())
    return { status: 204 }
  }
  const onProvider = (one: HeldProvider) => ({
    allocations: Object.fromEntries(
      holdersOf(state, one.uuid).map(([id, { generation }, resources]: readonly [string, Consumer, Amounts]) => [
        id,
        { resources, consumer_generation: generation },
      ]),
    ),
    resource_provider_generation: one.generation,
  })
  const usages = (one: HeldProvider) => ({
    resource_provider_generation: one.generation,
    usages: usedOf(state, one),
  })
  const provider = '/resource_providers/*'
  const consumer = '/allocations/*'
  const ok = (body: unknown): Reply => ({ status: 200, body })
  return [
    { method: 'GET', path: `${provider}/allocations`, answer: ({ name }) => ok(onProvider(providerOf(state, name))) },
    { method: 'GET', path: `${provider}/usages`, answer: ({ name }) => ok(usages(providerOf(state, name))) },
    // Older versions have other shapes: nobody asks for them here.
    { method: 'GET', path: consumer, since: 28, answer: ({ name, minor }) => ok(shown(name, minor)) },
    { method: 'PUT', path: consumer, since: 28, answer: ({ name, body, minor }) => put(name, body, minor) },
    { method: 'DELETE', path: consumer, answer: ({ name }) => remove(name) },
  ]
}

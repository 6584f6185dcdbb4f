/** The routes of resource providers, their inventories, traits and aggregates (placement.md 5.1 to 5.3). */
import type { InventoryRecord } from '../../../../src/actors/placement/port.ts'
import * as v from 'valibot'
import { bodyAs, COUNT, GENERATION, onlyKeys, POSITIVE, type Reply, type Route, UUID } from './route.ts'
import {
  amountsIn,
  capacityOf,
  checkClasses,
  checkTraits,
  childrenOf,
  follows,
  type HeldProvider,
  holdersOf,
  isUnit,
  namesIn,
  type PlacementState,
  providerOf,
  Refusal,
  rootOf,
  stale,
  traitRuleIn,
  usedOf,
} from './state.ts'

const NAME = v.pipe(v.string(), v.maxLength(200))
const CHANGE = { name: NAME, parent_provider_uuid: v.optional(v.nullable(UUID)) }
const NEW = v.strictObject({ ...CHANGE, uuid: v.optional(UUID) })
const CHANGED = v.strictObject(CHANGE)
const RECORD = v.strictObject({
  total: POSITIVE,
  reserved: v.optional(COUNT, 0),
  min_unit: v.optional(POSITIVE, 1),
  max_unit: v.optional(POSITIVE, 2 ** 31 - 1),
  step_size: v.optional(POSITIVE, 1),
  allocation_ratio: v.optional(v.number(), 1),
})
const INVENTORIES = v.strictObject({
  resource_provider_generation: GENERATION,
  inventories: v.record(v.string(), RECORD),
})
const TRAITS = v.strictObject({
  resource_provider_generation: GENERATION,
  traits: v.array(v.pipe(v.string(), v.minLength(1), v.maxLength(255))),
})
const AGGREGATES = v.strictObject({ resource_provider_generation: GENERATION, aggregates: v.array(UUID) })
const FILTERS: Readonly<Record<string, number>> = { name: 0, uuid: 0, resources: 4, in_tree: 14, required: 18 }

const OK = 200
const NOTHING: Reply = { status: 204 }
const ok = (body: unknown): Reply => ({ status: OK, body })

const checkParent = (state: PlacementState, parent: string, action: string): void => {
  if (state.providers.has(parent)) return
  throw new Refusal(400, `${action}: Object action create failed because: parent provider UUID does not exist.`)
}
const checkName = ({ providers }: PlacementState, name: string, own: string | null, said: string): void => {
  const taken = [...providers.values()].some((one) => one.name === name && one.uuid !== own)
  if (taken) throw new Refusal(409, `Conflicting resource provider ${said}${name} already exists.`, 'duplicate_name')
}
const isWithin = (state: PlacementState, uuid: string, top: string): boolean => {
  const parent = state.providers.get(uuid)?.parent ?? null
  return uuid === top || (parent !== null && isWithin(state, parent, top))
}

const capacityFits = (state: PlacementState, one: HeldProvider, wanted: string): boolean =>
  Object.entries(amountsIn(wanted)).every(([name, amount]) => {
    const inventory = one.inventories.get(name)
    const used = usedOf(state, one)[name] ?? 0
    return inventory !== undefined && isUnit(amount, inventory) && used + amount <= capacityOf(inventory)
  })
/** What each query key asks of a provider. */
const filterOf = (state: PlacementState, query: URLSearchParams, minor: number): ((one: HeldProvider) => boolean) => {
  onlyKeys(query, (key) => (FILTERS[key] ?? Infinity) <= minor)
  const [name, uuid, tree, resources] = ['name', 'uuid', 'in_tree', 'resources'].map((key) => query.get(key) ?? '')
  const rule = traitRuleIn(query.getAll('required'), minor)
  checkTraits(state, namesIn(rule), 'Invalid trait(s) in "required" parameter: ')
  if (resources)
    checkClasses(state, Object.keys(amountsIn(resources)), 'Invalid resource class in resources parameter: ')
  const inside = tree ? state.providers.get(bodyAs(UUID, tree)) : undefined
  const root = inside && rootOf(state, inside)
  return (one) =>
    (!name || one.name === name) &&
    (!uuid || one.uuid === uuid.toLowerCase()) &&
    (!tree || rootOf(state, one) === root) &&
    (!resources || capacityFits(state, one, resources)) &&
    follows(one.traits, rule)
}

const changeInventories = (
  state: PlacementState,
  one: HeldProvider,
  wanted: ReadonlyMap<string, InventoryRecord>,
): void => {
  const used = usedOf(state, one)
  const inUse = [...one.inventories.keys()].filter((name) => !wanted.has(name) && (used[name] ?? 0) > 0)
  if (inUse.length > 0)
    throw new Refusal(409, `update conflict: Inventory for '${inUse[0]}' in use.`, 'inventory.inuse')
  one.inventories = wanted
  one.generation++
}
const inventoriesOf = ({ generation, inventories }: HeldProvider) => ({
  resource_provider_generation: generation,
  inventories: Object.fromEntries(inventories),
})
const traitsOf = ({ generation, traits }: HeldProvider) => ({
  traits: [...traits].toSorted(),
  resource_provider_generation: generation,
})
const aggregatesOf = ({ generation, aggregates }: HeldProvider) => ({
  aggregates,
  resource_provider_generation: generation,
})

/** `newUuid`: for a provider that is created without one. */
export const providerRoutes = (state: PlacementState, newUuid: () => string): readonly Route[] => {
  const shown = (one: HeldProvider, minor: number) => ({
    uuid: one.uuid,
    name: one.name,
    generation: one.generation,
    links: [{ rel: 'self', href: `/resource_providers/${one.uuid}` }],
    ...(minor >= 14 && { parent_provider_uuid: one.parent, root_provider_uuid: rootOf(state, one) }),
  })
  const create = (body: unknown, minor: number): Reply => {
    const { name, uuid = newUuid(), parent_provider_uuid: parent = null } = bodyAs(NEW, body)
    if (parent !== null) checkParent(state, parent, `Unable to create resource provider "${name}", ${uuid}`)
    if (state.providers.has(uuid))
      throw new Refusal(409, `Conflicting resource provider uuid: ${uuid} already exists.`, 'duplicate_name')
    checkName(state, name, null, 'name: ')
    const nothing = { inventories: new Map(), traits: new Set<string>(), aggregates: [] }
    const one: HeldProvider = { uuid, name, parent, generation: 0, ...nothing }
    state.providers.set(uuid, one)
    return minor >= 20 ? ok(shown(one, minor)) : { status: 201 }
  }
  const checkMove = (one: HeldProvider, parent: string | null, minor: number): void => {
    const unable = `Unable to save resource provider ${one.uuid}`
    const refuse = (reason: string): never => {
      throw new Refusal(400, `${unable}: Object action update failed because: ${reason}`)
    }
    if (parent !== null) checkParent(state, parent, unable)
    if (one.parent !== null && parent !== one.parent && minor < 37)
      refuse(`${parent === null ? 'un' : 're-'}parenting a provider is not currently allowed.`)
    if (parent !== null && isWithin(state, parent, one.uuid))
      refuse('creating loop in the provider tree is not allowed.')
  }
  const update = (one: HeldProvider, body: unknown, minor: number): Reply => {
    const { name, parent_provider_uuid: parent } = bodyAs(CHANGED, body)
    if (parent !== undefined) checkMove(one, parent, minor)
    checkName(state, name, one.uuid, '')
    one.name = name
    if (parent !== undefined) one.parent = parent
    return ok(shown(one, minor))
  }
  const remove = (one: HeldProvider): Reply => {
    const unable = `Unable to delete resource provider ${one.uuid}`
    if (childrenOf(state, one.uuid).length > 0)
      throw new Refusal(409, `${unable}: It has child resource providers.`, 'resource_provider.cannot_delete_parent')
    if (holdersOf(state, one.uuid).length > 0)
      throw new Refusal(409, `${unable}: Resource provider has allocations.`, 'resource_provider.inuse')
    state.providers.delete(one.uuid)
    return NOTHING
  }
  const setInventories = (one: HeldProvider, body: unknown, minor: number): Reply => {
    const { resource_provider_generation: generation, inventories } = bodyAs(INVENTORIES, body)
    if (generation !== one.generation) throw stale('resource provider generation conflict')
    const records = Object.entries(inventories)
    for (const [name, { total, reserved }] of records)
      if (reserved > total || (reserved === total && minor < 26))
        throw new Refusal(
          400,
          `Unable to update inventory: Invalid inventory for '${name}'. The reserved value is greater than total.`,
        )
    checkClasses(state, Object.keys(inventories), 'Unknown resource class in inventory for resource provider: ')
    changeInventories(state, one, new Map(records))
    return ok(inventoriesOf(one))
  }
  const setTraits = (name: string, body: unknown): Reply => {
    const { resource_provider_generation: generation, traits } = bodyAs(TRAITS, body)
    const one = providerOf(state, name)
    if (generation !== one.generation) throw stale("Resource provider's generation already changed.")
    const unknown = traits.filter((trait) => !state.traits.has(trait))
    if (unknown.length > 0) throw new Refusal(400, `No such trait ${unknown.join(', ')}`)
    const wanted = new Set(traits)
    if (wanted.size !== one.traits.size || traits.some((trait) => !one.traits.has(trait))) {
      one.traits = wanted
      one.generation++
    }
    return ok(traitsOf(one))
  }
  const setAggregates = (one: HeldProvider, body: unknown): Reply => {
    const { resource_provider_generation: generation, aggregates } = bodyAs(AGGREGATES, body)
    if (generation !== one.generation) throw stale("Resource provider's generation already changed.")
    one.aggregates = aggregates
    one.generation++
    return ok(aggregatesOf(one))
  }
  const at = (name: string): HeldProvider => providerOf(state, name)
  const list = (query: URLSearchParams, minor: number): Reply => {
    const fits = filterOf(state, query, minor)
    const found = [...state.providers.values()].filter(fits)
    return ok({ resource_providers: found.map((one) => shown(one, minor)) })
  }
  const one = '/resource_providers/*'
  return [
    { method: 'GET', path: '/resource_providers', answer: ({ query, minor }) => list(query, minor) },
    { method: 'POST', path: '/resource_providers', answer: ({ body, minor }) => create(body, minor) },
    { method: 'GET', path: one, answer: ({ name, minor }) => ok(shown(at(name), minor)) },
    { method: 'PUT', path: one, answer: ({ name, body, minor }) => update(at(name), body, minor) },
    { method: 'DELETE', path: one, answer: ({ name }) => remove(at(name)) },
    { method: 'GET', path: `${one}/inventories`, answer: ({ name }) => ok(inventoriesOf(at(name))) },
    {
      method: 'PUT',
      path: `${one}/inventories`,
      answer: ({ name, body, minor }) => setInventories(at(name), body, minor),
    },
    {
      method: 'DELETE',
      path: `${one}/inventories`,
      since: 5,
      answer: ({ name }) => {
        changeInventories(state, at(name), new Map())
        return NOTHING
      },
    },
    { method: 'GET', path: `${one}/traits`, since: 6, answer: ({ name }) => ok(traitsOf(at(name))) },
    { method: 'PUT', path: `${one}/traits`, since: 6, answer: ({ name, body }) => setTraits(name, body) },
    { method: 'GET', path: `${one}/aggregates`, since: 19, answer: ({ name }) => ok(aggregatesOf(at(name))) },
    { method: 'PUT', path: `${one}/aggregates`, since: 19, answer: ({ name, body }) => setAggregates(at(name), body) },
  ]
}

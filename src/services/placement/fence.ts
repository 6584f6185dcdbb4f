/**
 * Two wrappers of the Placement port: one writes only while the caller has the right to, the other only notes the
 * writes.
 */
import type { ResourceProviderUuid } from '../../vocabulary/identifiers.ts'
import type { Inventories, Placement, PlacementFault, Provider, PlacementResult } from '../../actors/placement/port.ts'

const SUPERSEDED: PlacementFault = {
  ok: false,
  error: 'unanswered',
  reason: 'another process works on this host now',
}

/** Calls `mayCall` before each call that changes something. */
export const fenced = (port: Placement, mayCall: () => Promise<boolean>): Placement => {
  const guarded =
    <Argument, Value>(call: (argument: Argument) => Promise<PlacementResult<Value>>) =>
    async (argument: Argument): Promise<PlacementResult<Value>> =>
      (await mayCall()) ? call(argument) : SUPERSEDED
  return {
    ...port,
    create: guarded(port.create),
    update: guarded(port.update),
    remove: guarded(port.remove),
    setInventories: guarded(port.setInventories),
    setTraits: guarded(port.setTraits),
    ensureTrait: guarded(port.ensureTrait),
    ensureClass: guarded(port.ensureClass),
  }
}

const ok = <Value>(value: Value): PlacementResult<Value> => ({ ok: true, value })
const refused = (error: PlacementFault['error'], reason: string): PlacementFault => ({
  ok: false,
  error,
  reason,
})

/** What Placement would answer if this provider were given this name. */
const naming = async (
  port: Placement,
  { uuid, name }: Pick<Provider, 'uuid' | 'name'>,
): Promise<PlacementResult<null>> => {
  const found = await port.named(name)
  if (!found.ok) return found
  const taken = found.value !== null && found.value.uuid !== uuid
  return taken ? refused('duplicate', `the name ${name} belongs to the provider ${found.value.uuid}`) : ok(null)
}
/** What Placement would answer if this inventory were set: a class with allocations cannot be removed. */
const replacing = async (
  port: Placement,
  uuid: ResourceProviderUuid,
  wanted: Inventories,
): Promise<PlacementResult<null>> => {
  const present = await port.inventories(uuid)
  if (!present.ok) return present
  const lost = Object.keys(present.value.inventories).filter((name) => !Object.hasOwn(wanted, name))
  if (lost.length === 0) return ok(null)
  const used = await port.allocations(uuid)
  if (!used.ok) return used
  const kept = lost.filter((name) => Object.values(used.value.consumers).some((held) => Object.hasOwn(held, name)))
  return kept.length > 0 ? refused('inUse', `units of ${kept.join(', ')} are allocated`) : ok(null)
}

/**
 * Answers each write as Placement would, without making it; later reads show the providers that such writes created.
 */
export const unwritten = (port: Placement): Placement => {
  const made = new Set<ResourceProviderUuid>()
  return {
    ...port,
    create: async (it) => {
      const other = await port.provider(it.uuid)
      if (other.ok) return refused('duplicate', `the provider ${it.uuid} exists`)
      const named = other.error === 'gone' ? await naming(port, it) : other
      if (!named.ok) return named
      made.add(it.uuid)
      return ok({ ...it, root: it.parent, generation: 0 })
    },
    update: async (it) => {
      const known = await port.provider(it.uuid)
      if (!known.ok) return known
      const named = await naming(port, it)
      return named.ok ? ok({ ...known.value, ...it, root: it.parent }) : named
    },
    remove: async () => ok(null),
    inventories: async (uuid) => (made.has(uuid) ? ok({ generation: 0, inventories: {} }) : port.inventories(uuid)),
    setInventories: async ({ uuid, generation, inventories }) => {
      const answer = made.has(uuid) ? ok(null) : await replacing(port, uuid, inventories)
      return answer.ok ? ok(generation) : answer
    },
    traits: async (uuid) => (made.has(uuid) ? ok({ generation: 0, traits: [] }) : port.traits(uuid)),
    setTraits: async ({ generation }) => ok(generation),
    ensureTrait: async () => ok(null),
    ensureClass: async () => ok(null),
  }
}

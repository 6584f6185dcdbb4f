/** Reads what a provider in Placement holds: its inventory and its traits. */
import type { ResourceProviderUuid } from '../../vocabulary/identifiers.ts'
import { FOREIGN_TRAITS } from '../../actors/placement/names.ts'
import type { Inventories, Placement, PlacementResult } from '../../actors/placement/port.ts'

/** The inventories with all units reserved: the scheduler gets no more of them, and allocations stay. */
export const allReserved = (inventories: Inventories): Inventories =>
  Object.fromEntries(Object.entries(inventories).map(([name, record]) => [name, { ...record, reserved: record.total }]))

export type Content = {
  readonly generation: number
  readonly inventories: Inventories
  readonly traits: readonly string[]
}
/**
 * Inventory and traits, with the lower of the two generations read: if somebody changed the provider between the reads,
 * a write that follows is refused as out of date, and everything is read again.
 */
export const contentOf = async (
  placement: Placement,
  uuid: ResourceProviderUuid,
): Promise<PlacementResult<Content>> => {
  const [one, other] = await Promise.all([placement.inventories(uuid), placement.traits(uuid)])
  if (!one.ok) return one
  if (!other.ok) return other
  const { generation, inventories } = one.value
  const { traits } = other.value
  return { ok: true, value: { generation: Math.min(generation, other.value.generation), inventories, traits } }
}

export const foreignTraitIn = (traits: readonly string[]): string | undefined =>
  FOREIGN_TRAITS.find((trait) => traits.includes(trait))

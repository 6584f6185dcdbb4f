/** A Placement port that counts unsuccessful answers by their meaning. */
import type { PlacementCounts } from '../../actors/placement/counts.ts'
import type { Placement, PlacementResult } from '../../actors/placement/port.ts'

export const countedPort = (port: Placement, { troubles }: Pick<PlacementCounts, 'troubles'>): Placement => {
  const counted =
    <Arguments extends readonly unknown[], Value>(call: (...given: Arguments) => Promise<PlacementResult<Value>>) =>
    async (...given: Arguments): Promise<PlacementResult<Value>> => {
      const answer = await call(...given)
      if (!answer.ok) troubles[answer.error]++
      return answer
    }
  return {
    ...port,
    named: counted(port.named),
    provider: counted(port.provider),
    tree: counted(port.tree),
    ownedIn: counted(port.ownedIn),
    create: counted(port.create),
    update: counted(port.update),
    remove: counted(port.remove),
    inventories: counted(port.inventories),
    setInventories: counted(port.setInventories),
    traits: counted(port.traits),
    setTraits: counted(port.setTraits),
    allocations: counted(port.allocations),
    ensureTrait: counted(port.ensureTrait),
    ensureClass: counted(port.ensureClass),
  }
}

/** What an operator or Nova does in a Placement in memory. */
import type { Inventories, InventoryRecord } from '../../src/actors/placement/port.ts'
import type { PlacementInMemory } from '../support/placement.ts'

export const setUp = ({ ask }: Pick<PlacementInMemory, 'ask'>) => {
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
  const units = (total: number): InventoryRecord => ({
    total,
    reserved: 0,
    min_unit: 1,
    max_unit: total,
    step_size: 1,
    allocation_ratio: 1,
  })
  return {
    ask,
    inventories,
    traits,
    units,
    provider: (uuid: string, name: string, parent: string | null = null) =>
      ask('POST', '/resource_providers', { uuid, name, parent_provider_uuid: parent }),
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

/** What upstream has left in Placement: the compute node's provider with one for each card, and units that servers hold. */
import type { Json } from '../e2e/client.ts'
import type { NovaCloud } from './rig.ts'
import { userOf } from './users.ts'

const CLASS = 'CUSTOM_PCI'
const TRAITS = ['OWNER_CYBORG', 'CUSTOM_PCI_NVIDIA']
type Place = { readonly name: string; readonly uuid: string }
type Allocations = { readonly allocations: Json; readonly [more: string]: unknown }

export type UpstreamPlaces = {
  /** One more unit of the provider for the server. */
  readonly allocate: (server: string, provider: string) => Promise<void>
  /** Names of the providers that the scheduler may choose: not everything of them is reserved or allocated. */
  readonly offered: () => Promise<readonly string[]>
  readonly remove: () => Promise<void>
}

export const upstreamPlaces = async (
  { authUrl, placement }: NovaCloud,
  host: string,
  cards: readonly Place[],
): Promise<UpstreamPlaces> => {
  const admin = await userOf(authUrl, 'admin', 'admin')
  const url = (path: string) => `${placement}${path}`
  const made = async (provider: Json): Promise<string> =>
    (await admin.get(200, 'POST', url('/resource_providers'), provider))['uuid'] as string
  const node = await made({ name: host })
  await admin.ask('PUT', url(`/resource_classes/${CLASS}`))
  for (const trait of TRAITS) await admin.ask('PUT', url(`/traits/${trait}`))
  for (const { name, uuid } of cards) {
    await made({ name, uuid, parent_provider_uuid: node })
    const inventories = {
      [CLASS]: { total: 1, reserved: 0, min_unit: 1, max_unit: 1, step_size: 1, allocation_ratio: 1 },
    }
    const provider = `/resource_providers/${uuid}`
    await admin.get(200, 'PUT', url(`${provider}/inventories`), { resource_provider_generation: 0, inventories })
    await admin.get(200, 'PUT', url(`${provider}/traits`), { resource_provider_generation: 1, traits: TRAITS })
  }
  const isOffered = async ({ uuid }: Place): Promise<boolean> => {
    const provider = `/resource_providers/${uuid}`
    const { inventories } = await admin.get(200, 'GET', url(`${provider}/inventories`))
    const { usages } = await admin.get(200, 'GET', url(`${provider}/usages`))
    const { total, reserved } = (inventories as Record<string, Record<string, number>>)[CLASS]!
    return total! - reserved! - ((usages as Record<string, number>)[CLASS] ?? 0) > 0
  }
  return {
    allocate: async (server, provider) => {
      const path = url(`/allocations/${server}`)
      const { allocations, ...others } = (await admin.get(200, 'GET', path)) as Allocations
      const kept = Object.entries(allocations as Record<string, Json>).map(([of, { resources }]) => [of, { resources }])
      const all = { ...Object.fromEntries(kept), [provider]: { resources: { [CLASS]: 1 } } }
      await admin.get(204, 'PUT', path, { ...others, consumer_type: 'INSTANCE', allocations: all })
    },
    offered: async () => {
      const answers = await Promise.all(cards.map(async (card) => ((await isOffered(card)) ? [card.name] : [])))
      return answers.flat()
    },
    remove: async () => {
      for (const { uuid } of [...cards, { uuid: node }]) await admin.ask('DELETE', url(`/resource_providers/${uuid}`))
    },
  }
}

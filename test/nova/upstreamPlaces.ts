/**
 * What upstream has left in Placement: the compute node's provider with one for each card, and units that servers hold.
 */
import { randomUUID } from 'node:crypto'
import { sessionOptions } from '../contracts/keystone.contract.ts'
import type { Json } from '../e2e/client.ts'
import { placementLab, record } from '../support/placementLab.ts'
import type { NovaCloud } from './rig.ts'

const CLASS = 'CUSTOM_PCI'
const TRAITS = ['OWNER_CYBORG', 'CUSTOM_PCI_NVIDIA']
type Place = { readonly name: string; readonly uuid: string }
type Allocations = { readonly allocations: Readonly<Record<string, Json>>; readonly [more: string]: unknown }

export type UpstreamPlaces = {
  /** One more unit of the provider for the server. */
  readonly allocate: (server: string, provider: string) => Promise<void>
  /** Names of the providers that the scheduler may choose: not everything of them is reserved or allocated. */
  readonly offered: () => Promise<readonly string[]>
  readonly remove: () => Promise<void>
}

export const upstreamPlaces = async (
  { authUrl }: Pick<NovaCloud, 'authUrl'>,
  host: string,
  cards: readonly Place[],
): Promise<UpstreamPlaces> => {
  const { ask, close, ...lab } = placementLab(sessionOptions(authUrl))
  const wanted = async (status: number, ...request: Parameters<typeof ask>): Promise<Json> => {
    const reply = await ask(...request)
    if (reply.status !== status) throw new Error(`${request[0]} ${request[1]}: ${reply.status}`)
    return reply.body as Json
  }
  const node = randomUUID()
  await wanted(200, 'POST', '/resource_providers', { name: host, uuid: node })
  await ask('PUT', `/resource_classes/${CLASS}`)
  for (const trait of TRAITS) await ask('PUT', `/traits/${trait}`)
  for (const { name, uuid } of cards) {
    await wanted(200, 'POST', '/resource_providers', { name, uuid, parent_provider_uuid: node })
    await lab.setInventories(uuid, { [CLASS]: record(1) })
    await lab.setTraits(uuid, TRAITS)
  }
  const isOffered = async ({ uuid }: Place): Promise<boolean> => {
    const { inventories } = await wanted(200, 'GET', `/resource_providers/${uuid}/inventories`)
    const { usages } = await wanted(200, 'GET', `/resource_providers/${uuid}/usages`)
    const { total, reserved } = (inventories as Record<string, Record<string, number>>)[CLASS]!
    return total! - reserved! - ((usages as Record<string, number>)[CLASS] ?? 0) > 0
  }
  return {
    allocate: async (server, provider) => {
      const path = `/allocations/${server}`
      const { allocations, ...others } = (await wanted(200, 'GET', path)) as Allocations
      const kept = Object.entries(allocations).map(([of, { resources }]) => [of, { resources }])
      const all = { ...Object.fromEntries(kept), [provider]: { resources: { [CLASS]: 1 } } }
      await wanted(204, 'PUT', path, { ...others, consumer_type: 'INSTANCE', allocations: all })
    },
    offered: async () => {
      const answers = await Promise.all(cards.map(async (card) => ((await isOffered(card)) ? [card.name] : [])))
      return answers.flat()
    },
    remove: async () => {
      for (const { uuid } of [...cards, { uuid: node }]) await ask('DELETE', `/resource_providers/${uuid}`)
      await close()
    },
  }
}

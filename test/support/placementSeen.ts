/** What somebody who stands before a Placement sees of it, as evidence for S11 and L3. */
import type { PlacementSeen } from '../../src/audit/evidence.ts'
import type { Placement } from '../../src/actors/placement/port.ts'
import { canonicalJson } from '../../src/wire/canonical.ts'
import type { PlacementLab } from './placementLab.ts'

type Seen = PlacementSeen['providers'][number]
type Named = { readonly uuid: string; readonly name: string }

const providerSeen = async (placement: Placement, { uuid, name }: Named): Promise<Seen> => {
  const [inventories, traits] = [await placement.inventories(uuid), await placement.traits(uuid)]
  const allocated = await placement.allocations(uuid)
  if (!inventories.ok || !traits.ok || !allocated.ok) throw new Error(`${uuid} cannot be read`)
  const units = Object.entries(allocated.value.consumers).map(
    ([consumer, amounts]) => [consumer, Object.values(amounts).reduce((sum, some) => sum + some, 0)] as const,
  )
  return {
    uuid,
    name,
    inventories: inventories.value.inventories,
    traits: traits.value.traits,
    allocated: Object.fromEntries(units),
  }
}

/** The trees of these compute nodes, and whatever else is ours. */
export const providersSeen = async (
  placement: Placement,
  nodes: readonly string[],
): Promise<PlacementSeen['providers']> => {
  const found = new Map<string, Named>()
  for (const node of nodes) {
    const root = await placement.named(node)
    const tree = root.ok && root.value ? await placement.tree(root.value.uuid) : null
    if (!tree?.ok) throw new Error(`the tree of ${node} cannot be read`)
    for (const one of tree.value) found.set(one.uuid, one)
  }
  const owned = await placement.owned()
  if (!owned.ok) throw new Error('the providers of this service cannot be listed')
  for (const one of owned.value) found.set(one.uuid, one)
  const seen: Seen[] = []
  for (const one of found.values()) seen.push(await providerSeen(placement, one))
  return seen
}

/** Of the requests that a proxy took (`METHOD /path`), those that changed a provider. */
export const writesSeen = (asked: readonly string[], foreign: ReadonlySet<string>): PlacementSeen['writes'] =>
  asked.flatMap((line) => {
    const [what = '', uuid] = /^(PUT|DELETE|POST) \/resource_providers\/([^/?]+)/.exec(line)?.slice(1) ?? []
    return uuid === undefined ? [] : [{ uuid, what, foreign: foreign.has(uuid), allocated: false }]
  })

/** By UUID: all that Placement says of a provider, its generation included. */
export type Shown = ReadonlyMap<string, string>
const PARTS = ['', '/inventories', '/traits', '/aggregates']
/** Lists of Placement have no order. */
const inOrder = (body: object): object =>
  Object.fromEntries(
    Object.entries(body).map(([name, value]) => [
      name,
      Array.isArray(value) && value.every((one) => typeof one === 'string') ? value.toSorted() : value,
    ]),
  )
export const shownOf = async (lab: PlacementLab, uuids: readonly string[]): Promise<Shown> => {
  const shown = new Map<string, string>()
  for (const uuid of uuids) {
    const replies = []
    for (const part of PARTS) replies.push(await lab.ask('GET', `/resource_providers/${uuid}${part}`))
    shown.set(uuid, canonicalJson(replies.map(({ status, body }) => ({ status, body: inOrder(body as object) }))))
  }
  return shown
}

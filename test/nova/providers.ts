/** Waits until the service has shown its devices in Placement, where Nova's scheduler looks for them. */
import { attributesOf, type Deployable } from '../e2e/client.ts'
import type { NovaCloud } from './rig.ts'
import { type Users, until } from './users.ts'

type Record = { readonly total: number; readonly reserved: number }

/** Resolves with the deployables when there are so many, each with a provider that has all its units to give. */
export const shownDeployables = (
  { placement }: NovaCloud,
  { service, listed }: Users,
  count: number,
): Promise<readonly Deployable[]> => {
  const isShown = async (place: Deployable): Promise<boolean> => {
    if (place.rp_uuid === null) return false
    const { status, body } = await service.ask('GET', `${placement}/resource_providers/${place.rp_uuid}/inventories`)
    if (status !== 200) return false
    const records = body['inventories'] as Readonly<{ [rc: string]: Record | undefined }>
    const record = records[attributesOf(place)['rc']!]
    return record !== undefined && record.total === place.num_accelerators && record.reserved === 0
  }
  return until(
    async () => {
      const places = await listed<Deployable>('deployables')
      const shown = await Promise.all(places.map(isShown))
      return shown.every(Boolean) ? places : []
    },
    (places) => places.length === count,
  )
}

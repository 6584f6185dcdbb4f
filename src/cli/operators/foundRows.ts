/** The rows of `accelerando device scan`: the deployables that the drivers of a host find. */
import type { Columns } from '../output.ts'

/** The trait of every provider, whether its driver reports it or not. */
export const OWNER = 'OWNER_CYBORG'

/** A deployable that a driver found. */
export type Found = {
  readonly driver: string
  readonly enabled: boolean
  readonly device: string
  readonly type: string
  readonly model: string
  readonly usable: boolean
  readonly total: number
  readonly resource_class: string | null
  readonly traits: readonly string[]
}
export const FOUND: Columns<Found> = [
  { name: 'driver', of: ({ driver, enabled }) => (enabled ? driver : `${driver} (not enabled)`) },
  { name: 'device', of: ({ device }) => device },
  { name: 'type', of: ({ type }) => type },
  { name: 'model', of: ({ model }) => model },
  { name: 'total', head: 'units', of: ({ usable, total }) => (usable ? total : 'not usable yet') },
  { name: 'resource_class', head: 'class', of: (found) => found.resource_class },
  { name: 'traits', of: ({ traits }) => traits.filter((trait) => trait !== OWNER).join(' ') || null },
]

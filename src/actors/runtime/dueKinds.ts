/** The kinds of rows of `due`: every recorded moment has one. Which lane works on a kind is in `services/due.ts`. */
import type { EntityKey } from '../../identifiers.ts'
import { type ViewChange, put } from './views.ts'

/** `nova`: an instance waits for nothing but the next try to tell Nova. `placement ...`: the next pass over a host, by the state of the host. */
export const DUE_KINDS = [
  'instance',
  'deployable',
  'nova',
  'placement-mark',
  'placement unreachable',
  'placement waiting_for_compute_node',
  'placement placement_conflict',
  'placement pending',
  'placement withheld',
  'placement in_sync',
] as const
export type DueKind = (typeof DUE_KINDS)[number]

export type Due = { readonly kind: DueKind; readonly at: number }
export const putDue = (entity: EntityKey, { kind, at }: Due): ViewChange => put('due', { entity, kind, at })

/** The recorded state of one deployable in Placement (placement 9.3). Pure. */
import { type PlacementRecord, PROVIDER_STATES, HOST_BLOCKERS } from './decider.ts'
import type { Reserving } from './wanted.ts'

export const COMPARISON_STATES = [...PROVIDER_STATES, ...HOST_BLOCKERS] as const
export type ComparisonState = {
  readonly state: (typeof COMPARISON_STATES)[number]
  readonly reason: string | null
  /** Since when the state has lasted, ms since the epoch; null: it was not compared yet. */
  readonly since: number | null
  readonly reserving: readonly Reserving[]
  /** When its host was last compared with Placement as a whole. */
  readonly comparedAt: number | null
}

const hasClass = (attributes: unknown): boolean =>
  Array.isArray(attributes) &&
  attributes.some((each: unknown) => typeof each === 'object' && each !== null && 'rc' in each)

/** Null: the deployable has no resource class, so Placement does not show it. */
export const comparisonOf = (
  { providers, trouble, comparedAt }: PlacementRecord,
  { rp_uuid: uuid, attributes }: { readonly rp_uuid: string | null; readonly attributes: unknown },
): ComparisonState | null => {
  const held = uuid === null ? undefined : providers[uuid]
  if (held === undefined && !hasClass(attributes)) return null
  const { state, reason, since, reserving } = held ?? {
    state: 'pending',
    reason: 'not compared with Placement yet',
    since: null,
    reserving: [],
  }
  return trouble
    ? { state: trouble.state, reason: trouble.reason, since: trouble.since, reserving, comparedAt }
    : { state, reason, since, reserving, comparedAt }
}

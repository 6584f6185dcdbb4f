/**
 * The state of a whole host in Placement: the worst state recorded of it. The host's row of due work has it as its
 * kind, so that hosts can be counted.
 */
import type { HostName } from '../../vocabulary/identifiers.ts'
import type { ComparisonKind } from '../runtime/dueKinds.ts'
import { type Ignored, withoutIgnored } from './ignored.ts'
import type { RecordedProvider } from './provider.ts'

/** From the worst to the best. `withheld`: units are reserved because they are in use without an allocation. */
export const HOST_STATES = [
  'unreachable',
  'waiting_for_compute_node',
  'placement_conflict',
  'pending',
  'withheld',
  'in_sync',
] as const
export type HostState = (typeof HOST_STATES)[number]

type Recorded = {
  readonly trouble: { readonly state: 'unreachable' | 'waiting_for_compute_node' } | null
  readonly providers: Readonly<Record<string, RecordedProvider>>
}
export const hostStateOf = ({ trouble, providers }: Recorded): HostState => {
  if (trouble) return trouble.state
  const all = Object.values(providers)
  const found = all.flatMap(({ state, reserving }): readonly HostState[] =>
    state === 'in_sync' && reserving.includes('bound without allocation') ? ['withheld'] : [state],
  )
  return HOST_STATES.find((state) => found.includes(state)) ?? 'in_sync'
}

/** As hosts are counted: without what an operator has decided to ignore. */
export const countedStateOf = (record: Recorded & { readonly host: HostName; readonly ignored?: Ignored }): HostState =>
  hostStateOf({ trouble: record.trouble, providers: withoutIgnored(record) })

export const dueKindOf = (state: HostState): ComparisonKind => `placement ${state}`

/**
 * Counts the ARQs that were admitted for a project while a quota was in force. The total only grows; it is not the
 * number of ARQs that exist. Code that reads the total together with that number can tell from a later total how many
 * ARQs were added in between.
 */
import type { EntityKey, ProjectId } from '../../vocabulary/identifiers.ts'
import { type Decider, accept } from '../runtime/decider.ts'

type Quota = { readonly admitted: number }
type Command = { readonly type: 'Admit'; readonly count: number }
type Event = { readonly type: 'ArqsAdmitted'; readonly count: number }

export const quota: Decider<Quota, Command, Event, 'quota'> = {
  kind: 'quota',
  initial: { admitted: 0 },
  decide: (_quota, { count }) => accept({ type: 'ArqsAdmitted', count }),
  evolve: (held, { type, count }) => (type === 'ArqsAdmitted' ? { admitted: held.admitted + count } : held),
  rows: () => [],
}
export const quotaKey = (project: ProjectId): EntityKey<'quota'> => `quota/${project}`

/**
 * What a project was given while a quota was in force: how many accelerator requests in all. It counts nothing that exists; whoever knows
 * how many there were when the total was read knows from the total how many were added since.
 */
import type { EntityKey, ProjectId } from '../../identifiers.ts'
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

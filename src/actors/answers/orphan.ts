/** The API's answers about accelerator requests of servers that Nova no longer knows. */
import type { ArqUuid, HostName, InstanceUuid, ProjectId } from '../../vocabulary/identifiers.ts'

export type Orphan = {
  readonly instance: InstanceUuid
  readonly arqs: readonly ArqUuid[]
  readonly host: HostName | null
  readonly project: ProjectId | null
  /** When any of these ARQs last changed, ms since the epoch. */
  readonly changedAt: number
}
/** An instance whose ARQs are not deleted, and the reason. */
export type Kept = { readonly instance: InstanceUuid; readonly reason: string }

export type OrphansListed = {
  readonly orphans: readonly Orphan[]
  /** Instances for which Nova did not say whether it knows them. */
  readonly unclear: readonly Kept[]
  readonly asked: number
  /** The last ARQ that was examined; null: there are no more. */
  readonly next: ArqUuid | null
}
export type OrphansCollected = { readonly orphans: readonly Orphan[]; readonly kept: readonly Kept[] }

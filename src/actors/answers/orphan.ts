/** Accelerator requests of servers that Nova does not know any more, as the API is told of them. */
import type { ArqUuid, HostName, InstanceUuid, ProjectId } from '../../identifiers.ts'

export type Orphan = {
  readonly instance: InstanceUuid
  readonly arqs: readonly ArqUuid[]
  readonly host: HostName | null
  readonly project: ProjectId | null
  /** When one of them changed last. */
  readonly changedAt: number
}
/** An instance whose accelerator requests stay. */
export type Kept = { readonly instance: InstanceUuid; readonly reason: string }

export type OrphansListed = {
  readonly orphans: readonly Orphan[]
  /** Of which Nova did not say whether it knows them. */
  readonly unclear: readonly Kept[]
  readonly asked: number
  /** The last request that was looked at; null: there are no more. */
  readonly next: ArqUuid | null
}
export type OrphansCollected = { readonly orphans: readonly Orphan[]; readonly kept: readonly Kept[] }

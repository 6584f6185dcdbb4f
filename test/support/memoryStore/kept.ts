/** The data of a store in memory, shared by all processes of a simulation. */
import type { FeedRow, Position } from '../../../src/actors/runtime/ports.ts'
import type { HostReading } from '../../../src/actors/runtime/sharing.ts'
import type { Tables } from './tables.ts'

/** A lease; `mark` changes with each renewal. */
export type Held = {
  readonly holder: string
  readonly epoch: number
  readonly mark: number
  readonly forMs: number
  readonly free?: true
}
export type Claim = { readonly mark: number; readonly forMs: number }
/** The records by which the processes divide the work. */
export type SharedWork = {
  readonly leases: Map<string, Held>
  readonly claims: Map<string, Claim>
  readonly seen: Map<string, { readonly at: number; readonly mark: number }>
  /** The last reading of each driver, by host. */
  readonly measured: Map<string, Map<string, HostReading['reading']>>
  marks: number
}
export type Kept = {
  readonly log: FeedRow[]
  readonly byKey: Map<string, FeedRow[]>
  readonly commands: Set<string>
  readonly tables: Tables
  readonly checkpoints: Map<string, Position>
  readonly work: SharedWork
  /** Positions of archived rows, which the feed skips. */
  readonly archived: Set<Position>
}

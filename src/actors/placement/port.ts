/**
 * The port through which the reconciler uses Placement: `src/neighbours/openstack/placement.ts` implements it.
 * All UUIDs are in lower case with hyphens. The rules behind the answers are in `docs/contract/placement.md`, section
 * 5.
 */
import type { InstanceUuid, ResourceProviderUuid } from '../../vocabulary/identifiers.ts'

export type Provider = {
  readonly uuid: ResourceProviderUuid
  readonly name: string
  readonly generation: number
  readonly parent: ResourceProviderUuid | null
  readonly root: ResourceProviderUuid
}
export type InventoryRecord = {
  readonly total: number
  readonly reserved: number
  readonly min_unit: number
  readonly max_unit: number
  readonly step_size: number
  readonly allocation_ratio: number
}
/** Inventory records by resource class. */
export type Inventories = Readonly<Record<string, InventoryRecord>>

/** Why Placement did not make the change. */
export const PLACEMENT_ERRORS = [
  /** The provider was changed by others meanwhile (`placement.concurrent_update`). */
  'stale',
  /** Allocations prevent the change. */
  'inUse',
  'hasChildren',
  /** The name or the UUID exists already. */
  'duplicate',
  /** The provider does not exist. */
  'gone',
  /** A trait or class that Placement does not know. */
  'unknownName',
  /** Placement will not accept this: any other answer of 400 to 499. */
  'refused',
  /** 401 or 403: the account of this service lacks rights. */
  'denied',
  /** There was no answer, an unreadable one, or 5xx: the change may or may not have been made. */
  'unanswered',
] as const
export type PlacementError = (typeof PLACEMENT_ERRORS)[number]
export type PlacementFault = { readonly ok: false; readonly error: PlacementError; readonly reason: string }
export type PlacementResult<Value> = { readonly ok: true; readonly value: Value } | PlacementFault

/** The request of one group of a device profile to Placement: one provider must satisfy all of it. */
export type CandidateGroup = {
  readonly resources: Readonly<Record<string, number>>
  readonly required: readonly string[]
  readonly forbidden: readonly string[]
}
/** At most this many ways to serve the groups are returned. */
export const CANDIDATES_MAX = 100

/** Never rejects. Each request is bounded by the time limit of the session. */
export type Placement = {
  /**
   * The longest time from the beginning of a call until Placement has carried it out or never will, as far as this
   * service can bound it.
   */
  readonly longestCallMs: number
  /** The provider with this name, whoever owns it. A Placement on MySQL compares names without case. */
  readonly named: (name: string) => Promise<PlacementResult<Provider | null>>
  readonly provider: (uuid: ResourceProviderUuid) => Promise<PlacementResult<Provider>>
  /** The whole tree that contains this provider; empty: Placement does not know the provider. */
  readonly tree: (root: ResourceProviderUuid) => Promise<PlacementResult<readonly Provider[]>>
  /** All providers with the trait `OWNER_CYBORG`. */
  readonly owned: () => Promise<PlacementResult<readonly Provider[]>>
  /** All providers of PCI devices that Nova tracks itself: with the trait `COMPUTE_MANAGED_PCI_DEVICE`. */
  readonly ofNova: () => Promise<PlacementResult<readonly Provider[]>>
  /** The providers with the trait `OWNER_CYBORG` in the tree that contains this provider. */
  readonly ownedIn: (root: ResourceProviderUuid) => Promise<PlacementResult<readonly Provider[]>>
  readonly create: (it: {
    readonly uuid: ResourceProviderUuid
    readonly name: string
    readonly parent: ResourceProviderUuid
  }) => Promise<PlacementResult<Provider>>
  /** Sets this name and this parent. A new parent needs Placement 1.37: `refused` otherwise. */
  readonly update: (it: {
    readonly uuid: ResourceProviderUuid
    readonly name: string
    readonly parent: ResourceProviderUuid
  }) => Promise<PlacementResult<Provider>>
  readonly remove: (uuid: ResourceProviderUuid) => Promise<PlacementResult<null>>
  readonly inventories: (
    uuid: ResourceProviderUuid,
  ) => Promise<PlacementResult<{ readonly generation: number; readonly inventories: Inventories }>>
  /** Replaces all inventories of the provider; returns the new generation. */
  readonly setInventories: (it: {
    readonly uuid: ResourceProviderUuid
    readonly generation: number
    readonly inventories: Inventories
  }) => Promise<PlacementResult<number>>
  readonly traits: (
    uuid: ResourceProviderUuid,
  ) => Promise<PlacementResult<{ readonly generation: number; readonly traits: readonly string[] }>>
  /** Replaces all traits of the provider; returns the new generation. */
  readonly setTraits: (it: {
    readonly uuid: ResourceProviderUuid
    readonly generation: number
    readonly traits: readonly string[]
  }) => Promise<PlacementResult<number>>
  /**
   * The ways in which one tree serves all these groups together: a provider for each group; at most `CANDIDATES_MAX`
   * ways. `eligible`: only if the root is a compute node to which Nova sends servers with accelerators. `unknownName`:
   * Placement does not know a class or a trait.
   */
  readonly candidates: (asked: {
    readonly groups: readonly CandidateGroup[]
    readonly tree: ResourceProviderUuid
    readonly eligible: boolean
  }) => Promise<PlacementResult<readonly (readonly string[])[]>>
  /** The amounts that each consumer holds, by resource class. */
  readonly allocations: (uuid: ResourceProviderUuid) => Promise<
    PlacementResult<{
      readonly generation: number
      readonly consumers: Readonly<Record<InstanceUuid, Readonly<Record<string, number>>>>
    }>
  >
  /** Creates a custom trait unless it exists. For a standard trait that Placement lacks, the error is `unknownName`. */
  readonly ensureTrait: (name: string) => Promise<PlacementResult<null>>
  /** As `ensureTrait`, for a resource class. */
  readonly ensureClass: (name: string) => Promise<PlacementResult<null>>
}

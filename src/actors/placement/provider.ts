/** What is recorded of the providers of a host in Placement, and how findings change it. Pure. */
import type { DeployableUuid, InstanceUuid, ResourceProviderUuid } from '../../vocabulary/identifiers.ts'
import { canonicalJson } from '../../wire/canonical.ts'
import type { Reserving } from './wanted.ts'

/** How a provider compares with what is wanted (placement 9.3). */
export const PROVIDER_STATES = ['in_sync', 'pending', 'placement_conflict'] as const
export type ProviderState = (typeof PROVIDER_STATES)[number]
/** The changes that a pass can make to a provider. */
export const PROVIDER_CHANGES = ['created', 'adopted', 'renamed', 'moved', 'inventory', 'traits', 'removed'] as const
export type ProviderChange = (typeof PROVIDER_CHANGES)[number]

export type Found = {
  readonly uuid: ResourceProviderUuid
  readonly name: string
  /** Null: no deployable is known that the provider belongs to. */
  readonly deployable: DeployableUuid | null
  /** Traits that this service has set and may remove again. */
  readonly traits: readonly string[]
  readonly state: ProviderState
  readonly reason: string | null
  /** The reasons why some or all units of the provider are reserved. */
  readonly reserving: readonly Reserving[]
  /** This service created or adopted the provider. */
  readonly ours: boolean
  /** Traits that others have set and that are kept; absent: none (P12). */
  readonly foreign?: readonly string[]
  /** By instance: the units in use without an allocation, which are reserved (P15). */
  readonly unallocated?: Readonly<Record<InstanceUuid, number>>
}
/** What decides how a recorded provider is counted. */
export type RecordedProvider = Pick<Found, 'state' | 'reserving' | 'unallocated'> & Partial<Pick<Found, 'reason'>>
/** The generation in which a provider agreed with what was wanted, and a digest of what was wanted. */
export type Agreed = { readonly generation: number; readonly digest: string }
/** `agreed`: absent if the generation in which the provider agreed is not known. */
export type HeldProvider = Found & { readonly since: number; readonly agreed?: Agreed }
/** The result of a pass for one provider. `gone`: the provider no longer exists, and is not wanted. */
export type Finding = Found & {
  readonly did: readonly ProviderChange[]
  readonly agreed?: Agreed
  readonly gone?: true
}
export type Providers = Readonly<Record<ResourceProviderUuid, HeldProvider>>

const FOUND = ['name', 'deployable', 'state', 'reason', 'ours'] as const
export const isKnown = (held: HeldProvider | undefined, found: Finding): boolean =>
  held !== undefined &&
  FOUND.every((field) => held[field] === found[field]) &&
  held.traits.join() === found.traits.join() &&
  held.foreign?.join() === found.foreign?.join() &&
  canonicalJson(held.unallocated ?? {}) === canonicalJson(found.unallocated ?? {}) &&
  held.reserving.join() === found.reserving.join()

/** What is found in agreement in a new generation, or with new content. */
export const agreedAnew = (
  providers: Providers,
  findings: readonly Finding[],
): Readonly<Record<ResourceProviderUuid, Agreed>> =>
  Object.fromEntries(
    findings.flatMap(({ uuid, agreed }) => {
      const held = providers[uuid]?.agreed
      const same = held?.generation === agreed?.generation && held?.digest === agreed?.digest
      return agreed === undefined || same ? [] : [[uuid, agreed]]
    }),
  )

export const without = (providers: Providers, uuid: ResourceProviderUuid): Providers => {
  const { [uuid]: _, ...others } = providers
  return others
}

export const reconciled = (providers: Providers, provider: Found, at: number): Providers => {
  const held = providers[provider.uuid]
  const same = held?.state === provider.state && held.reason === provider.reason
  return { ...providers, [provider.uuid]: { ...provider, since: same ? held.since : at } }
}

export const withAgreed = (providers: Providers, found: Readonly<Record<ResourceProviderUuid, Agreed>>): Providers => {
  const entries = Object.entries(found).flatMap(([uuid, agreed]) => {
    const held = providers[uuid]
    return held === undefined ? [] : [[uuid, { ...held, agreed }] as const]
  })
  return entries.length === 0 ? providers : { ...providers, ...Object.fromEntries(entries) }
}

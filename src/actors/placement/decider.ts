/**
 * The decider of a host in Placement: its compute node, the providers of this service, and how far these agree with
 * the records. There is one actor for each host. It numbers passes, so that only one of several processes works on the
 * host.
 */
import type { DeployableUuid, EntityKey, HostName, ResourceProviderUuid } from '../../identifiers.ts'
import { type Decider, type Decision, accept, refuse } from '../runtime/decider.ts'
import { type ViewChange, drop, put } from '../runtime/views.ts'
import { dueKindOf, hostStateOf } from './hostState.ts'
import { markKey } from './marks.ts'
import type { Reserving } from './wanted.ts'

/** How a provider compares with what is wanted (placement 9.3). */
export const PROVIDER_STATES = ['in_sync', 'pending', 'placement_conflict'] as const
export type ProviderState = (typeof PROVIDER_STATES)[number]
/** The conditions that prevent the reconciliation of a whole host. */
export const HOST_BLOCKERS = ['waiting_for_compute_node', 'unreachable'] as const
export type HostBlocker = { readonly state: (typeof HOST_BLOCKERS)[number]; readonly reason: string }
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
}
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

export type PlacementRecord = {
  readonly host: HostName
  /** UUID of the compute node's provider; null: none was found yet. */
  readonly root: ResourceProviderUuid | null
  readonly providers: Readonly<Record<ResourceProviderUuid, HeldProvider>>
  readonly trouble: (HostBlocker & { readonly since: number }) | null
  /** The pass under way; another one may begin after `until`, ms since the epoch. */
  readonly pass: { readonly number: number; readonly until: number } | null
  readonly passes: number
  /** Number of passes in a row after which something was still to be done. */
  readonly failures: number
  /** When the last pass ended. */
  readonly endedAt: number | null
  /** When the last pass ended that could compare everything. */
  readonly comparedAt: number | null
  readonly nextAt: number | null
  /** A pass has to begin, whatever a pass that is under way finds. */
  readonly asked: boolean
}
export type PlacementCommand =
  /** The database has lost rows: what is recorded may be older than what earlier passes have written to Placement. */
  | { readonly type: 'RowsLost'; readonly host: HostName; readonly at: number }
  /** `alone`: no other process can have a pass under way. */
  | {
      readonly type: 'Begin'
      readonly host: HostName
      readonly at: number
      readonly until: number
      readonly alone: boolean
    }
  | { readonly type: 'Find'; readonly number: number; readonly until: number; readonly findings: readonly Finding[] }
  | { readonly type: 'FindRoot'; readonly number: number; readonly root: ResourceProviderUuid }
  /** `nextAt` null: no further pass is needed. */
  | {
      readonly type: 'End'
      readonly number: number
      readonly nextAt: number | null
      readonly failed: boolean
      readonly trouble: HostBlocker | null
    }
export type PlacementEvent =
  | { readonly type: 'PassAsked'; readonly host: HostName; readonly nextAt: number }
  | { readonly type: 'PassBegun'; readonly host: HostName; readonly number: number; readonly until: number }
  /** `agreed`: providers that were found in agreement in a new generation, or with new content. */
  | {
      readonly type: 'PassContinued'
      readonly until: number
      readonly agreed?: Readonly<Record<ResourceProviderUuid, Agreed>>
    }
  | { readonly type: 'PassEnded'; readonly nextAt: number | null; readonly failed: boolean }
  | { readonly type: 'TroubleFound'; readonly trouble: HostBlocker }
  | { readonly type: 'TroubleOver' }
  | { readonly type: 'RootFound'; readonly root: ResourceProviderUuid; readonly former: ResourceProviderUuid | null }
  | { readonly type: 'ProviderReconciled'; readonly provider: Found; readonly did: readonly ProviderChange[] }
  | { readonly type: 'ProviderForgotten'; readonly uuid: ResourceProviderUuid; readonly did: readonly ProviderChange[] }

/** Events about the progress of a pass are not published: readers of the topic see changes and findings only. */
export const isInternal = ({ type }: { readonly type: string }): boolean => type.startsWith('Pass')

const initial: PlacementRecord = {
  host: '',
  root: null,
  providers: {},
  trouble: null,
  pass: null,
  passes: 0,
  failures: 0,
  endedAt: null,
  comparedAt: null,
  nextAt: null,
  asked: false,
}

const FOUND = ['name', 'deployable', 'state', 'reason', 'ours'] as const
const isKnown = (held: HeldProvider | undefined, found: Finding): boolean =>
  held !== undefined &&
  FOUND.every((field) => held[field] === found[field]) &&
  held.traits.join() === found.traits.join() &&
  held.foreign?.join() === found.foreign?.join() &&
  held.reserving.join() === found.reserving.join()

/**
 * Whether the result of a pass is recorded already: nothing was changed, and everything is as it was found before.
 * Pure.
 */
export const isNothingNew = (
  { root, providers, trouble }: Pick<PlacementRecord, 'root' | 'providers' | 'trouble'>,
  found: { readonly root: string | null; readonly findings: readonly Finding[]; readonly trouble: HostBlocker | null },
): boolean =>
  (found.root === null || found.root === root) &&
  found.findings.every((one) => one.did.length === 0 && !one.gone && isKnown(providers[one.uuid], one)) &&
  trouble?.state === found.trouble?.state &&
  trouble?.reason === found.trouble?.reason

const eventsOf = ({ providers }: PlacementRecord, finding: Finding): readonly PlacementEvent[] => {
  const { did, gone, agreed: _, ...provider } = finding
  const held = providers[provider.uuid]
  if (gone) return held || did.length > 0 ? [{ type: 'ProviderForgotten', uuid: provider.uuid, did }] : []
  return did.length === 0 && isKnown(held, finding) ? [] : [{ type: 'ProviderReconciled', provider, did }]
}

const agreedAnew = (
  { providers }: PlacementRecord,
  findings: readonly Finding[],
): Readonly<Record<ResourceProviderUuid, Agreed>> =>
  Object.fromEntries(
    findings.flatMap(({ uuid, agreed }) => {
      const held = providers[uuid]?.agreed
      const same = held?.generation === agreed?.generation && held?.digest === agreed?.digest
      return agreed === undefined || same ? [] : [[uuid, agreed]]
    }),
  )
const continued = (record: PlacementRecord, { until, findings }: { until: number; findings: readonly Finding[] }) => {
  const agreed = agreedAnew(record, findings)
  return { type: 'PassContinued', until, ...(Object.keys(agreed).length > 0 && { agreed }) } as const
}

const blockerEvents = ({ trouble: held }: PlacementRecord, found: HostBlocker | null): readonly PlacementEvent[] => {
  if (found === null) return held ? [{ type: 'TroubleOver' }] : []
  return held?.state === found.state && held.reason === found.reason ? [] : [{ type: 'TroubleFound', trouble: found }]
}

const decide = (record: PlacementRecord, command: PlacementCommand): Decision<PlacementEvent> => {
  const { pass, passes, root } = record
  if (command.type === 'RowsLost') return accept({ type: 'PassAsked', host: command.host, nextAt: command.at })
  if (command.type === 'Begin') {
    const { host, at, until, alone } = command
    if (pass && pass.until > at && !alone)
      return refuse({ kind: 'conflict', reason: `a pass over ${host} is under way` })
    return accept({ type: 'PassBegun', host, number: passes + 1, until })
  }
  if (pass?.number !== command.number) return refuse({ kind: 'conflict', reason: 'another pass has begun' })
  switch (command.type) {
    case 'FindRoot':
      return root === command.root ? accept() : accept({ type: 'RootFound', root: command.root, former: root })
    case 'Find':
      return accept(...command.findings.flatMap((finding) => eventsOf(record, finding)), continued(record, command))
    case 'End':
      return accept(...blockerEvents(record, command.trouble), {
        type: 'PassEnded',
        nextAt: command.nextAt,
        failed: command.failed,
      })
  }
}

const without = (providers: PlacementRecord['providers'], uuid: ResourceProviderUuid): PlacementRecord['providers'] => {
  const { [uuid]: _, ...others } = providers
  return others
}

const reconciled = (
  providers: PlacementRecord['providers'],
  { provider }: Extract<PlacementEvent, { type: 'ProviderReconciled' }>,
  at: number,
): PlacementRecord['providers'] => {
  const held = providers[provider.uuid]
  const same = held?.state === provider.state && held.reason === provider.reason
  return { ...providers, [provider.uuid]: { ...provider, since: same ? held.since : at } }
}

const withAgreed = (
  providers: PlacementRecord['providers'],
  found: Readonly<Record<ResourceProviderUuid, Agreed>>,
): PlacementRecord['providers'] => {
  const entries = Object.entries(found).flatMap(([uuid, agreed]) => {
    const held = providers[uuid]
    return held === undefined ? [] : [[uuid, { ...held, agreed }] as const]
  })
  return entries.length === 0 ? providers : { ...providers, ...Object.fromEntries(entries) }
}

const evolve = (record: PlacementRecord, event: PlacementEvent, at: number): PlacementRecord => {
  switch (event.type) {
    case 'PassAsked':
      return { ...record, host: event.host, nextAt: event.nextAt, asked: true }
    case 'PassBegun': {
      const pass = { number: event.number, until: event.until }
      return { ...record, host: event.host, passes: event.number, pass, asked: false }
    }
    case 'PassContinued':
      return {
        ...record,
        pass: record.pass && { ...record.pass, until: event.until },
        providers: withAgreed(record.providers, event.agreed ?? {}),
      }
    case 'PassEnded':
      return {
        ...record,
        pass: null,
        nextAt: record.asked ? at : event.nextAt,
        failures: event.failed ? record.failures + 1 : 0,
        endedAt: at,
        comparedAt: record.trouble ? record.comparedAt : at,
      }
    case 'TroubleFound':
      return { ...record, trouble: { ...event.trouble, since: at } }
    case 'TroubleOver':
      return { ...record, trouble: null }
    case 'RootFound':
      return { ...record, root: event.root }
    case 'ProviderReconciled':
      return { ...record, providers: reconciled(record.providers, event, at) }
    case 'ProviderForgotten':
      return { ...record, providers: without(record.providers, event.uuid) }
    default:
      // an event of a later release, which this release ignores
      return record
  }
}

/** A pass that was interrupted becomes due when its time is over. */
const dueAt = ({ pass, nextAt }: PlacementRecord): number | null => (pass ? pass.until : nextAt)

const rows = (before: PlacementRecord, after: PlacementRecord): readonly ViewChange[] => {
  const entity = placementKey(after.host)
  const [was, is] = [dueAt(before), dueAt(after)]
  const [former, kind] = [dueKindOf(hostStateOf(before)), dueKindOf(hostStateOf(after))]
  const begun = before.passes === after.passes ? [] : [drop('due', markKey(after.host))]
  if (was === is && former === kind) return begun
  if (is !== null) return [...begun, put('due', { entity, kind, at: is })]
  return was === null ? begun : [...begun, drop('due', entity)]
}

export const placement: Decider<PlacementRecord, PlacementCommand, PlacementEvent, 'placement'> = {
  kind: 'placement',
  initial,
  decide,
  evolve,
  rows,
}
export const placementKey = (host: HostName): EntityKey<'placement'> => `placement/${host}`

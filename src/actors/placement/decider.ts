/**
 * The decider of a host in Placement: its compute node, the providers of this service, and how far these agree with
 * the records. There is one actor for each host. It numbers passes, so that only one of several processes works on the
 * host.
 */
import type { EntityKey, HostName, ResourceProviderUuid } from '../../vocabulary/identifiers.ts'
import { type Decider, type Decision, accept, refuse } from '../runtime/decider.ts'
import { type ViewChange, drop, put } from '../runtime/views.ts'
import { countedStateOf, dueKindOf } from './hostState.ts'
import {
  type Ignored,
  type IgnoredCommand,
  type IgnoredEvent,
  decideIgnored,
  evolveIgnored,
  firstEnd,
  ignoredRows,
  overdue,
} from './ignored.ts'
import { markKey } from './marks.ts'
import {
  type Agreed,
  type Finding,
  type Found,
  type ProviderChange,
  type Providers,
  agreedAnew,
  isKnown,
  reconciled,
  withAgreed,
  without,
} from './provider.ts'

export {
  type Agreed,
  type Finding,
  type Found,
  type HeldProvider,
  PROVIDER_CHANGES,
  PROVIDER_STATES,
  type ProviderChange,
  type ProviderState,
} from './provider.ts'

/** The conditions that prevent the reconciliation of a whole host. */
export const HOST_BLOCKERS = ['waiting_for_compute_node', 'unreachable'] as const
export type HostBlocker = { readonly state: (typeof HOST_BLOCKERS)[number]; readonly reason: string }

export type PlacementRecord = {
  readonly host: HostName
  /** UUID of the compute node's provider; null: none was found yet. */
  readonly root: ResourceProviderUuid | null
  readonly providers: Providers
  readonly trouble: (HostBlocker & { readonly since: number }) | null
  /** The pass under way; after `until`, ms since the epoch, another one may begin without an operator. */
  readonly pass: { readonly number: number; readonly until: number; readonly ordered?: true } | null
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
  /** Differences that an operator has decided to ignore; absent: none ever was. */
  readonly ignored?: Ignored
}
export type PlacementCommand =
  | IgnoredCommand
  /** The database has lost rows: what is recorded may be older than what earlier passes have written to Placement. */
  | { readonly type: 'RowsLost'; readonly host: HostName; readonly at: number }
  /** `alone`: no other pass keeps this one away. `ordered`: an operator wants it. */
  | {
      readonly type: 'Begin'
      readonly host: HostName
      readonly at: number
      readonly until: number
      readonly alone: boolean
      readonly ordered?: boolean
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
  | IgnoredEvent
  | { readonly type: 'PassAsked'; readonly host: HostName; readonly nextAt: number }
  /** `ordered`: an operator has ordered it, so it also takes over or deletes what nothing recorded explains (P4). */
  | {
      readonly type: 'PassBegun'
      readonly host: HostName
      readonly number: number
      readonly until: number
      readonly ordered?: true
    }
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

const continued = (record: PlacementRecord, { until, findings }: { until: number; findings: readonly Finding[] }) => {
  const agreed = agreedAnew(record.providers, findings)
  return { type: 'PassContinued', until, ...(Object.keys(agreed).length > 0 && { agreed }) } as const
}

const blockerEvents = ({ trouble: held }: PlacementRecord, found: HostBlocker | null): readonly PlacementEvent[] => {
  if (found === null) return held ? [{ type: 'TroubleOver' }] : []
  return held?.state === found.state && held.reason === found.reason ? [] : [{ type: 'TroubleFound', trouble: found }]
}

const ORDERED = { ordered: true } as const
const decide = (record: PlacementRecord, command: PlacementCommand): Decision<PlacementEvent> => {
  const { pass, passes, root } = record
  if (command.type === 'RowsLost') return accept({ type: 'PassAsked', host: command.host, nextAt: command.at })
  if (command.type === 'Ignore' || command.type === 'Unignore') return decideIgnored(record, command)
  if (command.type === 'Begin') {
    const { host, at, until, alone } = command
    if (pass && pass.until > at && !alone)
      return refuse({ kind: 'conflict', reason: `a pass over ${host} is under way` })
    const over = overdue(record, at).map((uuid) => ({ type: 'DriftIgnoringOver', uuid }) as const)
    // rows are said to be lost by an operator only
    const isOrdered = command.ordered === true || record.asked
    const begun = { type: 'PassBegun', host, number: passes + 1, until, ...(isOrdered && ORDERED) } as const
    return accept<PlacementEvent>(begun, ...over)
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

const evolve = (record: PlacementRecord, event: PlacementEvent, at: number): PlacementRecord => {
  switch (event.type) {
    case 'PassAsked':
      return { ...record, host: event.host, nextAt: event.nextAt, asked: true }
    case 'PassBegun': {
      const pass = { number: event.number, until: event.until, ...(event.ordered && ORDERED) }
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
      return { ...record, providers: reconciled(record.providers, event.provider, at) }
    case 'ProviderForgotten':
      return { ...record, providers: without(record.providers, event.uuid) }
    case 'DriftIgnored':
      return { ...record, host: event.host, ignored: evolveIgnored(record.ignored, event, at) }
    case 'DriftUnignored':
    case 'DriftIgnoringOver':
      return { ...record, ignored: evolveIgnored(record.ignored, event, at) }
    default:
      // an event of a later release, which this release ignores
      return record
  }
}

/**
 * A pass that was interrupted becomes due when its time is over. The end of a term for which a difference is ignored
 * is due too.
 */
const dueAt = (record: PlacementRecord): number | null => {
  const { pass, nextAt } = record
  if (pass) return pass.until
  const moments = [nextAt, firstEnd(record)].filter((at) => at !== null)
  return moments.length === 0 ? null : Math.min(...moments)
}

const rows = (before: PlacementRecord, after: PlacementRecord): readonly ViewChange[] => {
  const entity = placementKey(after.host)
  const [was, is] = [dueAt(before), dueAt(after)]
  const [former, kind] = [dueKindOf(countedStateOf(before)), dueKindOf(countedStateOf(after))]
  const ignored = ignoredRows(before, after)
  const begun = before.passes === after.passes ? ignored : [...ignored, drop('due', markKey(after.host))]
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

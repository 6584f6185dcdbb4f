/**
 * Differences between hardware, records, Placement and Nova, and which of them an operator has decided to ignore. Pure.
 *
 * IGNORED-1 a difference has a UUID made of everything that it says: host, kind, provider, instance, state and reason,
 *    which names amounts, and its parts. When one of these changes it is another difference, which is not ignored;
 * IGNORED-2 a difference is ignored until the moment that was given with the decision, or until an operator ends that.
 *    The host is due at that moment, and its next pass records the end; whoever reads before goes by the clock. A
 *    moment further ahead than an operator can name was accepted by a clock that was wrong, and has passed;
 * IGNORED-3 ignoring changes nothing in Placement, and no pass leaves anything out because of it: only a difference
 *    that no pass repairs can be ignored.
 */
import { createHash } from 'node:crypto'
import { DAY_MS } from '../../vocabulary/clock.ts'
import type { HostName, InstanceUuid, ResourceProviderUuid } from '../../vocabulary/identifiers.ts'
import type { DatedNote, OperatorNote } from '../../vocabulary/operatorNote.ts'
import { ownValue } from '../../vocabulary/record.ts'
import { uuidOfHash } from '../../vocabulary/uuid.ts'
import { canonicalJson } from '../../wire/canonical.ts'
import { type Decision, accept, refuse } from '../runtime/decider.ts'
import { type ViewChange, drop, put } from '../runtime/views.ts'
import type { RecordedProvider } from './provider.ts'
import type { Reserving } from './wanted.ts'

export const DRIFT_KINDS = [
  'hardware',
  'provider',
  'allocation_without_arq',
  'arq_without_allocation',
  'nova_device',
  'server',
] as const
export type DriftKind = (typeof DRIFT_KINDS)[number]
export type DifferenceUuid = string
/** What a difference says of itself, as far as it is recorded. */
export type Difference = {
  readonly kind: DriftKind
  readonly provider: ResourceProviderUuid
  readonly name: string
  readonly consumer: InstanceUuid | null
  readonly state: string | null
  readonly reason: string | null
}
/** `until`: ms since the epoch. `ended`: an operator has ended it before. */
export type Ignoring = DatedNote & {
  readonly difference: Difference
  readonly until: number
  readonly ended?: DatedNote
}
export type Ignored = Readonly<Record<DifferenceUuid, Ignoring>>

/**
 * The name of a provider is not part of it: it is that of the device, and follows from the provider. `parts`: what it
 * is about, such as attach handles, which the reason only counts.
 */
export const differenceUuid = (
  host: HostName,
  of: Omit<Difference, 'name'>,
  parts: readonly string[] = [],
): DifferenceUuid => {
  const { kind, provider, consumer, state, reason } = of
  const text = canonicalJson(['drift', host, kind, provider, consumer, state, reason, ...parts.toSorted()])
  return uuidOfHash(createHash('sha1').update(text, 'utf8').digest(), 5)
}

/** How many days ahead the end of a term may lie, when an operator names it. */
export const IGNORED_DAYS_MAX = 90
/** How long a form may take from its reading to its sending, so that "90 days from today" is accepted. */
export const LATE_MS = DAY_MS
const AHEAD_MAX_MS = IGNORED_DAYS_MAX * DAY_MS + 2 * LATE_MS
/** Whether the end of a term has come, or was accepted by a clock that was wrong. */
export const isOver = (until: number, at: number): boolean => until <= at || until > at + AHEAD_MAX_MS

/** How the difference is ignored at this moment; null: it is not. */
export const ignoringAt = (ignored: Ignored | undefined, uuid: DifferenceUuid, at: number): Ignoring | null => {
  const one = ignored && ownValue(ignored, uuid)
  return one === undefined || one.ended !== undefined || isOver(one.until, at) ? null : one
}

type Holder = { readonly host: HostName; readonly ignored?: Ignored }
/** Looks only at what is recorded, because the end of a term is recorded too (IGNORED-2). */
export const isIgnored = ({ host, ignored }: Holder, of: Omit<Difference, 'name'>): boolean => {
  const one = ignored && ownValue(ignored, differenceUuid(host, of))
  return one !== undefined && one.ended === undefined
}

/** What the difference of an instance with units without an allocation says; the same is asked of what is recorded. */
export const lackingReason = (units: number): string => `units without an allocation: ${units}`
const UNALLOCATED: Reserving = 'bound without allocation'
const providerWithoutIgnored = <Provider extends RecordedProvider>(
  holder: Holder,
  uuid: ResourceProviderUuid,
  one: Provider,
): Provider => {
  const { state, reason = null, unallocated } = one
  const of = { provider: uuid, consumer: null }
  const countsAsInSync = state === 'in_sync' || isIgnored(holder, { ...of, kind: 'provider', state, reason })
  const bare = { kind: 'arq_without_allocation', provider: uuid, state: null } as const
  const allUnallocatedIgnored =
    unallocated !== undefined &&
    Object.entries(unallocated).every(([consumer, units]) =>
      isIgnored(holder, { ...bare, consumer, reason: lackingReason(units) }),
    )
  return {
    ...one,
    state: countsAsInSync ? 'in_sync' : state,
    reserving: allUnallocatedIgnored ? one.reserving.filter((why) => why !== UNALLOCATED) : one.reserving,
  }
}
/** The providers as they are counted: without what is ignored of them. */
export const withoutIgnored = <Provider extends RecordedProvider>(
  holder: Holder & { readonly providers: Readonly<Record<ResourceProviderUuid, Provider>> },
): Readonly<Record<ResourceProviderUuid, Provider>> => {
  const { ignored, providers } = holder
  if (ignored === undefined || Object.keys(ignored).length === 0) return providers
  return Object.fromEntries(
    Object.entries(providers).map(([uuid, one]) => [uuid, providerWithoutIgnored(holder, uuid, one)]),
  )
}

/** When the first of the ignored differences is not ignored any more, ms since the epoch; null: none is ignored. */
export const firstEnd = ({ ignored = {} }: Holder): number | null => {
  const ends = Object.values(ignored).map(({ until }) => until)
  return ends.length === 0 ? null : Math.min(...ends)
}
/** The recorded differences whose term is over. */
export const overdue = ({ ignored = {} }: Holder, at: number): readonly DifferenceUuid[] =>
  Object.entries(ignored).flatMap(([uuid, { until }]) => (isOver(until, at) ? [uuid] : []))

export type IgnoredCommand =
  | ({
      readonly type: 'Ignore'
      readonly host: HostName
      readonly at: number
      readonly uuid: DifferenceUuid
      readonly difference: Difference
      readonly until: number
    } & OperatorNote)
  | ({ readonly type: 'Unignore'; readonly uuid: DifferenceUuid } & OperatorNote)
export type IgnoredEvent =
  /** `uuid`: that of the difference, as it is now. */
  | ({
      readonly type: 'DriftIgnored'
      readonly host: HostName
      readonly uuid: DifferenceUuid
      readonly difference: Difference
      readonly until: number
    } & OperatorNote)
  | ({ readonly type: 'DriftUnignored'; readonly uuid: DifferenceUuid } & OperatorNote)
  | { readonly type: 'DriftIgnoringOver'; readonly uuid: DifferenceUuid }

/** How many differences of a host are ignored at most, and how many are recorded with those that are over. */
export const IGNORED_MAX = 200

/** Makes room for one more: the one that has not been ignored for longest is forgotten. Null: all are ignored. */
const roomIn = (ignored: Ignored, at: number): readonly IgnoredEvent[] | null => {
  if (Object.keys(ignored).length < IGNORED_MAX) return []
  const over = Object.entries(ignored).filter(([uuid]) => ignoringAt(ignored, uuid, at) === null)
  const [oldest] = over.toSorted(([, one], [, other]) => overAt(one) - overAt(other))
  return oldest === undefined ? null : [{ type: 'DriftIgnoringOver', uuid: oldest[0] }]
}
const overAt = ({ until, ended }: Ignoring): number => Math.min(until, ended?.at ?? until)

export const decideIgnored = (record: Holder, command: IgnoredCommand): Decision<IgnoredEvent> => {
  const { ignored = {} } = record
  const { by, reason } = command
  if (command.type === 'Unignore') {
    const one = ownValue(ignored, command.uuid)
    if (one === undefined) return refuse({ kind: 'not_found', resource: 'ignored difference', id: command.uuid })
    return one.ended === undefined ? accept({ type: 'DriftUnignored', uuid: command.uuid, by, reason }) : accept()
  }
  const { host, at, uuid, difference, until } = command
  const room = Object.hasOwn(ignored, uuid) ? [] : roomIn(ignored, at)
  if (room === null)
    return refuse({ kind: 'conflict', reason: `${IGNORED_MAX} differences of host ${host} are ignored, and no more` })
  return accept<IgnoredEvent>(...room, { type: 'DriftIgnored', host, uuid, difference, until, by, reason })
}

export const evolveIgnored = (ignored: Ignored = {}, event: IgnoredEvent, at: number): Ignored => {
  const { uuid } = event
  if (event.type === 'DriftIgnored') {
    const { difference, until, by, reason } = event
    return { ...ignored, [uuid]: { difference, until, by, reason, at } }
  }
  const { [uuid]: one, ...others } = ignored
  if (event.type === 'DriftIgnoringOver' || one === undefined) return others
  return { ...ignored, [uuid]: { ...one, ended: { by: event.by, reason: event.reason, at } } }
}

const rowOf = (host: HostName, uuid: DifferenceUuid, { difference, until, by, reason, at, ended }: Ignoring) =>
  put('ignored_drift', {
    uuid,
    hostname: host,
    kind: difference.kind,
    provider_uuid: difference.provider,
    name: difference.name,
    consumer_uuid: difference.consumer,
    state: difference.state,
    difference_reason: difference.reason,
    ignored_by: by,
    reason,
    until_at: until,
    ended: ended ?? null,
    created_at: at,
  })
export const ignoredRows = (before: Holder, after: Holder): readonly ViewChange[] => {
  const [was, is] = [before.ignored ?? {}, after.ignored ?? {}]
  if (was === is) return []
  return [
    ...Object.entries(is).flatMap(([uuid, one]) => (was[uuid] === one ? [] : [rowOf(after.host, uuid, one)])),
    ...Object.keys(was).flatMap((uuid) => (Object.hasOwn(is, uuid) ? [] : [drop('ignored_drift', uuid)])),
  ]
}

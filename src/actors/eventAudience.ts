/**
 * Decides who may read a fact, and which parts of it. Pure. Administrators read everything; a project reads the facts
 * about its own accelerator requests, without texts from drivers, operators and Nova, and without the names of other
 * people (rest-api 9.5).
 */
import type { ArqUuid, ProjectId } from '../vocabulary/identifiers.ts'
import type { ArqEvent } from './arq/messages.ts'
import type { InstanceEvent } from './instance/messages.ts'
import type { Event } from './runtime/decider.ts'
import type { Cause } from './runtime/ports.ts'

type Members<Events extends { readonly type: string }> = {
  readonly [Type in Events['type']]: readonly Exclude<keyof Extract<Events, { readonly type: Type }>, 'type'>[]
}
/**
 * For each event, the members that only administrators may read. An event that is not listed here is not shown to
 * projects at all.
 */
const ARQ: Members<ArqEvent> = {
  ArqCreated: [],
  BindStarted: [],
  Bound: [],
  BindFailed: ['reason'],
  Unbound: ['forced'],
  ReleaseFailed: ['reason'],
  Released: [],
  HandleRelocated: [],
  ArqRemoved: [],
}
const INSTANCE: Members<InstanceEvent> = {
  BindAccepted: [],
  PartPrepared: [],
  BindSettled: ['reason'],
  ArqsLeft: [],
  NovaTold: ['note'],
  ResendAsked: ['by', 'reason'],
}
const HIDDEN: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = { arq: ARQ, instance: INSTANCE }

/**
 * The event as a project may read it; null: the project may not read it. Returns the same object when nothing is
 * hidden.
 */
export const forProject = (kind: string, event: Event): Event | null => {
  const hidden = HIDDEN[kind]?.[event.type]
  if (hidden === undefined) return null
  if (hidden.every((name) => !(name in event))) return event
  return Object.fromEntries(Object.entries(event).filter(([name]) => !hidden.includes(name))) as unknown as Event
}

export const SERVICE = 'service'
export const NOTIFIER = 'nova notifier'
/** Parts of the service that work under the id of a request. All others record no request id. */
const UNDER_A_REQUEST: readonly string[] = [SERVICE, NOTIFIER]
/**
 * Stands for a user whom the reader may not learn of: an operator, or somebody else of the project, which the journal
 * does not tell apart.
 */
export const SOMEBODY = 'another user'

/** The user whose own request is the cause; null: a part of the service. */
export const userIn = ({ by, requestId }: Cause): string | null =>
  by === undefined || requestId === undefined || UNDER_A_REQUEST.includes(by) ? null : by

/**
 * The cause as a user of the project may read it: names no user but the reader. Returns the same object when nothing is
 * hidden.
 */
export const causeFor = (cause: Cause, reader: string | null): Cause => {
  const user = userIn(cause)
  return user === null || user === reader ? cause : { ...cause, by: SOMEBODY }
}

/** The project that the event names for its accelerator request; null: it names none. */
export const projectGiven = (event: Event): ProjectId | null => {
  const { type, projectId } = event as Event & { readonly projectId?: ProjectId | null }
  return (type === 'ArqCreated' || type === 'BindStarted') && projectId ? projectId : null
}

/**
 * The accelerator requests that an event is about. An event of an instance is shown to the project that has all of
 * them.
 */
export const arqsOf = (kind: string, id: string, event: Event): readonly ArqUuid[] => {
  if (kind === 'arq') return [id]
  if (kind !== 'instance') return []
  const instanceEvent = event as InstanceEvent
  switch (instanceEvent.type) {
    case 'BindAccepted':
      return instanceEvent.parts.map(({ arq }) => arq)
    case 'PartPrepared':
      return [instanceEvent.arq]
    case 'BindSettled':
    case 'ArqsLeft':
      return instanceEvent.arqs
    case 'NovaTold':
      return Object.keys(instanceEvent.endings)
    case 'ResendAsked':
      return Object.keys(instanceEvent.statuses)
    default:
      // an event of a later release, which is shown to no project
      return []
  }
}

type Named = {
  readonly host?: unknown
  readonly hostname?: unknown
  readonly instance?: unknown
  readonly instanceUuid?: unknown
}
const texts = (...values: readonly unknown[]): readonly string[] => values.filter((value) => typeof value === 'string')
/**
 * The parts of an event that may name a host or an instance: the event itself, the bond of a bind, and the order that
 * it contains.
 */
const partsOf = (event: Event): readonly Named[] => {
  const { bond, was, order, again } = event as unknown as Readonly<Record<string, Named | null | undefined>>
  return [event as Named, bond, was, order, again].filter((part) => typeof part === 'object' && part !== null)
}
export const hostsOf = (kind: string, id: string, event: Event): readonly string[] => [
  ...(kind === 'host' || kind === 'placement' ? [id] : []),
  ...partsOf(event).flatMap(({ host, hostname }) => texts(host, hostname)),
]
export const instancesOf = (kind: string, id: string, event: Event): readonly string[] => [
  ...(kind === 'instance' ? [id] : []),
  ...partsOf(event).flatMap(({ instance, instanceUuid }) => texts(instance, instanceUuid)),
]

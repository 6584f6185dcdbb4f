/**
 * Turns a journal row into events for readers of the API: each fact as the relay publishes it, and the part that a
 * project may read.
 */
import { arqsOf, causeFor, forProject, hostsOf, instancesOf, userIn } from '../../actors/eventAudience.ts'
import type { Caller } from '../../actors/control.ts'
import type { EventFilter, PublishedEvent } from '../../actors/events.ts'
import type { Event } from '../../actors/runtime/decider.ts'
import { idOf, kindOf } from '../../actors/runtime/memory.ts'
import type { FeedRow } from '../../actors/runtime/ports.ts'
import type { ArqUuid, HostName, InstanceUuid, ProjectId } from '../../vocabulary/identifiers.ts'
import { textOf } from '../../vocabulary/errorText.ts'
import type { Log } from '../../vocabulary/log.ts'
import { CATALOGUE } from '../../wire/catalogue.ts'
import { type FactBody, type Letter, MESSAGE_MAX_BYTES, record } from '../../wire/message.ts'
import { type EventPosition, positionsOf } from './position.ts'

export type Entry = {
  readonly place: EventPosition
  readonly kind: string
  readonly subject: string
  /** The event type without the prefix that all types have. */
  readonly type: string
  readonly hosts: readonly HostName[]
  readonly instances: readonly InstanceUuid[]
  /** The project of all ARQs that the event is about; null: they belong to several projects, or there are none. */
  readonly project: ProjectId | null
  /** The id of the request under which it was recorded; null: there was none. */
  readonly request: string | null
  readonly whole: PublishedEvent
  /** The event as its project may read it; null: a project may not read it. */
  readonly forProject: PublishedEvent | null
  /**
   * The user whose request caused it, and the event as that user may read it; the same as for the project when a part
   * of the service caused it.
   */
  readonly user: string | null
  readonly forUser: PublishedEvent | null
  readonly bytes: number
}
export type LettersOf = (row: FeedRow) => readonly Letter[]
/** The project of an ARQ; null: unknown. */
export type OwnerOf = (arq: ArqUuid) => ProjectId | null

const PREFIX = 'accelerando.fact.'
const isFact = ({ channel }: Letter): boolean => channel.endsWith('Events') && channel in CATALOGUE

const commonOwner = (arqs: readonly ArqUuid[], ownerOf: OwnerOf): ProjectId | null => {
  const [first, ...others] = new Set(arqs.map(ownerOf))
  return first === undefined || others.length > 0 ? null : first
}

/** The length of the forms of an event beside its whole. */
const sizeBeside = (whole: PublishedEvent, ...forms: readonly (PublishedEvent | null)[]): number =>
  [...new Set(forms)].reduce((sum, form) => sum + (form === null || form === whole ? 0 : form.text.length), 0)

const entryOf = (row: FeedRow, letter: Letter, place: EventPosition, ownerOf: OwnerOf): Entry | null => {
  const { value } = record(letter)
  // the relay publishes such a fact as a dead letter (RELAY-4)
  if (Buffer.byteLength(value) > MESSAGE_MAX_BYTES) return null
  const fact = letter.data as FactBody
  const event: Event = fact.event
  const [kind, subject] = [kindOf(row.key), idOf(row.key)]
  const type = `${PREFIX}${event.type}`
  const shown = forProject(kind, event)
  const user = userIn(row.cause)
  const whole = { id: place.id, type, text: value }
  const seenBy = (reader: string | null): PublishedEvent | null => {
    const cause = causeFor(row.cause, reader)
    if (shown === null) return null
    if (shown === event && cause === row.cause) return whole
    return { ...whole, text: record({ ...letter, data: { ...fact, event: shown, cause } }).value }
  }
  const own = seenBy(null)
  const forUser = user === null ? own : seenBy(user)
  return {
    place,
    kind,
    subject,
    type: event.type,
    hosts: hostsOf(kind, subject, event),
    instances: instancesOf(kind, subject, event),
    project: commonOwner(arqsOf(kind, subject, event), ownerOf),
    request: row.cause.requestId ?? null,
    whole,
    forProject: own,
    user,
    forUser,
    bytes: Buffer.byteLength(value) + sizeBeside(whole, own, forUser),
  }
}

/** Whose events are read: of one project, or null: of all. */
export type Audience = ProjectId | null
export const audienceOf = ({ isAdmin, projectId }: Pick<Caller, 'isAdmin' | 'projectId'>): Audience =>
  isAdmin ? null : projectId
/** Whether an event of the row may be about accelerator requests of the project only. Cheaper than the entries are. */
export const mayShow = ({ key, events }: FeedRow, audience: Audience, ownerOf: OwnerOf): boolean =>
  audience === null ||
  events.some((event) => {
    const [first] = arqsOf(kindOf(key), idOf(key), event)
    return first !== undefined && ownerOf(first) === audience
  })

export type RowEntries = {
  readonly entries: readonly Entry[]
  /** The place after all facts of the row. */
  readonly end: EventPosition
}
/** A fact that is too large is left out; the relay does not publish it either. */
export const entriesOfRow = (row: FeedRow, lettersOf: LettersOf, ownerOf: OwnerOf, log: Log): RowEntries => {
  const placeAt = positionsOf(row)
  try {
    const facts = lettersOf(row).filter(isFact)
    const entries = facts.flatMap((letter, at) => entryOf(row, letter, placeAt(at + 1), ownerOf) ?? [])
    return { entries, end: placeAt(facts.length) }
  } catch (error) {
    log.error({ key: row.key, version: row.version, reason: textOf(error) }, 'events.untold')
    return { entries: [], end: placeAt(0) }
  }
}

export type Shows = (entry: Entry) => PublishedEvent | null

const among = (wanted: readonly string[] | undefined, ...found: readonly string[]): boolean =>
  wanted === undefined || found.some((each) => wanted.includes(each))

/** Returns the form of an entry that a caller may see; null: the caller may not see it. */
export const showsTo = (
  { isAdmin, projectId, userId }: Pick<Caller, 'isAdmin' | 'projectId' | 'userId'>,
  { kinds, types, subjects, hosts, instances, projects, requests }: EventFilter,
): Shows => {
  const named = types?.map((type) => (type.startsWith(PREFIX) ? type.slice(PREFIX.length) : type))
  return (entry) => {
    const own = entry.user === userId ? entry.forUser : entry.forProject
    const shown = isAdmin ? entry.whole : entry.project === projectId ? own : null
    const wanted =
      shown !== null &&
      among(kinds, entry.kind) &&
      among(named, entry.type) &&
      among(subjects, entry.subject) &&
      among(hosts, ...entry.hosts) &&
      among(instances, ...entry.instances) &&
      (projects === undefined || (entry.project !== null && projects.includes(entry.project))) &&
      (requests === undefined || (entry.request !== null && requests.includes(entry.request)))
    return wanted ? shown : null
  }
}

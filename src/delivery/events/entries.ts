/** Turns a journal row into events for readers of the API: each fact as the relay publishes it, and the part that a project may read. */
import { arqsOf, forProject, hostsOf, instancesOf } from '../../actors/eventAudience.ts'
import type { Caller } from '../../actors/control.ts'
import type { EventFilter, ToldEvent } from '../../actors/events.ts'
import type { Event } from '../../actors/runtime/decider.ts'
import { idOf, kindOf } from '../../actors/runtime/memory.ts'
import type { FeedRow } from '../../actors/runtime/ports.ts'
import type { ArqUuid, ProjectId } from '../../identifiers.ts'
import { textOf } from '../../errorText.ts'
import type { Log } from '../../log.ts'
import { CATALOGUE } from '../../wire/catalogue.ts'
import { type FactBody, type Letter, MESSAGE_MAX_BYTES, record } from '../../wire/message.ts'
import { type EventPosition, positionsOf } from './position.ts'

export type Entry = {
  readonly place: EventPosition
  readonly kind: string
  readonly subject: string
  /** The event type without the prefix that all types have. */
  readonly type: string
  readonly hosts: readonly string[]
  readonly instances: readonly string[]
  /** The project of all ARQs that the event is about; null: they belong to several projects, or there are none. */
  readonly project: ProjectId | null
  readonly whole: ToldEvent
  /** The event as its project may read it; null: a project may not read it. */
  readonly forProject: ToldEvent | null
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

const entryOf = (row: FeedRow, letter: Letter, place: EventPosition, ownerOf: OwnerOf): Entry | null => {
  const { value } = record(letter)
  // the relay publishes such a fact as a dead letter (RELAY-4)
  if (Buffer.byteLength(value) > MESSAGE_MAX_BYTES) return null
  const fact = letter.data as FactBody
  const event: Event = fact.event
  const [kind, subject] = [kindOf(row.key), idOf(row.key)]
  const type = `${PREFIX}${event.type}`
  const shown = forProject(kind, event)
  const whole = { id: place.id, type, text: value }
  const own =
    shown === null
      ? null
      : shown === event
        ? whole
        : { ...whole, text: record({ ...letter, data: { ...fact, event: shown } }).value }
  return {
    place,
    kind,
    subject,
    type: event.type,
    hosts: hostsOf(kind, subject, event),
    instances: instancesOf(kind, subject, event),
    project: commonOwner(arqsOf(kind, subject, event), ownerOf),
    whole,
    forProject: own,
    bytes: Buffer.byteLength(value) + (own === null || own === whole ? 0 : own.text.length),
  }
}

export type RowTold = {
  readonly entries: readonly Entry[]
  /** The place after all facts of the row. */
  readonly end: EventPosition
}
/** A fact that is too large is left out; the relay does not publish it either. */
export const rowTold = (row: FeedRow, lettersOf: LettersOf, ownerOf: OwnerOf, log: Log): RowTold => {
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

export type Shows = (entry: Entry) => ToldEvent | null

const among = (wanted: readonly string[] | undefined, ...found: readonly string[]): boolean =>
  wanted === undefined || found.some((each) => wanted.includes(each))

/** Returns the form of an entry that a caller may see; null: the caller may not see it. */
export const showsTo = (
  { isAdmin, projectId }: Pick<Caller, 'isAdmin' | 'projectId'>,
  { kinds, types, subjects, hosts, instances, projects }: EventFilter,
): Shows => {
  const named = types?.map((type) => (type.startsWith(PREFIX) ? type.slice(PREFIX.length) : type))
  return (entry) => {
    const told = isAdmin ? entry.whole : entry.project === projectId ? entry.forProject : null
    const wanted =
      told !== null &&
      among(kinds, entry.kind) &&
      among(named, entry.type) &&
      among(subjects, entry.subject) &&
      among(hosts, ...entry.hosts) &&
      among(instances, ...entry.instances) &&
      (projects === undefined || (entry.project !== null && projects.includes(entry.project)))
    return wanted ? told : null
  }
}

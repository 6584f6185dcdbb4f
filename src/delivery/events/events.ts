/**
 * Offers the facts of the journal to readers of the API, as streams and as pages.
 *
 * EVENTS-1 one reader of the journal feeds all streams of the process (`reader.ts`); a stream that begins at an older
 *    place reads by itself up to that reader, a few streams at a time;
 * EVENTS-2 every stream counts against the limits of the process, of its project and of its caller until it has ended;
 * EVENTS-3 a process that stops first ends its streams, each with a hint when to reconnect, and opens no more.
 */
import type { Caller } from '../../actors/control.ts'
import type {
  EventPage,
  Events,
  EventsQuery,
  IdentifyAgain,
  Lost,
  PublishedEvent,
  StreamEnding,
} from '../../actors/events.ts'
import { STREAM_ENDINGS } from '../../actors/events.ts'
import { createGuard } from '../../actors/runtime/unreadable.ts'
import { type Outcome, type Refused, done, refuse } from '../../vocabulary/fault.ts'
import { NOBODY_WAITS, SHARES, createPlaces, shareOf } from '../../vocabulary/shares.ts'
import { createTurns } from '../../vocabulary/waiting.ts'
import { audienceOf, showsTo } from './entries.ts'
import { DEFAULTS, type EventsOptions, type Settings } from './options.ts'
import { createOwners } from './owners.ts'
import { type Pages, createPages } from './pages.ts'
import { type EventPosition, positionNamed } from './position.ts'
import { Reader } from './reader.ts'
import { type From, Stream } from './stream.ts'

export type EventsState = {
  /** Streams that are open. */
  readonly open: number
  /** Events sent to streams. */
  readonly sent: number
  /** Streams that have ended, by reason. */
  readonly ended: Readonly<Record<StreamEnding, number>>
  /** Events kept in memory for all streams. */
  readonly ringBytes: number
}
export type EventSource = Events & {
  readonly state: () => EventsState
  /** Tells all clients to reconnect later, and refuses new ones. */
  readonly stop: () => void
}

const PAGE_ROWS = 500
/** How many pages of the journal one answer reads at most. */
const PAGES_MAX = 10
const AGAIN_SECONDS = 5

const NO_ID = refuse({ kind: 'invalid', field: 'after', rule: 'it must be the id of an event' })
const unavailable = (reason: string): Refused =>
  refuse({ kind: 'unavailable', reason, retryAfterSeconds: AGAIN_SECONDS })
const LOST: Readonly<Record<Lost, string>> = {
  archived: 'events after this one are in the archive',
  unknown: 'the journal does not hold this event: it is of another cloud, or of a state of the database that is gone',
}

const positionAsked = ({ after }: EventsQuery): EventPosition | null | undefined =>
  after === null ? undefined : positionNamed(after)

/** The streams that are open, and how many each caller has. */
const createDesk = ({ streamsMax, streamsPerCaller }: Settings, reader: Reader) => {
  const open = new Set<Stream>()
  const perCaller = new Map<string, number>()
  const ended = Object.fromEntries(STREAM_ENDINGS.map((why) => [why, 0])) as Record<StreamEnding, number>
  let [stopping, sent] = [false, 0]
  const places = createPlaces({ ...SHARES.streams, all: streamsMax, project: shareOf(streamsMax) })
  const nameOf = ({ userId, projectId }: Caller): string => JSON.stringify([userId, projectId])
  const release = (name: string): void => {
    const left = (perCaller.get(name) ?? 1) - 1
    if (left > 0) perCaller.set(name, left)
    else perCaller.delete(name)
  }
  return {
    /** Counts a stream, if the limits allow it; the function ends that. */
    admit: (caller: Caller): Outcome<() => void> => {
      if (stopping) return unavailable('this process is stopping')
      const own = perCaller.get(nameOf(caller)) ?? 0
      if (own >= streamsPerCaller)
        return refuse({
          kind: 'crowded',
          reason: `This caller has ${own} streams of events open, which is as many as it may have.`,
          retryAfterSeconds: AGAIN_SECONDS,
        })
      const place = places.take(caller)
      if (!place.ok) return place
      perCaller.set(nameOf(caller), own + 1)
      return done(() => {
        place.value()
        release(nameOf(caller))
      })
    },
    opened: (stream: Stream, leave: () => void): Stream => {
      open.add(stream)
      void stream.closed.then((why) => {
        open.delete(stream)
        ended[why]++
        sent += stream.sent
        leave()
        reader.leave()
      })
      if (stopping) stream.close('stopping')
      return stream
    },
    stop: (): void => {
      stopping = true
      for (const stream of open) stream.close('stopping')
    },
    counts: () => ({ open: open.size, sent: sent + [...open].reduce((sum, stream) => sum + stream.sent, 0), ended }),
  }
}

/** Where a stream begins. Rejects with `Unreadable`. */
const begin = async (asked: EventPosition | undefined, pages: Pages, reader: Reader): Promise<From> => {
  const { head } = reader.ring
  if (asked === undefined) return { place: head, rest: [], lost: null }
  const start = await pages.start(asked)
  return typeof start === 'string' ? { place: head, rest: [], lost: start } : { ...start, lost: null }
}

type PageAsked = { readonly caller: Caller; readonly asked: EventsQuery; readonly limit: number }
/** `turn`: gives other work of the process a turn when it is due. */
const readPage = async (
  pages: Pages,
  { caller, asked, limit }: PageAsked,
  turn: () => Promise<void>,
): Promise<Outcome<EventPage>> => {
  const named = positionAsked(asked)
  if (named === null) return NO_ID
  const start = await pages.start(named ?? (await pages.oldest()))
  if (typeof start === 'string') return refuse({ kind: 'conflict', reason: LOST[start] })
  const shows = showsTo(caller, asked.filter)
  const events: PublishedEvent[] = []
  let [place, entries, end, last] = [start.place, start.rest, start.rest.at(-1)?.place ?? start.place, false]
  for (let read = 0; ; read++) {
    for (const entry of entries) {
      if (events.length === limit) return done({ events, next: place.id, more: true })
      place = entry.place
      const shown = shows(entry)
      if (shown !== null) events.push(shown)
    }
    place = end
    if (last || read === PAGES_MAX || events.length === limit) return done({ events, next: place.id, more: !last })
    await turn()
    if (caller.isOver?.()) return NOBODY_WAITS
    const page = await pages.after(place, PAGE_ROWS, audienceOf(caller))
    if (page === null) return refuse({ kind: 'conflict', reason: LOST.archived })
    ;({ entries, end, last } = page)
  }
}

/** `place`: where the stream begins; absent: now. */
type Opening = {
  readonly asked: EventsQuery
  readonly place: EventPosition | undefined
  readonly identifyAgain: IdentifyAgain
}

export const openEvents = (options: EventsOptions): EventSource => {
  const settings: Settings = { ...DEFAULTS, ...options }
  const pages = createPages(settings, createOwners(settings.journal))
  const reader = new Reader(settings, pages)
  const reads = createPlaces(SHARES.eventReads)
  const desk = createDesk(settings, reader)
  const guard = createGuard(settings.log)
  const open = async (caller: Caller, { asked, place: at, identifyAgain }: Opening): Promise<Outcome<Stream>> => {
    const place = desk.admit(caller)
    if (!place.ok) return place
    const leave = place.value
    try {
      await reader.enter()
    } catch (error) {
      leave()
      throw error
    }
    try {
      const from = await begin(at, pages, reader)
      const reading = { shows: showsTo(caller, asked.filter), audience: audienceOf(caller), identifyAgain }
      const shared = {
        settings,
        pages,
        reader,
        inTurn: <Value>(work: () => Promise<Value>) => reads.patiently(caller, work),
      }
      return done(desk.opened(new Stream({ ...shared, ...reading }, from), leave))
    } catch (error) {
      leave()
      reader.leave()
      throw error
    }
  }
  return {
    open: async (caller, asked, identifyAgain) => {
      const place = positionAsked(asked)
      return place === null ? NO_ID : guard(open(caller, { asked, place, identifyAgain }), 'journal')
    },
    page: (caller, asked, limit) =>
      guard(
        reads.inTurn(caller, () => readPage(pages, { caller, asked, limit }, createTurns(settings.clock))),
        'journal',
      ),
    state: () => ({ ...desk.counts(), ringBytes: reader.bytes }),
    stop: () => {
      desk.stop()
      reader.stop()
    },
  }
}

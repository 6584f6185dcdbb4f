/** Reads what followed a place, from the journal: for a stream that begins before the ring, and for answers of one page. */
import type { FeedRow } from '../../actors/runtime/ports.ts'
import type { Lost } from '../../actors/events.ts'
import { type Entry, rowTold } from './entries.ts'
import type { Settings } from './options.ts'
import type { Owners } from './owners.ts'
import { type Earlier, type EventPosition, BEGINNING, earlierBy, positionsOf } from './position.ts'

export type Page = {
  readonly entries: readonly Entry[]
  readonly end: EventPosition
  /** There was nothing more when it was read. */
  readonly last: boolean
}
/** A place that events may be told after. `rest`: facts of the very row that were not told yet. */
export type Start = { readonly place: EventPosition; readonly rest: readonly Entry[] }
/** All reject with `Unreadable` when the store cannot be read. */
export type Pages = {
  readonly earlier: Earlier
  /** Where the journal ends. */
  readonly newest: () => Promise<EventPosition>
  /** The first place after which nothing is missing. */
  readonly oldest: () => Promise<EventPosition>
  /** Judges a place that a client names. */
  readonly start: (place: EventPosition) => Promise<Start | Lost>
  readonly isWholeAfter: (place: EventPosition) => Promise<boolean>
  /** The rows after a place; null: some of them are in the archive. If there are none, that was not looked at. */
  readonly after: (place: EventPosition, rows: number) => Promise<Page | null>
}

export const createPages = (
  { journal, landmarks, lettersOf, log }: Pick<Settings, 'journal' | 'landmarks' | 'lettersOf' | 'log'>,
  owners: Owners,
): Pages => {
  const earlier = earlierBy(landmarks)
  const toldOf = async (rows: readonly FeedRow[]) => {
    const ownerOf = await owners.of(rows)
    return rows.map((row) => rowTold(row, lettersOf, ownerOf, log))
  }
  const endOf = async (row: FeedRow | null): Promise<EventPosition> =>
    row === null ? BEGINNING : (await toldOf([row]))[0]!.end
  const isWholeAfter = async (place: EventPosition): Promise<boolean> => {
    const horizon = await landmarks.horizon()
    return !earlier(place, { position: horizon, count: 0 })
  }
  return {
    earlier,
    newest: async () => endOf(await landmarks.newest()),
    oldest: async () => {
      const horizon = await landmarks.horizon()
      return horizon === '' ? BEGINNING : endOf(await landmarks.at(horizon))
    },
    start: async (place) => {
      if (place.position === '') return (await isWholeAfter(place)) ? { place, rest: [] } : 'archived'
      const row = await landmarks.at(place.position)
      if (row === null || positionsOf(row)(place.count).id !== place.id) return 'unknown'
      if (!(await isWholeAfter(place))) return 'archived'
      const [told] = await toldOf([row])
      return { place, rest: told!.entries.filter((entry) => earlier(place, entry.place)) }
    },
    isWholeAfter,
    after: async (place, count) => {
      const rows = await journal.feed(place.position, count)
      // looked at after the rows were read: what was archived before that is known now
      if (rows.length > 0 && !(await isWholeAfter(place))) return null
      const told = await toldOf(rows)
      return {
        entries: told.flatMap(({ entries }) => entries),
        end: told.at(-1)?.end ?? place,
        last: rows.length < count,
      }
    },
  }
}

/**
 * Reads the rows after a place from the journal: for a stream that begins before the ring, and for answers of one page.
 */
import type { FeedRow } from '../../actors/runtime/ports.ts'
import type { Lost } from '../../actors/events.ts'
import { type Audience, type Entry, entriesOfRow, mayShow } from './entries.ts'
import type { Settings } from './options.ts'
import type { Owners } from './owners.ts'
import { type Earlier, type EventPosition, BEGINNING, earlierBy, positionsOf } from './position.ts'

export type Page = {
  readonly entries: readonly Entry[]
  readonly end: EventPosition
  /** True: the journal had no further rows at the time of the read. */
  readonly last: boolean
}
/** A place from which events can be read. `rest`: facts of the row at that place that come after the place. */
export type Start = { readonly place: EventPosition; readonly rest: readonly Entry[] }
/** All reject with `Unreadable` when the store cannot be read. */
export type Pages = {
  readonly earlier: Earlier
  /** The end of the journal. */
  readonly newest: () => Promise<EventPosition>
  /** The earliest place after which no row is archived. */
  readonly oldest: () => Promise<EventPosition>
  /** Checks a place that a client names. */
  readonly start: (place: EventPosition) => Promise<Start | Lost>
  readonly isWholeAfter: (place: EventPosition) => Promise<boolean>
  /**
   * The rows after a place; null: some of them are in the archive, which is checked only if there are rows. Entries
   * that the audience may not see are left out if that is known before they are built.
   */
  readonly after: (place: EventPosition, rows: number, audience?: Audience) => Promise<Page | null>
}

export const createPages = (
  { journal, landmarks, lettersOf, log }: Pick<Settings, 'journal' | 'landmarks' | 'lettersOf' | 'log'>,
  owners: Owners,
): Pages => {
  const earlier = earlierBy(landmarks)
  const entriesOf = async (rows: readonly FeedRow[], audience: Audience = null) => {
    const ownerOf = await owners.of(rows)
    const [last] = rows.slice(-1)
    return rows
      .filter((row) => row === last || mayShow(row, audience, ownerOf))
      .map((row) => entriesOfRow(row, lettersOf, ownerOf, log))
  }
  const endOf = async (row: FeedRow | null): Promise<EventPosition> =>
    row === null ? BEGINNING : (await entriesOf([row]))[0]!.end
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
      const [read] = await entriesOf([row])
      return { place, rest: read!.entries.filter((entry) => earlier(place, entry.place)) }
    },
    isWholeAfter,
    after: async (place, count, audience) => {
      const rows = await journal.feed(place.position, count)
      // checked after the read, because rows may be archived during it
      if (rows.length > 0 && !(await isWholeAfter(place))) return null
      const read = await entriesOf(rows, audience)
      return {
        entries: read.flatMap(({ entries }) => entries),
        end: read.at(-1)?.end ?? place,
        last: rows.length < count,
      }
    },
  }
}

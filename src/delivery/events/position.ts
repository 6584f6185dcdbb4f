/**
 * The ids of events: positions in the order of the feed.
 *
 * POSITION-1 an id is `<position>-<count>-<mark>`: the position of a journal row, the number of its facts up to this
 *    event, and a digest of the row. So an id means the same on every control, and a journal with another row at the
 *    position (another cloud, an older copy, one that was adopted) does not accept the id;
 * POSITION-2 `0` is the position before the first row.
 */
import { createHash } from 'node:crypto'
import { EVENT_ID } from '../../actors/events.ts'
import type { FeedRow, Landmarks, Position } from '../../actors/runtime/ports.ts'

export type EventPosition = { readonly position: Position; readonly count: number; readonly id: string }

export const BEGINNING: EventPosition = { position: '', count: 0, id: '0' }
const MARK_DIGITS = 12

/** The digest covers command and time, because a lost row may be recorded again with other content (`RowMark`). */
const markOf = ({ key, version, commandId, at }: FeedRow): string =>
  createHash('sha256').update(`${key} ${version} ${commandId} ${at}`).digest('hex').slice(0, MARK_DIGITS)

/** The positions in a row after each number of its facts. */
export const positionsOf = (row: FeedRow): ((count: number) => EventPosition) => {
  const mark = markOf(row)
  return (count) => ({ position: row.position, count, id: `${row.position}-${count}-${mark}` })
}

/** Null: the text is not an id. */
export const positionNamed = (id: string): EventPosition | null => {
  if (id === BEGINNING.id) return BEGINNING
  const [, position, count] = EVENT_ID.exec(id) ?? []
  return position === undefined ? null : { position, count: Number(count), id }
}

export type Earlier = (
  one: Pick<EventPosition, 'position' | 'count'>,
  other: Pick<EventPosition, 'position' | 'count'>,
) => boolean
export const earlierBy =
  ({ isBefore }: Pick<Landmarks, 'isBefore'>): Earlier =>
  (one, other) => {
    if (one.position === other.position) return one.count < other.count
    if (one.position === '' || other.position === '') return one.position === ''
    return isBefore(one.position, other.position)
  }

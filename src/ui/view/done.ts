/** The note about an action that was just carried out, with what it has recorded. */
import type { EventLine } from '../answerShapes.ts'
import { EVENT_COLUMNS } from './eventRows.ts'
import { mark, trouble } from './parts.ts'
import { type Column, rows, under } from './rows.ts'
import type { Done } from './screen.ts'
import { type Child, type Node, a, div, p } from './tags.ts'

const COLUMNS: readonly Column<EventLine>[] = [
  ...EVENT_COLUMNS,
  { title: 'Position', cell: ({ id }) => a({ class: 'id', href: under('events', { after: id }) }, id) },
]
const shown = ({ events, cut, all, follow }: NonNullable<Done['recorded']>): readonly Child[] => [
  events === null || (events.ok && events.value.length === 0)
    ? null
    : events.ok
      ? rows('What was recorded', COLUMNS, events.value, ({ id }) => id)
      : trouble(events.error),
  p(
    { class: 'rest' },
    cut ? 'Only the first ones are shown. ' : null,
    follow === null ? null : [a({ class: 'underlined', href: follow }, 'Wait for the answer'), ' · '],
    a({ class: 'underlined', href: all }, 'Events of this action'),
  ),
]
export const doneNote = ({ tone, text, recorded }: Done): Node => {
  const note = p({ class: 'done', role: 'status' }, mark(tone), text)
  return recorded === undefined ? note : div({ class: 'recorded' }, note, ...shown(recorded))
}

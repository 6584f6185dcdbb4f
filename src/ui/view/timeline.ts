/** The timeline of a request on a page: as bars, as a table or as both, and a part of it where it is long. */
import type { Timeline } from '../shapes.ts'
import { lanes, wayLink } from './lanes.ts'
import { panel } from './parts.ts'
import type { Recorder } from './recorder.ts'
import { steps } from './steps.ts'
import { type Child, type Node, a, div, nav, span } from './tags.ts'
import { type Chosen, STEPS_SHOWN, type Ways, addressOf, windowOf } from './ways.ts'
import { count } from './words.ts'

const WAYS: readonly (readonly [shown: Ways['shown'], word: string])[] = [
  ['both', 'Bars and table'],
  ['table', 'Table'],
  ['bars', 'Bars'],
]
/** The way that the key `t` leads to. */
const nextOf = (shown: Ways['shown']): Ways['shown'] => {
  const at = WAYS.findIndex(([way]) => way === shown)
  return WAYS[(at + 1) % WAYS.length]![0]
}

/** How it is shown, as links that a key follows, too. */
const choices = (chosen: Chosen): Node => {
  const { shown, raw } = chosen.ways
  return nav(
    { class: 'ways', 'aria-label': 'How the timeline is shown' },
    ...WAYS.map(([way, word]) =>
      a(
        {
          ...wayLink(chosen),
          key: way,
          href: addressOf(chosen, { shown: way }),
          'aria-current': way === shown ? 'true' : undefined,
          'data-key': way === nextOf(shown) ? 't' : undefined,
        },
        word,
      ),
    ),
    a(
      { ...wayLink(chosen), key: 'raw', href: addressOf(chosen, { raw: !raw }), 'data-key': 'r' },
      raw ? 'Fold the events' : 'Unfold the events',
    ),
  )
}

/** Of a long timeline: which steps are shown, and where the others are. */
const parts = ({ steps: all }: Timeline, chosen: Chosen): Child => {
  const of = all.length
  const { first, last } = windowOf(of, chosen.ways)
  if (of <= STEPS_SHOWN) return null
  const turn = (word: string, from: number, is: boolean) =>
    is ? a({ ...wayLink(chosen), href: addressOf(chosen, { from }) }, word) : span({ class: 'turn off' }, word)
  return nav(
    { class: 'ways', 'aria-label': 'Steps that are shown' },
    span({ class: 'dim' }, `Steps ${count(first)} to ${count(last)} of ${count(of)}`),
    turn('‹ Earlier steps', Math.max(1, first - STEPS_SHOWN), first > 1),
    turn('Later steps ›', last + 1, last < of),
  )
}

/** `more`: beside the title of the table. */
export const timelineParts = (timeline: Timeline, recorder: Recorder, chosen: Chosen, more: Child): Node => {
  const { shown } = chosen.ways
  return div(
    null,
    choices(chosen),
    parts(timeline, chosen),
    shown === 'table' ? null : panel('What took how long', null, lanes(recorder, chosen)),
    shown === 'bars' ? null : panel('Every step', more, steps(timeline, chosen)),
  )
}

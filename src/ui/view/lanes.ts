/** Draws the spans of a timeline as bars, one below the other, and makes their gaps links that open and close them. */
import { mark } from './parts.ts'
import { type Placed, type Recorder, timeAt } from './recorder.ts'
import { type Child, type Node, a, div, li, line, ol, p, path, rect, span, svg, text } from './tags.ts'
import { type Chosen, addressOf } from './ways.ts'
import { duration } from './words.ts'

/** In percent of the width, so that a span that took no time can still be seen. */
const THINNEST = 0.4
const HEIGHT = 24
/** The sign of a bar that is drawn shorter than its time: two strokes through its middle. */
const broken = ({ x, width }: Placed): Node =>
  svg(
    { x: `${x + width / 2}%`, y: 0, width: 16, height: HEIGHT, class: 'break' },
    path({ d: 'M-5 20 1 4M1 20 7 4', fill: 'none' }),
  )
/** Where the lines of the axis are, in percent of the width. */
const LINES = [25, 50, 75]
/** The times after the first step, at the beginning and at the lines of all bars. */
const axis = (placed: readonly Placed[]): Node =>
  div(
    { class: 'lane axis', 'aria-hidden': 'true' },
    div({ class: 'lane-who' }),
    div({ class: 'lane-what' }),
    div(
      { class: 'lane-bar' },
      svg(
        { class: 'track', width: '100%', height: 16 },
        ...[0, ...LINES].map((at) => {
          const ms = timeAt(placed, at)
          return ms === null ? null : text({ key: at, x: `${at}%`, y: 12 }, `+${duration(ms)}`)
        }),
      ),
    ),
    div({ class: 'lane-took' }),
  )
const bar = (placed: Placed): Node => {
  const { x, width, tone, kind, open, gap } = placed
  return svg(
    { class: 'track', width: '100%', height: HEIGHT, 'aria-hidden': 'true' },
    ...LINES.map((at) => line({ class: 'grid', key: at, x1: `${at}%`, x2: `${at}%`, y1: 0, y2: HEIGHT })),
    rect({
      class: `span ${tone} ${kind}${open ? ' open' : ''}`,
      x: `${x}%`,
      y: 6,
      width: `${Math.max(width, THINNEST)}%`,
      height: 12,
      rx: 2,
    }),
    gap === 'short' ? broken(placed) : null,
  )
}

/** The properties of a link that only changes how the timeline is shown; a script follows it without a new page. */
export const wayLink = ({ kept }: Chosen, more: Readonly<Record<string, string>> = {}) => ({
  ...more,
  'data-way': 'here',
  class: `${more['class'] ?? 'quiet'}${kept ? '' : ' scripted'}`,
})

const gapLink = ({ gap, step }: Placed, chosen: Chosen): Child => {
  if (gap === null) return null
  const { open } = chosen.ways
  const others = open.filter((each) => each !== step)
  const change = { open: gap === 'short' ? [...others, step].toSorted((one, other) => one - other) : others }
  return a(
    { ...wayLink(chosen, { class: 'gap' }), href: addressOf(chosen, change) },
    gap === 'short' ? 'drawn short: draw it in full' : 'drawn in full: draw it short',
  )
}

const spanRow =
  (chosen: Chosen) =>
  (placed: Placed): Node => {
    const { who, label, from, to, open, note, tone, kind, step } = placed
    const took = duration(to - from)
    const href = `${addressOf(chosen, chosen.ways.shown === 'bars' ? { shown: 'both' } : {})}#step-${step}`
    return li(
      { class: 'lane', key: `${step} ${label}` },
      div({ class: 'lane-who' }, mark(kind === 'rest' && tone !== 'bad' ? 'idle' : tone), who),
      div(
        { class: 'lane-what' },
        a({ href, 'data-step': step, 'data-who': who, 'data-way': 'here', title: `To step ${step}` }, label),
        note === null ? null : span({ class: 'dim' }, ` · ${note}`),
      ),
      div({ class: 'lane-bar' }, bar(placed), gapLink(placed, chosen)),
      div({ class: 'lane-took' }, open ? `${took} so far` : took),
    )
  }

const gapsNote = (placed: readonly Placed[], chosen: Chosen): Child => {
  const short = placed.filter(({ gap }) => gap === 'short')
  const full = placed.filter(({ gap }) => gap === 'full')
  if (short.length + full.length === 0) return null
  const ms = short.reduce((sum, { from, to }) => sum + to - from, 0)
  const all = [...new Set([...short, ...full].map(({ step }) => step))]
  return p(
    { class: 'dim cut' },
    short.length === 0
      ? 'All bars are as long as their time. '
      : `Bars with two strokes are drawn short: ${duration(ms)} in which nobody worked. All others are as long as their time. `,
    short.length === 0
      ? a({ ...wayLink(chosen), href: addressOf(chosen, { open: [] }) }, 'Draw long gaps short')
      : a({ ...wayLink(chosen), href: addressOf(chosen, { open: all }) }, 'Draw all in full'),
  )
}

export const lanes = ({ placed }: Pick<Recorder, 'placed'>, chosen: Chosen): Node =>
  div(
    { class: 'recorder' },
    placed.length === 0 ? null : axis(placed),
    ol({ class: 'lanes', 'aria-label': 'What took how long' }, ...placed.map(spanRow(chosen))),
    gapsNote(placed, chosen),
  )

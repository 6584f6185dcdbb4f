/** Parts that several pages share. */
import type { PageError } from '../loaded.ts'
import type { Tone } from './states.ts'
import {
  type Child,
  type Node,
  a,
  button,
  circle,
  code,
  dd,
  div,
  dl,
  dt,
  p,
  path,
  rect,
  section,
  span,
  svg,
  time,
} from './tags.ts'
import { type CommandLine, ago, count, moment, sum, wordsOf } from './words.ts'

const SHAPES: Readonly<Record<Tone, () => Node>> = {
  good: () => circle({ cx: 6, cy: 6, r: 4.5 }),
  busy: () => circle({ cx: 6, cy: 6, r: 3.75, fill: 'none', 'stroke-width': 2, 'stroke-dasharray': '17 6.5' }),
  bad: () => path({ d: 'M6 .8 11.6 11H.4z' }),
  held: () => rect({ x: 2, y: 2, width: 8, height: 8, rx: 1, fill: 'none', 'stroke-width': 2 }),
  idle: () => circle({ cx: 6, cy: 6, r: 3.75, fill: 'none', 'stroke-width': 1.5 }),
}
export const mark = (tone: Tone): Node =>
  svg({ class: `mark ${tone}`, viewBox: '0 0 12 12', width: 12, height: 12, 'aria-hidden': 'true' }, SHAPES[tone]())

/** A state as shape, colour and word. */
export const state = (tone: Tone, word: string, means?: string): Node =>
  span({ class: `state ${tone}`, title: means }, mark(tone), word)

export const id = (text: string | null): Child => (text === null ? none() : code({ class: 'id' }, text))
/** Shown in place of a value that does not exist, which is neither zero nor unknown. */
export const none = (): Node => span({ class: 'none', title: 'there is none' }, '–')
export const link = (href: string, ...children: readonly Child[]): Node => a({ href }, ...children)
export const idLink = (kind: string, text: string | null): Child =>
  text === null ? none() : a({ class: 'id', href: `${kind}/${encodeURIComponent(text)}` }, text)

export const when = (iso: string | null, now: number): Child =>
  iso === null ? none() : time({ datetime: iso, title: moment(iso) }, ago(iso, now))

export type Fact = readonly [name: string, value: Child]
export const facts = (list: readonly Fact[]): Node =>
  dl({ class: 'facts' }, ...list.map(([name, value]) => div(null, dt(null, name), dd(null, value))))

export const panel = (title: Child, more: Child, ...children: readonly Child[]): Node =>
  section({ class: 'panel' }, div({ class: 'panel-head' }, div({ class: 'panel-title' }, title), more), ...children)

/** A command line for the same action, with a button that copies it. */
export const command = (text: CommandLine): Node =>
  div(
    { class: 'command' },
    code(null, text),
    button({ class: 'copy', type: 'button', 'data-copy': text, 'aria-label': `copy: ${text}` }),
  )

const TROUBLES: Readonly<Record<PageError['kind'], string>> = {
  sign_in: 'You are not signed in',
  forbidden: 'You may not see this',
  missing: 'There is no such thing',
  off: 'Not configured',
  refused: 'The service refused',
  away: 'No answer at present',
  failed: 'This could not be read',
}
/** Shown in place of content that could not be loaded. */
export const trouble = ({ kind, text, rule, requestId }: PageError): Node =>
  div(
    { class: `trouble ${kind}`, role: 'status' },
    p(
      { class: 'trouble-title' },
      mark(kind === 'off' ? 'idle' : kind === 'forbidden' ? 'held' : 'bad'),
      TROUBLES[kind],
    ),
    p(null, kind === 'off' ? `${text[0]?.toUpperCase()}${text.slice(1)}.`.replace('..', '.') : text),
    rule === null ? null : p({ class: 'dim' }, 'The policy rule is ', code(null, rule), '.'),
    requestId === null ? null : p({ class: 'dim' }, 'Request ', code({ class: 'id' }, requestId)),
  )

/** Shown in place of an empty list: the fact, its reason, and what to do next. */
export const empty = (title: string, ...more: readonly Child[]): Node =>
  div({ class: 'empty' }, p({ class: 'empty-title' }, title), ...more)

export type Segment = { readonly tone: Tone; readonly word: string; readonly count: number; readonly href?: string }
const BAR = 1000
/** Counts as a bar in proportion and, below it, as words. */
export const counts = (segments: readonly Segment[], label: string): Node => {
  const some = segments.filter((each) => each.count > 0)
  const total = sum(Object.fromEntries(some.map(({ word, count }) => [word, count])))
  let from = 0
  const bars = some.map(({ tone, count, word }) => {
    const x = from
    from += (count / total) * BAR
    return rect({ class: `bar ${tone}`, key: word, x, y: 0, width: Math.max(from - x - 3, 2), height: 8 })
  })
  return div(
    { class: 'counts' },
    svg(
      { class: 'share', viewBox: `0 0 ${BAR} 8`, preserveAspectRatio: 'none', role: 'img', 'aria-label': label },
      ...bars,
    ),
    div(
      { class: 'legend' },
      ...segments.map(({ tone, word, count: number, href }) => {
        const inside = [mark(tone), span({ class: 'number' }, count(number)), ' ', wordsOf(word)]
        const quiet = number === 0 ? ' quiet' : ''
        return href === undefined
          ? span({ class: `legend-item${quiet}`, key: word }, ...inside)
          : a({ class: `legend-item${quiet}`, key: word, href }, ...inside)
      }),
    ),
  )
}

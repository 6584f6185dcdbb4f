/** Draws the steps of a timeline as a table: when, what, by whom, with the recorded event behind each. */
import type { Timeline } from '../shapes.ts'
import { id } from './parts.ts'
import {
  type Child,
  type Node,
  a,
  code,
  details,
  div,
  pre,
  span,
  summary,
  table,
  tbody,
  td,
  th,
  thead,
  time,
  tr,
} from './tags.ts'
import { partyAfter } from './recorder.ts'
import { type Chosen, addressOf, windowOf } from './ways.ts'
import { duration, instant, moment, valueOf } from './words.ts'

type Step = Timeline['steps'][number]

const LINKED: Readonly<Record<string, string>> = {
  host: 'hosts',
  hostname: 'hosts',
  instance: 'instances',
  attach_handle: 'handles',
  profile: 'profiles',
}
/** The details that are moments. */
export const MOMENTS: readonly string[] = ['deadline', 'until', 'next_at']
const shownDetail = (name: string, shown: string): Child => {
  const kind = Object.hasOwn(LINKED, name) ? LINKED[name] : undefined
  if (kind !== undefined) return a({ class: 'id', href: `${kind}/${encodeURIComponent(shown)}` }, shown)
  return MOMENTS.includes(name) ? time({ datetime: shown, title: moment(shown) }, instant(shown)) : code(null, shown)
}
const detail = (fields: Step['detail']): readonly Child[] =>
  Object.entries(fields)
    .filter(([name, value]) => value !== null && !(name === 'hostname' && value === fields['host']))
    .map(([name, value]) =>
      span(
        { class: 'pair', key: name },
        span({ class: 'pair-name' }, name.replaceAll('_', ' ')),
        ' ',
        shownDetail(name, valueOf(value)),
      ),
    )
/** The recorded event, as the API answers it. */
const raw = (event: unknown, open: boolean): Child =>
  event === null
    ? null
    : details({ class: 'raw', open }, summary(null, 'Event'), pre(null, JSON.stringify(event, null, 2)))

/**
 * The length that tells the id of a user or a service account from the words that name a host or a part of the service.
 */
const UUID_LENGTH = 36
const asOfLink = ({ at }: Step, chosen: Chosen): Child =>
  chosen.kept ? a({ class: 'quiet then', href: addressOf(chosen, { asOf: at }) }, 'As of then') : null

const stepRow =
  (start: number, chosen: Chosen) =>
  (step: Step, number: number): Node =>
    tr(
      { key: number, id: `step-${number}` },
      td(
        { class: 'number' },
        a(
          {
            href: `${addressOf(chosen)}#step-${number}`,
            title: `Link to step ${number}`,
            'data-step': number,
            'data-who': partyAfter(step),
            'data-way': 'here',
          },
          time({ datetime: step.at, title: moment(step.at) }, instant(step.at)),
        ),
        asOfLink(step, chosen),
      ),
      td({ class: 'number' }, number === 1 ? '' : `+${duration(Date.parse(step.at) - start)}`),
      td(null, step.step),
      td(
        { class: 'wrap' },
        step.cause?.length === UUID_LENGTH ? id(step.cause) : (step.cause ?? ''),
        step.request_id === null ? null : code({ class: 'id faint under' }, step.request_id),
      ),
      td({ class: 'details' }, ...detail(step.detail), raw(step.event, chosen.ways.raw)),
    )

const HEADS = ['UTC', 'After', 'Step', 'Caused by', 'Details']
export const steps = (timeline: Timeline, chosen: Chosen): Node => {
  const { first, last } = windowOf(timeline.steps.length, chosen.ways)
  const row = stepRow(Date.parse(timeline.steps[0]?.at ?? ''), chosen)
  return div(
    { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'Steps' },
    table(
      { class: 'rows steps' },
      thead(null, tr(null, ...HEADS.map((title) => th({ scope: 'col', key: title }, title)))),
      tbody(null, ...timeline.steps.slice(first - 1, last).map((step, at) => row(step, first + at))),
    ),
  )
}

/** The page of one accelerator request: its history as a bar and as steps, and what the request waits for. */
import type { Arq, Timeline } from '../shapes.ts'
import type { Loaded } from '../told.ts'
import { type Fact, command, facts, id, idLink, link, mark, panel, state, trouble, when } from './parts.ts'
import { type Placed, type Recorder, recorderOf } from './recorder.ts'
import { offers } from './offers.ts'
import { ARQ_STATES, toneOf } from './states.ts'
import type { Bodies, Screen } from './screen.ts'
import {
  type Child,
  type Node,
  a,
  code,
  details,
  div,
  h1,
  header,
  li,
  line,
  ol,
  p,
  pre,
  rect,
  span,
  summary,
  svg,
  table,
  tbody,
  td,
  th,
  thead,
  time,
  tr,
} from './tags.ts'
import { ago, duration, instant, moment, shell } from './words.ts'

const pciOf = (info: Readonly<Record<string, string>>): string | null => {
  const { domain, bus, device, function: fn } = info
  if (domain === undefined || bus === undefined || device === undefined || fn === undefined) return null
  return `${domain}:${bus}:${device}.${fn}`
}

const factsOf = (arq: Arq, now: number): readonly Fact[] => [
  [
    'Profile',
    link(
      `profiles/${encodeURIComponent(arq.device_profile_name)}`,
      arq.device_profile_name,
      ` · group ${arq.device_profile_group_id}`,
    ),
  ],
  ['Instance', idLink('instances', arq.instance_uuid)],
  ['Host', idLink('hosts', arq.hostname)],
  ['Attach handle', idLink('handles', arq.attach_handle_uuid)],
  ['Device address', id(pciOf(arq.attach_handle_info))],
  ['Resource provider', id(arq.device_rp_uuid)],
  ['Project', id(arq.project_id)],
  ['Created', when(arq.created_at, now)],
]

/** In percent of the width, so that a span that took no time can still be seen. */
const THINNEST = 0.4
const bar = ({ x, width, tone, kind, open }: Placed): Node =>
  svg(
    { class: 'track', width: '100%', height: 24, 'aria-hidden': 'true' },
    ...[25, 50, 75].map((at) => line({ class: 'grid', key: at, x1: `${at}%`, x2: `${at}%`, y1: 0, y2: 24 })),
    rect({
      class: `span ${tone} ${kind}${open ? ' open' : ''}`,
      x: `${x}%`,
      y: 6,
      width: `${Math.max(width, THINNEST)}%`,
      height: 12,
      rx: 2,
    }),
  )

const spanRow = (span_: Placed, index: number): Node => {
  const { who, label, from, to, open, note, tone, kind } = span_
  const took = duration(to - from)
  return li(
    { class: 'lane', key: index },
    div({ class: 'lane-who' }, mark(kind === 'rest' && tone !== 'bad' ? 'idle' : tone), who),
    div({ class: 'lane-what' }, label, note === null ? null : span({ class: 'dim' }, ` · ${note}`)),
    div({ class: 'lane-bar' }, bar(span_)),
    div({ class: 'lane-took' }, open ? `${took} so far` : took),
  )
}

export const lanes = ({ spans, cuts }: Recorder): Node =>
  div(
    { class: 'recorder' },
    ol({ class: 'lanes', 'aria-label': 'What took how long' }, ...spans.map(spanRow)),
    cuts.length === 0
      ? null
      : p(
          { class: 'dim cut' },
          `Pale bars are drawn shorter than they were: ${duration(cuts.reduce((sum, { ms }) => sum + ms, 0))} in which nothing had to happen ${cuts.length === 1 ? 'is' : 'are'} left out.`,
        ),
  )

const valueOf = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value))
const LINKED: Readonly<Record<string, string>> = {
  host: 'hosts',
  hostname: 'hosts',
  instance: 'instances',
  attach_handle: 'handles',
  profile: 'profiles',
}
const MOMENTS = new Set(['deadline', 'until'])
const shownDetail = (name: string, shown: string): Child => {
  const kind = LINKED[name]
  if (kind !== undefined) return a({ class: 'id', href: `${kind}/${encodeURIComponent(shown)}` }, shown)
  return MOMENTS.has(name) ? time({ datetime: shown, title: moment(shown) }, instant(shown)) : code(null, shown)
}
const detail = (fields: Readonly<Record<string, unknown>>): readonly Child[] =>
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
const raw = (event: unknown): Child =>
  event === null ? null : details({ class: 'raw' }, summary(null, 'Event'), pre(null, JSON.stringify(event, null, 2)))

/**
 * The length that tells the id of a user or a service account from the words that name a host or a part of the service.
 */
const UUID_LENGTH = 36
const stepRow =
  (start: number, here: string) =>
  (step: Timeline['steps'][number], index: number): Node =>
    tr(
      { key: index, id: `step-${index + 1}` },
      td(
        { class: 'number' },
        a(
          { href: `${here}#step-${index + 1}`, title: `Link to step ${index + 1}` },
          time({ datetime: step.at, title: moment(step.at) }, instant(step.at)),
        ),
      ),
      td({ class: 'number' }, index === 0 ? '' : `+${duration(Date.parse(step.at) - start)}`),
      td(null, step.step),
      td(null, step.cause?.length === UUID_LENGTH ? id(step.cause) : (step.cause ?? '')),
      td({ class: 'details' }, ...detail(step.detail), raw(step.event)),
      td(null, step.request_id === null ? '' : code({ class: 'id faint' }, step.request_id)),
    )

const HEADS = ['UTC', 'After', 'Step', 'Caused by', 'Details', 'Request']
const steps = (timeline: Timeline, here: string): Node =>
  div(
    { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'Steps' },
    table(
      { class: 'rows steps' },
      thead(null, tr(null, ...HEADS.map((title) => th({ scope: 'col', key: title }, title)))),
      tbody(null, ...timeline.steps.map(stepRow(Date.parse(timeline.steps[0]?.at ?? ''), here))),
    ),
  )

const headline = (arq: Loaded<Arq>, { bindMs, waitingFor, spans }: Recorder, timeline: Timeline): Child => {
  if (waitingFor !== null)
    return p(
      { class: 'headline' },
      mark('busy'),
      `Waiting for ${waitingFor.who} for ${duration(waitingFor.to - waitingFor.from)}: ${waitingFor.label}${waitingFor.note === null ? '' : `, ${waitingFor.note}`}.`,
    )
  const failed = timeline.steps.findLast(({ step }) => step === 'bind failed')
  const isFailed = arq.ok && arq.value.state === 'BindFailed'
  if (isFailed && failed)
    return p(
      { class: 'headline bad' },
      mark('bad'),
      `The bind failed after ${duration(bindMs ?? 0)}: ${valueOf(failed.detail['reason'] ?? failed.detail['code'] ?? 'no reason is recorded')}.`,
    )
  if (timeline.deleted) return p({ class: 'headline' }, mark('idle'), 'It is deleted; this is what happened to it.')
  if (bindMs === null) return p({ class: 'headline' }, mark('idle'), 'Nobody has bound it yet.')
  const longest = spans
    .filter(({ kind }) => kind !== 'rest')
    .toSorted((one, other) => other.to - other.from - (one.to - one.from))[0]
  return p(
    { class: 'headline' },
    mark('good'),
    `Bound in ${duration(bindMs)}${longest === undefined || longest.to === longest.from ? '' : `; ${longest.who} took longest, ${duration(longest.to - longest.from)}`}.`,
  )
}

/** What happens when the time is over that the request waits for. */
const limit = ({ limit: given, waitingFor }: Recorder, { steps: all }: Timeline, now: number): Child => {
  if (given === null || waitingFor === null) return null
  const when_ = time({ datetime: given.at, title: moment(given.at) }, moment(given.at), ` (${ago(given.at, now)})`)
  const isOver = Date.parse(given.at) <= now
  if (given.of === 'bind')
    return p(
      { class: 'lead' },
      ...(isOver
        ? ['Its deadline was ', when_, ': the bind fails as soon as the service attends to it.']
        : [`If ${waitingFor.who} has not answered by `, when_, ', the bind fails and Nova is told so.']),
    )
  const instance = all.findLast(({ detail: { instance: one } }) => typeof one === 'string')?.detail['instance']
  return p(
    { class: 'lead' },
    'Nova is told again until ',
    when_,
    '. Then delivery ends, until an operator has it told once more: ',
    code(null, shell`accelerando delivery resend ${valueOf(instance ?? 'INSTANCE')} --reason TEXT`),
  )
}

const recorded = (arq: Loaded<Arq>, timeline: Timeline, here: string, now: number): Node => {
  const recorder = recorderOf(timeline, now)
  return div(
    null,
    headline(arq, recorder, timeline),
    limit(recorder, timeline, now),
    panel('What took how long', null, lanes(recorder)),
    panel(
      'Every step',
      a(
        { class: 'quiet', href: `arqs/${timeline.arq}/timeline.json`, download: `timeline-${timeline.arq}.json` },
        'Download',
      ),
      steps(timeline, here),
    ),
  )
}

export const arqPage = ({ body, here, now }: Screen<'arq'>): Node => {
  const { arq, timeline }: Bodies['arq'] = body
  const uuid = here.split('/')[1] ?? ''
  const shown = arq.ok ? arq.value.state : timeline.ok && timeline.value.deleted ? 'Deleted' : null
  return div(
    null,
    header(
      { class: 'head' },
      div(null, p({ class: 'over' }, link('arqs', 'Request')), h1({ class: 'id' }, uuid)),
      shown === null ? null : state(toneOf(ARQ_STATES, shown), shown, ARQ_STATES[shown]?.means),
      offers(here, body.offers),
    ),
    arq.ok ? facts(factsOf(arq.value, now)) : null,
    arq.ok && arq.value.state === 'BindFailed'
      ? p(
          { class: 'leads' },
          a(
            { class: 'button', href: `explain?profile=${encodeURIComponent(arq.value.device_profile_name)}` },
            'Explain which hosts fit its profile',
          ),
        )
      : null,
    timeline.ok ? recorded(arq, timeline.value, here, now) : trouble(timeline.trouble),
    body.others.length === 0
      ? null
      : p(
          { class: 'dim' },
          'Of the same instance: ',
          ...body.others.map((other) => span({ key: other }, idLink('arqs', other), ' ')),
        ),
    command(shell`accelerando arq show ${uuid} --timeline`),
  )
}

/** The page of one accelerator request: its history as a bar and as steps, and what the request waits for. */
import type { Arq, Timeline } from '../shapes.ts'
import type { Loaded } from '../loaded.ts'
import { headline, limit } from './headline.ts'
import { type Fact, command, facts, id, idLink, link, mark, state, trouble, when } from './parts.ts'
import { recorderOf } from './recorder.ts'
import { timelineParts } from './timeline.ts'
import { offers } from './offers.ts'
import { ARQ_STATES, toneOf } from './states.ts'
import type { Bodies, Screen } from './screen.ts'
import { type Child, type Node, a, button, div, form, h1, header, input, label, nav, p, span, time } from './tags.ts'
import { type Chosen, addressOf, pastIn } from './ways.ts'
import { precise, shell } from './words.ts'

/** In characters: a moment has fewer. */
const MOMENT_MAX = 40

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

const download = (kind: string, word: string, uuid: string, asOf: string | null): Node =>
  a(
    {
      class: 'quiet',
      href: `arqs/${uuid}/${kind}.json${asOf === null ? '' : `?${new URLSearchParams({ as_of: asOf }).toString()}`}`,
      download: `${kind}-${uuid}.json`,
    },
    word,
  )
const exports = (uuid: string, asOf: string | null): Node =>
  span(
    { class: 'ways' },
    download('timeline', 'Download', uuid, asOf),
    download('trace-events', 'For trace viewers', uuid, asOf),
    a({ class: 'quiet', href: 'timeline' }, 'Open a file'),
  )

/** Says that the page shows the past, and leads back to the present. */
const pastNote = (asOf: string | null, now: number, place: string): Child => {
  const at = pastIn(asOf, now)
  if (asOf === null) return null
  const present = a({ class: 'underlined', href: place }, 'Back to now')
  if (at === null)
    return Number.isNaN(Date.parse(asOf))
      ? p({ class: 'past', role: 'status' }, mark('bad'), span(null, 'No moment of the past is shown.'), present)
      : p(
          { class: 'past', role: 'status' },
          mark('held'),
          span(null, 'This moment is not past: it is shown as it is now.'),
          present,
        )
  const iso = new Date(at).toISOString()
  return p(
    { class: 'past', role: 'status' },
    mark('held'),
    span(null, 'This is the past: the request as it was at ', time({ datetime: iso }, precise(iso)), '.'),
    present,
  )
}
/** Asks for the moment that the page is to show. */
const momentForm = (place: string, { asOf, ways }: Chosen): Node =>
  form(
    { method: 'get', action: place, class: 'form asked' },
    label(
      null,
      span(null, 'The request as of'),
      input({
        name: 'as_of',
        defaultValue: asOf ?? '',
        placeholder: '2026-03-01T08:15:30Z',
        autocomplete: 'off',
        spellcheck: 'false',
        required: true,
        maxlength: MOMENT_MAX,
      }),
    ),
    ways.shown === 'both' ? null : input({ type: 'hidden', name: 't', value: ways.shown }),
    ways.raw ? input({ type: 'hidden', name: 'r', value: '1' }) : null,
    div({ class: 'form-end' }, button({ type: 'submit', class: 'button' }, 'Show that moment')),
  )

/** The other requests of the instance. The keys for pages lead to the ones before and after this one. */
const beside = ({ others, turn }: Bodies['arq'], chosen: Chosen): Child => {
  const at = (uuid: string) =>
    addressOf({ ...chosen, place: `arqs/${encodeURIComponent(uuid)}` }, { open: [], from: null })
  const turned = (uuid: string | null, word: string, key: string) =>
    uuid === null ? span({ class: 'turn off' }, word) : a({ class: 'turn', href: at(uuid), 'data-key': key }, word)
  if (others.length === 0) return null
  return div(
    null,
    nav(
      { class: 'turning', 'aria-label': 'Requests of the same instance' },
      span(
        { class: 'dim' },
        'Of the same instance: ',
        ...others.map((other) => span({ key: other }, a({ class: 'id', href: at(other) }, other), ' ')),
      ),
      span({ class: 'turns' }, turned(turn.later, '‹ Previous', '['), turned(turn.earlier, 'Next ›', ']')),
    ),
  )
}

const commandFor = (uuid: string, { asOf }: Chosen) =>
  command(shell`accelerando arq show ${uuid} --timeline ${asOf === null ? [] : ['--as-of', asOf]}`)

const history = (arq: Loaded<Arq>, timeline: Timeline, chosen: Chosen, at: number): Node => {
  const recorder = recorderOf(timeline, at, chosen.ways)
  return div(
    null,
    headline(arq.ok ? arq.value.state : null, recorder, timeline),
    limit(recorder, timeline, at),
    timelineParts(timeline, recorder, chosen, exports(timeline.arq, chosen.asOf)),
  )
}

export const arqPage = ({ body, here, now }: Screen<'arq'>): Node => {
  const { arq, timeline, asOf, ways }: Bodies['arq'] = body
  const uuid = here.split('/')[1] ?? ''
  const past = pastIn(asOf, now)
  const chosen: Chosen = { place: here, asOf, ways, kept: true }
  const shown = arq.ok ? arq.value.state : timeline.ok && timeline.value.deleted ? 'Deleted' : null
  return div(
    null,
    header(
      { class: 'head' },
      div(null, p({ class: 'over' }, link('arqs', 'Request')), h1({ class: 'id' }, uuid)),
      shown === null ? null : state(toneOf(ARQ_STATES, shown), shown, ARQ_STATES[shown]?.means),
      // nothing can be done about the past
      past === null ? offers(here, body.offers) : null,
    ),
    pastNote(asOf, now, addressOf(chosen, { asOf: null })),
    arq.ok ? facts(factsOf(arq.value, past ?? now)) : null,
    arq.ok && arq.value.state === 'BindFailed'
      ? p(
          { class: 'leads' },
          a(
            { class: 'button', href: `explain?profile=${encodeURIComponent(arq.value.device_profile_name)}` },
            'Explain which hosts fit its profile',
          ),
        )
      : null,
    timeline.ok ? history(arq, timeline.value, chosen, past ?? now) : trouble(timeline.error),
    beside(body, chosen),
    momentForm(here, chosen),
    commandFor(uuid, chosen),
  )
}

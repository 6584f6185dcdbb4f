/** The pages about current events, and about the images in programmable cards. */
import type { EventLine, Program } from '../answerShapes.ts'
import { EVENT_COLUMNS } from './eventRows.ts'
import { offers } from './offers.ts'
import { command, empty, id, idLink, mark, none, state, trouble, when } from './parts.ts'
import { type Column, type Filter, filtersOf, listed, rows, turning, under } from './rows.ts'
import type { Offer, Screen } from './screen.ts'
import type { Tone } from './states.ts'
import { type Child, type Node, a, button, div, form, h1, header, input, label, p, span } from './tags.ts'
import { type CommandLine, count, shell } from './words.ts'

const eventColumns = (filter: Filter): readonly Column<EventLine>[] => [
  ...EVENT_COLUMNS,
  {
    title: 'Id',
    cell: ({ id: own }) => a({ class: 'id', href: under('events', { ...filter, after: own }) }, 'from here'),
  },
]

const commandOf = (filter: Filter, after: string): CommandLine => {
  const options = Object.entries(filter).flatMap(([name, value]) => [`--${name}`, value])
  return shell`accelerando event --follow ${after === '' ? options : ['--after', after, ...options]}`
}

const FIELDS = [
  ['kind', 'Kind', 'arq, host, device …'],
  ['type', 'Event', 'Bound, BindFailed'],
  ['host', 'Host', ''],
  ['instance', 'Instance', ''],
] as const
const asked = (filter: Filter): Node =>
  form(
    { method: 'get', action: 'events', class: 'form asked' },
    ...FIELDS.map(([name, title, placeholder]) =>
      label(
        { key: name },
        span(null, title),
        input({ name, defaultValue: filter[name] ?? '', placeholder, autocomplete: 'off', spellcheck: 'false' }),
      ),
    ),
    div({ class: 'form-end' }, button({ type: 'submit', class: 'button full' }, 'Filter')),
  )

export const eventsPage = ({ body: { events, filter, after, paused } }: Screen<'events'>): Node =>
  div(
    null,
    header(
      { class: 'head' },
      h1(null, 'Events'),
      div(
        { class: 'offers' },
        a({ class: 'button', href: under('events', { ...filter, after: '0' }) }, 'From the first one'),
        button(
          { class: 'button tailing', type: 'button', 'data-tail': 'turn', 'aria-pressed': paused ? 'true' : 'false' },
          'Pause',
        ),
      ),
    ),
    p(
      { class: 'lead' },
      'What is recorded, as it happens, the newest first. While it pauses nothing is lost: it goes on after the last event that is shown.',
    ),
    asked(filter),
    filtersOf('events', filter, null),
    events.ok
      ? events.value.lines.length === 0
        ? empty(
            Object.keys(filter).length > 0
              ? 'Nothing that matches this filter has happened so far'
              : 'Nothing has happened since this page was opened',
            p(null, 'The mark at the top says whether the page is live. New events appear here by themselves.'),
          )
        : div(
            null,
            p(
              { class: 'dim' },
              `${count(events.value.lines.length)} shown. `,
              events.value.more
                ? a(
                    { class: 'underlined', href: under('events', { ...filter, after: events.value.next }) },
                    'The following ones',
                  )
                : null,
            ),
            rows('Events', eventColumns(filter), events.value.lines.toReversed(), ({ id: own }) => own),
          )
      : trouble(events.error),
    command(commandOf(filter, events.ok ? events.value.next : after)),
  )

const PROGRAM_STATES: Readonly<Record<string, { readonly tone: Tone; readonly means: string }>> = {
  empty: { tone: 'idle', means: 'no image is recorded' },
  loaded: { tone: 'good', means: 'its image is loaded' },
  running: { tone: 'busy', means: 'its host is loading the image' },
  failed: { tone: 'bad', means: 'the last programming failed' },
}
/** What a host says of bytes that are not those of the image (`src/vocabulary/images.ts`). */
const CORRUPT = /^image_corrupt\b/
/** The digest does not match: a stop sign, with what to do. */
const stopped = (reason: string): Child =>
  div(
    { class: 'trouble', role: 'status' },
    p({ class: 'trouble-title' }, mark('bad'), 'Stop: the digest does not match'),
    p(null, reason),
    p(
      { class: 'dim' },
      'Its host got other bytes than those whose digest the image store names. Do not use this image: upload it anew, and load it under its new UUID.',
    ),
  )
const resultOf = ({ reason, state: word }: Program): Child => {
  if (reason === null) return word === 'loaded' ? 'done' : none()
  return CORRUPT.test(reason) ? stopped(reason) : reason
}
/** Only an image that was recorded before can be loaded again. */
const possibleOf = ({ former_image_uuid: former, programmable }: Program, list: readonly Offer[]): readonly Offer[] =>
  programmable ? list.filter(({ name }) => name !== 'revert' || former !== null) : []
const programColumns = (now: number, list: readonly Offer[]): readonly Column<Program>[] => [
  {
    title: 'State',
    cell: (row) => state(PROGRAM_STATES[row.state]?.tone ?? 'idle', row.state, PROGRAM_STATES[row.state]?.means),
  },
  {
    title: 'Deployable',
    cell: ({ device_uuid: uuid, name }) => a({ href: `devices/${uuid}` }, name),
  },
  { title: 'Image', cell: ({ image_uuid: image }) => id(image) },
  { title: 'Since', cell: ({ since }) => when(since, now) },
  {
    title: 'Last result',
    cell: resultOf,
    kind: 'wide',
  },
  { title: 'Host', cell: ({ hostname }) => idLink('hosts', hostname) },
  {
    title: 'Actions',
    cell: (row) => {
      const own = possibleOf(row, list)
      return own.length === 0 ? none() : offers(`programs/${row.deployable_uuid}`, own)
    },
  },
]
export const programsPage = ({ body: { list, turn, offers: can }, now }: Screen<'programs'>): Node =>
  div(
    null,
    header({ class: 'head' }, h1(null, 'Programming')),
    p(
      { class: 'lead' },
      'Which image is loaded into which card, what is being loaded, and how the last programming ended.',
    ),
    listed(
      list,
      (some) =>
        div(
          null,
          rows('Programming', programColumns(now, can), some, (row) => row.deployable_uuid),
          turning(turn, some.length),
        ),
      empty('No programmable device is known', p(null, 'FPGAs that their driver can program appear here.')),
      { is: false, clear: 'programs' },
    ),
    command(shell`accelerando bitstream preload UUID --image UUID`),
  )

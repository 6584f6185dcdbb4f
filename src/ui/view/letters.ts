/** The pages of dead letters: the messages that could not be read or handled. */
import type { Letter } from '../letterShapes.ts'
import { deliveryTabs } from './deliveryTabs.ts'
import { hexOf, visible } from './bytes.ts'
import { command, empty, facts, id, idLink, link, mark, none, panel, state, trouble, when } from './parts.ts'
import { type Column, filtersOf, listed, rows, tabs, turning, under } from './rows.ts'
import type { Screen } from './screen.ts'
import type { Tone } from './states.ts'
import { type Child, type Node, a, code, div, h1, header, p, pre } from './tags.ts'
import { head, lastOf } from './things.ts'
import { count, shell } from './words.ts'

type LetterState = Letter['state']
const STATES: Readonly<Record<LetterState, { readonly tone: Tone; readonly word: string; readonly means: string }>> = {
  open: { tone: 'bad', word: 'Open', means: 'nobody has looked after it' },
  replayed: { tone: 'good', word: 'Sent again', means: 'its message was sent again' },
  dropped: { tone: 'held', word: 'Dropped', means: 'an operator has set it aside' },
}
const stateOf = ({ state: word }: Pick<Letter, 'state'>): Node =>
  state(STATES[word].tone, STATES[word].word.toLowerCase(), STATES[word].means)
const place = ({ topic, partition, offset }: Letter): string =>
  partition === null ? topic : `${topic}, partition ${partition}, offset ${offset}`
const size = ({ size_bytes: bytes, cut }: Letter): string => `${count(bytes)} bytes${cut ? ', cut' : ''}`

const columns = (now: number, shown: LetterState): readonly Column<Letter>[] => [
  { title: 'Stored', cell: (row) => link(`letters/${row.uuid}`, when(row.stored_at, now)) },
  { title: 'Reason', cell: (row) => row.reason, kind: 'wide' },
  { title: 'Message of', cell: place },
  { title: 'Key', cell: (row) => (row.key === '' ? none() : code(null, row.key)) },
  { title: 'Size', cell: size, kind: 'number' },
  shown === 'open'
    ? {
        title: 'Can be sent again',
        cell: ({ replay_refusal: refusal }) => (refusal === null ? state('good', 'yes') : state('held', 'no', refusal)),
      }
    : {
        title: 'Handled',
        cell: ({ handled }) => (handled === null ? none() : [handled.by ?? 'somebody', ' ', when(handled.at, now)]),
      },
]

const EMPTY: Readonly<Record<LetterState, readonly [title: string, why: string]>> = {
  open: ['There is no open dead letter', 'Every message was read and handled, or somebody has looked after it.'],
  replayed: [
    'None was sent again',
    'A dead letter whose message was sent again is listed here as long as its topic keeps it.',
  ],
  dropped: [
    'None was dropped',
    'A dead letter that an operator has dropped is listed here as long as its topic keeps it.',
  ],
}

export const lettersPage = ({ body, now }: Screen<'letters'>): Node => {
  const { list, turn, state: shown, topic, counts } = body
  const filter = topic === null ? {} : { topic }
  const [title, why] = EMPTY[shown]
  return div(
    null,
    header({ class: 'head' }, h1(null, 'Deliveries')),
    tabs('What is delivered', deliveryTabs('letters', counts)),
    p(
      { class: 'lead' },
      'Messages that could not be read or handled, or that the bus never takes. Each was set aside, so that those behind it were not held up.',
    ),
    tabs(
      'State of the letters',
      (Object.keys(STATES) as LetterState[]).map((each) => ({
        word: STATES[each].word,
        href: under('letters', each === 'open' ? filter : { ...filter, state: each }),
        chosen: each === shown,
      })),
    ),
    filtersOf('letters', { ...filter, ...(shown === 'open' ? {} : { state: shown }) }, 'state'),
    listed(
      list,
      (some) =>
        div(
          null,
          rows('Dead letters', columns(now, shown), some, ({ uuid }) => uuid),
          turning(turn, some.length),
        ),
      empty(title, p(null, why)),
      { is: topic !== null, clear: 'letters' },
    ),
    command(shell`accelerando dead-letter list`),
  )
}

const handledNote = ({ state: word, handled }: Letter, now: number): Child =>
  handled === null
    ? null
    : p(
        { class: 'headline' },
        mark(STATES[word].tone),
        `${STATES[word].word} by ${handled.by ?? 'somebody whose name was not recorded'}`,
        handled.reason === null ? null : `: ${handled.reason}`,
        ' · ',
        when(handled.at, now),
        handled.request_id === null ? null : [' · ', code(null, handled.request_id)],
      )

export const letterPage = ({ body: { letter, form, offers: list }, here, now }: Screen<'letter'>): Node => {
  if (!letter.ok)
    return div(null, head(link('letters', 'Dead letter'), lastOf(here), null, here, []), trouble(letter.error))
  const { uuid, reason, key, headers, value, replay_refusal: refusal, ...rest } = letter.value
  return div(
    null,
    head(link('letters', 'Dead letter'), uuid, stateOf(letter.value), here, list),
    handledNote(letter.value, now),
    p({ class: 'lead' }, reason),
    refusal === null ? null : p({ class: 'headline' }, mark('held'), `It cannot be sent again: ${refusal}.`),
    facts([
      ['Message of', place(letter.value)],
      ['Key', key === '' ? none() : rest.topic.startsWith('host.') ? idLink('hosts', key) : code(null, key)],
      ['Stored', when(rest.stored_at, now)],
      ['Size', size(letter.value)],
      ['Id on the topic', id(rest.id)],
      ...Object.entries(headers).map(([name, text]) => [`Header ${visible(name)}`, code(null, visible(text))] as const),
    ]),
    panel(
      'Message',
      a({ class: 'quiet', href: `letters/${uuid}/bytes` }, 'Download'),
      tabs('Form of the message', [
        { word: 'Text', href: `letters/${uuid}`, chosen: form === 'text' },
        { word: 'Hexadecimal', href: `letters/${uuid}?form=hex`, chosen: form === 'hex' },
      ]),
      value === ''
        ? empty('The message is empty')
        : pre(
            { class: 'bytes', tabindex: 0, role: 'region', 'aria-label': 'Message' },
            form === 'hex' ? hexOf(value) : visible(value),
          ),
      p(
        { class: 'dim' },
        rest.cut ? 'Only the beginning was kept, 64 KiB at most. ' : null,
        'Bytes that are no UTF-8 were replaced when it was received.',
      ),
    ),
    command(shell`accelerando dead-letter show ${uuid}`),
  )
}

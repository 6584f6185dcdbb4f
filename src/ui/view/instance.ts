/** The page of an instance: its bind conversation, and what took how long for each of its accelerator requests. */
import { type Conversation, type Member, conversationOf } from './conversation.ts'
import { lanes } from './lanes.ts'
import { type Fact, command, empty, facts, idLink, link, mark, none, panel, state, trouble, when } from './parts.ts'
import { recorderOf } from './recorder.ts'
import { type Column, cutNote, rows, under } from './rows.ts'
import type { Screen } from './screen.ts'
import { ARQ_STATES, toneOf } from './states.ts'
import { head } from './things.ts'
import { type Child, type Node, div, p, span } from './tags.ts'
import { type Chosen, USUAL } from './ways.ts'
import { ago, duration, many, moment, shell } from './words.ts'

const sinceOf = (from: string, to: string): string => duration(Date.parse(to) - Date.parse(from))

const preparedCell = ({ host, readyAt, failed }: Member, { acceptedAt }: Conversation): Child => {
  const where = host === null ? 'no work on a host' : ['on ', idLink('hosts', host)]
  if (readyAt !== null) return [state('good', 'ready'), ' ', where, ` after ${sinceOf(acceptedAt, readyAt)}`]
  return [failed === null ? state('busy', 'waited for') : state('bad', 'not ready'), ' ', where]
}
const answerCell = ({ answer, status }: Member, now: number): Child => {
  if (answer === null) return status === null ? none() : state('busy', 'being told')
  const { word, tone, at, note, again } = answer
  return [
    state(tone, word),
    ' ',
    when(at, now),
    note === null ? null : span({ class: 'dim' }, ` · ${note}`),
    again === null ? null : span({ class: 'dim' }, ' · again ', when(again, now)),
  ]
}
const columnsOf = (talk: Conversation, now: number): readonly Column<Member>[] => [
  { title: 'Request', cell: ({ arq }) => idLink('arqs', arq.uuid) },
  {
    title: 'State',
    cell: ({ arq: { state: word } }) => state(toneOf(ARQ_STATES, word), word, ARQ_STATES[word]?.means),
  },
  { title: 'Prepared', cell: (member) => preparedCell(member, talk) },
  {
    title: 'Nova is told',
    cell: ({ status }) => (status === null ? none() : state(status === 'completed' ? 'good' : 'bad', status)),
  },
  { title: 'Nova answered', cell: (member) => answerCell(member, now), kind: 'wide' },
]

/** What the conversation waits for, or how it ended. */
const headline = ({ members, settledAt, acceptedAt, deadline }: Conversation, now: number): Node => {
  const failed = members.find(({ failed: why }) => why !== null)
  if (failed !== undefined)
    return p(
      { class: 'headline bad' },
      mark('bad'),
      `The bind of ${many(members.length, 'request')} failed${settledAt === null ? '' : ` after ${sinceOf(acceptedAt, settledAt)}`}: ${failed.failed}.`,
    )
  if (settledAt !== null)
    return p(
      { class: 'headline' },
      mark('good'),
      `All of ${many(members.length, 'request')} bound after ${sinceOf(acceptedAt, settledAt)}.`,
    )
  const ready = members.filter(({ readyAt }) => readyAt !== null).length
  return p(
    { class: 'headline' },
    mark('busy'),
    `${ready} of ${many(members.length, 'request')} prepared${deadline === null ? '' : `; the bind fails if the rest is not, ${ago(deadline, now)}`}.`,
  )
}
const factsOf = (talk: Conversation, now: number): readonly Fact[] => [
  ['Host', idLink('hosts', talk.hostname)],
  ['Accepted', when(talk.acceptedAt, now)],
  ['Deadline', talk.deadline === null ? none() : moment(talk.deadline)],
  ['Ended', talk.settledAt === null ? 'under way' : when(talk.settledAt, now)],
  [
    'Told to Nova',
    talk.settledAt === null ? 'when it has ended' : `as one batch, ${many(talk.tries, 'answer')} so far`,
  ],
  ['Told until', talk.until === null ? none() : moment(talk.until)],
]

type Listed = Extract<Screen<'instance'>['body']['list'], { readonly ok: true }>['value']
const conversation = ({ some, of }: Listed, now: number): Child => {
  const known = some.flatMap(({ arq, timeline }) => (timeline.ok ? [{ arq, timeline: timeline.value }] : []))
  const talk = conversationOf(known)
  const left = of - known.length
  return panel(
    'Conversation',
    left === 0 ? null : span({ class: 'dim' }, `without ${many(left, 'request')} whose history is not read here`),
    talk === null ? p({ class: 'headline' }, mark('idle'), 'No bind of it was accepted yet.') : headline(talk, now),
    ...(talk === null
      ? []
      : [
          facts(factsOf(talk, now)),
          rows('Requests of the bind', columnsOf(talk, now), talk.members, ({ arq }) => arq.uuid),
        ]),
  )
}
const memberPanel = ({ arq, timeline }: Listed['some'][number], now: number): Node =>
  panel(
    span(
      null,
      state(toneOf(ARQ_STATES, arq.state), arq.state, ARQ_STATES[arq.state]?.means),
      ' ',
      idLink('arqs', arq.uuid),
    ),
    span({ class: 'dim' }, `${arq.device_profile_name} · group ${arq.device_profile_group_id}`),
    timeline.ok ? lanes(recorderOf(timeline.value, now), atPage(arq.uuid)) : trouble(timeline.error),
  )
/** The links of its bars lead to the page of the request. */
const atPage = (uuid: string): Chosen => ({ place: `arqs/${uuid}`, asOf: null, ways: USUAL, kept: true })
const isFailed = ({ arq }: Listed['some'][number]): number => Number(arq.state === 'BindFailed')
const shown = (list: Listed, now: number): readonly Child[] =>
  list.some.length === 0
    ? [
        empty(
          'No accelerator request belongs to this instance',
          p(null, 'Either it never had one, or all of them were deleted with it.'),
        ),
      ]
    : [
        conversation(list, now),
        ...list.some.toSorted((one, other) => isFailed(other) - isFailed(one)).map((each) => memberPanel(each, now)),
      ]

export const instancePage = ({ body: { uuid, list, offers: possible }, here, now }: Screen<'instance'>): Node =>
  div(
    null,
    head(link('arqs', 'Instance'), uuid, null, here, possible),
    ...(list.ok ? shown(list.value, now) : [trouble(list.error)]),
    list.ok ? cutNote(list.value, 'requests', under('arqs', { instance: uuid })) : null,
    command(shell`openstack accelerator arq list --instance ${uuid}`),
  )

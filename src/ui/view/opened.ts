/** The page that opens a timeline that was kept in a file. */
import type { Timeline } from '../shapes.ts'
import { headline } from './headline.ts'
import { type Fact, command, facts, id, panel, trouble } from './parts.ts'
import { timelineParts } from './timeline.ts'
import { recorderOf } from './recorder.ts'
import type { Screen } from './screen.ts'
import { type Child, type Node, a, button, code, div, form, h1, header, input, label, p, span, time } from './tags.ts'
import type { Chosen, Ways } from './ways.ts'
import { count, precise, shell } from './words.ts'

const chooser = (again: boolean): Node =>
  form(
    { method: 'post', action: 'timeline', enctype: 'multipart/form-data', class: 'form asked' },
    label(
      { class: 'whole' },
      span(null, again ? 'Another file' : 'File'),
      input({ type: 'file', name: 'file', accept: '.json,application/json', required: true }),
    ),
    div({ class: 'form-end' }, button({ type: 'submit', class: 'button full' }, 'Open it')),
  )

const momentIn = (at: string | undefined): Child => (at === undefined ? null : time({ datetime: at }, precise(at)))
const factsOf = ({ arq, project_id: project, steps, deleted }: Timeline): readonly Fact[] => [
  ['Request', a({ class: 'id', href: `arqs/${encodeURIComponent(arq)}` }, arq)],
  ['Project', id(project)],
  ['From', momentIn(steps[0]?.at)],
  ['To', momentIn(steps.at(-1)?.at)],
  ['Steps', count(steps.length)],
  ['Deleted at its end', deleted ? 'yes' : 'no'],
]
/** The state in which a file leaves its request, as far as the sentence above it needs to know. */
const stateIn = ({ steps }: Timeline): string | null => {
  const last = steps.findLast(({ step }) => step === 'bound' || step === 'bind failed' || step === 'bind accepted')
  return last?.step === 'bind failed' ? 'BindFailed' : null
}

const drawn = (timeline: Timeline, ways: Ways): Node => {
  const chosen: Chosen = { place: 'timeline', asOf: null, ways, kept: false }
  // in a file nothing goes on: it ends with its last step
  const end = Date.parse(timeline.steps.at(-1)?.at ?? '')
  const recorder = recorderOf(timeline, end, ways)
  return div(
    null,
    facts(factsOf(timeline)),
    headline(timeline.deleted ? null : stateIn(timeline), recorder, timeline),
    timelineParts(timeline, recorder, chosen, null),
  )
}

export const openedPage = ({ body: { file, ways } }: Screen<'opened'>): Node =>
  div(
    null,
    header({ class: 'head' }, h1(null, file?.ok ? `Timeline in ${file.value.name}` : 'Open a timeline')),
    p(
      { class: 'lead' },
      'A timeline that the page of a request has exported, or that ',
      code(null, 'accelerando arq timeline UUID --json --events'),
      ' has written. What the file says is shown as it stands there: the service does not compare it with its records, and keeps nothing of it.',
    ),
    file === null ? null : file.ok ? drawn(file.value.timeline, ways) : trouble(file.error),
    panel(file?.ok ? 'Another one' : 'The file', null, div({ class: 'plain-block' }, chooser(file?.ok === true))),
    command(shell`accelerando arq timeline --file FILE`),
  )

/** The page that says why a device profile, stored or drafted, fits no host, or which hosts it fits. */
import type { Explanation, Obstacle } from '../answerShapes.ts'
import { command, empty, facts, link, mark, panel, state, trouble } from './parts.ts'
import type { Screen } from './screen.ts'
import {
  type Child,
  type Node,
  a,
  button,
  code,
  div,
  form,
  h1,
  header,
  input,
  label,
  li,
  p,
  span,
  textarea,
  ul,
} from './tags.ts'
import { type CommandLine, count, many, shell } from './words.ts'

const PLACEMENT: Readonly<Record<string, string>> = {
  asked: 'Placement was asked',
  not_configured: 'no Placement is configured',
  unreachable: 'Placement could not be asked',
}
const STOPPED: Readonly<Record<string, string>> = {
  bind: 'a bind is refused',
  work: 'its host cannot serve a bind',
  placement: 'Nova is not shown it',
}

const obstacles = (list: readonly Obstacle[]): Child =>
  list.length === 0
    ? null
    : ul(
        { class: 'obstacles' },
        ...list.map(({ code: word, reason, change, stops }, index) =>
          li(
            { key: index },
            code({ class: 'want' }, word),
            span(null, `${reason} (${stops.map((stop) => STOPPED[stop] ?? stop).join(', ')}). `),
            span({ class: 'dim' }, `${change}.`.replace('..', '.')),
          ),
        ),
      )

const group = ({ group: number, arqs, devices, removed, nearest }: Explanation['groups'][number]): Node =>
  panel(
    `Group ${number}`,
    span({ class: 'dim' }, `${many(arqs, 'request')}, ${many(devices, 'device')} without an obstacle`),
    Object.keys(removed).length === 0
      ? null
      : facts(Object.entries(removed).map(([word, number_]) => [word, many(number_, 'device')] as const)),
    nearest === null
      ? null
      : div(
          { class: 'plain-block' },
          p(
            null,
            'Nearest: ',
            code(null, nearest.name),
            ' on ',
            link(`hosts/${encodeURIComponent(nearest.host)}`, nearest.host),
          ),
          obstacles(nearest.obstacles),
        ),
  )

const hostOf = ({ host, fits, obstacles: own, groups }: Explanation['hosts'][number]): Node =>
  panel(
    link(`hosts/${encodeURIComponent(host)}`, host),
    state(fits ? 'good' : 'bad', fits ? 'fits' : 'does not fit'),
    div(
      { class: 'plain-block' },
      obstacles(own),
      ...groups.flatMap(({ group: number, devices, left_out: more }) => [
        ...devices.map(({ name, deployable_uuid: uuid, obstacles: found }) =>
          div({ key: `${number} ${uuid}` }, p(null, `Group ${number}: `, code(null, name)), obstacles(found)),
        ),
        more === 0
          ? null
          : p({ class: 'dim', key: `${number} more` }, `Group ${number}: ${many(more, 'further device')}.`),
      ]),
    ),
  )

const answer = ({
  fits,
  groups,
  hosts,
  placement,
  devices_checked: devices,
  hosts_checked: checked,
  hosts_fitting: fitting,
  hosts_left_out: leftOut,
}: Explanation): Node =>
  div(
    null,
    p(
      { class: `verdict ${fits ? 'good' : 'bad'}` },
      mark(fits ? 'good' : 'bad'),
      `${count(fitting)} of ${many(checked, 'host')} ${fitting === 1 ? 'fits' : 'fit'}`,
      span({ class: 'dim' }, `${many(devices, 'device')} looked at, ${PLACEMENT[placement] ?? placement}`),
    ),
    ...groups.map(group),
    ...hosts.map(hostOf),
    leftOut === 0
      ? null
      : p(
          { class: 'dim' },
          `${many(leftOut, 'further host is', 'further hosts are')} not shown: name one of them above.`,
        ),
  )

const EXAMPLE = '[{"resources:FPGA": "1", "trait:CUSTOM_FPGA_INTEL": "required"}]'
const commandOf = (profile: string, draft: string, host: string): CommandLine => {
  const only = host === '' ? [] : ['--host', host]
  return draft === ''
    ? shell`accelerando explain ${profile || 'PROFILE'} ${only}`
    : shell`accelerando explain --file FILE ${only}`
}

export const explainPage = ({ body: { explanation, profile, draft, host } }: Screen<'explain'>): Node =>
  div(
    null,
    header({ class: 'head' }, h1(null, 'Explain')),
    p(
      { class: 'lead' },
      'Which hosts fit a device profile, what keeps the others from it, and what would have to change. Nothing is changed.',
    ),
    form(
      { method: 'get', action: 'explain', class: 'form asked' },
      label(
        null,
        span(null, 'Profile'),
        input({ name: 'profile', value: profile, autocomplete: 'off', spellcheck: 'false' }),
      ),
      label(
        null,
        span(null, 'Only this host'),
        input({ name: 'host', value: host, autocomplete: 'off', spellcheck: 'false' }),
      ),
      label(
        { class: 'whole' },
        span(null, 'Or the groups of a draft', span({ class: 'dim' }, ' · counts instead of the profile')),
        textarea({ name: 'draft', rows: 3, maxlength: 8000, spellcheck: 'false', placeholder: EXAMPLE }, draft),
      ),
      div(
        { class: 'form-end' },
        button({ type: 'submit', class: 'button full' }, 'Explain'),
        a({ class: 'button', href: 'explain' }, 'Clear'),
      ),
    ),
    explanation === null
      ? empty(
          'Name a profile, or write a draft',
          p(null, 'A failed bind leads here with its profile; so does the page of each profile.'),
        )
      : explanation.ok
        ? answer(explanation.value)
        : trouble(explanation.error),
    command(commandOf(profile, draft, host)),
  )

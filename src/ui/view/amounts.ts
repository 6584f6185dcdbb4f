/** The pages about capacity and usage: accelerators that exist, that are free, and that were used. */
import type { Capacity, Usage } from '../answerShapes.ts'
import { command, counts, empty, id, idLink, mark, panel, trouble, when } from './parts.ts'
import { type Column, filtersOf, listed, rows, under } from './rows.ts'
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
  option,
  p,
  select,
  span,
} from './tags.ts'
import type { Tone } from './states.ts'
import { type CommandLine, count, labelOf, many, moment, shell } from './words.ts'

type Line = Capacity['capacity'][number]
const AMOUNTS: readonly (readonly [word: 'held' | 'free' | 'withheld' | 'broken', tone: Tone])[] = [
  ['held', 'good'],
  ['free', 'idle'],
  ['withheld', 'held'],
  ['broken', 'bad'],
]
const HOSTS_SHOWN = 20

const hostColumns = (draft: string): readonly Column<Line['hosts'][number]>[] => [
  { title: 'Host', cell: ({ host }) => idLink('hosts', host) },
  { title: 'Total', cell: ({ total }) => count(total), kind: 'number' },
  ...AMOUNTS.map(([word]) => ({
    title: labelOf(word),
    cell: (row: Line['hosts'][number]) => count(row[word]),
    kind: 'number' as const,
  })),
  {
    title: 'Explain',
    cell: ({ host }) => a({ href: under('explain', { draft, host }) }, 'would one fit here'),
  },
]

const PERCENT = 100
/**
 * How the free ones are spread: a server takes all of its accelerators from one host. A server that asks for some of
 * the traits may also get those of another line that has more.
 */
const spread = ({ free, hosts, traits }: Line): Child => {
  const which = traits.length === 0 ? 'without traits' : 'with exactly these traits'
  const some = hosts.filter((here) => here.free > 0)
  const most = Math.max(0, ...some.map((here) => here.free))
  if (free === 0) return p({ class: 'rest dim' }, `None ${which} is free.`)
  const apart = Math.round(((free - most) / free) * PERCENT)
  return p(
    { class: 'rest' },
    `At most ${count(most)} ${which} for one server: the free ones are on ${many(some.length, 'host')}; fragmentation ${apart} %.`,
  )
}

const draftOf = ({ resource_class: name, traits }: Line): string =>
  JSON.stringify([
    { [`resources:${name}`]: '1', ...Object.fromEntries(traits.map((trait) => [`trait:${trait}`, 'required'])) },
  ])

const kind = (line: Line): Node =>
  panel(
    span(null, line.resource_class, ' ', ...line.traits.map((trait) => code({ class: 'want', key: trait }, trait))),
    span({ class: 'total' }, `${count(line.free)} free of ${count(line.total)}`),
    counts(
      AMOUNTS.map(([word, tone]) => ({ word, tone, count: line[word] })),
      `${line.resource_class}: ${AMOUNTS.map(([word]) => `${line[word]} ${word}`).join(', ')}`,
    ),
    spread(line),
    rows(
      `Hosts with ${line.resource_class} ${line.traits.join(' ')}`,
      hostColumns(draftOf(line)),
      line.hosts.slice(0, HOSTS_SHOWN),
      ({ host }) => host,
    ),
    line.hosts.length <= HOSTS_SHOWN
      ? null
      : p(
          { class: 'rest dim' },
          `${HOSTS_SHOWN} of ${count(line.hosts.length)} hosts are shown, those with the most free ones first; the command below shows all.`,
        ),
    p(
      { class: 'rest' },
      a({ href: under('explain', { draft: draftOf(line) }) }, 'Explain a profile that asks for one of these'),
    ),
  )

/** Nova's scheduler counts in Placement, and not here. */
const ofPlacement = (placement: string | null): Child => {
  if (placement === null || placement === 'in use') return null
  const isAbsent = placement === 'absent'
  return p(
    { class: 'headline' },
    mark(isAbsent ? 'idle' : 'bad'),
    isAbsent
      ? 'Placement is not configured: the numbers are those of this service, and no scheduler sees them.'
      : `Placement: ${placement}. The numbers are those of this service; what the scheduler of Nova sees may differ.`,
  )
}

const capacityCommand = (filter: Readonly<Record<string, string>>): CommandLine =>
  shell`accelerando capacity show --hosts ${[
    ...(filter['resource_class'] ? ['--class', filter['resource_class']] : []),
    ...(filter['trait'] ? ['--trait', filter['trait']] : []),
  ]}`

export const capacityPage = ({ body: { capacity, filter, placement }, now }: Screen<'capacity'>): Node =>
  div(
    null,
    header({ class: 'head' }, h1(null, 'Capacity')),
    p(
      { class: 'lead' },
      'How many more fit, and where: attach handles by resource class and traits, as they are recorded here.',
    ),
    filtersOf('capacity', filter, null),
    ofPlacement(placement),
    capacity.ok
      ? listed(
          { ok: true, value: capacity.value.capacity },
          (lines) =>
            div(null, p({ class: 'dim' }, 'Counted ', when(capacity.value.counted_at, now), '.'), ...lines.map(kind)),
          empty('No host has reported an accelerator', command(shell`accelerando device scan`)),
          { is: Object.keys(filter).length > 0, clear: 'capacity' },
        )
      : trouble(capacity.error),
    command(capacityCommand(filter)),
  )

const usageColumns: readonly Column<Usage['usage'][number]>[] = [
  { title: 'Project', cell: ({ project_id: project }) => id(project) },
  { title: 'Class', cell: ({ resource_class: name }) => name },
  { title: 'From', cell: ({ from }) => moment(from) },
  { title: 'Until', cell: ({ until }) => moment(until) },
  { title: 'Device seconds', cell: ({ device_seconds: seconds }) => seconds, kind: 'number' },
  { title: 'Bindings', cell: ({ bindings }) => count(bindings), kind: 'number' },
]
const PERIODS = ['total', 'month', 'day']
const usageForm = (filter: Readonly<Record<string, string>>): Node =>
  form(
    { method: 'get', action: 'usage', class: 'form asked' },
    label(
      null,
      span(null, 'From'),
      input({ name: 'from', value: filter['from'] ?? '', placeholder: 'first of the month', autocomplete: 'off' }),
    ),
    label(
      null,
      span(null, 'Until'),
      input({ name: 'until', value: filter['until'] ?? '', placeholder: 'now', autocomplete: 'off' }),
    ),
    label(
      null,
      span(null, 'Project'),
      input({ name: 'project_id', value: filter['project_id'] ?? '', autocomplete: 'off' }),
    ),
    label(
      null,
      span(null, 'Period'),
      select(
        { name: 'period' },
        ...PERIODS.map((period) =>
          option({ key: period, value: period, selected: period === (filter['period'] ?? 'total') }, period),
        ),
      ),
    ),
    div({ class: 'form-end' }, button({ type: 'submit', class: 'button full' }, 'Show')),
  )

const FLAGS: Readonly<Record<string, string>> = {
  from: 'from',
  until: 'until',
  period: 'period',
  project_id: 'project',
}
const usageShown = (usage: Usage, filter: Readonly<Record<string, string>>): Child =>
  div(
    null,
    p(
      { class: 'dim' },
      `From ${moment(usage.from)} until ${moment(usage.until)}; what is still bound counts up to ${moment(usage.as_of)}. `,
      a({ class: 'underlined', href: under('usage.csv', filter), download: 'usage.csv' }, 'Download as CSV'),
    ),
    usage.usage.length === 0
      ? empty('Nothing was bound in this time')
      : rows(
          'Usage',
          usageColumns,
          usage.usage,
          ({ project_id: project, resource_class: name, from }) => `${project} ${name} ${from}`,
        ),
  )
export const usagePage = ({ body: { usage, filter } }: Screen<'usage'>): Node =>
  div(
    null,
    header({ class: 'head' }, h1(null, 'Usage')),
    p(
      { class: 'lead' },
      'For how many seconds accelerators were bound, exactly as the journal has it. Whoever is not an administrator sees the own project.',
    ),
    usageForm(filter),
    usage.ok ? usageShown(usage.value, filter) : trouble(usage.error),
    command(
      shell`accelerando usage ${Object.entries(filter).flatMap(([name, value]) => [`--${FLAGS[name] ?? name}`, value])}`,
    ),
  )

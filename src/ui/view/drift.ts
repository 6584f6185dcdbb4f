/** The page about drift: what differs, host by host, and what of it is ignored. */
import type { Drift, IgnoredDrift } from '../shapes.ts'
import { differenceId } from './differenceId.ts'
import { command, empty, idLink, link, mark, none, panel, state, trouble, when } from './parts.ts'
import { type Column, rows } from './rows.ts'
import { offers } from './offers.ts'
import type { Offer, Screen } from './screen.ts'
import { DRIFT_KINDS } from './states.ts'
import { type Child, type Node, a, div, h1, header, p, span } from './tags.ts'
import { many, moment, shell } from './words.ts'

type Compared = Drift['drift'][number]
type Entry = Compared['entries'][number]

const COLUMNS: readonly Column<Entry>[] = [
  { title: 'What differs', cell: (row) => state('bad', DRIFT_KINDS[row.kind] ?? row.kind) },
  { title: 'Provider', cell: (row) => row.name },
  { title: 'Reason', cell: (row) => row.reason ?? none(), kind: 'wide' },
  { title: 'Repair', cell: (row) => (row.repairs.length === 0 ? none() : row.repairs.join(', ')) },
  { title: 'Instance', cell: (row) => idLink('instances', row.consumer_uuid) },
]
type Offered = {
  /** About the host. */
  readonly ofHost: readonly Offer[]
  /** About one difference. */
  readonly ofOne: readonly Offer[]
}
/** What a pass repairs is not ignored. */
const offersColumn = (host: string, { ofOne }: Offered): readonly Column<Entry>[] =>
  ofOne.length === 0
    ? []
    : [
        {
          title: 'Actions',
          cell: ({ repairs, uuid }) =>
            repairs.length > 0 ? none() : offers(`differences/${encodeURIComponent(differenceId(uuid, host))}`, ofOne),
        },
      ]

export const driftOf = (
  { host, entries, trouble: problem, checked_at: checked }: Compared,
  now: number,
  offered: Offered = { ofHost: [], ofOne: [] },
): Node =>
  panel(
    idLink('hosts', host),
    span({ class: 'dim' }, 'last pass ', when(checked, now)),
    entries.some(({ repairs }) => repairs.length > 0)
      ? offers(`drift/${encodeURIComponent(host)}`, offered.ofHost)
      : null,
    problem === null
      ? null
      : p(
          { class: 'headline' },
          mark('bad'),
          `${problem.state}${problem.reason === null ? '' : `: ${problem.reason}`}`,
        ),
    rows(`Differences of ${host}`, [...COLUMNS, ...offersColumn(host, offered)], entries, (row) => row.uuid),
  )

/** Without what is ignored. */
const attended = (each: Compared): Compared => ({
  ...each,
  entries: each.entries.filter(({ ignored }) => ignored === null),
})
const differs = ({ entries, trouble: problem }: Compared): boolean => entries.length > 0 || problem !== null

const ignoredColumns = (now: number, list: readonly Offer[]): readonly Column<IgnoredDrift>[] => [
  { title: 'Host', cell: (row) => idLink('hosts', row.host) },
  { title: 'What differs', cell: (row) => state('held', DRIFT_KINDS[row.kind] ?? row.kind) },
  { title: 'Provider', cell: (row) => row.name },
  { title: 'Reason', cell: (row) => row.difference_reason ?? none(), kind: 'wide' },
  { title: 'Ignored because', cell: (row) => row.reason, kind: 'wide' },
  { title: 'By', cell: (row) => row.by },
  { title: 'Back', cell: (row) => span({ title: moment(row.until) }, when(row.until, now)) },
  { title: 'Actions', cell: (row) => offers(`ignored/${encodeURIComponent(row.uuid)}`, list) },
]
const ignoredPanel = ({ body: { ignored, offersOfIgnored: list }, now }: Screen<'drift'>): Child => {
  if (!ignored.ok) return null
  const { some } = ignored.value
  if (some.length === 0) return null
  return panel(
    'Ignored',
    span({ class: 'dim' }, 'not counted until they are back'),
    rows('Ignored differences', ignoredColumns(now, list), some, (row) => row.uuid),
    some.length < ignored.value.of
      ? p({ class: 'rest dim' }, 'There are more: ', shell`accelerando drift ignored`)
      : null,
  )
}

const comparedPart = (screen: Screen<'drift'>): readonly Child[] => {
  const { body, now } = screen
  const { drift, offers: ofHost, offersOfOne: ofOne } = body
  if (!drift.ok) return [trouble(drift.error)]
  const shown = drift.value.drift.map(attended).filter(differs)
  if (shown.length > 0) return shown.map((each) => driftOf(each, now, { ofHost, ofOne }))
  const left = drift.value.drift.flatMap(({ entries }) => entries).length
  const compared = p(null, `${many(drift.value.drift.length, 'host was', 'hosts were')} compared just now.`)
  return left === 0
    ? [empty('Everything agrees', compared)]
    : [empty('Everything else agrees', compared, p(null, `${many(left, 'difference is', 'differences are')} ignored.`))]
}

export const driftPage = (screen: Screen<'drift'>): Node => {
  const { next, host } = screen.body
  return div(
    null,
    header({ class: 'head' }, h1(null, 'Drift')),
    p({ class: 'lead' }, 'Where hardware, records and Placement disagree. Everything is read anew for this page.'),
    ...comparedPart(screen),
    ignoredPanel(screen),
    next === null
      ? null
      : p(null, a({ class: 'button', href: `drift?after=${encodeURIComponent(next)}` }, 'Further hosts')),
    host === null ? null : p(null, `Only host ${host} is shown. `, link('drift', 'All hosts')),
    command(shell`accelerando drift heal`),
  )
}

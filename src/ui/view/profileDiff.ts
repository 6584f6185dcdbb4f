/** The page about the differences between two versions of a device profile. */
import type { Difference, Differences } from '../../vocabulary/profileDiff.ts'
import type { ProfileVersions } from '../shapes.ts'
import { type Fact, command, empty, facts, link, none, panel, state, trouble, when } from './parts.ts'
import { type Column, rows } from './rows.ts'
import type { Screen, VersionPair } from './screen.ts'
import type { Tone } from './states.ts'
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
  label,
  option,
  p,
  select,
  span,
} from './tags.ts'
import { many, shell } from './words.ts'

type Version = ProfileVersions['versions'][number]
const CHANGES: Readonly<Record<Difference['change'], Tone>> = { added: 'good', removed: 'held', changed: 'busy' }
const KINDS: Readonly<Record<string, string>> = { resources: 'Resource', trait: 'Trait', accel: 'Property' }
const kindOf = ({ group, key }: Difference): string =>
  group === null ? 'Field' : (KINDS[key.split(':')[0] ?? ''] ?? 'Other')

const COLUMNS: readonly Column<Difference>[] = [
  { title: 'Change', cell: ({ change }) => state(CHANGES[change], change) },
  { title: 'Kind', cell: kindOf },
  { title: 'Part', cell: ({ key }) => code(null, key) },
  { title: 'Before', cell: ({ from }) => (from === null ? none() : code(null, from)), kind: 'wide' },
  { title: 'After', cell: ({ to }) => (to === null ? none() : code(null, to)), kind: 'wide' },
]
const titleOf = (group: number | null, { added, removed }: Differences): Child => {
  if (group === null) return 'Description'
  if (added.includes(group)) return state(CHANGES.added, `Group ${group}, added`)
  return removed.includes(group) ? state(CHANGES.removed, `Group ${group}, removed`) : `Group ${group}`
}
const differing = (differences: Differences): readonly Node[] =>
  [...Map.groupBy(differences.parts, ({ group }) => group)].map(([group, parts]) =>
    panel(
      titleOf(group, differences),
      null,
      rows(group === null ? 'Description' : `Group ${group}`, COLUMNS, parts, ({ key }) => key),
    ),
  )

const factOf = (title: string, { version, enabled, created_at: created }: Version, now: number): Fact => [
  title,
  [
    state(enabled ? 'good' : 'held', `version ${version}, ${enabled ? 'enabled' : 'disabled'}`),
    ' ',
    when(created, now),
  ],
]
/** The same in every version: they belong to the profile. */
const common = ({ profile }: VersionPair): readonly Fact[] => [
  ['Name', profile.name],
  [
    'Who may use it',
    [
      profile.projects === null ? 'everybody' : profile.projects.join(', ') || 'nobody',
      span({ class: 'dim' }, ' · of all its versions'),
    ],
  ],
]

const chosen = (name: 'from' | 'to', title: string, { versions, ...pair }: VersionPair): Node =>
  label(
    null,
    span(null, title),
    select(
      { name },
      ...versions.map(({ version }) =>
        option({ key: version, value: version, selected: version === pair[name].version }, String(version)),
      ),
    ),
  )
const asked = (pair: VersionPair, here: string): Node =>
  form(
    { method: 'get', action: here, class: 'form asked' },
    chosen('from', 'Before', pair),
    chosen('to', 'After', pair),
    div({ class: 'form-end' }, button({ type: 'submit', class: 'button full' }, 'Compare')),
  )

const shown = (pair: VersionPair, { here, now }: Pick<Screen, 'here' | 'now'>): Child => {
  const { from, to, differences, profile } = pair
  const { parts, same } = differences
  return div(
    null,
    asked(pair, here),
    facts([factOf('Before', from, now), factOf('After', to, now), ...common(pair)]),
    parts.length === 0
      ? empty('Both ask for the same', pair.versions.length === 1 ? p(null, 'The profile has only one version.') : null)
      : p(
          { class: 'dim' },
          `${many(parts.length, 'part differs', 'parts differ')}, ${many(same, 'part is', 'parts are')} the same.`,
        ),
    ...differing(differences),
    command(shell`accelerando profile diff ${profile.name} ${[String(from.version), String(to.version)]}`),
  )
}

export const versionsPage = ({ body: { pair, id }, here, now }: Screen<'versions'>): Node => {
  const profile = `profiles/${encodeURIComponent(id)}`
  return div(
    null,
    header(
      { class: 'head' },
      div(null, p({ class: 'over' }, link(profile, 'Profile ', id)), h1(null, 'Versions compared')),
    ),
    pair.ok ? shown(pair.value, { here, now }) : trouble(pair.error),
    pair.ok ? null : p(null, a({ class: 'button', href: profile }, 'Back to the profile')),
  )
}

/** The home page: is anything wrong now? */
import type { Arq, Overview } from '../shapes.ts'
import type { Told } from '../told.ts'
import { arqColumns } from './lists.ts'
import { command, counts, empty, mark, panel, trouble, when } from './parts.ts'
import { rows } from './rows.ts'
import type { Screen } from './screen.ts'
import { ARQ_STATES, DEVICE_STATES, HANDLE_STATES, HOST_STATES, type Tone } from './states.ts'
import { type Child, type Node, a, div, h1, header, li, p, span, ul } from './tags.ts'
import { count, many, sum } from './words.ts'

type Finding = { readonly tone: Tone; readonly text: string; readonly href: string; readonly more: Child }

const QUIET_NEIGHBOURS = new Set(['absent', 'in use', 'a folder', 'the image service'])
const PLAIN = new Set(['version', 'store', 'api', 'authentication', 'images'])
/** An order or an event that waits so long is worth a look. */
const LONG_MS = 30_000

const isLate = (oldest: string | null, now: number): boolean => oldest !== null && now - Date.parse(oldest) > LONG_MS

type Named = 'arqs' | 'hosts' | 'handles'
type Watched = {
  readonly of: Named
  readonly state: string
  readonly tone: Tone
  readonly text: (number: number) => string
  readonly href: string
}
/** The states in which something needs a look, gravest first. */
const WATCHED: readonly Watched[] = [
  {
    of: 'hosts',
    state: 'down',
    tone: 'bad',
    text: (n) => `${many(n, 'host is', 'hosts are')} down`,
    href: 'hosts?liveness=down',
  },
  {
    of: 'arqs',
    state: 'BindFailed',
    tone: 'bad',
    text: (n) => `${many(n, 'request')} could not be bound`,
    href: 'arqs?state=BindFailed',
  },
  {
    of: 'arqs',
    state: 'UnbindFailed',
    tone: 'bad',
    text: (n) => `${many(n, 'request')} could not be released on the host`,
    href: 'arqs?state=UnbindFailed',
  },
  {
    of: 'handles',
    state: 'missing',
    tone: 'bad',
    text: (n) => `${many(n, 'attach handle is', 'attach handles are')} not reported any more`,
    href: 'handles?state=missing',
  },
  {
    of: 'handles',
    state: 'quarantined',
    tone: 'bad',
    text: (n) =>
      `${many(n, 'attach handle is', 'attach handles are')} withheld until an operator looks at ${n === 1 ? 'it' : 'them'}`,
    href: 'handles?state=quarantined',
  },
  {
    of: 'hosts',
    state: 'stale',
    tone: 'busy',
    text: (n) => `${many(n, 'host is', 'hosts are')} silent for a while`,
    href: 'hosts?liveness=stale',
  },
  {
    of: 'hosts',
    state: 'pending',
    tone: 'held',
    text: (n) => `${many(n, 'host waits', 'hosts wait')} for an operator to accept the key`,
    href: 'hosts?liveness=pending',
  },
]

const ofNeighbours = (program: Overview['program']): readonly Finding[] =>
  Object.entries(program)
    .filter(([name, said]) => !PLAIN.has(name) && !QUIET_NEIGHBOURS.has(said))
    .map(([name, said]) => ({
      tone: 'bad',
      text: `${name[0]?.toUpperCase()}${name.slice(1)}: ${said}`,
      href: 'system',
      more: null,
    }))

const ofWork = ({ orders, deliveries }: Overview, now: number): readonly Finding[] => [
  ...(orders.waiting > 0 && isLate(orders.oldest_at, now)
    ? [
        {
          tone: 'bad' as const,
          text: `${many(orders.waiting, 'order')} to hosts without an answer`,
          href: 'arqs?state=BindStarted',
          more: when(orders.oldest_at, now),
        },
      ]
    : []),
  ...(deliveries.waiting > 0
    ? [
        {
          tone: 'busy' as const,
          text: `Nova has not taken the events about ${many(deliveries.waiting, 'instance')}`,
          href: 'deliveries',
          more: null,
        },
      ]
    : []),
]

/** `now`: the server's, in ms since the epoch. */
export const findingsOf = (overview: Overview, now: number): readonly Finding[] => [
  ...WATCHED.flatMap(({ of, state, tone, text, href }): readonly Finding[] => {
    const number = overview[of][state] ?? 0
    return number > 0 ? [{ tone, text: text(number), href, more: null }] : []
  }),
  ...ofNeighbours(overview.program),
  ...ofWork(overview, now),
]

const verdict = (overview: Told<Overview>, now: number): Node => {
  if (!overview.ok) return trouble(overview.trouble)
  const findings = findingsOf(overview.value, now)
  if (findings.length === 0)
    return p({ class: 'verdict good' }, mark('good'), 'All is well: every host answers, and nothing is stuck.')
  const grave = findings.filter(({ tone }) => tone === 'bad').length
  return div(
    null,
    p(
      { class: `verdict ${grave > 0 ? 'bad' : 'busy'}` },
      mark(grave > 0 ? 'bad' : 'busy'),
      grave > 0 ? `${many(grave, 'thing needs', 'things need')} attention` : 'Nothing is wrong; some things wait',
    ),
    ul(
      { class: 'findings' },
      ...findings.map(({ tone, text, href, more }) =>
        li(
          { key: text },
          mark(tone),
          a({ href }, text),
          more === null ? null : span({ class: 'dim' }, ' · oldest ', more),
        ),
      ),
    ),
  )
}

const tile = (
  title: string,
  href: string,
  states: Readonly<Record<string, { readonly tone: Tone }>>,
  given: Readonly<Record<string, number>>,
  filter: string | null,
): Node => {
  const known = Object.keys(states).filter((word) => (given[word] ?? 0) > 0)
  const shown = known.length > 0 ? known : Object.keys(states).slice(0, 1)
  return panel(
    a({ href }, title),
    span({ class: 'total' }, count(sum(given))),
    counts(
      shown.map((word) => ({
        word,
        tone: states[word]?.tone ?? 'idle',
        count: given[word] ?? 0,
        ...(filter !== null && { href: `${href}?${filter}=${word}` }),
      })),
      `${title}: ${shown.map((word) => `${given[word] ?? 0} ${word}`).join(', ')}`,
    ),
  )
}

const tiles = ({ arqs, handles, hosts, devices }: Overview): Node =>
  div(
    { class: 'tiles' },
    tile('Requests', 'arqs', ARQ_STATES, arqs, 'state'),
    tile('Hosts', 'hosts', HOST_STATES, hosts, 'liveness'),
    tile('Devices', 'devices', DEVICE_STATES, devices, 'status'),
    tile('Attach handles', 'handles', HANDLE_STATES, handles, 'state'),
  )

const latest = (title: string, href: string, given: Told<readonly Arq[]>, now: number, nothing: Child): Node =>
  panel(
    title,
    a({ class: 'quiet', href }, 'All'),
    given.ok
      ? given.value.length > 0
        ? rows(title, arqColumns(now), given.value, ({ uuid }) => uuid)
        : nothing
      : trouble(given.trouble),
  )

const start = (): Node =>
  empty(
    'No request was made yet',
    p(null, 'Nova makes one for each server whose flavor names a device profile. To see how that looks:'),
    command('npm start -- --demo --tour'),
  )

export const homePage = ({ body: { overview, failed, latest: newest }, now }: Screen<'home'>): Node =>
  div(
    null,
    header({ class: 'head' }, h1(null, 'Overview')),
    verdict(overview, now),
    overview.ok ? tiles(overview.value) : null,
    failed.ok && failed.value.length > 0
      ? latest('Could not be bound', 'arqs?state=BindFailed', failed, now, null)
      : null,
    latest('Latest requests', 'arqs', newest, now, start()),
  )

/** The home page: it shows whether anything is wrong now. */
import type { Arq, Overview } from '../shapes.ts'
import type { Loaded } from '../loaded.ts'
import { calm, findingsOf } from './findings.ts'
import { arqColumns } from './lists.ts'
import { command, counts, empty, mark, panel, trouble, when } from './parts.ts'
import { rows } from './rows.ts'
import type { Screen } from './screen.ts'
import { ARQ_STATES, DEVICE_STATES, HANDLE_STATES, HOST_STATES, type Tone } from './states.ts'
import { type Child, type Node, a, div, h1, header, li, p, span, ul } from './tags.ts'
import { count, many, shell, sum } from './words.ts'

const verdict = (overview: Loaded<Overview>, now: number): Node => {
  if (!overview.ok) return trouble(overview.error)
  const findings = findingsOf(overview.value, now)
  if (findings.length === 0) return p({ class: 'verdict good' }, mark('good'), calm(overview.value, now))
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
      ...findings.map(({ tone, text, href, since, last, mend }) =>
        li(
          { key: text },
          mark(tone),
          span(
            { class: 'finding' },
            a({ href }, text),
            since === null && last === null ? null : span({ class: 'dim' }, ' · ', when(since ?? last, now)),
          ),
          command(mend),
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

const tiles = ({ arqs, handles, hosts, device_states: devices = {} }: Overview): Node =>
  div(
    { class: 'tiles' },
    tile('Requests', 'arqs', ARQ_STATES, arqs, 'state'),
    tile('Hosts', 'hosts', HOST_STATES, hosts, 'liveness'),
    tile('Devices', 'devices', DEVICE_STATES, devices, 'state'),
    tile('Attach handles', 'handles', HANDLE_STATES, handles, 'state'),
  )

const latest = (title: string, href: string, given: Loaded<readonly Arq[]>, now: number, nothing: Child): Node =>
  panel(
    title,
    a({ class: 'quiet', href }, 'All'),
    given.ok
      ? given.value.length > 0
        ? rows(title, arqColumns(now), given.value, ({ uuid }) => uuid)
        : nothing
      : trouble(given.error),
  )

const start = (): Node =>
  empty(
    'No request was made yet',
    p(null, 'Nova makes one for each server whose flavor names a device profile. What could be given now:'),
    command(shell`accelerando capacity show`),
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

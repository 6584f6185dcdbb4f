/**
 * The conditions that need attention. Each is a row with its sentence, the page that shows it, and the command that
 * mends it.
 */
import type { DeepReadonly } from '../../vocabulary/deepReadonly.ts'
import type * as shapes from '../shapes.ts'
import type { Tone } from './states.ts'
import { type CommandLine, ago, many, shell, sum } from './words.ts'

type Overview = DeepReadonly<shapes.Overview>
export type Finding = {
  readonly tone: Tone
  readonly text: string
  readonly href: string
  readonly since: string | null
  /** When it was found last, of what is counted from the start of the program. */
  readonly last: string | null
  readonly mend: CommandLine
}
/** `number` 0: nothing to report. */
type Seen = { readonly number: number; readonly since?: string | null; readonly last?: string | null }
type Watched = {
  readonly tone: Tone
  readonly seen: (overview: Overview, now: number) => Seen
  readonly text: (number: number, overview: Overview) => string
  readonly href: string
  readonly mend: CommandLine | ((overview: Overview) => CommandLine)
}

/** An order, a due moment or a row that waits longer than this needs attention. */
const LONG_MS = 30_000
const UNTOLD_MS = 5000
/** How long a single occurrence is shown. */
const REMEMBERED_MS = 24 * 3_600_000

const NOTHING: Seen = { number: 0 }
const counted =
  (of: 'arqs' | 'hosts' | 'handles' | 'placement' | 'device_states', state: string): Watched['seen'] =>
  (overview) => ({ number: overview[of]?.[state] ?? 0 })
const older = (since: string | null, now: number, ms: number, number = 1): Seen =>
  since !== null && now - Date.parse(since) > ms ? { number, since } : NOTHING
const found =
  (name: keyof Overview['found']): Watched['seen'] =>
  ({ found: all }, now) => {
    const { count, last_at: last } = all[name]
    return last !== null && now - Date.parse(last) < REMEMBERED_MS ? { number: count, last } : NOTHING
  }

type Faulty = NonNullable<Overview['vanished']>
const underOf = ({ instances, arqs }: Faulty): string => {
  if (instances > 0) return ` under ${many(instances, 'server')}`
  return arqs > 0 ? ` under ${many(arqs, 'request')}` : ''
}
const placesOf = ({ cards, devices }: Faulty): string => {
  const named = cards.map(({ hostname, pci_address: at }) => (at === null ? hostname : `${hostname} ${at}`)).join(', ')
  return devices > cards.length ? `${named} and ${many(devices - cards.length, 'other')}` : named
}

/** The command that shows the device if it is one; otherwise the one that lists them. */
const oneOr = (some: Faulty | undefined, all: CommandLine): CommandLine =>
  some?.devices === 1 ? shell`accelerando device show ${some.cards[0]?.device_uuid ?? 'UUID'}` : all

/** The gravest conditions come first. */
export const WATCHED: readonly Watched[] = [
  {
    tone: 'bad',
    seen: ({ journal }) => ({ number: Number(journal.writing_stopped) }),
    text: () =>
      'The database has lost rows: nothing is written until an operator has decided that what it holds is right',
    href: 'system',
    mend: shell`accelerando migrate --adopt`,
  },
  {
    tone: 'bad',
    seen: ({ overdue_since: since }, now) => older(since, now, LONG_MS),
    text: () => 'Deadlines have passed, and their work has not been done',
    href: 'system',
    mend: shell`accelerando doctor`,
  },
  {
    tone: 'bad',
    seen: ({ journal }, now) => older(journal.untold_since, now, UNTOLD_MS),
    text: () => 'What is recorded does not reach the hosts: the relay is behind',
    href: 'system',
    mend: shell`accelerando doctor`,
  },
  {
    tone: 'bad',
    seen: counted('hosts', 'down'),
    text: (n) => `${many(n, 'host is', 'hosts are')} down`,
    href: 'hosts?liveness=down',
    mend: shell`systemctl restart accelerando-host`,
  },
  {
    tone: 'bad',
    seen: ({ vanished }) => (vanished ? { number: vanished.devices, since: vanished.since } : NOTHING),
    text: (n, { vanished }) =>
      `${many(n, 'card has', 'cards have')} vanished${underOf(vanished!)}: ${placesOf(vanished!)}`,
    href: 'devices?state=missing',
    mend: ({ vanished }) => oneOr(vanished, shell`accelerando device list --state missing`),
  },
  {
    tone: 'bad',
    seen: counted('arqs', 'BindFailed'),
    text: (n) => `${many(n, 'request')} could not be bound`,
    href: 'arqs?state=BindFailed',
    mend: shell`accelerando arq timeline UUID`,
  },
  {
    tone: 'bad',
    seen: counted('arqs', 'UnbindFailed'),
    text: (n) => `${many(n, 'request')} could not be released on the host`,
    href: 'arqs?state=UnbindFailed',
    mend: shell`accelerando arq force-unbind UUID --reason TEXT`,
  },
  {
    tone: 'bad',
    // a control of release 0.3.0 tells `failing_devices` alone
    seen: ({ failing, device_states: states, failing_devices: number }) =>
      states === undefined ? { number } : { number: states['failing'] ?? 0, since: failing?.since ?? null },
    text: (n, { failing }) => {
      const [under, places] = failing?.devices ? [underOf(failing), `: ${placesOf(failing)}`] : ['', '']
      return `${many(n, 'device is', 'devices are')} failing${under} and not offered${places}`
    },
    href: 'devices?state=failing',
    mend: ({ failing }) => oneOr(failing, shell`accelerando device list --state failing`),
  },
  {
    tone: 'bad',
    seen: counted('handles', 'missing'),
    text: (n) => `${many(n, 'attach handle is', 'attach handles are')} not reported any more`,
    href: 'handles?state=missing',
    mend: shell`accelerando device scan`,
  },
  {
    tone: 'bad',
    seen: counted('handles', 'quarantined'),
    text: (n) =>
      `${many(n, 'attach handle is', 'attach handles are')} quarantined until an operator looks at ${n === 1 ? 'it' : 'them'}`,
    href: 'handles?state=quarantined',
    mend: shell`accelerando handle release UUID --reason TEXT`,
  },
  {
    tone: 'bad',
    seen: counted('placement', 'unreachable'),
    text: (n) => `${many(n, 'host')} could not be compared with Placement`,
    href: 'drift',
    mend: shell`accelerando doctor`,
  },
  {
    tone: 'bad',
    seen: counted('placement', 'waiting_for_compute_node'),
    text: (n) => `Placement has no compute node for ${many(n, 'host')}`,
    href: 'drift',
    mend: shell`openstack resource provider list`,
  },
  {
    tone: 'bad',
    seen: counted('placement', 'placement_conflict'),
    text: (n) => `${many(n, 'host differs', 'hosts differ')} from Placement, and the difference cannot be repaired`,
    href: 'drift',
    mend: shell`accelerando drift`,
  },
  {
    tone: 'bad',
    seen: counted('placement', 'withheld'),
    text: (n) => `${many(n, 'host has', 'hosts have')} accelerators in use that nobody has allocated in Placement`,
    href: 'drift',
    mend: shell`accelerando drift`,
  },
  {
    tone: 'bad',
    seen: found('views_differing'),
    text: (n) => `${many(n, 'entity has', 'entities have')} list rows that differ from the journal`,
    href: 'system',
    mend: shell`accelerando rebuild-views`,
  },
  {
    tone: 'bad',
    seen: found('orphan_handles'),
    text: (n) => `${many(n, 'attach handle is', 'attach handles are')} held for a request that does not hold it`,
    href: 'system',
    mend: shell`accelerando audit`,
  },
  {
    tone: 'bad',
    seen: found('slot_differences'),
    text: (n) => `Hosts had ${many(n, 'slot')} prepared differently from what is recorded`,
    href: 'handles?state=quarantined',
    mend: shell`accelerando handle list --state quarantined`,
  },
  {
    tone: 'bad',
    seen: found('reports_refused'),
    text: (n) =>
      `${many(n, 'report')} of hosts ${n === 1 ? 'was' : 'were'} refused because of who sent ${n === 1 ? 'it' : 'them'}`,
    href: 'hosts',
    mend: shell`accelerando host rekey NAME --reason TEXT`,
  },
  {
    tone: 'bad',
    // counted until somebody has looked after them, however old they are
    seen: ({ found: { dead_letters: letters } }) => ({ number: letters.count, last: letters.last_at }),
    text: (n) => `${many(n, 'message')} could not be read or handled`,
    href: 'letters',
    mend: shell`accelerando dead-letter list`,
  },
  {
    tone: 'bad',
    seen: ({ orders }, now) => older(orders.oldest_at, now, LONG_MS, orders.waiting),
    text: (n) => `${many(n, 'order')} to hosts without an answer`,
    href: 'arqs?state=BindStarted',
    mend: shell`accelerando doctor`,
  },
  {
    tone: 'busy',
    seen: ({ binds }) => ({ number: binds.late }),
    text: (n) => `${many(n, 'bind has', 'binds have')} used more than half of the time`,
    href: 'arqs?state=BindStarted',
    mend: shell`accelerando arq timeline UUID`,
  },
  {
    tone: 'busy',
    seen: counted('placement', 'pending'),
    text: (n) => `${many(n, 'host has', 'hosts have')} changes that Placement has not taken yet`,
    href: 'drift',
    mend: shell`accelerando drift heal --apply`,
  },
  {
    tone: 'busy',
    seen: counted('hosts', 'stale'),
    text: (n) => `${many(n, 'host is', 'hosts are')} silent for a while`,
    href: 'hosts?liveness=stale',
    mend: shell`systemctl status accelerando-host`,
  },
  {
    tone: 'held',
    seen: counted('hosts', 'pending'),
    text: (n) => `${many(n, 'host waits', 'hosts wait')} for an operator to accept the key`,
    href: 'hosts?liveness=pending',
    mend: shell`accelerando host approve NAME --reason TEXT`,
  },
  {
    tone: 'bad',
    seen: ({ deliveries }) => ({ number: deliveries.undelivered }),
    text: (n) => `Nova has refused or missed the events about ${many(n, 'instance')}, and is told no more`,
    href: 'deliveries?state=undelivered',
    mend: shell`accelerando delivery resend INSTANCE --reason TEXT`,
  },
  {
    tone: 'busy',
    seen: ({ deliveries }) => ({ number: deliveries.waiting }),
    text: (n) => `Nova has not taken the events about ${many(n, 'instance')}`,
    href: 'deliveries',
    mend: shell`accelerando doctor`,
  },
  {
    tone: 'idle',
    seen: ({ hosts }) => ({ number: Number(sum(hosts) === 0) }),
    text: () => 'No host has reported yet: nothing can be bound',
    href: 'hosts',
    mend: shell`accelerando host run`,
  },
]

const QUIET_NEIGHBOURS = new Set(['absent', 'in use', 'a folder', 'the image service'])
const PLAIN = new Set(['version', 'store', 'api', 'authentication'])

const ofNeighbours = (program: Overview['program']): readonly Finding[] =>
  Object.entries(program)
    .filter(([name, said]) => !PLAIN.has(name) && !QUIET_NEIGHBOURS.has(said))
    .map(([name, said]) => ({
      tone: 'bad',
      text: `${name[0]?.toUpperCase()}${name.slice(1)}: ${said.startsWith(`${name}: `) ? said.slice(name.length + 2) : said}`,
      href: 'system',
      since: null,
      last: null,
      mend: shell`accelerando doctor`,
    }))

/** `now`: the server's, in ms since the epoch. */
export const findingsOf = (overview: Overview, now: number): readonly Finding[] => [
  ...WATCHED.flatMap(({ tone, seen, text, href, mend }): readonly Finding[] => {
    const { number, since = null, last = null } = seen(overview, now)
    if (number === 0) return []
    const next = typeof mend === 'function' ? mend(overview) : mend
    return [{ tone, text: text(number, overview), href, since, last, mend: next }]
  }),
  ...ofNeighbours(overview.program),
]

/** The sentence of a page without findings. It claims no more than was looked at. */
export const calm = ({ journal, hosts }: Overview, now: number): string => {
  const event =
    journal.newest_at === null
      ? 'Nothing was recorded yet.'
      : `The last event was recorded ${ago(journal.newest_at, now)}.`
  return `All is well: ${many(sum(hosts), 'host')}, each in order, and nothing is stuck. ${event}`
}

/** The pages that are lists: requests, hosts, devices, profiles, events that Nova has not taken. */
import type { Arq, Delivery, Device, Handle, Host, Profile } from '../shapes.ts'
import { deliveryTabs } from './deliveryTabs.ts'
import { offers } from './offers.ts'
import { command, empty, id, idLink, link, none, state, when } from './parts.ts'
import { type Column, type Filter, type Tab, filtersOf, listed, rows, tabs, turning, under, without } from './rows.ts'
import type { Screen } from './screen.ts'
import { ARQ_STATES, DEVICE_STATES, HANDLE_STATES, HOST_STATES, toneOf } from './states.ts'
import { type Child, type Node, a, code, div, h1, header, p, span } from './tags.ts'
import { count, shell, sum, wordsOf } from './words.ts'

export const arqColumns = (now: number): readonly Column<Arq>[] => [
  { title: 'State', cell: (row) => state(toneOf(ARQ_STATES, row.state), row.state, ARQ_STATES[row.state]?.means) },
  { title: 'Request', cell: (row) => idLink('arqs', row.uuid) },
  {
    title: 'Profile',
    cell: (row) => link(`profiles/${encodeURIComponent(row.device_profile_name)}`, row.device_profile_name),
  },
  { title: 'Host', cell: (row) => idLink('hosts', row.hostname) },
  { title: 'Instance', cell: (row) => idLink('instances', row.instance_uuid) },
  { title: 'Created', cell: (row) => when(row.created_at, now) },
]
/** Returns the word for a host. That an operator took the host out of service counts more than its liveness. */
export const listedAs = ({ liveness, retired }: Pick<Host, 'liveness' | 'retired'>): string =>
  retired !== null && liveness !== 'removed' ? 'retired' : liveness
export const hostState = (row: Pick<Host, 'liveness' | 'retired'>): Node => {
  const word = listedAs(row)
  return state(toneOf(HOST_STATES, word), word, HOST_STATES[word]?.means)
}
const hostColumns = (now: number): readonly Column<Host>[] => [
  { title: 'State', cell: (row) => hostState(row) },
  { title: 'Host', cell: (row) => idLink('hosts', row.name) },
  {
    title: 'Drivers',
    cell: ({ drivers }) =>
      Object.entries(drivers).map(([name, { status, error }]) =>
        span({ class: 'pair', key: name }, state(status === 'ok' ? 'good' : 'bad', name, error ?? status)),
      ),
  },
  { title: 'Last heard of', cell: (row) => when(row.last_seen_at, now) },
  { title: 'Known since', cell: (row) => when(row.created_at, now) },
]
export const deviceState = ({ state: word, state_reason: reason }: Pick<Device, 'state' | 'state_reason'>): Node =>
  state(toneOf(DEVICE_STATES, word), wordsOf(word), reason ?? DEVICE_STATES[word]?.means)
export const deviceColumns = (now: number): readonly Column<Device>[] => [
  {
    title: 'State',
    cell: (row) => deviceState(row),
  },
  { title: 'Since', cell: (row) => when(row.state_since, now) },
  { title: 'Device', cell: (row) => idLink('devices', row.uuid) },
  { title: 'Type', cell: (row) => row.type },
  { title: 'Model', cell: (row) => span({ class: 'model' }, row.model), kind: 'wide' },
  { title: 'Host', cell: (row) => idLink('hosts', row.hostname) },
  { title: 'Requests', cell: (row) => count(row.arqs), kind: 'number' },
]
/** Shows the resources of each group, such as `resources:FPGA=1`. */
const wants = ({ groups }: Profile): Child =>
  groups.map((group, index) =>
    span(
      { class: 'pair', key: index },
      ...Object.entries(group).map(([key, value]) => code({ key, class: 'want' }, `${key}=${value}`)),
    ),
  )
const profileColumns = (now: number): readonly Column<Profile>[] => [
  {
    title: 'Profile',
    cell: ({ name, enabled }) => [
      link(`profiles/${encodeURIComponent(name)}`, name),
      enabled ? null : span({ class: 'dim' }, ' · no version is enabled'),
    ],
  },
  { title: 'Asks for', cell: wants, kind: 'wide' },
  { title: 'Description', cell: ({ description }) => description ?? none(), kind: 'wide' },
  { title: 'Created', cell: (row) => when(row.created_at, now) },
]
const answersIn = ({ answers }: Delivery): Child => {
  const said = [...new Set(Object.values(answers))]
  return said.length === 0 ? none() : said.join('; ')
}
const deliveryColumns = (
  now: number,
  { state: shown, offers: possible }: Screen<'deliveries'>['body'],
): readonly Column<Delivery>[] => [
  { title: 'Instance', cell: (row) => idLink('instances', row.instance_uuid) },
  // beside the instance: the columns after it do not all fit on a screen
  ...(shown === 'waiting'
    ? []
    : [
        {
          title: 'Repair',
          cell: ({ instance_uuid: uuid }: Delivery) =>
            possible.map(({ name, label, not }) =>
              not === null
                ? link(`instances/${uuid}/do/${name}`, label)
                : span({ class: 'dim', key: name }, `${label}: ${not}`),
            ),
          kind: 'wide' as const,
        },
      ]),
  {
    title: 'Nova is to hear',
    cell: ({ statuses }) =>
      Object.entries(statuses).map(([arq, status]) =>
        span(
          { class: 'pair', key: arq },
          state(status === 'completed' ? 'good' : 'bad', status),
          ' ',
          idLink('arqs', arq),
        ),
      ),
  },
  { title: 'Host', cell: (row) => idLink('hosts', row.hostname) },
  { title: 'Tries', cell: (row) => row.attempts, kind: 'number' },
  ...(shown === 'waiting'
    ? [{ title: 'Next try', cell: (row: Delivery) => when(row.next_at, now) }]
    : [{ title: 'Nova answered', cell: answersIn, kind: 'wide' as const }]),
  { title: shown === 'waiting' ? 'Told until' : 'Ended', cell: (row) => when(row.until, now) },
  ...(shown === 'waiting' ? [{ title: 'Request', cell: (row: Delivery) => id(row.request_id) }] : []),
]

/** One tab for each value of a filter, after a tab for all values; the other filters stay in effect. */
const tabsOf = (
  path: string,
  name: string,
  words: readonly string[],
  filter: Filter,
  counts: Readonly<Record<string, number>> | null,
): readonly Tab[] => {
  const chosen = filter[name]
  const others = without(filter, name)
  return [
    {
      word: 'All',
      href: under(path, others),
      chosen: chosen === undefined,
      count: counts === null ? null : sum(counts),
    },
    ...words
      .filter((word) => counts === null || (counts[word] ?? 0) > 0 || word === chosen)
      .map((word) => ({
        word,
        href: under(path, { ...others, [name]: word }),
        chosen: word === chosen,
        count: counts === null ? null : (counts[word] ?? 0),
      })),
  ]
}

const page = (title: string, ...children: readonly Child[]): Node =>
  div(null, header({ class: 'head' }, h1(null, title)), ...children)

export const arqsPage = ({ body: { list, filter, counts, turn }, now }: Screen<'arqs'>): Node =>
  page(
    'Requests',
    tabs('State', tabsOf('arqs', 'state', Object.keys(ARQ_STATES), filter, counts)),
    filtersOf('arqs', filter, 'state'),
    listed(
      list,
      (some) =>
        div(
          null,
          rows('Requests', arqColumns(now), some, ({ uuid }) => uuid),
          turning(turn, some.length),
        ),
      empty(
        'There is no accelerator request',
        p(null, 'Nova makes one for each server whose flavor names a device profile.'),
        command(shell`openstack accelerator arq create PROFILE`),
      ),
      { is: Object.keys(filter).length > 0, clear: 'arqs' },
    ),
    p(
      { class: 'dim' },
      'Somebody has sent you the timeline of a request as a file? ',
      a({ class: 'underlined', href: 'timeline' }, 'Open it here'),
    ),
  )

export const hostsPage = ({ body: { list, filter, counts, turn }, now }: Screen<'hosts'>): Node =>
  page(
    'Hosts',
    tabs('State', tabsOf('hosts', 'liveness', Object.keys(HOST_STATES), filter, counts)),
    listed(
      list,
      (some) =>
        div(
          null,
          rows('Hosts', hostColumns(now), some, ({ name }) => name),
          turning(turn, some.length),
        ),
      empty(
        'No host has reported yet',
        p(null, 'Each compute node with accelerators runs the host program:'),
        command(shell`accelerando host`),
      ),
      { is: Object.keys(filter).length > 0, clear: 'hosts' },
    ),
  )

export const devicesPage = ({ body: { list, filter, counts, turn }, now }: Screen<'devices'>): Node =>
  page(
    'Devices',
    tabs('State', tabsOf('devices', 'state', Object.keys(DEVICE_STATES), filter, counts)),
    filtersOf('devices', filter, 'state'),
    listed(
      list,
      (some) =>
        div(
          null,
          rows('Devices', deviceColumns(now), some, ({ uuid }) => uuid),
          turning(turn, some.length),
        ),
      empty(
        'No host has reported a device',
        p(null, 'What the drivers of this machine see, and why they offer it or not:'),
        command(shell`accelerando device scan`),
      ),
      { is: Object.keys(filter).length > 0, clear: 'devices' },
    ),
  )

const HANDLE_COLUMNS: readonly Column<Handle>[] = [
  {
    title: 'State',
    cell: (row) => state(toneOf(HANDLE_STATES, row.state), row.state, HANDLE_STATES[row.state]?.means),
  },
  { title: 'Attach handle', cell: (row) => idLink('handles', row.uuid) },
  { title: 'Host', cell: (row) => idLink('hosts', row.hostname) },
  { title: 'Request', cell: (row) => idLink('arqs', row.arq_uuid) },
]
export const handlesPage = ({ body: { list, filter, counts, turn } }: Screen<'handles'>): Node =>
  page(
    'Attach handles',
    tabs('State', tabsOf('handles', 'state', Object.keys(HANDLE_STATES), filter, counts)),
    filtersOf('handles', filter, 'state'),
    listed(
      list,
      (some) =>
        div(
          null,
          rows('Attach handles', HANDLE_COLUMNS, some, ({ uuid }) => uuid),
          turning(turn, some.length),
        ),
      empty('No host has reported a device with attach handles', command(shell`accelerando device scan`)),
      { is: Object.keys(filter).length > 0, clear: 'handles' },
    ),
  )

export const profilesPage = ({ body: { list, turn, offers: makers }, now }: Screen<'profiles'>): Node =>
  page(
    'Profiles',
    offers('profiles/new', makers),
    listed(
      list,
      (some) =>
        div(
          null,
          rows('Profiles', profileColumns(now), some, ({ uuid }) => uuid),
          turning(turn, some.length),
        ),
      empty(
        'There is no device profile',
        p(null, 'A flavor names one, and the profile says which devices its servers need.'),
        command(shell`openstack accelerator device profile create NAME '[{"resources:FPGA": "1"}]'`),
      ),
      { is: false, clear: 'profiles' },
    ),
  )

const LEADS: Readonly<Record<Delivery['state'], string>> = {
  waiting: 'What Nova has not taken yet. Each is sent again until Nova answers or its time is over.',
  undelivered:
    'What Nova has refused, or was not reached for in time. It is told no more until an operator asks for it: mend the cause first.',
}

export const deliveriesPage = ({ body, now }: Screen<'deliveries'>): Node => {
  const { list, turn, state: shown } = body
  return page(
    'Deliveries',
    tabs('What is delivered', deliveryTabs(shown, body.counts)),
    p({ class: 'lead' }, LEADS[shown]),
    listed(
      list,
      (some) =>
        div(
          null,
          rows('Deliveries', deliveryColumns(now, body), some, (row) => row.instance_uuid),
          turning(turn, some.length),
          shown === 'undelivered' ? command(shell`accelerando delivery resend INSTANCE --reason TEXT`) : null,
        ),
      shown === 'waiting'
        ? empty('Nova has heard everything', p(null, 'Nothing waits to be delivered.'))
        : empty('Nothing is undelivered', p(null, 'Nova has taken each event, or is told again.')),
      { is: false, clear: 'deliveries' },
    ),
  )
}

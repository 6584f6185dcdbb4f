/** The pages of single entities: a host, a device with its parts, an attach handle. */
import type { DeviceDetail, Handle, Health } from '../shapes.ts'
import { measuredColumns, ordersOf, reportOf } from './hostFacts.ts'
import { deviceColumns, deviceState, hostState } from './lists.ts'
import { offers } from './offers.ts'
import {
  type Fact,
  command,
  counts,
  empty,
  facts,
  id,
  idLink,
  link,
  mark,
  none,
  panel,
  state,
  trouble,
  when,
} from './parts.ts'
import { probePanel } from './probe.ts'
import { type Column, type Cut, cutNote, cutTo, rows, under } from './rows.ts'
import type { Offer, Part, Screen } from './screen.ts'
import { DEVICE_STATES, HANDLE_STATES, type Tone, toneOf } from './states.ts'
import { type Child, type Node, a, code, div, h1, header, li, p, span, ul } from './tags.ts'
import { count, labelOf, many, shell, sum, wordsOf } from './words.ts'

export const head = (over: Node, title: string, badge: Child, here: string, list: readonly Offer[]): Node =>
  header(
    { class: 'head' },
    div(null, p({ class: 'over' }, over), h1({ class: 'id' }, title)),
    badge,
    offers(here, list),
  )
export const lastOf = (here: string): string => decodeURIComponent(here.split('/')[1] ?? '')

type Noted = { readonly by: string; readonly reason: string; readonly at: string } | null
const note = (said: string, given: Noted, now: number): Child =>
  given === null
    ? null
    : p({ class: 'headline' }, mark('held'), `${said} by ${given.by}: ${given.reason} · `, when(given.at, now))

const segmentsOf = (
  states: Readonly<Record<string, { readonly tone: Tone }>>,
  given: Readonly<Record<string, number>>,
) => Object.entries(states).map(([word, { tone }]) => ({ word, tone, count: given[word] ?? 0 }))

const ARQS_MAX = 50
export const hostPage = ({ body: { host, devices, offers: list }, here, now }: Screen<'host'>): Node => {
  if (!host.ok) return div(null, head(link('hosts', 'Host'), lastOf(here), null, here, []), trouble(host.error))
  const { name, handles, arqs, drivers, retired, measured, ...rest } = host.value
  const held: readonly Fact[] = [
    ['Last heard of', when(rest.last_seen_at, now)],
    ['Last report recorded', reportOf(rest.last_report, now)],
    ['Orders without an answer', ordersOf(rest.orders, now)],
    [
      'Drivers',
      Object.entries(drivers).map(([driver, { status, error }]) =>
        span({ class: 'pair', key: driver }, state(status === 'ok' ? 'good' : 'bad', driver, error ?? status)),
      ),
    ],
    ['Other names', rest.aliases.length === 0 ? none() : rest.aliases.join(', ')],
    ['This start of it', id(rest.boot_id)],
    ['Key', id(rest.public_key)],
    ['Key that waits', id(rest.offered_key)],
    ['Known since', when(rest.created_at, now)],
  ]
  return div(
    null,
    head(link('hosts', 'Host'), name, hostState(host.value), here, list),
    note('Taken out of service', retired, now),
    facts(held),
    probePanel(rest.probe, rest.last_seen_at, now),
    panel(
      'Attach handles',
      span({ class: 'total' }, count(sum(handles))),
      counts(segmentsOf(HANDLE_STATES, handles), 'Attach handles by state'),
    ),
    panel(
      'Devices',
      a({ class: 'quiet', href: `devices?hostname=${encodeURIComponent(name)}` }, 'All'),
      devices.ok
        ? devices.value.some.length > 0
          ? div(
              null,
              counts(segmentsOf(DEVICE_STATES, devices.value.states), 'Devices by state'),
              rows(
                'Devices',
                [...deviceColumns(now).filter(({ title }) => title !== 'Host'), ...measuredColumns(measured)],
                devices.value.some,
                ({ uuid }) => uuid,
              ),
              cutNote(devices.value, 'devices', under('devices', { hostname: name })),
            )
          : empty('It has reported no device')
        : trouble(devices.error),
    ),
    arqs.length === 0
      ? null
      : panel(
          'Requests that hold one of them',
          span({ class: 'total' }, count(arqs.length)),
          ul({ class: 'plain' }, ...arqs.slice(0, ARQS_MAX).map((uuid) => li({ key: uuid }, idLink('arqs', uuid)))),
          cutNote(cutTo(arqs, ARQS_MAX), 'requests', under('handles', { state: 'held', hostname: name })),
        ),
    command(shell`accelerando host show ${name}`),
  )
}

const parsedInfo = (text: string | null): readonly Fact[] => {
  try {
    const info: unknown = JSON.parse(text ?? '{}')
    return Object.entries(info as object).map(([name, value]) => [labelOf(name), String(value)])
  } catch {
    return text === null ? [] : [['Board', text]]
  }
}
const attributes = (text: string): readonly string[] => {
  try {
    const list = JSON.parse(text) as readonly Readonly<Record<string, string>>[]
    return list.flatMap((each) => Object.values(each))
  } catch {
    return [text]
  }
}

/** One small square for each attach handle: its state as shape and colour, and a link to the page of the handle. */
const cell = ({ uuid, state: word, arq_uuid: arq }: Handle): Node => {
  const tone: Tone = toneOf(HANDLE_STATES, word)
  const said = `${word}${arq === null ? '' : `, request ${arq}`}`
  return a(
    {
      class: `cell ${tone}`,
      key: uuid,
      href: `handles/${uuid}`,
      title: said,
      'aria-label': `Attach handle ${uuid}: ${said}`,
    },
    mark(tone),
  )
}

const part = ({ deployable, handles }: Part, now: number): Node => {
  const tally = handles.ok ? Object.entries(handles.value.tally).map(([word, number]) => `${number} ${word}`) : []
  return panel(
    deployable.name,
    span(
      { class: 'dim' },
      `${many(deployable.num_accelerators, 'accelerator')}${tally.length > 0 ? ` · ${tally.join(' · ')}` : ''}`,
    ),
    div(
      { class: 'traits' },
      ...attributes(deployable.attributes_list).map((each) => code({ class: 'want', key: each }, each)),
    ),
    handles.ok ? div({ class: 'cells' }, ...handles.value.some.map(cell)) : trouble(handles.error),
    handles.ok
      ? cutNote(handles.value, 'attach handles', under('handles', { deployable_uuid: deployable.uuid }))
      : null,
    facts([
      ['Deployable', id(deployable.uuid)],
      ['Resource provider', id(deployable.rp_uuid)],
      ['Driver', deployable.driver_name ?? none()],
      ['Loaded image', id(deployable.bitstream_id)],
      ['Changed', when(deployable.updated_at, now)],
    ]),
  )
}

/** A link to the next parts of a device that has too many for one page. */
const moreParts = ({ some, of, from }: Cut<Part> & { readonly from: number }, uuid: string): Child => {
  const next = from + some.length < of ? from + some.length : 0
  return cutNote({ some, of }, 'deployables', under(`devices/${uuid}`, next === 0 ? {} : { from: String(next) }))
}

const deviceFacts = (device: DeviceDetail, now: number): readonly Fact[] => [
  ['Host', idLink('hosts', device.hostname)],
  ['Type', device.type],
  ['Vendor', code(null, device.vendor)],
  ...parsedInfo(device.std_board_info),
  ...parsedInfo(device.vendor_board_info),
  ['Known since', when(device.created_at, now)],
]

const HEALTH_TONES: Readonly<Record<string, Tone>> = { ok: 'good', warning: 'busy', bad: 'bad' }
const healthPanel = ({ state: word, reason, since, measured_at: measured, numbers }: Health, now: number): Node =>
  panel(
    'Health',
    span({ class: 'dim' }, measured === null ? 'never measured' : ['measured ', when(measured, now)]),
    facts([
      ['State', state(HEALTH_TONES[word] ?? 'idle', word)],
      ['Reason', reason ?? none()],
      ['Since', when(since, now)],
      ...Object.entries(numbers).map(([name, number]): Fact => [labelOf(name), String(number)]),
    ]),
  )

type Held = Health['held'][number]
const HELD_COLUMNS: readonly Column<Held>[] = [
  { title: 'Request', cell: ({ arq_uuid: uuid }) => idLink('arqs', uuid) },
  { title: 'Instance', cell: ({ instance_uuid: uuid }) => idLink('instances', uuid) },
  { title: 'Attach handle', cell: ({ attach_handle_uuid: uuid }) => idLink('handles', uuid) },
  { title: 'State', cell: ({ state: word }) => state(toneOf(HANDLE_STATES, word), word, HANDLE_STATES[word]?.means) },
]
const heldPanel = ({ held }: Health, uuid: string): Child =>
  held.length === 0
    ? null
    : panel(
        'Who uses it',
        span({ class: 'total' }, count(held.length)),
        rows('Who uses it', HELD_COLUMNS, held.slice(0, ARQS_MAX), ({ attach_handle_uuid: handle }) => handle),
        held.length <= ARQS_MAX ? null : command(shell`accelerando device show ${uuid}`),
      )

/** Why a device, or an attach handle of it, is not offered; null: it is. */
const notOffered = (
  subject: string,
  {
    state: word,
    state_reason: reason,
    state_since: since,
  }: Pick<DeviceDetail, 'state' | 'state_reason' | 'state_since'>,
  now: number,
): Child =>
  reason === null
    ? null
    : p(
        { class: `headline ${toneOf(DEVICE_STATES, word)}` },
        mark(toneOf(DEVICE_STATES, word)),
        `${subject} is not offered (${wordsOf(word)}): ${reason}`,
        since === null ? null : [' · ', when(since, now)],
      )

export const devicePage = ({ body: { device, parts, offers: list }, here, now }: Screen<'device'>): Node => {
  if (!device.ok) return div(null, head(link('devices', 'Device'), lastOf(here), null, here, []), trouble(device.error))
  const { uuid, model, health } = device.value
  return div(
    null,
    head(link('devices', 'Device'), uuid, deviceState(device.value), here, list),
    p({ class: 'lead' }, model),
    notOffered('It', device.value, now),
    facts(deviceFacts(device.value, now)),
    healthPanel(health, now),
    heldPanel(health, uuid),
    ...(parts.ok
      ? [...parts.value.some.map((each) => part(each, now)), moreParts(parts.value, uuid)]
      : [trouble(parts.error)]),
    command(shell`accelerando device show ${uuid}`),
  )
}

export const handlePage = ({ body: { handle, offers: list }, here, now }: Screen<'handle'>): Node => {
  if (!handle.ok)
    return div(null, head(link('devices', 'Attach handle'), lastOf(here), null, here, []), trouble(handle.error))
  const { uuid, state: word, hostname, device, ...rest } = handle.value
  return div(
    null,
    head(
      link('devices', 'Attach handle'),
      uuid,
      state(toneOf(HANDLE_STATES, word), word, HANDLE_STATES[word]?.means),
      here,
      list,
    ),
    device && notOffered('Its device', device, now),
    note('Quarantined', rest.quarantine, now),
    facts([
      ['Host', idLink('hosts', hostname)],
      ...(device ? [['Part of', [idLink('devices', device.uuid), ' ', deviceState(device)]] as const] : []),
      ['Request that has it', idLink('arqs', rest.arq_uuid)],
      ['Request that gave it up', idLink('arqs', rest.last_arq_uuid)],
      ['Type', rest.attach_handle_type],
      ...Object.entries(rest.attach_handle_info).map(([name, value]): Fact => [labelOf(name), code(null, value)]),
      ['Deployable', id(rest.deployable_uuid)],
      ['Order without an answer', rest.order === null ? none() : String(rest.order)],
    ]),
    command(shell`accelerando handle show ${uuid}`),
  )
}

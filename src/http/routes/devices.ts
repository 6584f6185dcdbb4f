/** Devices: the hardware that is plugged into the hosts. */
import { AS_OF } from '../asOf.ts'
import { DEVICE_STATUSES, type DeviceStatus } from '../../actors/deployable/messages.ts'
import type { Control, DeviceRow, DeviceStanding, Listed, Page } from '../../actors/control.ts'
import type { DeviceHealth } from '../../actors/device/health.ts'
import { DEVICE_STATES } from '../../actors/device/standing.ts'
import { type Outcome, done } from '../../vocabulary/fault.ts'
import { DeviceDetail } from '../deviceDetail.ts'
import { createFilters, withFilters } from '../filters.ts'
import { DRY_RUN, answerImpact } from '../impact.ts'
import { answerList } from '../listing.ts'
import { pageArgs, pageOf } from '../pages.ts'
import { flag, oneOf, text } from '../query.ts'
import { self, time, times } from '../render.ts'
import { answer, reply, route } from '../route.ts'
import type { Route } from '../route.ts'
import * as schemas from '../schemas.ts'
import { SINCE } from '../versions.ts'

const UUIDS = { uuid: { resource: 'device', otherwise: 'not_found' } } as const

type Shown = DeviceRow & { readonly standing: DeviceStanding | null }
type Asking = { readonly control: Control; readonly minor: number }

/** Adds the state of each device, if the requested microversion shows it. */
const shown = async ({ control, minor }: Asking, rows: readonly DeviceRow[]): Promise<Outcome<readonly Shown[]>> => {
  if (minor < SINCE.uuids) return done(rows.map((row) => ({ ...row, standing: null })))
  const standings = await control.devices.standings(rows)
  return standings.ok ? done(rows.map((row, at) => ({ ...row, standing: standings.value[at]! }))) : standings
}
const shownIn = async (call: Asking, reading: Promise<Outcome<Listed<DeviceRow>>>): Promise<Outcome<Listed<Shown>>> => {
  const listed = await reading
  if (!listed.ok) return listed
  const items = await shown(call, listed.value.items)
  return items.ok ? done({ items: items.value, next: listed.value.next }) : items
}

const standingBody = ({ state, reason, since, held }: DeviceStanding) => ({
  state,
  state_reason: reason,
  state_since: since === null ? null : time(since),
  arqs: held,
})
const deviceBody = (row: Shown, minor: number, base: string) => ({
  uuid: row.uuid,
  type: row.type,
  vendor: row.vendor,
  model: row.model,
  std_board_info: row.std_board_info,
  vendor_board_info: row.vendor_board_info,
  hostname: row.hostname,
  ...(minor >= SINCE.deviceStatus && { status: row.status }),
  ...(minor >= SINCE.uuids && { failing: row.failing }),
  ...(row.standing && standingBody(row.standing)),
  ...times(row),
  links: [self(base, 'devices', row.uuid)],
})

const healthBody = ({ failing, measured, held }: DeviceHealth) => ({
  state: failing ? 'bad' : (measured?.health ?? 'unknown'),
  reason: failing?.reason ?? (measured && measured.reasons.length > 0 ? measured.reasons.join('; ') : null),
  since: failing && time(failing.since),
  measured_at: measured && time(measured.at),
  numbers: measured?.numbers ?? {},
  held: held.map(({ deployable, handle, state, arq, instance }) => ({
    deployable_uuid: deployable,
    attach_handle_uuid: handle,
    state,
    arq_uuid: arq,
    instance_uuid: instance,
  })),
})

const plainArgs = {
  ...pageArgs(['created_at', 'hostname', 'status', 'type', 'uuid', 'vendor']),
  type: text('Only devices of this type.'),
  vendor: text('Only devices of this vendor, as the driver spells it.'),
  hostname: text('Only devices of this host.'),
  status: text(`${DEVICE_STATUSES.join(' or ')}.`),
  failing: flag('Only devices that count as bad, or only the others.'),
  state: oneOf(DEVICE_STATES, 'Only devices of which this is the worst that is known.'),
}
const listArgs = { ...plainArgs, ...AS_OF, filters: createFilters(plainArgs) }

const list = route({
  method: 'GET',
  path: '/v2/devices',
  rule: 'cyborg:device:get_all',
  query: listArgs,
  docs: { summary: 'Devices.', answers: { 200: schemas.listOf('devices', schemas.Device) } },
  handle: ({ control, query, minor, base, pairs }) => {
    const asked = withFilters(plainArgs, query, pairs)
    if (!asked.ok) return asked
    const { type, vendor, hostname, status, failing, state } = asked.query
    const filter = {
      ...(type && { type }),
      ...(vendor && { vendor }),
      ...(hostname && { hostname }),
      ...(status && { status }),
      ...(failing !== undefined && { failing }),
      ...(state && { state }),
    }
    const read = (page: Page) => shownIn({ control, minor }, control.devices.list(filter, page))
    return answerList(read, pageOf(asked.query), {
      key: 'devices',
      collection: 'devices',
      base,
      pairs,
      item: (row) => deviceBody(row, minor, base),
      markerOf: (row) => row.uuid,
    })
  },
})

const one = route({
  method: 'GET',
  path: '/v2/devices/:uuid',
  rule: 'cyborg:device:get_one',
  uuids: UUIDS,
  query: AS_OF,
  docs: { summary: 'One device.', answers: { 200: DeviceDetail }, refusals: [404] },
  handle: async ({ control, caller, params, minor, base }) => {
    const known = await control.devices.get(params.uuid)
    if (!known.ok) return known
    const rows = await shown({ control, minor }, [known.value])
    if (!rows.ok) return rows
    const body = deviceBody(rows.value[0]!, minor, base)
    if (minor < SINCE.uuids) return reply(200, body)
    return answer(control.devices.health(caller, params.uuid), 200, (health) => ({
      ...body,
      health: healthBody(health),
    }))
  },
})

const summaryOf = (status: DeviceStatus) => `Makes a device ${status}. Repeating it is harmless; a body is ignored.`
const turnOf = (verb: 'enable' | 'disable') =>
  ({ method: 'POST', path: `/v2/devices/:uuid/${verb}`, rule: `cyborg:device:${verb}`, uuids: UUIDS }) as const

const enable = route({
  ...turnOf('enable'),
  docs: { summary: summaryOf('enabled'), answers: { 204: null }, refusals: [404] },
  handle: ({ control, caller, params }) => answer(control.devices.setStatus(caller, params.uuid, 'enabled'), 204),
})
const disable = route({
  ...turnOf('disable'),
  query: { dry_run: DRY_RUN },
  docs: { summary: summaryOf('maintaining'), answers: { 200: schemas.Impact, 204: null }, refusals: [404] },
  handle: ({ control, caller, params, query }) =>
    query.dry_run
      ? answerImpact(control.devices.impact(params.uuid))
      : answer(control.devices.setStatus(caller, params.uuid, 'maintaining'), 204),
})

export const deviceRoutes: readonly Route[] = [list, one, enable, disable]

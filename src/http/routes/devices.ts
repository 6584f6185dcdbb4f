/** Devices: what is plugged into the hosts. */
import { DEVICE_STATUSES, type DeviceStatus } from '../../actors/deployable/messages.ts'
import type { DeviceRow } from '../../actors/control.ts'
import { filtersOver, withFilters } from '../filters.ts'
import { answerList } from '../listing.ts'
import { pageArgs, pageOf } from '../pages.ts'
import { text } from '../query.ts'
import { self, times } from '../render.ts'
import { answer, route } from '../route.ts'
import type { Route } from '../route.ts'
import * as schemas from '../schemas.ts'
import { SINCE } from '../versions.ts'

const UUIDS = { uuid: { resource: 'device', otherwise: 'not_found' } } as const

const deviceBody = (row: DeviceRow, minor: number, base: string) => ({
  uuid: row.uuid,
  type: row.type,
  vendor: row.vendor,
  model: row.model,
  std_board_info: row.std_board_info,
  vendor_board_info: row.vendor_board_info,
  hostname: row.hostname,
  ...(minor >= SINCE.deviceStatus && { status: row.status }),
  ...times(row),
  links: [self(base, 'devices', row.uuid)],
})

const plainArgs = {
  ...pageArgs(['created_at', 'hostname', 'status', 'type', 'uuid', 'vendor']),
  type: text('Only devices of this type.'),
  vendor: text('Only devices of this vendor, as the driver spells it.'),
  hostname: text('Only devices of this host.'),
  status: text(`${DEVICE_STATUSES.join(' or ')}.`),
}
const listArgs = { ...plainArgs, filters: filtersOver(plainArgs) }

const list = route({
  method: 'GET',
  path: '/v2/devices',
  rule: 'cyborg:device:get_all',
  query: listArgs,
  docs: { summary: 'Devices.', answers: { 200: schemas.listOf('devices', schemas.Device) } },
  handle: ({ control, query, minor, base, pairs }) => {
    const asked = withFilters(plainArgs, query, pairs)
    if (!asked.ok) return asked
    const { type, vendor, hostname, status } = asked.query
    const filter = {
      ...(type && { type }),
      ...(vendor && { vendor }),
      ...(hostname && { hostname }),
      ...(status && { status }),
    }
    return answerList((page) => control.devices.list(filter, page), pageOf(asked.query), {
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
  docs: { summary: 'One device.', answers: { 200: schemas.Device }, refusals: [404] },
  handle: ({ control, params, minor, base }) =>
    answer(control.devices.get(params.uuid), 200, (row) => deviceBody(row, minor, base)),
})

const turn = (verb: 'enable' | 'disable', status: DeviceStatus): Route =>
  route({
    method: 'POST',
    path: `/v2/devices/:uuid/${verb}`,
    rule: `cyborg:device:${verb}`,
    uuids: UUIDS,
    docs: {
      summary: `Makes a device ${status}. Repeating it is harmless; a body is ignored.`,
      answers: { 204: null },
      refusals: [404],
    },
    handle: ({ control, caller, params }) => answer(control.devices.setStatus(caller, params.uuid, status), 204),
  })

export const deviceRoutes: readonly Route[] = [list, one, turn('enable', 'enabled'), turn('disable', 'maintaining')]

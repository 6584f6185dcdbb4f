/** The hosts that report hardware. A path of its own: no client of the older API looks here. */
import type { HostRow } from '../actors/control.ts'
import { listBody, namedPageArgs, pageOf } from './pages.ts'
import { time, times } from './render.ts'
import { answer, route } from './route.ts'
import type { Route } from './route.ts'
import * as schemas from './schemas.ts'

const hostBody = (row: HostRow) => ({
  name: row.name,
  liveness: row.liveness,
  aliases: row.aliases,
  drivers: row.drivers,
  boot_id: row.boot_id,
  last_seen_at: row.last_seen_at === null ? null : time(row.last_seen_at),
  ...times(row),
})

const list = route({
  method: 'GET',
  path: '/v2/hosts',
  rule: 'cyborg:host:get_all',
  query: namedPageArgs(['created_at', 'name']),
  docs: {
    summary: 'Hosts: whether they are alive, their other names and the state of their drivers.',
    answers: { 200: schemas.listOf('hosts', schemas.Host) },
  },
  handle: ({ control, query, base, pairs }) =>
    answer(control.hosts.list(pageOf(query)), 200, (listed) =>
      listBody(listed, { key: 'hosts', collection: 'hosts', base, pairs, item: hostBody, markerOf: (row) => row.name }),
    ),
})

export const hostRoutes: readonly Route[] = [list]

/** Loads the pages that are lists, and the home page. */
import { makersOf, offersOf } from '../actions.ts'
import * as shapes from '../shapes.ts'
import { NO_NOVA, SETTLED, canTell } from '../actionStates.ts'
import { System } from '../systemShapes.ts'
import { type Loaded, mapped } from '../loaded.ts'
import type { DeliveryCounts } from '../view/deliveryTabs.ts'
import { cutTo } from '../view/rows.ts'
import { type Load, arqsIn, filterOf, pageOf, turnsAt } from './loader.ts'

const FEW = 8

export const home: Load = async ({ api }) => {
  const [overview, failed, latest] = await Promise.all([
    api.get('/overview', shapes.Overview),
    arqsIn(api, `/accelerator_requests?state=BindFailed&sort_key=created_at&sort_dir=desc&limit=${FEW}`),
    arqsIn(api, `/accelerator_requests?sort_key=created_at&sort_dir=desc&limit=${FEW}`),
  ])
  return { view: 'home', title: 'Overview', body: { overview, failed, latest } }
}

export const arqs: Load = async ({ api, query }) => {
  const filter = filterOf(query, ['state', 'project_id', 'instance'])
  const [{ list, turn }, overview] = await Promise.all([
    pageOf<shapes.Arq>('accelerator_requests', filter, {
      query,
      order: { key: 'created_at', newestFirst: true },
      markerOf: ({ uuid }) => uuid,
      read: (path) => arqsIn(api, path),
    }),
    api.get('/overview', shapes.Overview),
  ])
  const counts =
    overview.ok && filter['project_id'] === undefined && filter['instance'] === undefined ? overview.value.arqs : null
  return { view: 'arqs', title: 'Requests', body: { list, filter, counts, turn: turnsAt('arqs', turn) } }
}

export const hosts: Load = async ({ api, query }) => {
  const filter = filterOf(query, ['liveness'])
  const [{ list, turn }, overview] = await Promise.all([
    pageOf<shapes.Host>('hosts', filter, {
      query,
      order: { key: 'name', newestFirst: false },
      markerOf: ({ name }) => name,
      read: async (path) => mapped(await api.get(path, shapes.Hosts), ({ hosts: some }) => some),
    }),
    api.get('/overview', shapes.Overview),
  ])
  return {
    view: 'hosts',
    title: 'Hosts',
    body: { list, filter, counts: overview.ok ? overview.value.hosts : null, turn: turnsAt('hosts', turn) },
  }
}

export const devices: Load = async ({ api, query }) => {
  const filter = filterOf(query, ['state', 'status', 'type', 'hostname', 'vendor', 'failing'])
  const [{ list, turn }, overview] = await Promise.all([
    pageOf<shapes.Device>('devices', filter, {
      query,
      order: { key: 'created_at', newestFirst: false },
      markerOf: ({ uuid }) => uuid,
      read: async (path) => mapped(await api.get(path, shapes.Devices), ({ devices: some }) => some),
    }),
    api.get('/overview', shapes.Overview),
  ])
  const others = Object.keys(filter).some((name) => name !== 'state')
  return {
    view: 'devices',
    title: 'Devices',
    body: {
      list,
      filter,
      counts: overview.ok && !others ? (overview.value.device_states ?? null) : null,
      turn: turnsAt('devices', turn),
    },
  }
}

export const handles: Load = async ({ api, query }) => {
  const filter = filterOf(query, ['state', 'hostname', 'deployable_uuid'])
  const [{ list, turn }, overview] = await Promise.all([
    pageOf<shapes.Handle>('handles', filter, {
      query,
      order: { key: 'uuid', newestFirst: false },
      markerOf: ({ uuid }) => uuid,
      read: async (path) => mapped(await api.get(path, shapes.Handles), ({ handles: some }) => some),
    }),
    api.get('/overview', shapes.Overview),
  ])
  const others = Object.keys(filter).some((name) => name !== 'state')
  return {
    view: 'handles',
    title: 'Attach handles',
    body: {
      list,
      filter,
      counts: overview.ok && !others ? overview.value.handles : null,
      turn: turnsAt('handles', turn),
    },
  }
}

export const profiles: Load = async ({ api, query, may }) => {
  const { list, turn } = await pageOf<shapes.Profile>(
    'device_profiles',
    {},
    {
      query,
      order: { key: 'created_at', newestFirst: true },
      markerOf: ({ uuid }) => uuid,
      read: async (path) => mapped(await api.get(path, shapes.Profiles), ({ device_profiles: some }) => some),
    },
  )
  return {
    view: 'profiles',
    title: 'Profiles',
    body: { list, filter: {}, turn: turnsAt('profiles', turn), offers: makersOf('profiles', may) },
  }
}

/** How many of each kind wait; null: they could not be counted. */
export const deliveryCounts = (overview: Loaded<shapes.Overview>): DeliveryCounts | null => {
  if (!overview.ok) return null
  const { deliveries, found } = overview.value
  return { waiting: deliveries.waiting, undelivered: deliveries.undelivered, letters: found.dead_letters.count }
}
export const deliveries: Load = async ({ api, query, may }) => {
  const after = query['after']
  const state = query['state'] === 'undelivered' ? 'undelivered' : 'waiting'
  const marker = after === undefined ? '' : `&marker=${encodeURIComponent(after)}`
  const [read, overview] = await Promise.all([
    api.get(`/deliveries?state=${state}${marker}`, shapes.Deliveries),
    api.get('/overview', shapes.Overview),
  ])
  const last = read.ok && read.value.deliveries_links !== undefined ? read.value.deliveries.at(-1) : undefined
  return {
    view: 'deliveries',
    title: 'Deliveries',
    body: {
      list: mapped(read, ({ deliveries: some }) => some),
      state,
      counts: deliveryCounts(overview),
      offers: offersOf('instances', canTell(overview) ? SETTLED : NO_NOVA, may),
      turn: {
        later: null,
        earlier: last === undefined ? null : `deliveries?state=${state}&after=${last.instance_uuid}`,
      },
    },
  }
}

const DRIFT_HOSTS = 20
const IGNORED_SHOWN = 100
export const drift: Load = async ({ api, query, may }) => {
  const [after, host] = [query['after'] ?? null, query['host'] ?? null]
  const marker = after === null ? '' : `&marker=${encodeURIComponent(after)}`
  const only = host === null ? '' : `&host=${encodeURIComponent(host)}`
  const [read, ignored] = await Promise.all([
    api.get(`/drift?limit=${DRIFT_HOSTS}${marker}${only}`, shapes.Drift),
    api.get(`/drift/ignored?limit=${IGNORED_SHOWN + 1}${only}`, shapes.IgnoredDrifts),
  ])
  const next = read.ok && read.value.drift_links !== undefined ? (read.value.drift.at(-1)?.host ?? null) : null
  return {
    view: 'drift',
    title: 'Drift',
    body: {
      drift: read,
      marker: after,
      next,
      host,
      offers: offersOf('drift', 'differs', may),
      offersOfOne: offersOf('differences', 'differs', may),
      ignored: mapped(ignored, ({ ignored: some }) => cutTo(some, IGNORED_SHOWN)),
      offersOfIgnored: offersOf('ignored', 'ignored', may),
    },
  }
}

export const system: Load = async ({ api, may }) => {
  const [system, overview] = await Promise.all([api.get('/system', System), api.get('/overview', shapes.Overview)])
  return { view: 'system', title: 'System', body: { system, overview, permissions: may } }
}

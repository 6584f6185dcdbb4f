/** Loads the pages of single entities. */
import type { Kind, Stand } from '../action.ts'
import { offersOf } from '../actions.ts'
import { at } from '../api.ts'
import { differenceStand, ignoredStand } from '../driftAction.ts'
import { letterActionState } from '../letterActions.ts'
import { profileStand } from '../profileActions.ts'
import { programStand } from '../programActions.ts'
import { ProgramDetail } from '../answerShapes.ts'
import * as shapes from '../shapes.ts'
import { handleActionState, hostActionState, instanceActionState } from '../actionStates.ts'
import { type Filter, cutTo, under } from '../view/rows.ts'
import { type Loaded, loaded, mapped, pageError } from '../loaded.ts'
import { differenceIn } from '../view/differenceId.ts'
import { waysOf } from '../view/ways.ts'
import { letterIn } from './letters.ts'
import { differencesOf, pairOf } from '../../vocabulary/profileDiff.ts'
import type { VersionPair } from '../view/screen.ts'
import { type PageRequest, type Load, PAGE_ROWS, arqsIn } from './loader.ts'

const asOfIn = (asOf: string | null): Filter => (asOf === null ? {} : { as_of: asOf })
const timelineOf = (api: PageRequest['api'], uuid: string) =>
  api.get(at`/accelerator_requests/${uuid}/timeline`, shapes.Timeline)
/** A moment of the past as pages show it is understood, too. */
const SHOWN_MOMENT = /^(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d(?:\.\d{1,3})?)(?: UTC)?$/
/** The moment that a page is asked to show; null: the present. The API judges it. */
export const momentOf = ({ as_of: given = '' }: PageRequest['query']): string | null =>
  given.trim() === '' ? null : given.trim().replace(SHOWN_MOMENT, '$1T$2Z')
/** `asOf`: a moment of the past; null: the present. */
export const timelineWithEvents = (api: PageRequest['api'], uuid: string, asOf: string | null = null) =>
  api.get(under(at`/accelerator_requests/${uuid}/timeline`, { events: 'true', ...asOfIn(asOf) }), shapes.Timeline)

export const arq: Load = async ({ api, id, may, query }) => {
  const asOf = momentOf(query)
  const then = asOfIn(asOf)
  const [one, timeline] = await Promise.all([
    api.get(under(at`/accelerator_requests/${id}`, then), shapes.Arq),
    timelineWithEvents(api, id, asOf),
  ])
  const instance = one.ok ? one.value.instance_uuid : null
  const others =
    instance === null
      ? loaded([])
      : await arqsIn(api, under('/accelerator_requests', { instance, limit: String(PAGE_ROWS), ...then }))
  const members = others.ok ? others.value.map(({ uuid }) => uuid) : []
  const place = members.indexOf(id)
  return {
    view: 'arq',
    title: `Request ${id}`,
    body: {
      arq: one,
      timeline,
      offers: one.ok ? offersOf('arqs', one.value.state, may) : [],
      others: members.filter((uuid) => uuid !== id),
      turn: { later: members[place - 1] ?? null, earlier: place < 0 ? null : (members[place + 1] ?? null) },
      asOf,
      ways: waysOf(query),
    },
  }
}

/** How many members of an instance have their timelines read at once. */
const MEMBERS_MAX = 16
const membersOf = (api: PageRequest['api'], uuid: string) => arqsIn(api, at`/accelerator_requests?instance=${uuid}`)
export const instance: Load = async ({ api, id, may }) => {
  const [members, overview] = await Promise.all([membersOf(api, id), api.get('/overview', shapes.Overview)])
  if (!members.ok) return { view: 'instance', title: `Instance ${id}`, body: { uuid: id, list: members, offers: [] } }
  const { some, of } = cutTo(members.value, MEMBERS_MAX)
  const timed = await Promise.all(some.map(async (one) => ({ arq: one, timeline: await timelineOf(api, one.uuid) })))
  const list = loaded({ some: timed, of })
  const possible =
    members.value.length === 0 ? [] : offersOf('instances', instanceActionState(members.value, overview), may)
  return { view: 'instance', title: `Instance ${id}`, body: { uuid: id, list, offers: possible } }
}

const tallyOf = (all: readonly { readonly state: string }[]): Readonly<Record<string, number>> =>
  Object.fromEntries([...Map.groupBy(all, ({ state }) => state)].map(([state, some]) => [state, some.length]))

export const host: Load = async ({ api, id, may }) => {
  const [one, devices] = await Promise.all([
    api.get(at`/hosts/${id}`, shapes.HostDetail),
    api.get(at`/devices?hostname=${id}`, shapes.Devices),
  ])
  return {
    view: 'host',
    title: `Host ${id}`,
    body: {
      host: one,
      devices: mapped(devices, (read) => ({ ...cutTo(read.devices, PAGE_ROWS), states: tallyOf(read.devices) })),
      offers: one.ok ? offersOf('hosts', hostActionState(one.value), may) : [],
    },
  }
}

const PARTS_MAX = 32
const HANDLES_MAX = 256
export const device: Load = async ({ api, id, may, query }) => {
  const [one, deployables] = await Promise.all([
    api.get(at`/devices/${id}`, shapes.DeviceDetail),
    api.get(at`/deployables?device_uuid=${id}`, shapes.Deployables),
  ])
  const handlesOf = async (uuid: string) =>
    mapped(await api.get(at`/handles?deployable_uuid=${uuid}`, shapes.Handles), ({ handles }) => ({
      ...cutTo(handles, HANDLES_MAX),
      tally: tallyOf(handles),
    }))
  const from = Number(/^\d{1,6}$/.exec(query['from'] ?? '')?.[0] ?? 0)
  const cut = deployables.ok ? cutTo(deployables.value.deployables, PARTS_MAX, from) : null
  const parts = await Promise.all(
    (cut?.some ?? []).map(async (each) => ({ deployable: each, handles: await handlesOf(each.uuid) })),
  )
  return {
    view: 'device',
    title: `Device ${id}`,
    body: {
      device: one,
      parts: mapped(deployables, () => ({ some: parts, of: cut?.of ?? 0, from })),
      offers: one.ok ? offersOf('devices', one.value.status, may) : [],
    },
  }
}

export const handle: Load = async ({ api, id, may }) => {
  const one = await api.get(at`/handles/${id}`, shapes.HandleDetail)
  return {
    view: 'handle',
    title: `Attach handle ${id}`,
    body: { handle: one, offers: one.ok ? offersOf('handles', handleActionState(one.value), may) : [] },
  }
}

const profileIn = async (api: PageRequest['api'], id: string) => {
  const [read, versions] = await Promise.all([
    api.get(at`/device_profiles/${id}`, shapes.OneProfile),
    api.get(at`/device_profiles/${id}/versions`, shapes.ProfileVersions),
  ])
  return {
    profile: mapped(read, ({ device_profile: found }) => found),
    versions: versions.ok ? versions.value.versions : [],
  }
}
export const profile: Load = async ({ api, id, may }) => {
  const { profile: one, versions } = await profileIn(api, id)
  return {
    view: 'profile',
    title: `Profile ${id}`,
    body: {
      profile: one,
      versions,
      offers: one.ok ? offersOf('profiles', profileStand(one.value, versions).state, may) : [],
    },
  }
}

/** Two versions of a profile: those that the address names, else the last two. */
export const versions: Load = async ({ api, id, query }) => {
  const [read, all] = await Promise.all([
    api.get(at`/device_profiles/${id}`, shapes.OneProfile),
    api.get(at`/device_profiles/${id}/versions`, shapes.ProfileVersions),
  ])
  const pairIn = (profile: shapes.Profile, list: shapes.ProfileVersions['versions']): Loaded<VersionPair> => {
    const pair = pairOf(list, { from: query['from'], to: query['to'] })
    if (typeof pair === 'string') return pageError('missing', `${profile.name}: ${pair}.`)
    return loaded({ profile, versions: list, ...pair, differences: differencesOf(pair.from, pair.to) })
  }
  const pair = !read.ok ? read : all.ok ? pairIn(read.value.device_profile, all.value.versions) : all
  return { view: 'versions', title: `Versions of profile ${id}`, body: { id, pair } }
}

/** Which differences of this host a repair would mend; nothing is changed. */
const repairsOf = async (api: PageRequest['api'], host: string): Promise<Loaded<shapes.Drift['drift']>> =>
  mapped(await api.ask(at`/drift/heal?host=${host}&dry_run=true`, shapes.Healing), ({ drift }) => drift)
const isRepairable = (drift: shapes.Drift['drift']): boolean =>
  drift.some(({ entries }) => entries.some(({ repairs }) => repairs.length > 0))

const UNKNOWN: Stand = { state: '', known: {} }
const standIn = <Value>(given: Loaded<Value>, state: (value: Value) => string): Stand =>
  given.ok ? { state: state(given.value), known: {} } : UNKNOWN
/** The state on which the possible actions depend, and what is known for their fields. */
export const standFor = async ({ api, id }: Pick<PageRequest, 'api' | 'id'>, kind: Kind): Promise<Stand> => {
  switch (kind) {
    case 'arqs':
      return standIn(await api.get(at`/accelerator_requests/${id}`, shapes.Arq), ({ state }) => state)
    case 'instances': {
      const [members, overview] = await Promise.all([membersOf(api, id), api.get('/overview', shapes.Overview)])
      return standIn(members, (some) => instanceActionState(some, overview))
    }
    case 'hosts':
      return standIn(await api.get(at`/hosts/${id}`, shapes.HostDetail), hostActionState)
    case 'devices':
      return standIn(await api.get(at`/devices/${id}`, shapes.Device), ({ status }) => status)
    case 'handles':
      return standIn(await api.get(at`/handles/${id}`, shapes.HandleDetail), handleActionState)
    case 'letters':
      return standIn(await letterIn(api, id), letterActionState)
    case 'drift': {
      const repairs = await repairsOf(api, id)
      const none = repairs.ok ? !isRepairable(repairs.value) : repairs.error.kind === 'off'
      return { state: none ? 'same' : 'differs', known: {}, repairs }
    }
    case 'differences': {
      const { host: name } = differenceIn(id)
      return differenceStand(id, await api.get(at`/drift?host=${name}`, shapes.Drift))
    }
    case 'programs': {
      const one = await api.get(at`/programs/${id}`, ProgramDetail)
      return one.ok ? programStand(one.value) : { ...UNKNOWN, not: one.error.text }
    }
    case 'ignored': {
      const one = await api.get(at`/drift/ignored/${id}`, shapes.IgnoredDrift)
      return one.ok ? ignoredStand(one.value) : UNKNOWN
    }
    case 'profiles': {
      const { profile: one, versions } = await profileIn(api, id)
      return one.ok ? profileStand(one.value, versions) : UNKNOWN
    }
  }
}

/** A host: liveness, other names, the last picture of its hardware that was recorded, and what that picture became here. */
import { type Decider, type Decision, accept, refuse } from '../decider.ts'
import { type Row, put } from '../views.ts'

export type Liveness = 'up' | 'stale' | 'down' | 'removed'
/** What was recorded of one device of the host, by canonical control path. */
export type HeldDevice = {
  readonly uuid: string
  readonly id: number
  readonly driver: string
  /** Hash of what the driver reported of it: equal means there is nothing to do. */
  readonly digest: string
  /** Complete reports of its driver in a row that did not show it. */
  readonly missing: number
  /** Deployable name -> uuid. */
  readonly deployables: Readonly<Record<string, string>>
}
export type DriverState = { readonly status: 'ok' | 'failed'; readonly error: string | null }
export type Picture = {
  readonly bootId: string
  readonly number: number
  readonly digest: string
  readonly aliases: readonly string[]
  readonly drivers: Readonly<Record<string, DriverState>>
}
export type Host = Picture & {
  readonly exists: boolean
  readonly name: string
  readonly liveness: Liveness
  /** The last boots before this one: what is still said of them is old. */
  readonly formerBoots: readonly string[]
  readonly devices: Readonly<Record<string, HeldDevice>>
  readonly createdAt: number
  readonly updatedAt: number | null
}

/** `devices`: only what changed; null removes one (retired). */
type Changed = Readonly<Record<string, HeldDevice | null>>
export type HostCommand =
  | { readonly type: 'RecordPicture'; readonly name: string; readonly picture: Picture; readonly devices: Changed }
  | { readonly type: 'SetLiveness'; readonly liveness: Liveness; readonly by: string }
export type HostEvent =
  | { readonly type: 'PictureRecorded'; readonly name: string; readonly picture: Picture; readonly devices: Changed }
  | { readonly type: 'LivenessSet'; readonly liveness: Liveness; readonly by: string }

const initial: Host = {
  exists: false,
  name: '',
  bootId: '',
  number: 0,
  digest: '',
  aliases: [],
  drivers: {},
  liveness: 'up',
  formerBoots: [],
  devices: {},
  createdAt: 0,
  updatedAt: null,
}

const BOOTS_KEPT = 16
/** Older and repeated reports of one boot, and all of a former boot, change nothing (Q1, I10). */
export const isNews = (host: Host, report: { readonly bootId: string; readonly number: number }): boolean => {
  if (!host.exists) return true
  return report.bootId === host.bootId ? report.number > host.number : !host.formerBoots.includes(report.bootId)
}
const decide = (host: Host, command: HostCommand): Decision<HostEvent> => {
  if (command.type === 'RecordPicture')
    return isNews(host, command.picture) ? accept({ ...command, type: 'PictureRecorded' }) : accept()
  if (!host.exists) return refuse({ kind: 'not_found', resource: 'host', id: host.name })
  return host.liveness === command.liveness ? accept() : accept({ ...command, type: 'LivenessSet' })
}

const merge = (devices: Host['devices'], changed: Changed): Host['devices'] =>
  Object.fromEntries(
    Object.entries({ ...devices, ...changed }).filter((entry): entry is [string, HeldDevice] => entry[1] !== null),
  )

const evolve = (host: Host, event: HostEvent, at: number): Host => {
  if (event.type === 'LivenessSet') return { ...host, liveness: event.liveness, updatedAt: at }
  const devices = merge(host.devices, event.devices)
  const left = host.exists && host.bootId !== event.picture.bootId ? [host.bootId] : []
  return {
    ...host,
    ...event.picture,
    exists: true,
    name: event.name,
    liveness: 'up',
    formerBoots: [...host.formerBoots, ...left].slice(-BOOTS_KEPT),
    devices,
    ...(host.exists ? { updatedAt: at } : { createdAt: at }),
  }
}

const hostRow = (host: Host): Row<'hosts'> => ({
  name: host.name,
  liveness: host.liveness,
  boot_id: host.bootId || null,
  drivers: host.drivers,
  aliases: host.aliases,
  created_at: host.createdAt,
  updated_at: host.updatedAt,
})

export const host: Decider<Host, HostCommand, HostEvent> = {
  kind: 'host',
  initial,
  decide,
  evolve,
  rows: (before, after) => (before === after || !after.exists ? [] : [put('hosts', hostRow(after))]),
}
export const hostKey = (name: string): string => `host/${name}`

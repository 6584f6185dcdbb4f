/**
 * Which of the devices, deployables and attach handles of upstream are kept, where several rows stand for one thing
 * (data-model 13). Pure.
 *
 * KEPT-1 what a bound request uses is kept before anything else;
 * KEPT-2 of several devices with one control path on a host the oldest is kept (W17), of several with one provider the
 *    newest (W12): the newest has the name under which the host reports, so the one that is kept gets that name;
 * KEPT-3 an attach handle that is used is kept, whatever else is left out: it is moved to the device and to the
 *    deployable that stand for its own. Of several that attach the same in one deployable one is kept, and a request
 *    that is bound to another one is moved to it;
 * KEPT-4 a device has one deployable of each name, and a provider has one root (`twins.ts`). Devices that share no more
 *    than a provider are both kept where both are used.
 */
import { pciAddressOf, pciJson } from '../../vocabulary/pci.ts'
import type { Notes } from './notes.ts'
import {
  type UpstreamDevice,
  type Live,
  type UpstreamHandle,
  type UpstreamDeployable,
  canonicalOf,
  isUsed,
} from './devices.ts'
import { oneOfEachName, oneRootOfEachProvider, usedDeployables } from './twins.ts'

export type KeptHandle = {
  readonly device: UpstreamDevice
  readonly deployable: UpstreamDeployable
  readonly handle: UpstreamHandle
}
export type Kept = {
  readonly devices: readonly UpstreamDevice[]
  /** Recorded and retired at once: their history is known, nothing of them is offered. */
  readonly retired: readonly UpstreamDevice[]
  /** Where an attach handle of upstream is now, by its id; null: nowhere. */
  readonly keptHandleOf: (handleId: number) => KeptHandle | null
  /** The device that stands for a device of upstream, by their ids. */
  readonly standsFor: (deviceId: number) => number
}

const handlesIn = ({ deployables }: UpstreamDevice): readonly UpstreamHandle[] =>
  deployables.flatMap(({ handles }) => handles)
const isLive = (device: UpstreamDevice, live: Live): boolean => handlesIn(device).some(({ row }) => live.has(row.id))
const isInUse = (device: UpstreamDevice, live: Live): boolean =>
  handlesIn(device).some((handle) => isUsed(handle, live))
const liveFirst = (live: Live, one: UpstreamDevice, other: UpstreamDevice): number =>
  Number(isLive(other, live)) - Number(isLive(one, live))

/** A device without control path is identified by a function of it that is in use. */
const identified = (device: UpstreamDevice, live: Live, notes: Notes): UpstreamDevice => {
  if (device.controlPath !== null) return device
  const used = handlesIn(device).filter((handle) => isUsed(handle, live))
  const handle = used.find(({ row }) => live.has(row.id)) ?? used[0]
  if (!handle) return device
  const address = pciAddressOf(handle.known.info)
  const controlPath = address && handle.known.type !== 'PCI' ? pciJson(address) : handle.row.info
  notes.repaired(
    'devices',
    device.row,
    'W14',
    `it has no control path, and is known by ${controlPath}, which is in use`,
  )
  return { ...device, controlPath }
}

/** What only one device of a host, or of all hosts, may have. */
const claimsOf = ({ rpUuid, row }: UpstreamDeployable): readonly string[] => [`provider ${rpUuid}`, `name ${row.name}`]
const sharesName = (one: UpstreamDevice, other: UpstreamDevice): boolean => {
  const names = new Set(one.deployables.map(({ row }) => row.name))
  return other.deployables.some(({ row }) => names.has(row.name))
}

/**
 * The devices while they are sorted. A device that is dropped hands its used parts to the device that stands for it, if
 * there is one.
 */
type Sorting = {
  readonly live: Live
  readonly notes: Notes
  readonly stay: Map<number, UpstreamDevice>
  readonly go: UpstreamDevice[]
  /** The device that stands for one that goes, by their ids. */
  readonly owners: Map<number, number>
}
const goes = ({ live, stay, go, owners }: Sorting, device: UpstreamDevice, owner: UpstreamDevice | null): void => {
  go.push(device)
  stay.delete(device.row.id)
  if (!owner) return
  owners.set(device.row.id, owner.row.id)
  const used = usedDeployables(device.deployables, live)
  stay.set(owner.row.id, {
    ...owner,
    deployables: [...owner.deployables, ...device.deployables.filter(({ row }) => used.has(row.id))],
  })
}

/** One device for each control path of a host. */
const byControlPath = (sorting: Sorting): void => {
  const { live, stay, notes } = sorting
  const found = new Map<string, number>()
  for (const device of [...stay.values()].toSorted(
    (one, other) => liveFirst(live, one, other) || one.row.id - other.row.id,
  )) {
    const canonical = canonicalOf(device)
    const owner = canonical === null ? undefined : stay.get(found.get(`${device.host} ${canonical}`) ?? -1)
    if (canonical !== null && !owner) {
      found.set(`${device.host} ${canonical}`, device.row.id)
      continue
    }
    goes(sorting, device, owner ?? null)
    const [rule, why] = owner
      ? (['W17', `retired: device ${owner.uuid} has the same control path on host ${device.host}`] as const)
      : (['W14', 'retired: it has no control path, so no host can show it'] as const)
    notes.repaired('devices', device.row, rule, why)
  }
}

type Rival = { readonly owner: UpstreamDevice; readonly isSame: boolean }
/** The device that another one goes over to; undefined: it stays. */
const rivalOf = (device: UpstreamDevice, rivals: readonly UpstreamDevice[], live: Live): Rival | undefined => {
  const named = rivals.filter((one) => sharesName(one, device))
  const same =
    named.find(({ host }) => host === device.host) ?? named.find((one) => canonicalOf(one) === canonicalOf(device))
  if (same) return { owner: same, isSame: true }
  const [first] = rivals
  return first && !isInUse(device, live) ? { owner: first, isSame: false } : undefined
}

/** One device for each name and provider of its deployables. */
const byProvider = (sorting: Sorting): void => {
  const { live, stay, notes } = sorting
  const claimed = new Map<string, number[]>()
  for (const device of [...stay.values()].toSorted(
    (one, other) => liveFirst(live, one, other) || other.row.id - one.row.id,
  )) {
    const claims = device.deployables.flatMap(claimsOf)
    const rivals = new Set(claims.flatMap((claim) => claimed.get(claim) ?? []))
    const rival = rivalOf(
      device,
      [...rivals].map((id) => stay.get(id)!),
      live,
    )
    for (const claim of claims)
      claimed.set(claim, [...new Set([...(claimed.get(claim) ?? []), (rival?.owner ?? device).row.id])])
    if (!rival) continue
    const { owner, isSame } = rival
    goes(sorting, device, owner)
    notes.repaired('devices', device.row, 'W12', `retired: device ${owner.uuid} stands for the same resource provider`)
    if (!isSame || device.row.id <= owner.row.id || device.host === owner.host) continue
    notes.repaired(
      'devices',
      owner.row,
      'W12',
      `moved from host ${owner.host} to ${device.host}, under which it was found later`,
    )
    stay.set(owner.row.id, { ...stay.get(owner.row.id)!, host: device.host })
  }
}

const uniqueHandles = ({ handles }: UpstreamDeployable, live: Live, notes: Notes): readonly UpstreamHandle[] => {
  const first = new Map<string, UpstreamHandle>()
  const ranked = handles.toSorted(
    ({ row: one }, { row: other }) =>
      Number(live.has(other.id)) - Number(live.has(one.id)) ||
      Number(other.inUse) - Number(one.inUse) ||
      one.id - other.id,
  )
  for (const handle of ranked) {
    const known = first.get(handle.known.canonical)
    if (known) notes.leftOut('attach_handles', handle.row, 'W17', `attach handle ${known.known.uuid} attaches the same`)
    else first.set(handle.known.canonical, handle)
  }
  return [...first.values()].toSorted(({ row: one }, { row: other }) => one.id - other.id)
}

const key = (deployable: UpstreamDeployable, { known }: UpstreamHandle): string =>
  `${deployable.row.name} ${known.canonical}`
/** All attach handles of these devices. */
export const keptHandlesIn = (devices: readonly UpstreamDevice[]): readonly KeptHandle[] =>
  devices.flatMap((device) =>
    device.deployables.flatMap((deployable) => deployable.handles.map((handle) => ({ device, deployable, handle }))),
  )
const keptHandleFinder = (all: readonly UpstreamDevice[], devices: readonly UpstreamDevice[]): Kept['keptHandleOf'] => {
  const [byId, alike] = [new Map<number, KeptHandle>(), new Map<string, KeptHandle>()]
  for (const kept of keptHandlesIn(devices)) {
    byId.set(kept.handle.row.id, kept)
    alike.set(key(kept.deployable, kept.handle), kept)
  }
  const former = new Map(
    all.flatMap(({ deployables }) =>
      deployables.flatMap((deployable) =>
        deployable.handles.map((handle) => [handle.row.id, key(deployable, handle)] as const),
      ),
    ),
  )
  return (id) => byId.get(id) ?? alike.get(former.get(id) ?? '') ?? null
}

export const keep = (all: readonly UpstreamDevice[], live: Live, notes: Notes): Kept => {
  const stay = new Map(all.map((device) => [device.row.id, identified(device, live, notes)]))
  const sorting: Sorting = { live, notes, stay, go: [], owners: new Map() }
  // a device that was moved to another host, or that took something over, may meet another one there
  for (let before = Number.POSITIVE_INFINITY; stay.size < before;) {
    before = stay.size
    byControlPath(sorting)
    byProvider(sorting)
  }
  const named = [...stay.values()]
    .map((device) => oneOfEachName(device, live, notes))
    .map((device) => ({
      ...device,
      deployables: device.deployables.map((deployable) => ({
        ...deployable,
        handles: uniqueHandles(deployable, live, notes),
      })),
    }))
    .toSorted((one, other) => one.row.id - other.row.id)
  const devices = oneRootOfEachProvider(named, live, notes)
  const standsFor = (id: number): number => {
    const owner = sorting.owners.get(id)
    return owner === undefined ? id : standsFor(owner)
  }
  return { devices, retired: sorting.go, keptHandleOf: keptHandleFinder(all, devices), standsFor }
}

/**
 * Computes what Placement should show of a host: one provider for each root with a resource class. A pure function of
 * the records (placement 7, 9.1).
 */
import type { ArqUuid, DeployableUuid, InstanceUuid, ResourceProviderUuid } from '../../vocabulary/identifiers.ts'
import { isBeingCleaned } from '../deployable/cleaning.ts'
import { type Deployable, type SlotHandle, attributeOf, traitsOf } from '../deployable/state.ts'
import { countUnits, unitsOf } from '../deployable/units.ts'
import type { Host, Liveness } from '../host/decider.ts'
import { OWNER_TRAIT, placementName } from './names.ts'
import type { Inventories } from './port.ts'

/** The liveness from which on everything of a host is reserved, so that no new server is sent to it. */
export const RESERVE_SILENT = ['never', 'stale', 'down'] as const
export type ReserveSilent = (typeof RESERVE_SILENT)[number]

/** The reasons why units of a provider are reserved. */
export const RESERVINGS = [
  'device disabled',
  'device missing',
  'device failing',
  'being programmed',
  'host retired',
  'host silent',
  'handles unusable',
  'bound without allocation',
] as const
export type Reserving = (typeof RESERVINGS)[number]
export type Wanted = {
  readonly uuid: ResourceProviderUuid
  readonly name: string
  readonly deployable: DeployableUuid
  readonly resourceClass: string
  readonly total: number
  readonly reserved: number
  readonly reasons: readonly Reserving[]
  /** Names of traits in alphabetical order. */
  readonly traits: readonly string[]
  /** By instance: the units that are reserved because they have no allocation. */
  readonly unallocated?: Readonly<Record<InstanceUuid, number>>
}

/** All members are written, so that defaults of Placement have no effect (placement 5.3). */
export const inventoriesOf = ({
  resourceClass,
  total,
  reserved,
}: Pick<Wanted, 'resourceClass' | 'total' | 'reserved'>): Inventories => ({
  [resourceClass]: { total, reserved, min_unit: 1, max_unit: total, step_size: 1, allocation_ratio: 1 },
})

const RESOURCE_CLASS = 'rc'

const sum = (numbers: readonly number[]): number => numbers.reduce((all, one) => all + one, 0)
const heldUnits = (held: Deployable): number => countUnits(held, 'some', ({ state }) => state === 'held')
/**
 * A handle that is being released counts as usable: it will be free in a moment, and each write disturbs claims of
 * Nova. A handle that is being cleaned does not count, because a cleaning may take minutes.
 */
const USABLE: ReadonlySet<string> = new Set(['free', 'held', 'releasing'])
const isUsable = (handle: SlotHandle): boolean => USABLE.has(handle.state) && !isBeingCleaned(handle)
const usableUnits = (held: Deployable): number => countUnits(held, 'every', isUsable)
/** Units that requests hold, without units that are unusable because of another handle in them. */
export const givenUnits = ({ handles }: Deployable): number =>
  unitsOf(Object.values(handles)).filter((unit) => unit.every(isUsable) && unit.some(({ state }) => state === 'held'))
    .length
/**
 * Placement accepts no total below 1. Units that requests hold always count, even if the device has fewer handles than
 * before. `below`: the deployables of the root's tree, whose handles are granted through the root's provider (R6).
 */
const totalOf = (root: Deployable, below: readonly Deployable[]): number =>
  Math.max(1, root.numAccelerators, sum([root, ...below].map(heldUnits)))

/** For each setting, the liveness that counts as silent. */
const SILENT: Readonly<Record<ReserveSilent, readonly Liveness[]>> = {
  never: [],
  stale: ['stale', 'down'],
  down: ['down'],
}

const wholeReasons = (held: Deployable, host: Host, silent: ReserveSilent): readonly Reserving[] => [
  ...(held.status === 'maintaining' ? (['device disabled'] as const) : []),
  ...(held.presence === 'missing' ? (['device missing'] as const) : []),
  ...(held.failing === undefined ? [] : (['device failing'] as const)),
  ...(held.program === null ? [] : (['being programmed'] as const)),
  ...(host.retired || host.liveness === 'removed' ? (['host retired'] as const) : []),
  ...(SILENT[silent].includes(host.liveness) ? (['host silent'] as const) : []),
]

const wantedFor = (
  held: Deployable,
  below: readonly Deployable[],
  host: Host,
  silent: ReserveSilent,
): readonly Wanted[] => {
  const resourceClass = attributeOf(held, RESOURCE_CLASS)
  if (!held.exists || held.presence === 'retired' || resourceClass === null || resourceClass === '') return []
  // only a root has a provider (R4)
  if (held.tree) return []
  const [total, whole] = [totalOf(held, below), wholeReasons(held, host, silent)]
  const there = [held, ...below.filter(({ presence }) => presence === 'present')]
  const unusable = Math.max(0, total - sum(there.map(usableUnits)))
  return [
    {
      uuid: held.rpUuid,
      name: held.name,
      deployable: held.uuid,
      resourceClass: placementName(resourceClass),
      total,
      reserved: whole.length > 0 ? total : unusable,
      reasons: unusable > 0 ? [...whole, 'handles unusable'] : whole,
      traits: [...new Set([OWNER_TRAIT, ...[...traitsOf(held)].map(placementName)])].toSorted(),
    },
  ]
}

export const wantedOf = (host: Host, deployables: readonly Deployable[], silent: ReserveSilent): readonly Wanted[] => {
  const trees = Map.groupBy(deployables, ({ tree }) => tree?.rootUuid)
  return deployables.flatMap((held) => wantedFor(held, trees.get(held.uuid) ?? [], host, silent))
}

/** The accelerator requests that hold units of the deployable, one for each unit. */
export const heldBy = ({ handles }: Deployable): readonly ArqUuid[] =>
  unitsOf(Object.values(handles)).flatMap((unit) =>
    unit.flatMap(({ state, arq }) => (state === 'held' && arq !== null ? [arq] : [])).slice(0, 1),
  )
/**
 * The units that instances use without an allocation: Placement would offer them to others (P15). `users`: the instance
 * of each bound request. `allocated`: units by consumer.
 */
export const unallocatedOf = (
  users: readonly InstanceUuid[],
  allocated: Readonly<Record<InstanceUuid, number>>,
): ReadonlyMap<InstanceUuid, number> => {
  const used = Map.groupBy(users, (instance) => instance)
  const lacking = [...used].map(([instance, all]) => [instance, all.length - (allocated[instance] ?? 0)] as const)
  return new Map(lacking.filter(([, units]) => units > 0))
}
/** Also reserves the units that are in use without an allocation. */
export const withheld = (wanted: Wanted, unallocated: ReturnType<typeof unallocatedOf>): Wanted => {
  if (unallocated.size === 0) return wanted
  const units = [...unallocated.values()].reduce((sum, some) => sum + some, 0)
  const reserved = Math.min(wanted.total, wanted.reserved + units)
  const reasons: readonly Reserving[] = [...wanted.reasons, 'bound without allocation']
  return { ...wanted, reserved, reasons, unallocated: Object.fromEntries(unallocated) }
}

/** Why units are reserved, and for whom, as it is recorded. */
export const reservedFor = ({ reasons, unallocated }: Wanted) => ({
  reserving: reasons,
  ...(unallocated && { unallocated }),
})

const ownTotal = (held: Deployable): number => Math.max(held.numAccelerators, heldUnits(held))

/**
 * Whether a change of a deployable may change the wanted inventory. It runs with every grant and release, so it must be
 * fast.
 */
export const concernsPlacement = (before: Deployable, after: Deployable): boolean =>
  before.exists !== after.exists ||
  before.presence !== after.presence ||
  before.status !== after.status ||
  before.failing !== after.failing ||
  before.attributes !== after.attributes ||
  (before.program === null) !== (after.program === null) ||
  before.tree !== after.tree ||
  ownTotal(before) !== ownTotal(after) ||
  usableUnits(before) !== usableUnits(after)

/** Finds the obstacles that keep a host from serving the groups of a profile. Pure. */
import { amountOf, MISMATCHES, mismatches } from '../arq/groups.ts'
import type { HandleType } from '../../vocabulary/hardware.ts'
import type { HostName, ResourceProviderUuid } from '../../vocabulary/identifiers.ts'
import type { DeployableTree } from '../deployable/giver.ts'
import { type Deployable, attributeOf } from '../deployable/state.ts'
import {
  DEVICES_SHOWN,
  type JudgedDevice,
  type JudgedGroup,
  type JudgedHost,
  type Obstacle,
  type ObstacleCode,
  type Stop,
} from './answer.ts'
import {
  type RequestedGroup,
  mismatchObstacles,
  obstacle,
  obstaclesOf,
  type Surroundings,
  unitsLeft,
  wantedFor,
} from './judge.ts'
import { bindTakes, findWay, type Ways } from './together.ts'

/** A device whose class no group asks for. The views contain all that is needed to judge it. */
export type OtherDevice = Pick<JudgedDevice, 'deployable' | 'device' | 'provider' | 'name'> & {
  readonly resourceClass: string | null
  readonly traits: ReadonlySet<string>
}
export type HostFacts = Surroundings & {
  readonly name: HostName
  readonly devices: readonly DeployableTree[]
  readonly others: readonly OtherDevice[]
}
/**
 * `all`: every judged device, by group. `bindAccepts`: whether a bind with these providers, one for each group, would
 * be accepted.
 */
export type HostJudgement = {
  readonly shown: JudgedHost
  readonly distance: number
  /** The host has a device of a class that is asked for. */
  readonly isNear: boolean
  /** The provider of the compute node; null: unknown. */
  readonly root: ResourceProviderUuid | null
  readonly all: readonly (readonly JudgedDevice[])[]
  /** By group, the types of the attach handles of the devices that satisfy it, whether or not one is free. */
  readonly attaches: readonly ReadonlySet<HandleType>[]
  readonly bindAccepts: (providers: readonly string[]) => boolean
}

/** The distance from fitting that each obstacle adds; an obstacle that is not listed adds 1. */
const FAR: Readonly<Partial<Record<ObstacleCode, number>>> = {
  resource_class: 100,
  trait_missing: 10,
  trait_forbidden: 10,
}
const NO_DEVICE = 1000
export const distanceOf = (obstacles: readonly Obstacle[]): number =>
  obstacles.reduce((sum, { code }) => sum + (FAR[code] ?? 1), 0)
export const nearestFirst = (one: JudgedDevice, other: JudgedDevice): number =>
  distanceOf(one.obstacles) - distanceOf(other.obstacles) || (one.name < other.name ? -1 : 1)

/** Obstacles that depend on what else is asked of the device at the same time. */
const BY_AMOUNT: ReadonlySet<ObstacleCode> = new Set(['no_free_handle', 'whole_unit', 'placement_capacity'])

type Table = readonly (readonly (readonly Obstacle[])[])[]
const stopsAny = (found: readonly Obstacle[], stops: readonly Stop[], alone: boolean): boolean =>
  found.some((one) => one.stops.some((stop) => stops.includes(stop)) && (alone || !BY_AMOUNT.has(one.code)))

const freeIn = ({ root, below }: DeployableTree): number =>
  [root, ...below].flatMap(({ handles }) => Object.values(handles)).filter(({ state }) => state === 'free').length

const MISMATCHED: ReadonlySet<ObstacleCode> = new Set(MISMATCHES)
const typesOf = (devices: readonly DeployableTree[], found: Table[number]): ReadonlySet<HandleType> =>
  new Set(
    devices
      .filter((_, device) => found[device]!.every(({ code }) => !MISMATCHED.has(code)))
      .flatMap(({ root, below }) => [root, ...below].flatMap(({ handles }) => Object.values(handles)))
      .map(({ type }) => type),
  )

/** Finds a device for each group such that nothing in `stops` is prevented; null: none was found. */
const wayFor = (
  groups: readonly RequestedGroup[],
  facts: HostFacts,
  table: Table,
  stops: readonly Stop[],
): Ways | null => {
  const { devices } = facts
  const alone = groups.length === 1
  const [binds, places] = [stops.includes('bind'), stops.includes('placement')]
  const wanted = devices.map((tree) => wantedFor(tree, facts))
  const capacity = (device: number): number => {
    const one = wanted[device]
    return one ? unitsLeft(devices[device]!, one) : Number.POSITIVE_INFINITY
  }
  const hasCapacity = (ways: Ways): boolean =>
    devices.every((_, device) => {
      const here = groups.filter((__, group) => ways[group] === device)
      const one = wanted[device]
      return !one || here.reduce((sum, { group }) => sum + amountOf(group, one.resourceClass), 0) <= capacity(device)
    })
  return findWay({
    groups: groups.length,
    devices: devices.length,
    allowed: (group, device) => !stopsAny(table[group]![device]!, stops, alone),
    takes: (group) => (binds && !alone ? groups[group]!.arqs.length : 0),
    room: (device) => freeIn(devices[device]!),
    accepted: (ways) => alone || ((!binds || bindTakes(groups, devices, ways)) && (!places || hasCapacity(ways))),
  })
}

const identityOf = (held: Deployable): Omit<JudgedDevice, 'obstacles'> => ({
  deployable: held.uuid,
  device: held.deviceUuid,
  provider: held.rpUuid,
  name: held.name,
})
const judgedOthers = ({ others, placement }: HostFacts, { group }: RequestedGroup): readonly JudgedDevice[] =>
  others.map(({ resourceClass, traits, ...identity }) => ({
    ...identity,
    obstacles: mismatchObstacles(mismatches(group, resourceClass, traits), placement !== null),
  }))

/** Shows the devices of the requested class; if there are none, all other devices. */
const shownOf = (all: readonly JudgedDevice[], group: number): JudgedGroup => {
  const near = all.filter(({ obstacles }) => obstacles.every(({ code }) => code !== 'resource_class'))
  const devices = (near.length > 0 ? near : all).toSorted(nearestFirst).slice(0, DEVICES_SHOWN)
  const fits = all.some(({ obstacles }) => obstacles.length === 0)
  return { group, fits, devices, leftOut: all.length - devices.length }
}

const hostObstacles = (groups: readonly JudgedGroup[], fits: boolean): readonly Obstacle[] => {
  if (groups.every(({ devices }) => devices.length === 0)) return [obstacle('no_device', 'it has no devices', 'bind')]
  if (fits || !groups.every((group) => group.fits)) return []
  return [obstacle('not_together', 'each group fits alone, all together do not', 'bind')]
}

/** `groups`: at least one. */
export const judgeHost = (groups: readonly RequestedGroup[], facts: HostFacts): HostJudgement => {
  const { devices, placement } = facts
  const table: Table = groups.map((asked) => devices.map((tree) => obstaclesOf(tree, asked, facts)))
  const all = groups.map((asked, group) => [
    ...devices.map(({ root }, device) => ({ ...identityOf(root), obstacles: table[group]![device]! })),
    ...judgedOthers(facts, asked),
  ])
  const way = (...stops: readonly Stop[]) => wayFor(groups, facts, table, stops) !== null
  const fits = way('bind', 'work', 'placement')
  const shown = all.map(shownOf)
  const nearest = shown.map(({ devices: [first] }) => (first ? distanceOf(first.obstacles) : NO_DEVICE))
  const positions = new Map(devices.map(({ root }, device) => [root.rpUuid, device]))
  return {
    shown: {
      host: facts.name,
      fits,
      bind: fits || way('bind'),
      placement: placement === null ? null : fits || way('placement'),
      obstacles: hostObstacles(shown, fits),
      groups: shown,
    },
    isNear: devices.length > 0,
    root: placement?.record.root ?? null,
    distance: nearest.reduce((sum, one) => sum + one, 0),
    all,
    attaches: table.map((found) => typesOf(devices, found)),
    bindAccepts: (providers) => {
      const ways = providers.map((uuid) => positions.get(uuid) ?? -1)
      const free = (device: number, group: number) =>
        device >= 0 && !stopsAny(table[group]![device]!, ['bind', 'work'], groups.length === 1)
      return ways.every(free) && bindTakes(groups, devices, ways)
    },
  }
}
/** Whether the deployable has a class that one of the groups asks for. */
export const isOfInterest = (
  groups: readonly RequestedGroup[],
  attributed: Parameters<typeof attributeOf>[0],
): boolean => {
  const own = attributeOf(attributed, 'rc')
  return own !== null && groups.some(({ group }) => group[`resources:${own}`] !== undefined)
}

/**
 * Records the deployables of a device as its driver shows them, as decisions of these deployables: new ones, known ones, and those that
 * left. They may form trees (data-model.md 8).
 *
 * GROW-1 what a request may use is never retired, and neither is a tree with such a node changed: its nodes stay where they stand;
 * GROW-2 while a root is being programmed, nothing below it is offered, whatever a report shows;
 * GROW-3 its root is written whenever something below it comes or moves: a programming that another process starts at the same moment was
 *   then decided on an outdated copy of the root, and is decided again;
 * GROW-4 a deployable below another one that is shown no more is retired at once when nothing of it is used: the image that made it has
 *   left the card. It takes up its UUID when it is shown again.
 */
import type { DeployableUuid, DeviceUuid, HostName } from '../../identifiers.ts'
import { ownValue } from '../../record.ts'
import { rpUuidOf } from '../../rpUuid.ts'
import type { ReportedDeployable } from '../../hardware.ts'
import { openClaims } from '../../attachedFunctions.ts'
import { canonicalJson } from '../../wire/canonical.ts'
import { deployable, deployableKey } from '../deployable/decider.ts'
import type { Description, Identity } from '../deployable/messages.ts'
import { type Deployable, mayBePrepared, takenHandles } from '../deployable/state.ts'
import { device, deviceKey } from '../device/decider.ts'
import type { Draft } from '../runtime/draft.ts'
import type { HeldDevice } from '../host/decider.ts'
import { type Pool, attachingOf, descriptionOf, saysNothingNew } from './describe.ts'
import type { Shown } from './reconcile.ts'
import { type ReportedTree, treeOf } from './trees.ts'

export type Tools = {
  /** UUIDs for devices and deployables. */
  readonly entity: Pool
  /** UUIDs for handles and attributes. */
  readonly part: Pool
  readonly number: () => number
  readonly hostname: HostName
  readonly missingRounds: number
}
type Names = Readonly<Record<string, DeployableUuid>>
type RecordedDevice = { readonly uuid: DeviceUuid; readonly id: number }
type Growing = {
  readonly draft: Draft
  readonly shown: Shown
  readonly card: RecordedDevice
  readonly tools: Tools
  readonly tree: ReportedTree
  /** UUIDs of what is recorded by now. */
  readonly known: Map<string, DeployableUuid>
  /** Names of those with an event in this draft. */
  readonly written: Set<string>
  /** Names of those that do not stand where they are shown. */
  readonly stuck: { readonly has: (name: string) => boolean; readonly size: number }
}

/** Where it stands, and the provider that it is bound by: its own or, of one that is no root, that of its root (R4). */
const placeOf = ({ draft, tree, known }: Growing, one: ReportedDeployable): Pick<Identity, 'tree' | 'rpUuid'> => {
  const above = tree.above(one)
  if (above === null) return { rpUuid: rpUuidOf(one.name) }
  const parent = draft.state(deployable, deployableKey(known.get(above.parent)!))
  const { rootUuid, rootId } = parent.tree ?? { rootUuid: parent.uuid, rootId: parent.id }
  return { tree: { parentUuid: parent.uuid, parentId: parent.id, rootUuid, rootId }, rpUuid: parent.rpUuid }
}
/** In a tree only what is recorded counts: parts of it may be left out, or stand elsewhere than they are shown. */
const standingOf = ({ tree, shown, stuck }: Growing, { name }: ReportedDeployable) => {
  const isTree = stuck.size > 0 || shown.device.deployables.some(({ parent }) => parent !== undefined)
  return { nodes: tree.below(name).length, units: isTree ? tree.units(name) : null }
}

/** What is added to a device is as well as the device is. */
const asWellAsDevice = (draft: Draft, uuid: DeployableUuid, of: DeviceUuid): void => {
  const { failing } = draft.state(device, deviceKey(of))
  draft.decide(deployable, deployableKey(uuid), { type: 'SetHealth', failing: failing?.reason ?? null })
}

const recorded = (growing: Growing, reported: ReportedDeployable): DeployableUuid => {
  const { draft, shown, card, tools } = growing
  const uuid = tools.entity()
  const identity = {
    uuid,
    id: tools.number(),
    name: reported.name,
    ...placeOf(growing, reported),
    deviceUuid: card.uuid,
    deviceId: card.id,
    host: tools.hostname,
    vendor: shown.device.vendor,
  }
  const { status } = draft.state(device, deviceKey(card.uuid))
  const standing = standingOf(growing, reported)
  const description = descriptionOf({ handles: {}, attributes: [] }, shown.driver, reported, tools.part, standing)
  draft.decide(deployable, deployableKey(uuid), {
    type: 'Record',
    identity,
    description,
    status,
    bitstreamId: reported.bitstreamId ?? null,
  })
  asWellAsDevice(draft, uuid, card.uuid)
  growing.known.set(reported.name, uuid)
  growing.written.add(reported.name)
  return uuid
}

/** The deployables of a device that was never seen before. */
export const recordAll = (draft: Draft, shown: Shown, card: RecordedDevice, tools: Tools): Names => {
  const tree = treeOf(shown.device.deployables)
  const growing = { draft, shown, card, tools, tree, known: new Map(), written: new Set<string>(), stuck: new Set() }
  return Object.fromEntries(tree.inOrder.map((one) => [one.name, recorded(growing, one)]))
}

/** The names of all deployables in trees, recorded or shown, whose root is being programmed (GROW-2). */
const changingIn = (draft: Draft, shown: Shown, { deployables }: HeldDevice): ReadonlySet<string> => {
  const states = Object.values(deployables).map((uuid) => draft.state(deployable, deployableKey(uuid)))
  const { above } = treeOf(shown.device.deployables)
  const nodes = shown.device.deployables.map((one) => ({ name: one.name, root: above(one)?.root ?? null }))
  const names = states
    .filter(({ program }) => program !== null)
    .flatMap((root) => {
      const recorded = states.filter(({ tree }) => tree?.rootUuid === root.uuid)
      const below = [...recorded, ...nodes.filter((one) => one.root === root.name)]
      return below.length > 0 ? [root.name, ...below.map(({ name }) => name)] : []
    })
  return new Set(names)
}
export type Usable = {
  readonly usable: readonly ReportedDeployable[]
  /** Names that are left as they are recorded, whatever is shown. */
  readonly changing: ReadonlySet<string>
}
/**
 * The deployables that the device shows, without those that attach what an accelerator request still uses by another one of the device,
 * under another name, or as a virtual function of it; and without what stands below these.
 */
export const usableOf = (draft: Draft, shown: Shown, held: HeldDevice): Usable => {
  const used = openClaims()
  for (const [name, uuid] of Object.entries(held.deployables))
    used.add(name, takenHandles(draft.state(deployable, deployableKey(uuid))))
  const { inOrder, above } = treeOf(shown.device.deployables)
  const changing = changingIn(draft, shown, held)
  const left = new Set<string>(changing)
  const usable = inOrder.filter((one) => {
    const isUsable =
      !left.has(one.name) &&
      !left.has(above(one)?.parent ?? one.name) &&
      used.against(one.name, one.handles.map(attachingOf)) === null
    if (!isUsable) left.add(one.name)
    return isUsable
  })
  return { usable, changing }
}

/** The names of those that stay below the parent that they are recorded with, because their tree is in use (GROW-1), and that parent; undefined: none. */
const stuckIn = (draft: Draft, { deployables }: HeldDevice, usable: readonly ReportedDeployable[]) => {
  const states = Object.values(deployables).map((uuid) => draft.state(deployable, deployableKey(uuid)))
  const used = new Set(states.filter(mayBePrepared).map(({ tree, uuid }) => tree?.rootUuid ?? uuid))
  const names = new Map(states.map(({ uuid, name }) => [uuid, name]))
  const shown = new Map(usable.map(({ name, parent }) => [name, parent]))
  return new Map(
    states.flatMap(({ name, uuid, tree }) => {
      const parent = tree && names.get(tree.parentUuid)
      const isStuck = shown.has(name) && used.has(tree?.rootUuid ?? uuid) && shown.get(name) !== parent
      return isStuck ? [[name, parent] as const] : []
    }),
  )
}
const standingBelow = (one: ReportedDeployable, parent: string | undefined): ReportedDeployable => {
  const { parent: _, ...rest } = one
  return parent === undefined ? rest : { ...rest, parent }
}

type TreePosition = NonNullable<Description['place']>
/** Null: it stands where it stood. */
const movedTo = (growing: Growing, was: Deployable, reported: ReportedDeployable): TreePosition | null => {
  const { tree = null, rpUuid } = placeOf(growing, reported)
  return canonicalJson(tree) === canonicalJson(was.tree ?? null) ? null : { tree, rpUuid }
}

/** One that is recorded. True: it is there again, or stands elsewhere. */
const described = (growing: Growing, uuid: DeployableUuid, reported: ReportedDeployable): boolean => {
  const { draft, shown, known, written, stuck, tools } = growing
  const key = deployableKey(uuid)
  const was = draft.state(deployable, key)
  const { name, bitstreamId } = reported
  known.set(name, uuid)
  draft.decide(deployable, key, { type: 'SetPresence', presence: 'present', bitstreamId })
  // what it says of itself holds for where it is shown
  if (stuck.has(name)) return was.presence !== 'present'
  const place = movedTo(growing, was, reported)
  const standing = { ...standingOf(growing, reported), ...(place ? { place } : {}) }
  const said = descriptionOf(was, shown.driver, reported, tools.part, standing)
  if (!saysNothingNew(was, said)) {
    draft.decide(deployable, key, { type: 'Describe', description: said })
    written.add(name)
  }
  // one that comes back has the status that its device has now
  if (was.presence === 'retired') {
    draft.decide(deployable, key, { type: 'SetStatus', status: draft.state(device, deviceKey(was.deviceUuid)).status })
    asWellAsDevice(draft, uuid, was.deviceUuid)
  }
  return was.presence !== 'present' || place !== null
}

/** Writes the root although nothing of it has changed (GROW-3). */
const touch = ({ draft, known, written }: Growing, root: string): void => {
  if (written.has(root)) return
  draft.decide(deployable, deployableKey(known.get(root)!), { type: 'TouchTree' })
  written.add(root)
}

/**
 * Of those that are not shown, or cannot be used as they are shown: the names of the ones that are over. Whatever still has something below
 * it stays, so that a tree never lacks a parent.
 */
const overOf = (
  { draft, stuck }: Growing,
  { deployables }: HeldDevice,
  unnamed: readonly string[],
  isShown: (name: string) => boolean,
): ReadonlySet<string> => {
  const states = new Map(
    Object.values(deployables).map((uuid) => [uuid, draft.state(deployable, deployableKey(uuid))] as const),
  )
  const kept = new Set<DeployableUuid>()
  const left = new Set(unnamed)
  for (const held of states.values()) {
    const { name, uuid, tree } = held
    const stays = left.has(name) ? !tree || isShown(name) || mayBePrepared(held) : stuck.has(name)
    for (let at: DeployableUuid | undefined = stays ? uuid : undefined; at !== undefined && !kept.has(at);) {
      kept.add(at)
      at = states.get(at)?.tree?.parentUuid
    }
  }
  return new Set(unnamed.filter((name) => !kept.has(deployables[name]!)))
}

/** At most so many deployables that have left keep their UUID for when they are shown again: the newest. */
const AWAY_MAX = 256
const awayField = (away: Names): Pick<HeldDevice, 'away'> => {
  const newest = Object.entries(away).toSorted(([, one], [, other]) => (one < other ? 1 : -1))
  return newest.length === 0 ? {} : { away: Object.fromEntries(newest.slice(0, AWAY_MAX)) }
}

const namesOf = (nodes: readonly ReportedDeployable[]): ReadonlySet<string> => new Set(nodes.map(({ name }) => name))
const without = (names: Names, gone: ReadonlySet<string>): Names =>
  Object.fromEntries(Object.entries(names).filter(([name]) => !gone.has(name)))

export type Grown = Pick<HeldDevice, 'away'> & {
  readonly deployables: Names
  /** All that was shown is recorded as it was shown. */
  readonly whole: boolean
}
/** The deployables of a device that is known, after they were recorded; `usable`: those that can be. */
export const describeAll = (
  draft: Draft,
  shown: Shown,
  held: HeldDevice,
  { usable, changing }: Usable,
  tools: Tools,
): Grown => {
  const { deployables: was, away = {} } = held
  const stuck = stuckIn(draft, held, usable)
  const nodes = usable.map((one) => (stuck.has(one.name) ? standingBelow(one, stuck.get(one.name)) : one))
  const tree = treeOf(nodes)
  const growing = { draft, shown, card: held, tools, tree, known: new Map(), written: new Set<string>(), stuck }
  const [named, all] = [namesOf(nodes), namesOf(shown.device.deployables)]
  const unnamed = Object.keys(was).filter((name) => !named.has(name) && !changing.has(name))
  const over = overOf(growing, held, unnamed, (name) => all.has(name))
  for (const name of unnamed) {
    const presence = over.has(name) ? 'retired' : 'missing'
    draft.decide(deployable, deployableKey(was[name]!), { type: 'SetPresence', presence })
  }
  const [roots, now]: [Set<string>, Record<string, DeployableUuid>] = [new Set(), {}]
  for (const one of tree.inOrder) {
    const uuid = ownValue(was, one.name) ?? ownValue(away, one.name)
    const changed = uuid === undefined || described(growing, uuid, one)
    now[one.name] = uuid ?? recorded(growing, one)
    const up = tree.above(one)
    if (up && changed) roots.add(up.root)
  }
  for (const root of roots) touch(growing, root)
  const retired = Object.fromEntries([...over].map((name) => [name, was[name]!]))
  return {
    deployables: { ...without(was, over), ...now },
    ...awayField({ ...without(away, named), ...retired }),
    whole: usable.length === shown.device.deployables.length && stuck.size === 0,
  }
}

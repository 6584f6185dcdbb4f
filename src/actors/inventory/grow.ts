/**
 * Records the deployables of a device as its driver reports them, by decisions of these deployables: new ones, known
 * ones, and those that have left. They may form trees (data-model.md 8).
 *
 * GROW-1 a deployable that a request may use is never retired, and its tree does not change: the nodes keep their
 *    places;
 * GROW-2 while a root is being programmed, nothing below it is offered, whatever a report shows;
 * GROW-3 the root is written whenever something below it comes or moves: if another process starts to program the root
 *    at the same moment, its decision was made on an outdated copy of the root, and is made again;
 * GROW-4 a deployable below another one is retired as soon as it is no longer reported and nothing of it is used: the
 *    image that made it has left the card. It gets its UUID back when it is reported again;
 * GROW-5 a root whose former parts a request still uses is recorded as its host shows it, without their hardware: the
 *    card is there, and holds another image.
 */
import type { DeployableName, DeployableUuid, DeviceUuid, HostName } from '../../vocabulary/identifiers.ts'
import { ownValue } from '../../vocabulary/record.ts'
import { rpUuidOf } from '../../vocabulary/rpUuid.ts'
import type { ReportedDeployable } from '../../vocabulary/hardware.ts'
import { canonicalJson } from '../../wire/canonical.ts'
import { deployable, deployableKey } from '../deployable/decider.ts'
import type { Description, Identity } from '../deployable/messages.ts'
import { type Deployable, mayBePrepared } from '../deployable/state.ts'
import { device, deviceKey } from '../device/decider.ts'
import type { Draft } from '../runtime/draft.ts'
import type { HeldDevice } from '../host/decider.ts'
import { type Pool, descriptionOf, recordedName, saysNothingNew } from './describe.ts'
import type { Shown } from './reconcile.ts'
import { type ReportedTree, treeOf } from './trees.ts'
import { type Usable, statesOf } from './usable.ts'

export type Tools = {
  /** UUIDs for devices and deployables. */
  readonly entity: Pool
  /** UUIDs for handles and attributes. */
  readonly part: Pool
  readonly number: () => number
  readonly hostname: HostName
  readonly missingRounds: number
}
type Names = Readonly<Record<DeployableName, DeployableUuid>>
type RecordedDevice = { readonly uuid: DeviceUuid; readonly id: number }
type Growing = {
  readonly draft: Draft
  readonly shown: Shown
  readonly card: RecordedDevice
  readonly tools: Tools
  readonly tree: ReportedTree
  /** The UUIDs of the deployables that are recorded by now, by name. */
  readonly known: Map<DeployableName, DeployableUuid>
  /** Names of the deployables that have an event in this draft. */
  readonly written: Set<DeployableName>
  /** Names of the deployables that are recorded at another place than the reported one. */
  readonly stuck: { readonly has: (name: DeployableName) => boolean }
}

/** The place and the provider of a deployable: its own provider if it is a root, otherwise that of its root (R4). */
type Place = Pick<Identity, 'tree' | 'rpUuid'>
const placeOf = ({ draft, tree, known }: Growing, one: ReportedDeployable, name: DeployableName): Place => {
  const above = tree.above(one)
  if (above === null) return { rpUuid: rpUuidOf(name) }
  const parent = draft.state(deployable, deployableKey(known.get(above.parent)!))
  const { rootUuid, rootId } = parent.tree ?? { rootUuid: parent.uuid, rootId: parent.id }
  return { tree: { parentUuid: parent.uuid, parentId: parent.id, rootUuid, rootId }, rpUuid: parent.rpUuid }
}
/** Counted from the recorded nodes, because nodes may be left out or have another place than reported. */
const treeFactsOf = ({ tree, shown: { card } }: Growing, one: ReportedDeployable) => ({
  nodes: tree.below(one.name).length,
  units: tree.units(one),
  ...(card ? { card } : {}),
})
/** A new deployable gets the health of its device. */
const asWellAsDevice = (draft: Draft, uuid: DeployableUuid, of: DeviceUuid): void => {
  const { failing } = draft.state(device, deviceKey(of))
  draft.decide(deployable, deployableKey(uuid), { type: 'SetHealth', failing: failing?.reason ?? null })
}

const recorded = (growing: Growing, reported: ReportedDeployable): DeployableUuid => {
  const { draft, shown, card, tools } = growing
  const uuid = tools.entity()
  const name = recordedName(reported.name, shown.taken ?? false, card.uuid)
  const identity = {
    uuid,
    id: tools.number(),
    name,
    ...(name === reported.name ? {} : { localName: reported.name }),
    ...placeOf(growing, reported, name),
    deviceUuid: card.uuid,
    deviceId: card.id,
    host: tools.hostname,
    vendor: shown.device.vendor,
  }
  const { status } = draft.state(device, deviceKey(card.uuid))
  const facts = treeFactsOf(growing, reported)
  const description = descriptionOf({ handles: {}, attributes: [] }, shown.driver, reported, tools.part, facts)
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

/** Records the deployables of a device that was never reported before. */
export const recordAll = (draft: Draft, shown: Shown, card: RecordedDevice, tools: Tools): Names => {
  const tree = treeOf(shown.device.deployables)
  const growing: Growing = { draft, shown, card, tools, tree, known: new Map(), written: new Set(), stuck: new Set() }
  return Object.fromEntries(tree.inOrder.map((one) => [one.name, recorded(growing, one)]))
}

/**
 * The names and parents of the deployables that keep their recorded parent because their tree is in use (GROW-1).
 * Parent undefined: a root.
 */
const stuckIn = (draft: Draft, { deployables }: HeldDevice, usable: readonly ReportedDeployable[]) => {
  const states = statesOf(draft, deployables)
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
/** Null: the place has not changed. */
const movedTo = (growing: Growing, was: Deployable, reported: ReportedDeployable): TreePosition | null => {
  const { tree = null, rpUuid } = placeOf(growing, reported, was.name)
  return canonicalJson(tree) === canonicalJson(was.tree ?? null) ? null : { tree, rpUuid }
}

/** Describes a recorded deployable. Returns true if it has returned or has another place. */
const described = (growing: Growing, uuid: DeployableUuid, reported: ReportedDeployable): boolean => {
  const { draft, shown, known, written, stuck, tools } = growing
  const key = deployableKey(uuid)
  const was = draft.state(deployable, key)
  const { name, bitstreamId } = reported
  known.set(name, uuid)
  draft.decide(deployable, key, { type: 'SetPresence', presence: 'present', bitstreamId })
  // a reported description holds only for the reported place
  if (stuck.has(name)) return was.presence !== 'present'
  const place = movedTo(growing, was, reported)
  const facts = { ...treeFactsOf(growing, reported), ...(place ? { place } : {}) }
  const said = descriptionOf(was, shown.driver, reported, tools.part, facts)
  if (!saysNothingNew(was, said)) {
    draft.decide(deployable, key, { type: 'Describe', description: said })
    written.add(name)
  }
  // a deployable that returns gets the present status of its device
  if (was.presence === 'retired') {
    draft.decide(deployable, key, { type: 'SetStatus', status: draft.state(device, deviceKey(was.deviceUuid)).status })
    asWellAsDevice(draft, uuid, was.deviceUuid)
  }
  return was.presence !== 'present' || place !== null
}

/** Writes the root although it has not changed itself (GROW-3). */
const touch = ({ draft, known, written }: Growing, root: string): void => {
  if (!written.has(root)) draft.decide(deployable, deployableKey(known.get(root)!), { type: 'TouchTree' })
}

/**
 * Among the deployables that are not reported, or not usable as reported: the names of those that leave. A deployable
 * with one below it that stays does not leave, so that a tree never lacks a parent.
 */
const overOf = (
  { draft, stuck }: Growing,
  { deployables }: HeldDevice,
  unnamed: readonly DeployableName[],
  isShown: (name: DeployableName) => boolean,
): ReadonlySet<DeployableName> => {
  const states = new Map(statesOf(draft, deployables).map((held) => [held.uuid, held] as const))
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

/** At most this many deployables that have left, the newest ones, keep their UUID for their return. */
const AWAY_MAX = 256
const awayField = (away: Names): Pick<HeldDevice, 'away'> => {
  const newest = Object.entries(away).toSorted(([, one], [, other]) => (one < other ? 1 : -1))
  return newest.length === 0 ? {} : { away: Object.fromEntries(newest.slice(0, AWAY_MAX)) }
}

const namesOf = (nodes: readonly ReportedDeployable[]): ReadonlySet<DeployableName> =>
  new Set(nodes.map(({ name }) => name))
const without = (names: Names, gone: ReadonlySet<DeployableName>): Names =>
  Object.fromEntries(Object.entries(names).filter(([name]) => !gone.has(name)))

export type Grown = Pick<HeldDevice, 'away'> & {
  readonly deployables: Names
  /** Everything that was reported is recorded as reported. */
  readonly whole: boolean
}
/** Records the deployables of a known device; `usable`: the reported ones, as they can be recorded. */
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
  const growing: Growing = { draft, shown, card: held, tools, tree, known: new Map(), written: new Set(), stuck }
  const [named, all] = [namesOf(nodes), namesOf(shown.device.deployables)]
  const reported = new Set(shown.device.deployables)
  const unnamed = Object.keys(was).filter((name) => !named.has(name) && !changing.has(name))
  const over = overOf(growing, held, unnamed, (name) => all.has(name))
  for (const name of unnamed) {
    const presence = over.has(name) ? 'retired' : 'missing'
    draft.decide(deployable, deployableKey(was[name]!), { type: 'SetPresence', presence })
  }
  const [roots, now]: [Set<DeployableName>, Record<DeployableName, DeployableUuid>] = [new Set(), {}]
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
    whole: usable.length === all.size && usable.every((one) => reported.has(one)) && stuck.size === 0,
  }
}

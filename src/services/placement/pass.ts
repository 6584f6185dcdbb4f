/**
 * One pass over a host: compares all its providers in Placement with the records, and repairs differences (placement
 * 9.2).
 *
 * PASS-1 a pass may stop anywhere: the next one starts from the content of Placement at that time;
 * PASS-2 a provider that cannot be repaired does not prevent work on the others; if Placement does not answer, the pass
 *    ends;
 * PASS-3 the compute node itself is only read;
 * PASS-4 a provider that only its trait says to be ours may be that of another Cyborg: it is told, and nothing is
 *    written to it, unless an operator has ordered the pass. Then it is recorded as ours before it is written.
 */
import type { DeployableName, HostName, ResourceProviderUuid } from '../../vocabulary/identifiers.ts'
import type { Outcome } from '../../vocabulary/fault.ts'
import type { Agreed, Finding, PlacementRecord, HostBlocker } from '../../actors/placement/decider.ts'
import type { PlacementFault, Provider, PlacementResult } from '../../actors/placement/port.ts'
import { isIgnored } from '../../actors/placement/ignored.ts'
import { type Wanted, unallocatedOf, withheld } from '../../actors/placement/wanted.ts'
import { rpUuidOf } from '../../vocabulary/rpUuid.ts'
import { ofOthers, takeBack, takeOver } from './removal.ts'
import { type Tools, reconcileProvider } from './oneProvider.ts'
import { type BoundBy, allocatedOn } from './units.ts'

export type Task = {
  readonly host: HostName
  /** Other names of its compute node. */
  readonly aliases: readonly HostName[]
  readonly wanted: readonly Wanted[]
  /**
   * Must be read before Placement: an instance gets its allocation before its requests are bound, so each one listed
   * here should have one.
   */
  readonly bound: BoundBy
  readonly held: Pick<PlacementRecord, 'root' | 'providers' | 'ignored'>
  /** The deployables that the host has or had, by name, from which the UUIDs of providers follow. */
  readonly names: readonly DeployableName[]
}
export type PassTools = Pick<Tools, 'placement' | 'clock' | 'names'> & {
  /** Records a finding. False: another pass works on this host now, and this one ends. */
  readonly found: (finding: Finding) => Promise<boolean>
  readonly rooted: (root: Provider) => Promise<boolean>
  /** Those of these providers that belong to deployables of other hosts, by the records. */
  readonly ofOthers: (uuids: readonly ResourceProviderUuid[]) => Promise<Outcome<ReadonlySet<ResourceProviderUuid>>>
  /** True: this provider agreed earlier and is unchanged. `recorded`: the recorded agreement, by any process. */
  readonly isUnchanged: (wanted: Wanted, provider: Provider, recorded: Agreed | undefined) => boolean
  /** Called when the provider agreed and nothing had to be changed. */
  readonly agreed: (wanted: Wanted, provider: Provider) => void
  /** An operator has ordered the pass. */
  readonly ordered: boolean
}
export type Passed = 'done' | 'superseded' | HostBlocker

export const unreachable = ({ reason }: PlacementFault): HostBlocker => ({ state: 'unreachable', reason })

/** The provider of the compute node: it has no parent, and one of the host's names. Null: there is none. */
const rootOf = async (
  { placement }: PassTools,
  names: readonly HostName[],
): Promise<PlacementResult<Provider | null>> => {
  for (const name of new Set(names)) {
    const answer = await placement.named(name)
    if (!answer.ok) return answer
    if (answer.value !== null && answer.value.parent === null) return answer
  }
  return { ok: true, value: null }
}
/**
 * The names by which the compute node is looked for: other names come first, because a compute node that was renamed
 * may leave its former provider behind.
 */
const namesOf = ({ host, aliases }: Task): readonly [HostName, ...HostName[]] => {
  const [first = host, ...others] = aliases
  return [first, ...others, host]
}
/** The provider of the host's compute node, and the tree below it. */
type ComputeNode = { readonly root: Provider; readonly tree: readonly Provider[] }
/**
 * Reads the compute node and its tree with one request, if it is still the recorded one and has the first of the host's
 * names. Null: it has to be looked for by name.
 */
const asRecorded = async ({ placement }: PassTools, task: Task): Promise<PlacementResult<ComputeNode | null>> => {
  const { root: uuid } = task.held
  if (uuid === null) return { ok: true, value: null }
  const [name] = namesOf(task)
  const tree = await placement.tree(uuid)
  if (!tree.ok) return tree
  const root = tree.value.find((one) => one.uuid === uuid && one.parent === null && one.name === name)
  return { ok: true, value: root === undefined ? null : { root, tree: tree.value } }
}
/** Null: there is none. */
const computeNodeOf = async (tools: PassTools, task: Task): Promise<PlacementResult<ComputeNode | null>> => {
  const recorded = await asRecorded(tools, task)
  if (!recorded.ok || recorded.value !== null) return recorded
  const root = await rootOf(tools, namesOf(task))
  if (!root.ok) return root
  if (root.value === null) return { ok: true, value: null }
  const tree = await tools.placement.tree(root.value.uuid)
  return tree.ok ? { ok: true, value: { root: root.value, tree: tree.value } } : tree
}

type Unwanted = Parameters<typeof takeBack>[1]
const recordedUnwanted = ({ wanted, held: { providers } }: Task): readonly Unwanted[] => {
  const names = new Set(wanted.map(({ uuid }) => uuid))
  return Object.values(providers).filter(({ uuid, ours }) => ours && !names.has(uuid))
}
/** Those of a tree that are neither its root, nor wanted, nor recorded as ours. */
const unexplainedIn = (tree: readonly Provider[], task: Task, root: string): readonly Provider[] => {
  const known = new Set([...task.wanted, ...recordedUnwanted(task)].map(({ uuid }) => uuid))
  return tree.filter(({ uuid }) => uuid !== root && uuid !== task.held.root && !known.has(uuid))
}
/** Providers with our owner trait that no record wants. `strange`: no record says that this service made them. */
type Orphans = { readonly ours: readonly Unwanted[]; readonly strange: readonly Unwanted[] }
const NO_ORPHANS: Orphans = { ours: [], strange: [] }
const orphan = ({ uuid, name }: Provider): Unwanted => ({ uuid, name, deployable: null, traits: [] })
const UNREADABLE: HostBlocker = { state: 'unreachable', reason: 'what is recorded of other hosts cannot be read' }
/**
 * Those with our owner trait that nothing recorded explains, also nothing of another host: two hosts may find one
 * compute node, one by its name and one by another name. Placement is asked only if the tree has a provider that could
 * be one.
 */
const orphansIn = async (
  { placement, ofOthers: ofOtherHosts }: PassTools,
  { root, tree }: ComputeNode,
  task: Task,
): Promise<Orphans | HostBlocker> => {
  if (unexplainedIn(tree, task, root.uuid).length === 0) return NO_ORPHANS
  const marked = await placement.ownedIn(root.uuid)
  if (!marked.ok) return unreachable(marked)
  const unexplained = unexplainedIn(marked.value, task, root.uuid)
  if (unexplained.length === 0) return NO_ORPHANS
  const others = await ofOtherHosts(unexplained.map(({ uuid }) => uuid))
  if (!others.ok) return UNREADABLE
  const own = new Set(task.names.map(rpUuidOf))
  const orphans = unexplained.filter(({ uuid }) => !others.value.has(uuid)).map(orphan)
  const { true: ours = [], false: strange = [] } = Object.groupBy(orphans, ({ uuid }) => `${own.has(uuid)}`)
  return { ours, strange }
}
/** Records of providers that are neither wanted nor ours, such as conflicts that are over; they are deleted. */
const forgettable = ({ wanted, held: { providers } }: Task, { ours: own, strange }: Orphans): readonly Finding[] => {
  const names = new Set([...wanted, ...own, ...strange].map(({ uuid }) => uuid))
  return Object.values(providers)
    .filter(({ uuid, ours }) => !ours && !names.has(uuid))
    .map((found) => ({ ...found, did: [], gone: true }))
}

/** What an operator's order takes over: not what an operator has decided to ignore. */
const isTaken = (
  { ordered }: PassTools,
  { host, held: { ignored = {} } }: Task,
  { uuid: provider, state, reason }: Finding,
): boolean => ordered && !isIgnored({ host, ignored }, { kind: 'provider', provider, consumer: null, state, reason })

const takeAllBack = async (tools: PassTools, task: Task, orphans: Orphans) => {
  for (const finding of forgettable(task, orphans)) if (!(await tools.found(finding))) return 'superseded'
  const unwanteds = [...recordedUnwanted(task), ...orphans.ours]
  for (const one of orphans.strange) {
    const isOver = isTaken(tools, task, ofOthers(one))
    if (isOver) unwanteds.push(one)
    if (!(await tools.found(isOver ? takeOver(one) : ofOthers(one)))) return 'superseded'
  }
  for (const unwanted of unwanteds) {
    const result = await takeBack(tools.placement, unwanted)
    if ('error' in result) return unreachable(result)
    if (!(await tools.found(result))) return 'superseded'
  }
  return 'done'
}

/**
 * The wanted provider, with units reserved for requests that are bound without an allocation (P15). Asks Placement only
 * if some are bound.
 */
const wantedNow = async (
  { placement }: PassTools,
  { bound }: Task,
  wanted: Wanted,
): Promise<PlacementResult<Wanted>> => {
  const users = bound.get(wanted.uuid)
  if (users === undefined) return { ok: true, value: wanted }
  const allocated = await allocatedOn(placement, wanted.uuid)
  if (!allocated.ok) return allocated
  const instances = users.map(({ instance }) => instance)
  return { ok: true, value: withheld(wanted, unallocatedOf(instances, allocated.value)) }
}

const reconcileAll = async (tools: PassTools, task: Task, at: Pick<Tools, 'root' | 'tree'>): Promise<Passed> => {
  for (const plain of task.wanted) {
    const now = await wantedNow(tools, task, plain)
    if (!now.ok) return unreachable(now)
    const wanted = now.value
    const [provider, held] = [at.tree.get(wanted.uuid), task.held.providers[wanted.uuid]]
    const stands = provider?.parent === at.root.uuid && provider.name === wanted.name
    if (provider && stands && held?.state === 'in_sync' && tools.isUnchanged(wanted, provider, held.agreed)) continue
    const { placement, clock, names } = tools
    const result = await reconcileProvider({ placement, clock, names, ...at }, wanted, held)
    if ('error' in result) return unreachable(result)
    if (provider && stands && result.state === 'in_sync' && result.did.length === 0) tools.agreed(wanted, provider)
    if (!(await tools.found(result))) return 'superseded'
  }
  return 'done'
}

export const pass = async (tools: PassTools, task: Task): Promise<Passed> => {
  const found = await computeNodeOf(tools, task)
  if (!found.ok) return unreachable(found)
  if (found.value === null) {
    const taken = await takeAllBack(tools, task, NO_ORPHANS)
    if (taken !== 'done' || task.wanted.length === 0) return taken
    return {
      state: 'waiting_for_compute_node',
      reason: `Placement has no compute node named ${[...new Set(namesOf(task))].join(' or ')}`,
    }
  }
  const { root, tree } = found.value
  if (!(await tools.rooted(root))) return 'superseded'
  const orphans = await orphansIn(tools, found.value, task)
  if ('state' in orphans) return orphans
  const reconciled = await reconcileAll(tools, task, {
    root,
    tree: new Map(tree.map((provider) => [provider.uuid, provider])),
  })
  return reconciled === 'done' ? takeAllBack(tools, task, orphans) : reconciled
}

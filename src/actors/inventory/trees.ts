/**
 * The tree that the deployables of a reported device form (data-model.md 8.1). Pure.
 *
 * TREES-1 a parent is a deployable of the same device, no deployable is below itself, and a tree is at most `DEPTH_MAX`
 *    deep (R2, R3);
 * TREES-2 a deployable with others below it has as many accelerators as itself and those below it have handles together
 *    (R5, I12); for one that stands alone, handles count, whatever number its driver says;
 * TREES-3 attributes are nested as data-model.md 8.3 allows.
 */
import type { ReportedDeployable, ReportedDevice } from '../../vocabulary/hardware.ts'
import { ATTRIBUTE_DEPTH_MAX, isNaming } from '../deployable/attributes.ts'

const DEPTH_MAX = 16
type Node = ReportedDeployable

const byName = (nodes: readonly Node[]): ReadonlyMap<string, Node> => new Map(nodes.map((one) => [one.name, one]))

/** The deployables from this one up to its root. Null: the path does not end at a root. */
const wayUp = (one: Node, known: ReadonlyMap<string, Node>): readonly Node[] | null => {
  const way = [one]
  for (let { parent } = one; parent !== undefined;) {
    const above = known.get(parent)
    if (!above || way.length > DEPTH_MAX) return null
    way.push(above)
    parent = above.parent
  }
  return way
}

/** Handles with the same set number are one accelerator. */
const ownUnits = ({ handles }: Node): number =>
  new Set(handles.map(({ set }, at) => (set === undefined ? `handle ${at}` : `set ${set}`))).size
const makesHandles = ({ handles }: Node): boolean => handles.some(({ type }) => type === 'MDEV')

export type ReportedTree = {
  /** Parents come before the deployables below them. */
  readonly inOrder: readonly Node[]
  /** The deployables below the named one, at any depth. */
  readonly below: (name: string) => readonly Node[]
  /** The names of its parent and of its root; null: it is a root. */
  readonly above: (one: Node) => { readonly parent: string; readonly root: string } | null
  /**
   * Number of accelerators that the handles of the deployable and of those below it form. Where handles are made on
   * demand, it is the number that the driver says, and at least that of the handles.
   */
  readonly units: (one: Pick<Node, 'name' | 'numAccelerators'>) => number
}
/**
 * `nodes`: deployables of a device that `treeProblem` has accepted, or a part of them that contains all their parents.
 */
export const treeOf = (nodes: readonly Node[]): ReportedTree => {
  const known = byName(nodes)
  const ways = new Map(nodes.map((one) => [one.name, wayUp(one, known) ?? [one]]))
  const depth = ({ name }: Node): number => ways.get(name)!.length
  const under = new Map<string, Node[]>(nodes.map(({ name }) => [name, []]))
  for (const one of nodes) for (const { name } of ways.get(one.name)!.slice(1)) under.get(name)!.push(one)
  const below = (name: string): readonly Node[] => under.get(name)!
  return {
    inOrder: nodes.toSorted((one, other) => depth(one) - depth(other)),
    below,
    above: ({ name }) => {
      const way = ways.get(name)!
      return way.length < 2 ? null : { parent: way[1]!.name, root: way.at(-1)!.name }
    },
    units: ({ name, numAccelerators }) => {
      const all = [known.get(name)!, ...below(name)]
      const made = all.reduce((sum, each) => sum + ownUnits(each), 0)
      return all.some(makesHandles) ? Math.max(numAccelerators, made) : made
    },
  }
}

const shapeProblem = (device: ReportedDevice): string | null => {
  const known = byName(device.deployables)
  for (const one of device.deployables)
    if (wayUp(one, known) === null)
      return known.has(one.parent ?? '')
        ? `deployable ${one.name} leads to no root of its device within ${DEPTH_MAX} steps`
        : `deployable ${one.name} stands below ${one.parent}, which is not a deployable of its device`
  return null
}
const countProblem = ({ deployables }: ReportedDevice): string | null => {
  const { units, below } = treeOf(deployables)
  for (const one of deployables) {
    const { name, numAccelerators } = one
    const counted = units(one)
    if (below(name).length > 0 && counted !== numAccelerators)
      return `deployable ${name} says ${numAccelerators} accelerators, and its tree has handles for ${counted}`
  }
  return null
}

const attributeProblem = ({ name, attributes }: Node): string | null => {
  const paths: (readonly string[])[] = []
  const seen = new Set<string>()
  for (const [at, { key, parent }] of attributes.entries()) {
    const above = parent === undefined ? [] : paths[parent]
    if (above === undefined || (parent ?? -1) >= at)
      return `deployable ${name}: attribute ${key} describes attribute ${parent}, which does not stand before it`
    if (above.length >= ATTRIBUTE_DEPTH_MAX)
      return `deployable ${name}: attribute ${key} is nested more than ${ATTRIBUTE_DEPTH_MAX} deep`
    if (above.length > 0 && isNaming(key))
      return `deployable ${name}: attribute ${key} must not describe another attribute`
    const path = [...above, key]
    const place = JSON.stringify(path)
    if (seen.has(place)) return `deployable ${name} has two attributes ${path.join(' / ')}`
    seen.add(place)
    paths.push(path)
  }
  return null
}

/** Why the device cannot be recorded because of its trees or nested attributes; null: it can. */
export const treeProblem = (device: ReportedDevice): string | null => {
  for (const one of device.deployables) {
    const problem = attributeProblem(one)
    if (problem !== null) return problem
  }
  // nearly all devices have no trees
  if (device.deployables.every(({ parent }) => parent === undefined)) return null
  return shapeProblem(device) ?? countProblem(device)
}

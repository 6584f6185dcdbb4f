/** The trees that the deployables of a device form, where their rows agree on them (data-model R1 to R5). Pure. */
import type { ResourceProviderUuid } from '../../vocabulary/identifiers.ts'
import type { Tree } from '../deployable/messages.ts'
import type { UpstreamDevice, UpstreamDeployable } from './devices.ts'
import type { Notes } from './notes.ts'

export type Grown = {
  readonly deployable: UpstreamDeployable
  /** Absent: it is a root. */
  readonly tree?: Tree
  /** Its own provider or, of a child, that of its root. */
  readonly rpUuid: ResourceProviderUuid
  readonly numAccelerators: number
}

const DEPTH_MAX = 16
/**
 * From a deployable upwards. `isWhole`: up to a root; otherwise a parent is missing, is of another device, or is its
 * own descendant.
 */
export const wayUp = (
  deployable: UpstreamDeployable,
  byId: ReadonlyMap<number, UpstreamDeployable>,
): { readonly path: readonly UpstreamDeployable[]; readonly isWhole: boolean } => {
  const path = [deployable]
  for (let { parentId } = deployable.row; parentId !== null;) {
    const parent = byId.get(parentId)
    if (!parent || path.includes(parent) || path.length > DEPTH_MAX) return { path, isWhole: false }
    path.push(parent)
    parentId = parent.row.parentId
  }
  return { path, isWhole: true }
}
/**
 * Up to the deployable that is its root: the next one that has a provider of its own. Null: its parents lead to none.
 */
const pathUp = (
  deployable: UpstreamDeployable,
  byId: ReadonlyMap<number, UpstreamDeployable>,
): readonly UpstreamDeployable[] | null => {
  const { path, isWhole } = wayUp(deployable, byId)
  if (!isWhole) return null
  const root = path.reduceRight((above, one) =>
    one.row.rpUuid === null || one.row.rpUuid === above.row.rpUuid ? above : one,
  )
  return path.slice(0, path.indexOf(root) + 1)
}

/** Why it stands alone although it names a parent; null: it does not. */
const separate = ({ row }: UpstreamDeployable, path: readonly UpstreamDeployable[] | null): string | null => {
  if (path === null) return `parent ${row.parentId} leads to no root of its device`
  return path.length > 1 ? null : 'it has a resource provider, which only a root has'
}

const placed = (
  deployable: UpstreamDeployable,
  byId: ReadonlyMap<number, UpstreamDeployable>,
  notes: Notes,
): Pick<Grown, 'tree' | 'rpUuid'> => {
  const { row } = deployable
  const path = row.parentId === null ? [deployable] : pathUp(deployable, byId)
  const alone = row.parentId === null ? null : separate(deployable, path)
  if (alone !== null) notes.repaired('deployables', row, 'tree', `taken over as a root: ${alone}`)
  if (alone !== null || path === null || path.length === 1) {
    if (row.parentId === null && row.rootId !== null)
      notes.repaired('deployables', row, 'tree', `root ${row.rootId} without parent is dropped`)
    if (row.rpUuid === null)
      notes.repaired(
        'deployables',
        row,
        'W11',
        `it gets resource provider ${deployable.rpUuid}, which follows from its name`,
      )
    return { rpUuid: deployable.rpUuid }
  }
  const [parent, root] = [path[1]!, path.at(-1)!]
  if (row.rootId !== root.row.id)
    notes.repaired('deployables', row, 'tree', `its root is ${root.row.id}, not ${row.rootId}`)
  const tree = { parentUuid: parent.uuid, parentId: parent.row.id, rootUuid: root.uuid, rootId: root.row.id }
  return { rpUuid: root.rpUuid, tree }
}

/** The deployables that are taken over as roots. */
export const rootsIn = ({ deployables }: UpstreamDevice): readonly UpstreamDeployable[] => {
  const byId = new Map(deployables.map((deployable) => [deployable.row.id, deployable]))
  return deployables.filter(
    (deployable) => deployable.row.parentId === null || separate(deployable, pathUp(deployable, byId)) !== null,
  )
}

/** Handles of it and of all below it. */
const countIn = (deployable: UpstreamDeployable, grown: readonly Pick<Grown, 'deployable' | 'tree'>[]): number =>
  grown
    .filter(({ tree }) => tree?.parentUuid === deployable.uuid)
    .reduce((sum, child) => sum + countIn(child.deployable, grown), deployable.handles.length)

/** Mediated devices are made on demand: there are at most as many handles as accelerators. */
const counted = (deployable: UpstreamDeployable, handles: number): number =>
  deployable.handles.some(({ known }) => known.type === 'MDEV')
    ? Math.max(handles, deployable.row.numAccelerators)
    : handles

export const growTrees = ({ deployables }: UpstreamDevice, notes: Notes): readonly Grown[] => {
  const byId = new Map(deployables.map((deployable) => [deployable.row.id, deployable]))
  const grown = deployables.map((deployable) => ({ deployable, ...placed(deployable, byId, notes) }))
  return grown.map((one) => {
    const numAccelerators = counted(one.deployable, countIn(one.deployable, grown))
    const { row } = one.deployable
    if (numAccelerators !== row.numAccelerators)
      notes.repaired('deployables', row, 'count', `it has ${numAccelerators} accelerators, not ${row.numAccelerators}`)
    return { ...one, numAccelerators }
  })
}

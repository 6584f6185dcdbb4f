/** The trees that the deployables of a device form, where their rows agree on them (data-model R1 to R5). Pure. */
import type { Tree } from '../deployable/messages.ts'
import type { Card, Unit } from './cards.ts'
import type { Notes } from './notes.ts'

export type Grown = {
  readonly unit: Unit
  /** Absent: it is a root. */
  readonly tree?: Tree
  /** Its own provider or, of a child, that of its root. */
  readonly rpUuid: string
  readonly numAccelerators: number
}

const DEPTH_MAX = 16
/** From a deployable upwards. `isWhole`: up to a root; otherwise a parent is missing, is of another device, or is its own descendant. */
export const wayUp = (
  unit: Unit,
  byId: ReadonlyMap<number, Unit>,
): { readonly path: readonly Unit[]; readonly isWhole: boolean } => {
  const path = [unit]
  for (let { parentId } = unit.row; parentId !== null;) {
    const parent = byId.get(parentId)
    if (!parent || path.includes(parent) || path.length > DEPTH_MAX) return { path, isWhole: false }
    path.push(parent)
    parentId = parent.row.parentId
  }
  return { path, isWhole: true }
}
/** Up to the deployable that is its root: the next one that has a provider of its own. Null: its parents lead to none. */
const pathUp = (unit: Unit, byId: ReadonlyMap<number, Unit>): readonly Unit[] | null => {
  const { path, isWhole } = wayUp(unit, byId)
  if (!isWhole) return null
  const root = path.reduceRight((above, one) =>
    one.row.rpUuid === null || one.row.rpUuid === above.row.rpUuid ? above : one,
  )
  return path.slice(0, path.indexOf(root) + 1)
}

/** Why it stands alone although it names a parent; null: it does not. */
const separate = ({ row }: Unit, path: readonly Unit[] | null): string | null => {
  if (path === null) return `parent ${row.parentId} leads to no root of its device`
  return path.length > 1 ? null : 'it has a resource provider, which only a root has'
}

const placed = (unit: Unit, byId: ReadonlyMap<number, Unit>, notes: Notes): Pick<Grown, 'tree' | 'rpUuid'> => {
  const { row } = unit
  const path = row.parentId === null ? [unit] : pathUp(unit, byId)
  const alone = row.parentId === null ? null : separate(unit, path)
  if (alone !== null) notes.repaired('deployables', row, 'tree', `taken over as a root: ${alone}`)
  if (alone !== null || path === null || path.length === 1) {
    if (row.parentId === null && row.rootId !== null)
      notes.repaired('deployables', row, 'tree', `root ${row.rootId} without parent is dropped`)
    if (row.rpUuid === null)
      notes.repaired('deployables', row, 'W11', `it gets resource provider ${unit.rpUuid}, which follows from its name`)
    return { rpUuid: unit.rpUuid }
  }
  const [parent, root] = [path[1]!, path.at(-1)!]
  if (row.rootId !== root.row.id)
    notes.repaired('deployables', row, 'tree', `its root is ${root.row.id}, not ${row.rootId}`)
  const tree = { parentUuid: parent.uuid, parentId: parent.row.id, rootUuid: root.uuid, rootId: root.row.id }
  return { rpUuid: root.rpUuid, tree }
}

/** The deployables that are taken over as roots. */
export const rootsIn = ({ units }: Card): readonly Unit[] => {
  const byId = new Map(units.map((unit) => [unit.row.id, unit]))
  return units.filter((unit) => unit.row.parentId === null || separate(unit, pathUp(unit, byId)) !== null)
}

/** Handles of it and of all below it. */
const countIn = (unit: Unit, grown: readonly Pick<Grown, 'unit' | 'tree'>[]): number =>
  grown
    .filter(({ tree }) => tree?.parentUuid === unit.uuid)
    .reduce((sum, child) => sum + countIn(child.unit, grown), unit.slots.length)

/** Mediated devices are made on demand: there are at most as many handles as accelerators. */
const counted = (unit: Unit, handles: number): number =>
  unit.slots.some(({ known }) => known.type === 'MDEV') ? Math.max(handles, unit.row.numAccelerators) : handles

export const growTrees = ({ units }: Card, notes: Notes): readonly Grown[] => {
  const byId = new Map(units.map((unit) => [unit.row.id, unit]))
  const grown = units.map((unit) => ({ unit, ...placed(unit, byId, notes) }))
  return grown.map((one) => {
    const numAccelerators = counted(one.unit, countIn(one.unit, grown))
    const { row } = one.unit
    if (numAccelerators !== row.numAccelerators)
      notes.repaired('deployables', row, 'count', `it has ${numAccelerators} accelerators, not ${row.numAccelerators}`)
    return { ...one, numAccelerators }
  })
}

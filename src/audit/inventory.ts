/** Invariants of the inventory: providers, trees, resource classes, and numbers of accelerators. */
import type { Deployable } from '../actors/deployable/state.ts'
import { unitsOf } from '../actors/deployable/units.ts'
import type { DeployableUuid } from '../vocabulary/identifiers.ts'
import { type Invariant, type Step, type World, at, deployablesIn, inView } from './history.ts'

const provider: Invariant = {
  name: 'I7',
  meaning: 'a resource provider belongs to one deployable, which is a root',
  judge: ({ views }) => {
    const owners = new Map<string, string>()
    return {
      *step(step) {
        for (const { key, before, after } of deployablesIn(step)) {
          if (owners.get(before.rpUuid) === key) owners.delete(before.rpUuid)
          // a deployable below a root is bound by the provider of the root
          if (!after.exists || after.presence === 'retired' || after.tree) continue
          const other = owners.get(after.rpUuid)
          if (other) yield at(step.rowCount, [key, other], `provider ${after.rpUuid} of ${key} is that of ${other}`)
          owners.set(after.rpUuid, key)
        }
      },
      *end() {
        for (const { uuid, rp_uuid, parent_uuid } of views?.deployables ?? [])
          if (rp_uuid && parent_uuid)
            yield inView('deployables', uuid, `deployable ${uuid} has a provider and a parent`)
      },
    }
  },
}

const tree: Invariant = {
  name: 'I8',
  meaning: 'parent and root of a deployable agree, and a tree is of one device',
  judge: ({ views }) => ({
    *end() {
      const byUuid = new Map(Array.from(views?.deployables ?? [], (row) => [row.uuid, row]))
      for (const row of byUuid.values()) {
        if ((row.parent_uuid === null) !== (row.root_uuid === null))
          yield inView('deployables', row.uuid, `deployable ${row.uuid} has one of parent and root`)
        if (row.parent_uuid === null) continue
        const parent = byUuid.get(row.parent_uuid)
        const fits =
          parent && (parent.root_uuid ?? parent.uuid) === row.root_uuid && parent.device_uuid === row.device_uuid
        if (!fits) yield inView('deployables', row.uuid, `deployable ${row.uuid} is not of the tree of its parent`)
      }
    },
  }),
}

const classes = ({ attributes }: Deployable) =>
  attributes.filter(({ key, parent }) => key === 'rc' && parent === undefined).length
const classed: Invariant = {
  name: 'I11',
  meaning: 'a deployable with a provider has exactly one resource class',
  judge: () => {
    return {
      *step(step) {
        for (const { key, after } of deployablesIn(step))
          if (after.exists && after.presence !== 'retired' && !after.tree && classes(after) !== 1)
            yield at(step.rowCount, [key], `${key} has ${classes(after)} resource classes`)
      },
    }
  },
}

/** Returns one handle of each accelerator that the host shows. */
const shownIn = ({ handles }: Deployable) =>
  unitsOf(Object.values(handles).filter(({ unseen }) => !unseen)).map(([first]) => first!)
type Trees = Map<DeployableUuid, Set<DeployableUuid>>
/** Notes the deployables of each tree. Those that have left the tree stay noted; `below` leaves them out. */
const noteTrees = (trees: Trees, step: Step): void => {
  for (const { after } of deployablesIn(step)) {
    const root = after.tree?.rootUuid
    if (root !== undefined) trees.set(root, (trees.get(root) ?? new Set()).add(after.uuid))
  }
}
/** Returns the deployables below this one, at any depth, that are present or have the same presence as this one. */
const below = ({ uuid, tree: own, presence: is }: Deployable, trees: Trees, world: World): readonly Deployable[] => {
  const nodes = [...(trees.get(own?.rootUuid ?? uuid) ?? [])].map((one) => world.deployable(one))
  const under = (parent: DeployableUuid): readonly Deployable[] =>
    nodes
      .filter(
        ({ tree: place, presence }) => place?.parentUuid === parent && (presence === 'present' || presence === is),
      )
      .flatMap((one) => [one, ...under(one.uuid)])
  return under(uuid)
}
const counted: Invariant = {
  name: 'I12',
  meaning:
    'a deployable has as many accelerators as handles, with those below it; one that makes handles on demand, at most as many handles',
  judge: () => {
    const trees: Trees = new Map()
    return {
      *step(step, world) {
        noteTrees(trees, step)
        for (const { key, events, after } of deployablesIn(step)) {
          const described = events.some(({ type }) => type === 'DeployableRecorded' || type === 'DeployableDescribed')
          if (!described) continue
          const shown = [after, ...below(after, trees, world)].flatMap(shownIn)
          const fits = shown.some(({ type }) => type === 'MDEV')
            ? shown.length <= after.numAccelerators
            : shown.length === after.numAccelerators
          if (!fits)
            yield at(
              step.rowCount,
              [key],
              `${key} has ${after.numAccelerators} accelerators and ${shown.length} handles`,
            )
        }
      },
    }
  },
}

export const inventoryInvariants: readonly Invariant[] = [provider, tree, classed, counted]

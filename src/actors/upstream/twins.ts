/**
 * The deployables that are kept, where several of them have one name or one resource provider (data-model 13). Pure.
 *
 * TWINS-1 of several deployables of a device with one name the one that a bound request uses is kept, else the oldest.
 *    It gets the attach handles of the others that are used, and what stands below them;
 * TWINS-2 of several roots with one provider the one whose name gives that provider keeps it, else the one that is
 *    used, else the oldest. Another one of the same device is left out where nothing of it is used; otherwise it gets
 *    the provider that follows from its own name.
 */
import type { ResourceProviderUuid } from '../../vocabulary/identifiers.ts'
import { rpUuidOf } from '../../vocabulary/rpUuid.ts'
import { commandIdOf } from '../runtime/commandId.ts'
import { type UpstreamDevice, type Live, type UpstreamDeployable, isUsed } from './devices.ts'
import type { Notes } from './notes.ts'
import { rootsIn, wayUp } from './trees.ts'

type Deployables = readonly UpstreamDeployable[]
const byIdIn = (deployables: Deployables): ReadonlyMap<number, UpstreamDeployable> =>
  new Map(deployables.map((deployable) => [deployable.row.id, deployable]))

/** Ids of the deployables that have attach handles in use, and of all above them. */
export const usedDeployables = (deployables: Deployables, live: Live): ReadonlySet<number> => {
  const byId = byIdIn(deployables)
  const used = deployables.filter(({ handles }) => handles.some((handle) => isUsed(handle, live)))
  return new Set(used.flatMap((deployable) => wayUp(deployable, byId).path.map(({ row }) => row.id)))
}

/** The one that stands for a deployable by now. */
const standIn = (id: number, twins: ReadonlyMap<number, UpstreamDeployable>): UpstreamDeployable | undefined => {
  const kept = twins.get(id)
  return kept && (standIn(kept.row.id, twins) ?? kept)
}
/** Puts what stood below one that is left out below the one that stands for it. */
const reparented = (
  deployables: Deployables,
  twins: ReadonlyMap<number, UpstreamDeployable>,
  notes: Notes,
): Deployables =>
  deployables.map((deployable) => {
    const kept = deployable.row.parentId === null ? undefined : standIn(deployable.row.parentId, twins)
    if (!kept) return deployable
    notes.repaired(
      'deployables',
      deployable.row,
      'tree',
      `its parent is ${kept.row.id}, which stands for ${deployable.row.parentId}`,
    )
    return { ...deployable, row: { ...deployable.row, parentId: kept.row.id } }
  })

/**
 * One that stands below a deployable of its own name takes the place of the topmost of them, so that it does not stand
 * below itself.
 */
const lifted = (deployable: UpstreamDeployable, byId: ReadonlyMap<number, UpstreamDeployable>): UpstreamDeployable => {
  const top = wayUp(deployable, byId).path.findLast(({ row }) => row.name === deployable.row.name)!
  if (top === deployable) return deployable
  const { parentId, rootId } = top.row
  const rpUuid = deployable.row.rpUuid ?? top.row.rpUuid
  return {
    ...deployable,
    row: { ...deployable.row, parentId, rootId, rpUuid },
    rpUuid: deployable.row.rpUuid === null ? top.rpUuid : deployable.rpUuid,
  }
}

/** TWINS-1. */
export const oneOfEachName = (device: UpstreamDevice, live: Live, notes: Notes): UpstreamDevice => {
  const isLive = ({ handles }: UpstreamDeployable): boolean => handles.some(({ row }) => live.has(row.id))
  const ranked = device.deployables.toSorted(
    (one, other) => Number(isLive(other)) - Number(isLive(one)) || one.row.id - other.row.id,
  )
  const [byId, twins] = [byIdIn(device.deployables), new Map<number, UpstreamDeployable>()]
  const deployables = [...Map.groupBy(ranked, ({ row }) => row.name).values()].map(([first, ...others]) => {
    if (others.length === 0) return first!
    const kept = lifted(first!, byId)
    const taken = others.flatMap((other) => {
      twins.set(other.row.id, kept)
      notes.leftOut(
        'deployables',
        other.row,
        'W17',
        `deployable ${kept.uuid} of device ${device.uuid} has its name ${kept.row.name}`,
      )
      const used = other.handles.filter((handle) => isUsed(handle, live))
      for (const { row } of used)
        notes.repaired(
          'attach_handles',
          row,
          'W17',
          `it goes over to deployable ${kept.uuid}: it is in use, and ${other.uuid} is left out`,
        )
      return used
    })
    return { ...kept, handles: [...kept.handles, ...taken] }
  })
  return {
    ...device,
    deployables: reparented(deployables, twins, notes).toSorted((one, other) => one.row.id - other.row.id),
  }
}

type Root = {
  readonly device: UpstreamDevice
  readonly deployable: UpstreamDeployable
  readonly isUsed: boolean
  readonly rpUuid: ResourceProviderUuid
}
const natural = ({ deployable }: Root): string => rpUuidOf(deployable.row.name)
const rank = (root: Root): number => (natural(root) === root.rpUuid ? 0 : 2) + (root.isUsed ? 0 : 1)

type Judged = { readonly roots: readonly Root[]; readonly isSettled: boolean }
/** The roots, where each that has the provider of another one has another provider or is left out. */
const judged = (roots: readonly Root[], twins: Map<number, UpstreamDeployable>, notes: Notes): Judged => {
  let isSettled = true
  const judge = (sharing: readonly Root[]): readonly Root[] => {
    const [first, ...others] = sharing.toSorted(
      (one, other) => rank(one) - rank(other) || one.deployable.row.id - other.deployable.row.id,
    )
    return [
      first!,
      ...others.flatMap((root) => {
        isSettled = false
        const { deployable, device } = root
        if (!root.isUsed && device === first!.device) {
          twins.set(deployable.row.id, first!.deployable)
          const why = `deployable ${first!.deployable.uuid} of device ${device.uuid} has its resource provider ${root.rpUuid}`
          notes.leftOut('deployables', deployable.row, 'W17', why)
          return []
        }
        const rpUuid = natural(root) === root.rpUuid ? commandIdOf(`provider of ${deployable.uuid}`) : natural(root)
        const why = `it gets resource provider ${rpUuid}: deployable ${first!.deployable.uuid} has ${root.rpUuid}`
        notes.repaired('deployables', deployable.row, 'W12', why)
        return [{ ...root, rpUuid }]
      }),
    ]
  }
  return { roots: [...Map.groupBy(roots, ({ rpUuid }) => rpUuid).values()].flatMap(judge), isSettled }
}

/** TWINS-2. */
export const oneRootOfEachProvider = (
  devices: readonly UpstreamDevice[],
  live: Live,
  notes: Notes,
): readonly UpstreamDevice[] => {
  const twins = new Map<number, UpstreamDeployable>()
  const all = devices.flatMap((device) => {
    const used = usedDeployables(device.deployables, live)
    return rootsIn(device).map((deployable) => ({
      device,
      deployable,
      isUsed: used.has(deployable.row.id),
      rpUuid: deployable.rpUuid,
    }))
  })
  let state = judged(all, twins, notes)
  while (!state.isSettled) state = judged(state.roots, twins, notes)
  const providers = new Map(state.roots.map(({ deployable, rpUuid }) => [deployable.row.id, rpUuid]))
  const left = devices.map((device) => {
    const stay = device.deployables.filter(({ row }) => !twins.has(row.id))
    const deployables = stay.map((deployable) => ({
      ...deployable,
      rpUuid: providers.get(deployable.row.id) ?? deployable.rpUuid,
    }))
    return { ...device, deployables: reparented(deployables, twins, notes) }
  })
  // what stood below one that is left out may be a root now
  return twins.size === 0 ? left : oneRootOfEachProvider(left, live, notes)
}

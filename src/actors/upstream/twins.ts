/**
 * The deployables that are kept, where several of them have one name or one resource provider (data-model 13). Pure.
 *
 * TWINS-1 of several deployables of a device with one name the one that a bound request uses is kept, else the oldest. It gets the attach handles
 *   of the others that are used, and what stands below them;
 * TWINS-2 of several roots with one provider the one whose name gives that provider keeps it, else the one that is used, else the oldest. Another
 *   one of the same device is left out where nothing of it is used; otherwise it gets the provider that follows from its own name.
 */
import { rpUuidOf } from '../../rpUuid.ts'
import { commandIdOf } from '../runtime/commandId.ts'
import { type Card, type Live, type Unit, isUsed } from './cards.ts'
import type { Notes } from './notes.ts'
import { rootsIn, wayUp } from './trees.ts'

type Units = readonly Unit[]
const byIdIn = (units: Units): ReadonlyMap<number, Unit> => new Map(units.map((unit) => [unit.row.id, unit]))

/** Ids of the deployables that have attach handles in use, and of all above them. */
export const usedUnits = (units: Units, live: Live): ReadonlySet<number> => {
  const byId = byIdIn(units)
  const used = units.filter(({ slots }) => slots.some((slot) => isUsed(slot, live)))
  return new Set(used.flatMap((unit) => wayUp(unit, byId).path.map(({ row }) => row.id)))
}

/** The one that stands for a deployable by now. */
const standIn = (id: number, twins: ReadonlyMap<number, Unit>): Unit | undefined => {
  const kept = twins.get(id)
  return kept && (standIn(kept.row.id, twins) ?? kept)
}
/** Puts what stood below one that is left out below the one that stands for it. */
const reparented = (units: Units, twins: ReadonlyMap<number, Unit>, notes: Notes): Units =>
  units.map((unit) => {
    const kept = unit.row.parentId === null ? undefined : standIn(unit.row.parentId, twins)
    if (!kept) return unit
    notes.repaired(
      'deployables',
      unit.row,
      'tree',
      `its parent is ${kept.row.id}, which stands for ${unit.row.parentId}`,
    )
    return { ...unit, row: { ...unit.row, parentId: kept.row.id } }
  })

/** One that stands below a deployable of its own name takes the place of the topmost of them, so that it does not stand below itself. */
const lifted = (unit: Unit, byId: ReadonlyMap<number, Unit>): Unit => {
  const top = wayUp(unit, byId).path.findLast(({ row }) => row.name === unit.row.name)!
  if (top === unit) return unit
  const { parentId, rootId } = top.row
  const rpUuid = unit.row.rpUuid ?? top.row.rpUuid
  return {
    ...unit,
    row: { ...unit.row, parentId, rootId, rpUuid },
    rpUuid: unit.row.rpUuid === null ? top.rpUuid : unit.rpUuid,
  }
}

/** TWINS-1. */
export const oneOfEachName = (card: Card, live: Live, notes: Notes): Card => {
  const isLive = ({ slots }: Unit): boolean => slots.some(({ row }) => live.has(row.id))
  const ranked = card.units.toSorted(
    (one, other) => Number(isLive(other)) - Number(isLive(one)) || one.row.id - other.row.id,
  )
  const [byId, twins] = [byIdIn(card.units), new Map<number, Unit>()]
  const units = [...Map.groupBy(ranked, ({ row }) => row.name).values()].map(([first, ...others]) => {
    if (others.length === 0) return first!
    const kept = lifted(first!, byId)
    const taken = others.flatMap((other) => {
      twins.set(other.row.id, kept)
      notes.leftOut(
        'deployables',
        other.row,
        'W17',
        `deployable ${kept.uuid} of device ${card.uuid} has its name ${kept.row.name}`,
      )
      const used = other.slots.filter((slot) => isUsed(slot, live))
      for (const { row } of used)
        notes.repaired(
          'attach_handles',
          row,
          'W17',
          `it goes over to deployable ${kept.uuid}: it is in use, and ${other.uuid} is left out`,
        )
      return used
    })
    return { ...kept, slots: [...kept.slots, ...taken] }
  })
  return {
    ...card,
    units: reparented(units, twins, notes).toSorted((one, other) => one.row.id - other.row.id),
  }
}

type Root = { readonly card: Card; readonly unit: Unit; readonly isUsed: boolean; readonly rpUuid: string }
const natural = ({ unit }: Root): string => rpUuidOf(unit.row.name)
const rank = (root: Root): number => (natural(root) === root.rpUuid ? 0 : 2) + (root.isUsed ? 0 : 1)

type Judged = { readonly roots: readonly Root[]; readonly isSettled: boolean }
/** The roots, where each that has the provider of another one has another provider or is left out. */
const judged = (roots: readonly Root[], twins: Map<number, Unit>, notes: Notes): Judged => {
  let isSettled = true
  const judge = (sharing: readonly Root[]): readonly Root[] => {
    const [first, ...others] = sharing.toSorted(
      (one, other) => rank(one) - rank(other) || one.unit.row.id - other.unit.row.id,
    )
    return [
      first!,
      ...others.flatMap((root) => {
        isSettled = false
        const { unit, card } = root
        if (!root.isUsed && card === first!.card) {
          twins.set(unit.row.id, first!.unit)
          const why = `deployable ${first!.unit.uuid} of device ${card.uuid} has its resource provider ${root.rpUuid}`
          notes.leftOut('deployables', unit.row, 'W17', why)
          return []
        }
        const rpUuid = natural(root) === root.rpUuid ? commandIdOf(`provider of ${unit.uuid}`) : natural(root)
        const why = `it gets resource provider ${rpUuid}: deployable ${first!.unit.uuid} has ${root.rpUuid}`
        notes.repaired('deployables', unit.row, 'W12', why)
        return [{ ...root, rpUuid }]
      }),
    ]
  }
  return { roots: [...Map.groupBy(roots, ({ rpUuid }) => rpUuid).values()].flatMap(judge), isSettled }
}

/** TWINS-2. */
export const oneRootOfEachProvider = (cards: readonly Card[], live: Live, notes: Notes): readonly Card[] => {
  const twins = new Map<number, Unit>()
  const all = cards.flatMap((card) => {
    const used = usedUnits(card.units, live)
    return rootsIn(card).map((unit) => ({ card, unit, isUsed: used.has(unit.row.id), rpUuid: unit.rpUuid }))
  })
  let state = judged(all, twins, notes)
  while (!state.isSettled) state = judged(state.roots, twins, notes)
  const providers = new Map(state.roots.map(({ unit, rpUuid }) => [unit.row.id, rpUuid]))
  const left = cards.map((card) => {
    const stay = card.units.filter(({ row }) => !twins.has(row.id))
    const units = stay.map((unit) => ({ ...unit, rpUuid: providers.get(unit.row.id) ?? unit.rpUuid }))
    return { ...card, units: reparented(units, twins, notes) }
  })
  // what stood below one that is left out may be a root now
  return twins.size === 0 ? left : oneRootOfEachProvider(left, live, notes)
}

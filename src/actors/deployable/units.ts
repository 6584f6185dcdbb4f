/**
 * Units: attach handles that are granted together. A card may require that several functions go to the same guest:
 * their handles have the same set number and form one accelerator. A handle without a number is an accelerator of its
 * own. Pure.
 *
 * WHOLE-1 the handles of a unit are held by accelerator requests of one instance;
 * WHOLE-2 a unit is granted only when none of its handles is in use, quarantined or missing;
 * WHOLE-3 a unit is granted whole: requests for a part of it are refused.
 */
import type { ArqUuid, HandleUuid } from '../../vocabulary/identifiers.ts'
import type { SlotHandle } from './shape.ts'

type Test = (handle: SlotHandle) => boolean
/**
 * A card may have been given in units, and not be now. What it shows no more of such a unit is then no unit beside what
 * it shows, although a request may hold it.
 */
const given = (handles: readonly SlotHandle[]): readonly SlotHandle[] => {
  const shown = handles.filter(({ unseen }) => !unseen)
  return shown.length === 0 || hasSets(shown)
    ? handles
    : handles.filter(({ unseen, set }) => !unseen || set === undefined)
}
const hasSets = (handles: readonly SlotHandle[]): boolean => handles.some(({ set }) => set !== undefined)

/** The units, in the order of their handles. */
export const unitsOf = (handles: readonly SlotHandle[]): readonly (readonly SlotHandle[])[] =>
  hasSets(handles)
    ? [...Map.groupBy(given(handles), ({ set, uuid }) => set ?? uuid).values()]
    : handles.map((one) => [one])

/**
 * Number of units for which the test holds for some handle, or for every handle. Runs with every grant, so the case
 * without sets is fast.
 */
export const countUnits = (
  { handles }: { readonly handles: Readonly<Record<HandleUuid, SlotHandle>> },
  how: 'some' | 'every',
  test: Test,
): number => {
  const all = Object.values(handles)
  return hasSets(all) ? unitsOf(all).filter((unit) => unit[how](test)).length : all.filter(test).length
}

/** Accelerator requests that one request of Nova binds to the same deployable. */
export type Mates = readonly ArqUuid[]

/**
 * The handle that the next of these requests gets; undefined: there is none. `isFree`: whether a handle can be granted.
 */
export const handleFor = (
  handles: readonly SlotHandle[],
  mates: Mates,
  isFree: Test,
): { readonly handle: SlotHandle; readonly unit: readonly SlotHandle[] } | undefined => {
  if (!hasSets(handles)) {
    const handle = handles.find(isFree)
    return handle && { handle, unit: [handle] }
  }
  const units = unitsOf(handles)
  const isTheirs = ({ state, arq }: SlotHandle) => state === 'held' && arq !== null && mates.includes(arq)
  const begun = units.find(
    (one) => one.some(isTheirs) && one.some(isFree) && one.every((each) => isTheirs(each) || isFree(each)),
  )
  const unit = begun ?? units.find((one) => one.every(isFree))
  const handle = unit?.find(isFree)
  return unit && handle ? { handle, unit } : undefined
}

/** Why the number of requests does not fit the unit, in words; null: they take whole units. */
export const partOf = (unit: readonly SlotHandle[], mates: Mates): string | null =>
  mates.length % unit.length === 0
    ? null
    : `it is given as a whole: its ${unit.length} functions need ${unit.length} accelerator requests of one instance, not ${mates.length}`

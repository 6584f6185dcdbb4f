/**
 * Selects the slots of the ledger that a report names: as many as there is room for, beginning with a given one. Pure.
 */
import { functionOf } from '../vocabulary/attachedFunctions.ts'
import type { PreparedSlot, Slots } from '../wire/slots.ts'
import { type Entry, lastHandleOf, mayBePrepared } from './entry.ts'

/** Enough for some hundreds of slots; a host with more of them continues in its next report. */
const SLOTS_MAX_BYTES = 128 * 1024
/** `left`: the bytes that a report has besides its devices; the functions in use take `inUseBytes` of these. */
export const roomForSlots = (left: number, inUseBytes: number): number => Math.min(SLOTS_MAX_BYTES, left - inUseBytes)
const ENTRIES_MAX = 4000

const stateOf = ({ state, type }: Entry): PreparedSlot['state'] => {
  if (state === 'done') return 'prepared'
  return type === 'ReleaseSlot' ? 'releasing' : 'preparing'
}

const shownOf = (entry: Entry): readonly PreparedSlot[] => {
  const handle = mayBePrepared(entry) ? lastHandleOf(entry) : null
  if (handle === null) return []
  const { slot, number, arq, away } = entry
  // the function is another card's now
  const where = `${away ? 'away from ' : ''}${functionOf(handle)}`
  return [{ slot, number, state: stateOf(entry), ...(arq === undefined ? {} : { arq }), function: where }]
}

const byText = (one: string, other: string): number => (one < other ? -1 : Number(one > other))

export type Page = Pick<Slots, 'from' | 'upTo' | 'prepared'>
/** `next`: the first slot of the next page; null: this page reaches the end. */
export type Paged = { readonly page: Page; readonly next: string | null }

/** Null: there is not even room for one slot, so that the report cannot tell anything about slots. */
export const pageOf = (entries: readonly Entry[], from: string | null, maxBytes: number): Paged | null => {
  const shown = entries
    .flatMap(shownOf)
    .filter(({ slot }) => from === null || slot >= from)
    .toSorted((one, other) => byText(one.slot, other.slot))
  let [bytes, fit] = [0, 0]
  for (const one of shown) {
    bytes += Buffer.byteLength(JSON.stringify(one)) + 1
    if (bytes > maxBytes || fit === ENTRIES_MAX) break
    fit++
  }
  if (fit === 0 && shown.length > 0) return null
  const prepared = shown.slice(0, fit)
  const next = shown[fit]?.slot ?? null
  return {
    page: {
      ...(from === null ? {} : { from }),
      ...(next === null ? {} : { upTo: prepared.at(-1)!.slot }),
      prepared,
    },
    next,
  }
}

/** How many attach handles may be prepared through the driver. */
export const preparedThrough = (driver: string, entries: readonly Entry[]): number =>
  entries.filter((entry) => entry.driver === driver && entry.handle !== '' && mayBePrepared(entry)).length

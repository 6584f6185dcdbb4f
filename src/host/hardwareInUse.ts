/**
 * Finds the hardware of a host that is in use, as far as its drivers can tell, without the slots that the ledger holds
 * prepared.
 */
import { functionOf } from '../vocabulary/attachedFunctions.ts'
import { textOf } from '../vocabulary/errorText.ts'
import type { HostName } from '../vocabulary/identifiers.ts'
import type { Log } from '../vocabulary/log.ts'
import { storable } from '../vocabulary/text.ts'
import type { Slots } from '../wire/slots.ts'
import { type Entry, attachingOf, mayBePrepared } from './entry.ts'
import type { Watch } from './sections.ts'

type Used = NonNullable<Slots['inUse']>
/** Entries that do not fit are left out, so nothing may be concluded from their absence. */
const IN_USE_MAX_BYTES = 32 * 1024
/** `left`: the bytes of a report that its devices leave free. Half of them are kept for the slots. */
export const roomInUse = (left: number): number => Math.min(IN_USE_MAX_BYTES, left / 2)
const BY_MAX = 300

/** Null: no driver can tell, or all have failed. */
export const hardwareInUse = async (
  watches: readonly Watch[],
  { host, log }: { readonly host: HostName; readonly log: Log },
): Promise<Used | null> => {
  const found = await Promise.all(
    watches.map(async (watch) => {
      try {
        return await watch.inUse()
      } catch (error) {
        log.warn({ host, driver: watch.name, reason: textOf(error) }, 'inventory.useUnknown')
        return null
      }
    }),
  )
  if (found.every((one) => one === null)) return null
  return found.flatMap((one) =>
    (one ?? []).map(({ type, info, by }) => ({
      function: functionOf({ type, info }),
      by: storable(by).slice(0, BY_MAX),
    })),
  )
}

/** Returns the functions in use that are prepared for no slot, as many as there is room for. Pure. */
export const unexplained = (used: Used, entries: readonly Entry[], maxBytes: number): Used => {
  const prepared = new Set(
    entries.flatMap((entry) => {
      const handle = mayBePrepared(entry) ? attachingOf(entry) : null
      return handle === null ? [] : [functionOf(handle)]
    }),
  )
  let bytes = 0
  return used
    .filter((one) => !prepared.has(one.function))
    .slice(0, 1000)
    .filter((one) => (bytes += Buffer.byteLength(JSON.stringify(one)) + 1) <= maxBytes)
}

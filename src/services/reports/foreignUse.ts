/**
 * Finds handles that a host shows as in use although no request holds them: somebody outside this service uses the
 * hardware.
 *
 * FOREIGN-1 such use is acted upon only when all reports of `IN_USE_FOR_MS` have shown it, while the handle had no
 *    holder and no order: a guest that is ending may still use a handle that its request has given up. A report that
 *    shows the handle free restarts the time;
 * FOREIGN-2 the handle is withheld until an operator releases it: a later report that shows it free does not tell who
 *    used it, and whether they stopped.
 */
import type { HandleUuid, HostName } from '../../vocabulary/identifiers.ts'
import type { Clock } from '../../vocabulary/clock.ts'
import type { Difference } from '../../actors/inventory/slotDifferences.ts'

/** Longer than the time between two reports of a host. */
export const IN_USE_FOR_MS = 110_000
const HOSTS_MAX = 10_000

type Since = { readonly mark: string; readonly at: number }

/**
 * Returns those of the shown differences that have lasted for `IN_USE_FOR_MS`. Call it for each report of a host, with
 * all its differences.
 */
export type ForeignUse = (host: HostName, shown: readonly Difference[]) => readonly Difference[]
export const createForeignUse = ({ monotonic }: Pick<Clock, 'monotonic'>): ForeignUse => {
  const hosts = new Map<HostName, ReadonlyMap<HandleUuid, Since>>()
  return (host, shown) => {
    const [now, before] = [monotonic(), hosts.get(host)]
    const after = new Map(
      shown.map(({ handle, mark }): [HandleUuid, Since] => {
        const known = before?.get(handle)
        return [handle, known?.mark === mark ? known : { mark, at: now }]
      }),
    )
    const lasting = shown.filter(({ handle }) => now - after.get(handle)!.at >= IN_USE_FOR_MS)
    // after an operator's release, the use must last for the whole time again
    for (const { handle } of lasting) after.delete(handle)
    if (after.size === 0) hosts.delete(host)
    else if (hosts.size < HOSTS_MAX || before) hosts.set(host, after)
    return lasting
  }
}

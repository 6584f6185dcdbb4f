/**
 * Hardware that is in use though nobody has its handle, as hosts show it.
 *
 * FOREIGN-1 it is acted upon when it was so in all reports of `IN_USE_FOR_MS`, while the handle had no holder and no order: a guest that is just
 *   ending still has open what its request has given up already. What is seen free in between begins anew;
 * FOREIGN-2 it is withheld until an operator releases it: that it is seen free again does not say who used it, and whether that is over.
 */
import type { HandleUuid, HostName } from '../../identifiers.ts'
import type { Clock } from '../../clock.ts'
import type { Difference } from '../../actors/inventory/slotDifferences.ts'

/** Longer than one report takes to be followed by the next. */
export const IN_USE_FOR_MS = 110_000
const HOSTS_MAX = 10_000

type Since = { readonly mark: string; readonly at: number }

/** Those of the differences that have lasted; called with all of a host, from each of its reports. */
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
    // after an operator's release it has to last again
    for (const { handle } of lasting) after.delete(handle)
    if (after.size === 0) hosts.delete(host)
    else if (hosts.size < HOSTS_MAX || before) hosts.set(host, after)
    return lasting
  }
}

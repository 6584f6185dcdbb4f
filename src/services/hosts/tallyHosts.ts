/**
 * Counts hosts as they are listed: those that an operator has taken out of service as `retired`, all others by their
 * liveness.
 */
import { OUT_OF_SERVICE, RETIRED } from '../../actors/host/standing.ts'
import type { Reads } from '../../actors/runtime/ports.ts'
import { everyRow } from '../kernel/everyRow.ts'

/** The number of hosts that are listed as each; one that no host has is left out. Rejects with `Unreadable`. */
export const tallyHosts = async (reads: Pick<Reads, 'page' | 'tally'>): Promise<ReadonlyMap<string, number>> => {
  const [all, retired] = [await reads.tally('hosts', 'liveness'), await everyRow(reads, 'hosts', OUT_OF_SERVICE)]
  const counts = new Map(all)
  // the two are not of one moment, so a host may be missing in the first
  for (const { liveness } of retired) counts.set(liveness, Math.max(0, (counts.get(liveness) ?? 0) - 1))
  return new Map([...counts, [RETIRED, retired.length] as const].filter(([, hosts]) => hosts > 0))
}

/**
 * Counts hosts as they are listed: those that an operator has taken out of service as `retired`, all others by their
 * liveness.
 */
import { OUT_OF_SERVICE, RETIRED } from '../../actors/host/standing.ts'
import type { Reads } from '../../actors/runtime/ports.ts'
import type { Row } from '../../actors/runtime/views.ts'

const ROWS = 1000
const retiredHosts = async ({ page }: Pick<Reads, 'page'>): Promise<readonly Row<'hosts'>[]> => {
  const hosts: Row<'hosts'>[] = []
  for (;;) {
    const last = hosts.at(-1)
    const from = last === undefined ? {} : { after: { value: last.name, key: last.name } }
    const rows = (await page({ view: 'hosts', where: OUT_OF_SERVICE, sort: 'name', limit: ROWS, ...from })) ?? []
    hosts.push(...rows)
    if (rows.length < ROWS) return hosts
  }
}

/** The number of hosts that are listed as each; one that no host has is left out. Rejects with `Unreadable`. */
export const tallyHosts = async (reads: Pick<Reads, 'page' | 'tally'>): Promise<ReadonlyMap<string, number>> => {
  const [all, retired] = [await reads.tally('hosts', 'liveness'), await retiredHosts(reads)]
  const counts = new Map(all)
  // the two are not of one moment, so a host may be missing in the first
  for (const { liveness } of retired) counts.set(liveness, Math.max(0, (counts.get(liveness) ?? 0) - 1))
  return new Map([...counts, [RETIRED, retired.length] as const].filter(([, hosts]) => hosts > 0))
}

/**
 * Finds hosts that must be compared with Placement although no recorded moment says so: hosts recorded while no
 * Placement was configured, and, once Placement has answered again for one host, all other hosts that wait because it
 * did not answer.
 */
import type { HostName } from '../../vocabulary/identifiers.ts'
import { placementKey } from '../../actors/placement/decider.ts'
import { dueKindOf } from '../../actors/placement/hostState.ts'
import { PLACEMENT_DUE } from '../../actors/placement/marks.ts'
import { idOf } from '../../actors/runtime/memory.ts'
import type { Kernel } from '../kernel/kernel.ts'
import type { Placer } from './placer.ts'

const EVERY_MS = 600_000

export type PlacementWatch = { readonly round: () => Promise<void> }
export const createPlacementWatch = (
  { clock, readers, region }: Pick<Kernel, 'clock' | 'readers' | 'region'>,
  placer: Pick<Placer, 'begin' | 'counts'>,
): PlacementWatch => {
  let at = -Infinity
  let recovered = 0
  const begin = (name: HostName, due?: number) => placer.begin(placementKey(name), region.readCached, due)
  const unled = async (): Promise<void> => {
    if (clock.monotonic() - at < EVERY_MS) return
    const [hosts, due] = await Promise.all([
      readers.list('hosts', {}, {}),
      readers.list('due', { kind: PLACEMENT_DUE }, {}),
    ])
    if (!hosts.ok || !due.ok) return
    at = clock.monotonic()
    const led = new Set(due.value.items.map(({ entity }) => idOf(entity)))
    for (const { name, liveness } of hosts.value.items) if (liveness !== 'removed' && !led.has(name)) begin(name)
  }
  const waiting = async (): Promise<void> => {
    const now = placer.counts().recovered
    if (now === recovered) return
    const due = await readers.list('due', { kind: dueKindOf('unreachable') }, {})
    if (!due.ok) return
    recovered = now
    for (const { entity, at: moment } of due.value.items) begin(idOf(entity), moment)
  }
  return {
    round: async () => {
      await unled()
      await waiting()
    },
  }
}

/** Finds hosts that no recorded moment leads to: those that were recorded while no Placement was configured. */
import { placementKey } from '../placement/decider.ts'
import { PLACEMENT_DUE } from '../placement/marks.ts'
import { idOf } from '../runtime/memory.ts'
import type { Kernel } from './kernel.ts'
import type { Placer } from './placer.ts'

const EVERY_MS = 600_000

export type PlacementWatch = { readonly round: () => Promise<void> }
export const createPlacementWatch = (
  { clock, readers, region }: Pick<Kernel, 'clock' | 'readers' | 'region'>,
  placer: Pick<Placer, 'begin'>,
): PlacementWatch => {
  let at = -Infinity
  return {
    round: async () => {
      if (clock.monotonic() - at < EVERY_MS) return
      const [hosts, due] = await Promise.all([
        readers.list('hosts', {}, {}),
        readers.list('due', { kind: PLACEMENT_DUE }, {}),
      ])
      if (!hosts.ok || !due.ok) return
      at = clock.monotonic()
      const led = new Set(due.value.items.map(({ entity }) => idOf(entity)))
      for (const { name, liveness } of hosts.value.items)
        if (liveness !== 'removed' && !led.has(name)) placer.begin(placementKey(name), region.readCached)
    },
  }
}

/** A control plane over a store for a command: it has no bus, no Nova and no image store. */
import { type ControlPlane, openControlPlane } from '../../services/controlPlane.ts'
import { type Clock, type Ids, systemClock, systemIds } from '../../vocabulary/clock.ts'
import { noImage } from '../../vocabulary/images.ts'
import type { Log } from '../../vocabulary/log.ts'
import type { Store } from '../../persistence/store.ts'

const REAL = { clock: systemClock, ids: systemIds }

export const openOfflinePlane = (
  { journal, reads, sharing }: Store,
  log: Log,
  { clock, ids }: { readonly clock: Clock; readonly ids: Ids } = REAL,
): ControlPlane =>
  openControlPlane({
    journal,
    reads,
    sharing,
    clock,
    ids,
    images: { find: async () => noImage('none'), search: async () => noImage('none') },
    nova: null,
    publish: async () => {},
    log,
  })

/** A control plane for a command of the command line: over a store, without a bus, without Nova and without an image store. */
import { type ControlPlane, openControlPlane } from '../../actors/controlPlane.ts'
import { systemClock, systemIds } from '../../clock.ts'
import type { Log } from '../../log.ts'
import type { Store } from '../../persistence/store.ts'

export const openOfflinePlane = ({ journal, reads, sharing }: Store, log: Log): ControlPlane =>
  openControlPlane({
    journal,
    reads,
    sharing,
    clock: systemClock,
    ids: systemIds,
    images: { find: async () => ({ found: false, why: 'none' }) },
    nova: null,
    publish: async () => {},
    log,
  })

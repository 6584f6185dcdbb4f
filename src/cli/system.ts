/** The whole system in one process, without listeners: store, bus, relay, inbox, control plane, hosts. */
import { type ControlPlane, openControlPlane } from '../actors/controlPlane.ts'
import type { ControlOptions } from '../actors/kernel.ts'
import type { Images, Nova } from '../actors/ports.ts'
import { isUrgent, reactions } from '../actors/reactions.ts'
import type { RegionOptions } from '../actors/region.ts'
import { inProcessBus } from '../bus/inProcess.ts'
import { type Inbox, inbox } from '../bus/inbox.ts'
import type { Bus } from '../bus/port.ts'
import { type Relay, relay } from '../bus/relay.ts'
import { type Clock, type Ids, systemClock, systemIds } from '../clock.ts'
import type { Log } from '../log.ts'
import type { Store } from '../persistence/store.ts'

export type SystemParts = {
  readonly store: Store
  readonly images: Images
  readonly nova: Nova | null
  readonly log: Log
  readonly clock?: Clock
  readonly ids?: Ids
  readonly bus?: Bus
  readonly control?: Partial<ControlOptions>
  readonly region?: Partial<RegionOptions>
}
export type System = {
  readonly plane: ControlPlane
  readonly bus: Bus
  readonly relay: Relay
  readonly inbox: Inbox
  readonly stop: () => Promise<void>
}

export const openSystem = async (parts: SystemParts): Promise<System> => {
  const { store, images, nova, log, clock = systemClock, ids = systemIds } = parts
  const bus = parts.bus ?? inProcessBus({ clock, log })
  const plane = openControlPlane({
    journal: store.journal,
    reads: store.reads,
    clock,
    ids,
    images,
    nova,
    publish: bus.publish,
    log,
    ...(parts.control ? { options: parts.control } : {}),
    ...(parts.region ? { region: parts.region } : {}),
  })
  const relaying = relay({ journal: store.journal, bus, reactions, urgent: isUrgent, clock, log })
  const receiving = inbox({
    bus,
    clock,
    log,
    unchanged: plane.reports.unchanged,
    take: async (report, messageId) => {
      await plane.reports.take(report, messageId)
      return { ok: true, value: null }
    },
  })
  await relaying.start()
  await receiving.start()
  await plane.start()
  return {
    plane,
    bus,
    relay: relaying,
    inbox: receiving,
    /** Intake first, then what is in hand, then what it left to be told. */
    stop: async () => {
      await receiving.stop()
      await plane.stop()
      await relaying.stop()
      await bus.stop()
    },
  }
}

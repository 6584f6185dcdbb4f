/** The whole system in one process, without listeners: store, bus, relay, inbox, control plane, hosts. */
import { type ControlPlane, openControlPlane } from '../../services/controlPlane.ts'
import type { ControlOptions, Paces } from '../../services/kernel/kernel.ts'
import type { CloudIdentity } from '../../services/kernel/sealing.ts'
import type { ImageCatalogue, Nova, NovaServers } from '../../actors/neighbours.ts'
import { createLatest } from '../../actors/latest.ts'
import { isUrgent, lettersOf, reactions } from '../../actors/reactions.ts'
import type { DeadLetters } from '../../actors/answers/deadLetters.ts'
import type { Surroundings } from '../../actors/answers/tallied.ts'
import type { Placement } from '../../actors/placement/port.ts'
import type { RegionOptions } from '../../actors/runtime/region.ts'
import { Unreadable } from '../../actors/runtime/unreadable.ts'
import { inProcessBus } from '../../bus/inProcess/inProcess.ts'
import { type Inbox, inbox } from '../../delivery/inbox.ts'
import { type EventSource, openEvents } from '../../delivery/events/events.ts'
import type { EventLimits } from '../../delivery/events/options.ts'
import type { Bus } from '../../bus/port.ts'
import { openDeadLetters } from '../../delivery/deadLetters/keeper.ts'
import type { Follow } from '../../delivery/deadLetters/reading.ts'
import { RELAY } from '../../delivery/relay/options.ts'
import { type Relay, relay } from '../../delivery/relay/relay.ts'
import { type Clock, type Ids, systemClock, systemIds } from '../../vocabulary/clock.ts'
import { textOf } from '../../vocabulary/errorText.ts'
import type { Log } from '../../vocabulary/log.ts'
import type { Store } from '../../persistence/store.ts'
import { untraced } from '../../vocabulary/trace.ts'
import { type Verify, newPrivateKey, signerFrom } from '../../wire/signature.ts'
import { startArchiver } from './archiver.ts'
import { observedJournal } from '../observe/metricsJournal.ts'
import { observedBus } from '../observe/observedBus.ts'
import { type RecentTimes, recentTimes } from '../observe/recentTimes.ts'
import { type Watching, resending, watchedPlane } from '../observe/watching.ts'

export type SystemParts = {
  readonly store: Store
  readonly images: ImageCatalogue
  readonly nova: Nova | null
  /** Absent or null: Nova is not asked about servers. */
  readonly novaServers?: NovaServers | null
  /** Absent or null: nothing is written to Placement. */
  readonly placement?: Placement | null
  readonly log: Log
  readonly clock?: Clock
  readonly ids?: Ids
  readonly bus?: Bus
  /** Reads the dead letters on the bus; absent: the bus is inside the process. */
  readonly followLetters?: Follow
  /** How long the bus keeps dead letters; absent: as the catalogue says. */
  readonly keepLettersMs?: number | undefined
  /** Decides when the consumption of reports begins; absent: at once. */
  readonly join?: (begin: () => Promise<void>) => Promise<void>
  readonly control?: Partial<ControlOptions & Paces>
  readonly region?: Partial<RegionOptions>
  /** Limits of the streams of events. */
  readonly events?: Partial<EventLimits>
  /** Entities that ended this long ago are archived automatically; null or absent: never. */
  readonly archiveEndedMs?: number | null
  readonly watching?: Watching
  /** Checks the signatures of reports. */
  readonly verify?: Verify
}
export type System = {
  readonly plane: ControlPlane
  readonly bus: Bus
  readonly relay: Relay
  readonly inbox: Inbox
  /** Must be stopped before the listeners are closed, because closing them waits for the streams. */
  readonly events: EventSource
  /** How long the last writes to the journal took; null: there were none lately, or nothing is measured. */
  readonly writes: RecentTimes['read']
  readonly stop: () => Promise<void>
}

const neighboursOf = ({ images, nova, novaServers = null, placement = null }: SystemParts) => ({
  images,
  nova,
  novaServers,
  placement,
})

const eventsOf = ({ store: { journal, landmarks, hints }, events }: SystemParts, clock: Clock, log: Log): EventSource =>
  openEvents({ journal, landmarks, hints, lettersOf, clock, log, ...events })

const identityOf = async (store: Store): Promise<CloudIdentity> => {
  const { id, privateKey } = await store.cloud(newPrivateKey)
  return { id, signer: signerFrom(privateKey) }
}

const storedIn = ({ reads, sharing, landmarks }: SystemParts['store']) => ({ reads, sharing, landmarks })

/**
 * Whether the store can be read and written; if not, the log says why. A store that permanently refuses a read counts
 * as one that answers, although it can serve nobody.
 */
export const storeAnswers = async (
  { journal, expectWriting }: Pick<Store, 'journal' | 'expectWriting'>,
  log: Log,
): Promise<boolean> => {
  try {
    await journal.checkpoint(RELAY)
    await expectWriting()
    return true
  } catch (error) {
    if (error instanceof Unreadable && error.permanent) return true
    log.warn({ reason: textOf(error) }, 'store.doesNotAnswer')
    return false
  }
}

const aroundOf = ({ isStopped }: Store, letters: DeadLetters & { readonly count: Surroundings['deadLetters'] }) => ({
  surroundings: { relay: RELAY, isStopped, deadLetters: letters.count },
  deadLetters: letters,
})
const chosenIn = ({ verify, control, region }: SystemParts) => ({
  ...(verify ? { verify } : {}),
  ...(control ? { options: control } : {}),
  ...(region ? { region } : {}),
})
const relayedFrom = ({ store: { journal, sharing, hints, reads }, bus }: SystemParts) => ({
  journal,
  sharing,
  hints,
  reactions,
  urgent: isUrgent,
  // The bus inside the process has no consumer of states, so they are not published.
  ...(bus ? { states: createLatest(reads) } : {}),
})

export const openSystem = async (parts: SystemParts): Promise<System> => {
  const { store, log, clock = systemClock, ids = systemIds } = parts
  const { meter, tracer = untraced } = parts.watching ?? {}
  const carrier = observedBus(parts.bus ?? inProcessBus({ clock, log }), { meter, tracer })
  const { followLetters: follow = null, keepLettersMs: keepMs } = parts
  const letters = openDeadLetters({ bus: carrier, clock, log, follow, keepMs })
  const { bus } = letters
  const writes = recentTimes(clock.now)
  const opened = openControlPlane({
    ...storedIn(store),
    ...aroundOf(store, letters),
    journal: meter ? observedJournal(store.journal, meter, writes.add) : store.journal,
    clock,
    ids,
    ...neighboursOf(parts),
    publish: resending(bus.publish, meter),
    cloud: await identityOf(store),
    log,
    tracer,
    ...chosenIn(parts),
  })
  const plane = watchedPlane(opened, meter)
  const relaying = relay({
    ...relayedFrom(parts),
    holder: ids.uuid(),
    bus: { publish: async (batch) => bus.publish(await plane.seal(batch)) },
    clock,
    log,
  })
  const receiving = inbox({ bus, clock, log, ...plane.reports, storeAnswers: () => storeAnswers(store, log) })
  const events = eventsOf(parts, clock, log)
  await relaying.start()
  await (parts.join ?? ((begin) => begin()))(receiving.start)
  await plane.start()
  const archiver = startArchiver({ store, endedMs: parts.archiveEndedMs ?? null, clock, ids, log })
  return {
    plane,
    bus,
    relay: relaying,
    inbox: receiving,
    events,
    writes: writes.read,
    /**
     * Stops the consumers first, then the control plane with its running work, then the relay, which publishes what
     * that work recorded.
     */
    stop: async () => {
      events.stop()
      await archiver.stop()
      await receiving.stop()
      await plane.stop()
      await relaying.stop()
      await letters.stop()
      await bus.stop()
    },
  }
}

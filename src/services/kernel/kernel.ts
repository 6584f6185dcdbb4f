/** What every service works with. Handed in, never global. */
import type { EntityKey } from '../../identifiers.ts'
import type { Clock, Ids } from '../../clock.ts'
import type { Log } from '../../log.ts'
import { type Tracer, traceField } from '../../trace.ts'
import type { BusRecord } from '../../wire/envelope.ts'
import type { Verify } from '../../wire/signature.ts'
import type { Caller } from '../../actors/control.ts'
import type { Enrollment } from '../../actors/host/enrollment.ts'
import type { Changes } from '../../actors/runtime/changes.ts'
import type { Counts } from '../../actors/runtime/counts.ts'
import type { ImageCatalogue, Nova, NovaServers } from '../../actors/neighbours.ts'
import type { Cause, Journal, Landmarks, Reads } from '../../actors/runtime/ports.ts'
import type { Readers } from './readers.ts'
import type { Placement } from '../../actors/placement/port.ts'
import type { ReserveSilent } from '../../actors/placement/wanted.ts'
import type { Region } from '../../actors/runtime/region.ts'
import type { Sharing } from '../../actors/runtime/sharing.ts'
import type { Surroundings } from '../../actors/answers/tallied.ts'
import type { Cluster } from './sealing.ts'
import type { Plan, Work } from '../../actors/runtime/commit.ts'
import type { Units } from '../../actors/runtime/unit.ts'
import type { Guard } from '../../actors/runtime/unreadable.ts'

export type ControlOptions = {
  /** An accepted bind that has no answer by then has failed. Below Nova's own 300 s. */
  readonly bindDeadlineMs: number
  /** Events for Nova are retried for this long after the acceptance of the bind (rest-api 8.5). */
  readonly tellForMs: number
  /** An order without an answer is sent again after this long. */
  readonly resendMs: number
  readonly sweepEveryMs: number
  /** A program call waits this long for its result before it answers 202. */
  readonly programWaitMs: number
  readonly programDeadlineMs: number
  /** A host that was silent for this long is stale; then down. */
  readonly staleAfterMs: number
  readonly downAfterMs: number
  /** Complete reports in a row without a device before it is retired (Q11). */
  readonly missingRounds: number
  /** A removed ARQ's timeline can be read for this long. */
  readonly timelineKeptMs: number
  /** A request that was not bound for this long is deleted; 0: never (rest-api 8.1). */
  readonly unboundTtlMs: number
  /** Requests of servers that Nova has not known for this long are deleted; 0: never. */
  readonly collectOrphansMs: number
  /** So many accelerator requests may a project have; 0: any number. */
  readonly arqsPerProject: number
  /** Who accepts the key of a new host: the first report that is signed with it, or an operator. */
  readonly enrollment: Enrollment
  /** Each host is compared with Placement at least this often. */
  readonly placementAuditMs: number
  /** From which silence on all units of a host are reserved in Placement. */
  readonly reserveSilent: ReserveSilent
}
export const CONTROL_DEFAULTS: ControlOptions = {
  bindDeadlineMs: 120_000,
  tellForMs: 300_000,
  resendMs: 10_000,
  sweepEveryMs: 250,
  programWaitMs: 20_000,
  programDeadlineMs: 600_000,
  staleAfterMs: 15_000,
  downAfterMs: 1_800_000,
  missingRounds: 2,
  timelineKeptMs: 7 * 24 * 3_600_000,
  unboundTtlMs: 0,
  collectOrphansMs: 0,
  arqsPerProject: 0,
  enrollment: 'first-use',
  placementAuditMs: 600_000,
  reserveSilent: 'down',
}

/** How processes divide the work. These are not options for operators. */
export type Paces = {
  /** A claim on due work expires after this long: the process that had it is dead or very slow. */
  readonly claimMs: number
  /** The process that recorded due work begins with it at once; others leave it alone for this long. */
  readonly headStartMs: number
  /** The hosts that this process heard from are recorded for all processes at most this often. */
  readonly noteSeenEveryMs: number
  /** One process compares some view rows with the journal this often; 0: never. */
  readonly checkEveryMs: number
}
export const PACES: Paces = {
  // work that was claimed by a process that died is late by this much; work that takes longer is done twice, which is harmless
  claimMs: 8000,
  headStartMs: 3000,
  noteSeenEveryMs: 2000,
  checkEveryMs: 60_000,
}

/** No caller waits for a release, but it has a deadline: after it the host is ordered anew. */
export const RELEASE_FOR_MS = 600_000

export type Kernel = {
  readonly region: Region
  readonly units: Units
  readonly journal: Journal
  readonly reads: Reads
  readonly sharing: Sharing
  readonly counts: Counts
  readonly changes: Changes
  readonly readers: Readers
  readonly guard: Guard
  readonly clock: Clock
  readonly ids: Ids
  readonly images: ImageCatalogue
  /** Null: no Nova is configured; that is recorded as such. */
  readonly nova: Nova | null
  /** Null: no Nova can be asked about servers. */
  readonly novaServers: NovaServers | null
  /** Null: no Placement is configured; nothing is marked for it. */
  readonly placement: Placement | null
  /** Null: reports are not judged by their cloud, and orders are not signed. */
  readonly cluster: Cluster | null
  /** Checks the signatures of reports. */
  readonly verify: Verify
  /** Null: nothing of the journal is in an archive. */
  readonly landmarks: Landmarks | null
  /** Null: nothing is known of what is around the actors. */
  readonly surroundings: Surroundings | null
  readonly publish: (records: readonly BusRecord[]) => Promise<void>
  readonly options: ControlOptions & Paces
  readonly log: Log
  readonly tracer: Tracer
  /** Asks the notifier to tell Nova of this instance now. Returns at once. */
  readonly notifyNova: (instance: EntityKey) => void
}

/** Who or what caused some work, and how long it waits. */
export type Origin = Cause & Pick<Work<unknown>, 'notAfter'>
export const causeOf = (caller: Caller): Origin => ({
  ...(caller.notAfter === undefined ? {} : { notAfter: caller.notAfter }),
  requestId: caller.requestId,
  by: caller.isService ? 'service' : caller.userId,
  ...traceField(caller.trace),
})

/** A command with an id of its own: repeated calls are new commands. */
export const newWork = <Value>(
  { ids, clock }: Pick<Kernel, 'ids' | 'clock'>,
  { notAfter, ...cause }: Origin,
  plan: Plan<Value>,
): Work<Value> => ({
  commandId: ids.uuid(),
  at: clock.now(),
  cause,
  plan,
  notAfter,
})

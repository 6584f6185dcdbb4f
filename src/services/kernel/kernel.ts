/** What every service works with. Handed in, never global. */
import type { EntityKey } from '../../vocabulary/identifiers.ts'
import { type Clock, DAY_MS, type Ids } from '../../vocabulary/clock.ts'
import type { Log } from '../../vocabulary/log.ts'
import { type Tracer, traceField } from '../../vocabulary/trace.ts'
import type { BusRecord } from '../../wire/envelope.ts'
import type { Verify } from '../../wire/signature.ts'
import type { Caller } from '../../actors/control.ts'
import { SERVICE } from '../../actors/eventAudience.ts'
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
import type { CloudIdentity } from './sealing.ts'
import type { Plan, Work } from '../../actors/runtime/commit.ts'
import type { Memory } from '../../actors/runtime/memory.ts'
import { type Outcome, done } from '../../vocabulary/fault.ts'
import type { Units } from '../../actors/runtime/unit.ts'
import type { Guard } from '../../actors/runtime/unreadable.ts'

export type ControlOptions = {
  /** A bind that its hosts have not answered after this long fails. Below Nova's own 300 s. */
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
  /** A device that this many complete reports in a row do not contain is retired (Q11). */
  readonly missingRounds: number
  /** The timeline of a removed ARQ can be read for this long. */
  readonly timelineKeptMs: number
  /** An ARQ that was not bound for this long is deleted; 0: never (rest-api 8.1). */
  readonly unboundTtlMs: number
  /** The ARQs of a server that Nova has not known for this long are deleted; 0: never. */
  readonly collectOrphansMs: number
  /** How many ARQs a project may have; 0: any number. */
  readonly arqsPerProject: number
  /** Who accepts the key of a new host: the first report that is signed with it, or an operator. */
  readonly enrollment: Enrollment
  /** Each host is compared with Placement at least once in this time. */
  readonly placementAuditMs: number
  /** After this much silence of a host, all its units are reserved in Placement. */
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
  timelineKeptMs: 7 * DAY_MS,
  unboundTtlMs: 0,
  collectOrphansMs: 0,
  arqsPerProject: 0,
  enrollment: 'first-use',
  placementAuditMs: 600_000,
  reserveSilent: 'down',
}

/** How processes divide the work. These are not options for operators. */
export type Paces = {
  /** A claim on due work expires after this long, because the process that made it is then considered dead. */
  readonly claimMs: number
  /** The process that recorded due work does it at once; other processes leave it alone for this long. */
  readonly headStartMs: number
  /** A process stores which hosts it heard from, for the other processes, at most this often. */
  readonly noteSeenEveryMs: number
  /** One process at a time compares some view rows with the journal, once in this time; 0: never. */
  readonly checkEveryMs: number
}
export const PACES: Paces = {
  // work claimed by a process that died is late by this long; work that takes longer is done twice, which is harmless
  claimMs: 8000,
  headStartMs: 3000,
  noteSeenEveryMs: 2000,
  checkEveryMs: 60_000,
}

/** No caller waits for a release, but its order has a deadline: after it, the host gets a new order. */
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
  /** Null: no Nova is configured, and binds record that Nova need not be notified. */
  readonly nova: Nova | null
  /** Null: Nova cannot be asked about servers. */
  readonly novaServers: NovaServers | null
  /** Null: no Placement is configured, and hosts are not marked for it. */
  readonly placement: Placement | null
  /** Null: reports are accepted from the hosts of any cloud, and orders are not signed. */
  readonly cloud: CloudIdentity | null
  /** Checks the signatures of reports. */
  readonly verify: Verify
  /** Null: no row of the journal is in an archive. */
  readonly landmarks: Landmarks | null
  /** Null: nothing is known of the relay and the dead letters. */
  readonly surroundings: Surroundings | null
  readonly publish: (records: readonly BusRecord[]) => Promise<void>
  readonly options: ControlOptions & Paces
  readonly log: Log
  readonly tracer: Tracer
  /** Asks the notifier to tell Nova of this instance now. Returns without waiting. */
  readonly notifyNova: (instance: EntityKey) => void
}

/** Who or what caused the work, and how long the work may wait. */
export type Origin = Cause & Pick<Work<unknown>, 'notAfter'>
export const causeOf = (caller: Caller): Origin => ({
  ...(caller.notAfter === undefined ? {} : { notAfter: caller.notAfter }),
  requestId: caller.requestId,
  by: caller.isService ? SERVICE : caller.userId,
  ...traceField(caller.trace),
})

/**
 * The id of a command that a client may repeat, for the one append that carries it out. Work that follows that append
 * has an id of its own, since the entities would take it for the command that they have recorded already.
 */
export const commandOf = ({ commandId }: Caller): { readonly commandId?: string } =>
  commandId === undefined ? {} : { commandId }
/**
 * Whether the entity has recorded this command before. What a command deletes is not there any more when it is
 * repeated.
 */
export const hasRecorded = (read: Outcome<Pick<Memory, 'recent'>>, { commandId }: Caller): Outcome<boolean> => {
  if (commandId === undefined) return done(false)
  return read.ok ? done(read.value.recent.includes(commandId)) : read
}

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

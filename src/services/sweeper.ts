/**
 * Works on what falls due: the entities that the workers claim (`workers.ts`), orders without an answer, silent hosts,
 * idle actors.
 *
 * SWEEPER-1 no work is known only to a timer: after a restart, or in another process, the same reads find the same
 *    work;
 * SWEEPER-2 every round has a limit, and only one worker has an entity at a time: in a process by a list, among
 *    processes by claims;
 * SWEEPER-3 the process that recorded events for Nova sends them at once and without a claim; other processes leave
 *    them alone for `headStartMs`. A deadline belongs to the process that claims it first, without such a delay;
 * SWEEPER-4 each kind of work has rounds and a limit of its own (`lanes.ts`): no deadline waits for Nova, the bus,
 *    silent hosts or the comparison of views;
 * SWEEPER-5 only a process that has its store to itself sends all unanswered orders again at its start, because its bus
 *    died with the process before it. Otherwise the orders are still on the broker, and each restart would flood the
 *    hosts with repeats: orders without an answer after `resendMs` are found by the rounds;
 * SWEEPER-6 the process that recorded due work has it in memory: only entities that were claimed are read from the
 *    journal first.
 */
import type { EntityKey } from '../vocabulary/identifiers.ts'
import type { Cancel } from '../vocabulary/clock.ts'
import { createUnboundTtl } from './arqs/unboundTtl.ts'
import { createViewChecks } from './overview/viewChecks.ts'
import { textOf } from '../vocabulary/errorText.ts'
import { endedWithin } from '../vocabulary/waiting.ts'
import type { Kernel } from './kernel/kernel.ts'
import { createLane } from './due/lanes.ts'
import type { Liveness } from './hosts/liveness.ts'
import type { MeasurementsKeeper } from './devices/measurements.ts'
import type { Notifier } from './nova/notifier.ts'
import { createOrphanRound } from './nova/orphanRound.ts'
import { createPlacementWatch } from './placement/watch.ts'
import { createNamingRound } from './profiles/profileNames.ts'
import type { Placer } from './placement/placer.ts'
import { createOrderResend } from './due/resendOrders.ts'
import { createWorkers, presentIn } from './workers.ts'

export type Sweeper = {
  readonly start: () => Promise<void>
  readonly stop: () => Promise<void>
  /** Tells Nova of this instance now instead of in the next round. */
  readonly notifyNova: (entity: EntityKey) => void
  /** Runs one round of each kind of work; for tests, and for a simulation that controls the clock. */
  readonly round: () => Promise<void>
  /** Resolves when no entity is being worked on any more. */
  readonly idle: () => Promise<void>
  /** The open calls to Nova, and the instances that wait for a call. */
  readonly nova: Notifier['state']
  /** Null: no Placement is configured. */
  readonly placer: Placer | null
}

/** How long a stop waits for running rounds. */
const STOP_MS = 2000

/** Work that is done in every n-th round. */
type Round = { readonly every: number; readonly work: () => Promise<unknown> }

type Parts = {
  readonly kernel: Kernel
  readonly liveness: Liveness
  readonly measurements: Pick<MeasurementsKeeper, 'note'>
  readonly placer: Placer | null
}
const SLOW_ROUNDS = 8
/**
 * Work that no recorded moment leads to, so that it must be looked for. `create` returns null if there is none in this
 * configuration.
 */
const LOOKED_FOR: readonly { readonly every: number; readonly create: (parts: Parts) => Round['work'] | null }[] = [
  { every: 1, create: ({ liveness }) => liveness.note },
  {
    every: SLOW_ROUNDS,
    create:
      ({ kernel }) =>
      async () =>
        kernel.region.passivate(),
  },
  { every: SLOW_ROUNDS, create: ({ liveness }) => liveness.sweep },
  { every: SLOW_ROUNDS, create: ({ measurements }) => measurements.note },
  { every: SLOW_ROUNDS, create: ({ kernel }) => createViewChecks(kernel).now },
  { every: SLOW_ROUNDS, create: ({ kernel }) => createUnboundTtl(kernel).now },
  { every: SLOW_ROUNDS, create: ({ kernel }) => createOrphanRound(kernel) },
  { every: SLOW_ROUNDS, create: ({ kernel, placer }) => placer && createPlacementWatch(kernel, placer).round },
  { every: SLOW_ROUNDS, create: ({ kernel, placer }) => placer && createNamingRound(kernel) },
]
const roundsOf = (parts: Parts): readonly Round[] =>
  LOOKED_FOR.flatMap(({ every, create }) => {
    const work = create(parts)
    return work === null ? [] : [{ every, work }]
  })

/** Repeats each round some time after its end, until stopped. */
const createLoops = ({ clock, options, log }: Kernel) => {
  const timers = new Map<Round, Cancel>()
  const running = new Map<Round, Promise<unknown>>()
  let stopped = false
  const loop = async (round: Round) => {
    const work = round.work().catch((error: unknown) => {
      // a round that outlasts the stop may find the store closed; this is no error, because another process continues
      // the work
      if (!stopped) log.warn({ error: textOf(error) }, 'sweep.round')
    })
    running.set(round, work)
    await work
    if (stopped) return
    const again = clock.after(options.sweepEveryMs * round.every, () => void loop(round))
    timers.set(round, again)
  }
  return {
    begin: (round: Round): void => void loop(round),
    /** Begins no further round. */
    halt: () => {
      stopped = true
      for (const cancel of timers.values()) cancel()
    },
    /** The store is closed next; a round that hangs must not prevent the end of the process. */
    ended: () => endedWithin(clock, STOP_MS, Promise.all(running.values())),
  }
}

export const createSweeper = (
  kernel: Kernel,
  liveness: Liveness,
  measurements: Pick<MeasurementsKeeper, 'note'>,
): Sweeper => {
  const { journal, region, log } = kernel
  const workers = createWorkers(kernel)
  const { nova, placement: placer } = workers
  const lanes = presentIn(workers).map((worker) => createLane(kernel, worker))
  const resend = createOrderResend(kernel)
  const loops = createLoops(kernel)
  let rounds = 0

  const orders: Round = { every: 1, work: resend.round }
  const others: readonly Round[] = [
    ...lanes.map((lane) => ({ every: 1, work: lane.round })),
    ...roundsOf({ kernel, liveness, measurements, placer }),
  ]
  const idle = async () => {
    for (const worker of presentIn(workers)) await worker.ended()
  }
  return {
    notifyNova: (entity) => nova.begin(entity, region.readCached),
    round: async () => {
      for (const { every, work } of [...others, orders]) if (rounds % every === 0) await work()
      rounds++
    },
    idle,
    nova: nova.state,
    placer,
    start: async () => {
      others.forEach(loops.begin)
      if (journal.exclusive)
        await resend.all().catch((error: unknown) => log.warn({ error: textOf(error) }, 'sweep.resend'))
      loops.begin(orders)
    },
    stop: async () => {
      loops.halt()
      await Promise.all(lanes.map((lane) => lane.stop()))
      await loops.ended()
    },
  }
}

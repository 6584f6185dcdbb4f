/**
 * A lane does the due work of some kinds. It has its own limit of entities worked on at once, which other lanes cannot
 * use up.
 *
 * LANE-1 lanes do not wait for each other: a deadline is not late because Nova does not answer;
 * LANE-2 a lane claims no more entities than it can begin to work on; the rest is left to other processes;
 * LANE-3 a claim is given up when the work has ended, with or without success, and expires if its process dies;
 * LANE-4 if an entity is still due at the same moment after `SAME_MAX` tries, its claim is kept until it expires, so
 *    that the entities behind it are claimed meanwhile;
 * LANE-5 a worker states how far ahead the moments of each kind can lie. A moment further ahead was recorded by a clock
 *    that was wrong, or before the clock was set back: it is handed to the worker too. Work that does no harm when it
 *    is early begins at once; a deadline has to have been seen for as long as its term (TERMS-1).
 */
import type { EntityKey } from '../../vocabulary/identifiers.ts'
import { isUndecided } from '../../vocabulary/fault.ts'
import { textOf } from '../../vocabulary/errorText.ts'
import type { Read } from '../../actors/runtime/region.ts'
import { DEADLINE_KINDS, type DeadlineKind, type DueKind } from '../../actors/runtime/dueKinds.ts'
import { kindOf } from '../../actors/runtime/memory.ts'
import type { DueAt } from '../../actors/runtime/sharing.ts'
import { createClockSteps } from './clockSteps.ts'
import { attend } from './due.ts'
import { type Kernel, RELEASE_FOR_MS } from '../kernel/kernel.ts'
import { CLOCKS_MS, createTerms } from '../kernel/terms.ts'

/** Does the due work of entities; it works on each entity once at a time. */
export type Worker = {
  /** The kinds of due rows that this worker handles. */
  readonly kinds: readonly DueKind[]
  /** Rows that are due by this moment are claimed. */
  readonly moment: () => number
  /** No right clock records a row of this kind further ahead than this. */
  readonly aheadMs: (kind: DueKind) => number
  /** How many more entities the worker can begin now. */
  readonly room: () => number
  /** Ignored when the worker already has the entity or has no room; a later round claims the entity again. */
  readonly begin: (entity: EntityKey, read: Read, at: number) => void
  readonly isInHand: (entity: EntityKey) => boolean
  /** Resolves when the worker has no entity any more. */
  readonly ended: () => Promise<void>
  /** Begins no further work. Resolves when the current work has ended, or has taken longer than a stop may wait. */
  readonly stop: () => Promise<void>
}
export type Lane = {
  /** Gives up the claims of finished work, and claims due entities. */
  readonly round: () => Promise<void>
  readonly stop: () => Promise<void>
}

/** How many entities one statement claims. */
const CLAIM_MAX = 500

/** How often rows are looked for that lie further ahead than any right clock records them. */
const FAR_EVERY_MS = 10_000

const SAME_MAX = 3
const SAME_KEPT = 20_000
/**
 * Counts how often an entity was claimed for the same moment: until it changes, its row is the oldest and comes first
 * in each round.
 */
const createTries = () => {
  const tries = new Map<EntityKey, { readonly at: number; readonly count: number }>()
  return {
    note: (entity: EntityKey, at: number) => {
      const known = tries.get(entity)
      if (tries.size >= SAME_KEPT && !known) tries.clear()
      tries.set(entity, { at, count: known?.at === at ? known.count + 1 : 1 })
    },
    areMany: (entity: EntityKey): boolean => (tries.get(entity)?.count ?? 0) >= SAME_MAX,
  }
}

type Parts = Pick<Kernel, 'sharing' | 'log'> & {
  readonly clock: Pick<Kernel['clock'], 'now' | 'monotonic'>
  readonly region: Pick<Kernel['region'], 'readCurrent'>
  readonly options: Pick<Kernel['options'], 'claimMs'>
}
export const createLane = ({ region, sharing, options, log, clock }: Parts, worker: Worker): Lane => {
  const claimed = new Set<EntityKey>()
  const tries = createTries()
  const letGo = async () => {
    const over = [...claimed].filter((entity) => !worker.isInHand(entity))
    const free = over.filter((entity) => !tries.areMany(entity))
    if (free.length > 0) await sharing.unclaim(free)
    for (const entity of over) claimed.delete(entity)
  }
  const far = [...Map.groupBy(worker.kinds, worker.aheadMs)]
  const claim = async (moments: DueAt, kinds = worker.kinds) => {
    // the query may also return entities that are already being worked on, so it asks for more: they must not displace
    // the others
    const limit = Math.min(CLAIM_MAX, worker.room())
    if (limit <= 0) return
    for (const { entity, at } of await sharing.claimDue(kinds, moments, limit, options.claimMs)) {
      claimed.add(entity)
      tries.note(entity, at)
      worker.begin(entity, region.readCurrent, at)
    }
  }
  let farAt = -Infinity
  return {
    round: async () => {
      await letGo()
      await claim(worker.moment())
      if (clock.monotonic() - farAt < FAR_EVERY_MS) return
      farAt = clock.monotonic()
      for (const [aheadMs, kinds] of far) await claim({ after: clock.now() + aheadMs }, kinds)
    },
    stop: async () => {
      await worker.stop()
      await letGo().catch((error: unknown) => log.warn({ error: textOf(error) }, 'sweep.claims'))
    },
  }
}

/** How many entities with a passed deadline are worked on at once. */
const DEADLINES_MAX = 2000

/** Does what is due for entities whose recorded deadline has passed. */
export const deadlineWorker = (kernel: Kernel): Worker => {
  const { log, clock, options } = kernel
  const [steps, terms] = [createClockSteps(kernel, options.bindDeadlineMs), createTerms(clock)]
  const termMs: Readonly<Record<string, number>> = {
    instance: options.bindDeadlineMs,
    deployable: Math.max(options.bindDeadlineMs, RELEASE_FOR_MS),
  } satisfies Record<DeadlineKind, number>
  const inHand = new Map<EntityKey, Promise<void>>()
  let stopped = false
  /** Whether the moment of a claimed row has come, although it may lie ahead. */
  const hasCome = (entity: EntityKey, at: number): boolean => {
    if (at <= steps.moment()) return steps.isOver(at)
    const ms = termMs[kindOf(entity)]!
    return terms.hasPassed(entity, at - ms, ms)
  }
  const work = async (entity: EntityKey, read: Read, at: number) => {
    try {
      const fault = await attend(kernel, entity, read, at)
      // an unreadable store is logged once, elsewhere; a later round claims the entity again
      if (fault && !isUndecided(fault)) log.warn({ entity, fault }, 'sweep.refused')
    } catch (error) {
      log.error({ entity, error: textOf(error) }, 'sweep.failed')
    }
  }
  const ended = async () => {
    while (inHand.size > 0) await Promise.allSettled(inHand.values())
  }
  return {
    kinds: DEADLINE_KINDS,
    moment: steps.moment,
    aheadMs: (kind) => termMs[kind]! + CLOCKS_MS,
    room: () => DEADLINES_MAX - inHand.size,
    begin: (entity, read, at) => {
      if (stopped || inHand.has(entity) || inHand.size >= DEADLINES_MAX || !hasCome(entity, at)) return
      inHand.set(
        entity,
        work(entity, read, at).finally(() => inHand.delete(entity)),
      )
    },
    isInHand: (entity) => inHand.has(entity),
    ended,
    stop: () => {
      stopped = true
      return ended()
    },
  }
}

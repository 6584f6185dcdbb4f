/**
 * A lane is a budget for due work of some kinds: so many entities in hand at once, which no other lane can use up.
 *
 * LANE-1 one lane never waits for another: a deadline is not late because Nova does not answer;
 * LANE-2 a lane claims no more than it can begin with: the rest is left to other processes;
 * LANE-3 a claim ends when the work is done, well or badly, and expires when its process is dead;
 * LANE-4 an entity that is still due at the same moment after `SAME_MAX` tries keeps its claim until that expires, so that those behind it
 *    are claimed meanwhile;
 * LANE-5 where a worker says how far ahead its work is ever recorded, what lies further ahead is due now: a clock was set back since.
 */
import type { EntityKey } from '../../identifiers.ts'
import { isUndecided } from '../../fault.ts'
import { textOf } from '../../errorText.ts'
import type { Read } from '../../actors/runtime/region.ts'
import { DEADLINE_KINDS, type DueKind } from '../../actors/runtime/dueKinds.ts'
import type { DueAt } from '../../actors/runtime/sharing.ts'
import { createClockSteps } from './clockSteps.ts'
import { attend } from './due.ts'
import type { Kernel } from '../kernel/kernel.ts'

/** Works on entities, on each once at a time. */
export type Worker = {
  /** The kinds of due rows that it works on. */
  readonly kinds: readonly DueKind[]
  /** Rows that are due by this moment are claimed. */
  readonly moment: () => number
  /** No row of these kinds is recorded further ahead than this. Absent: it may be, or the worker notices steps of the clock itself. */
  readonly aheadMs?: number
  /** How many entities it can begin with now. */
  readonly room: () => number
  /** Ignored when the entity is in hand already, or there is no room: a later round finds it again. */
  readonly begin: (entity: EntityKey, read: Read, at?: number) => void
  readonly isInHand: (entity: EntityKey) => boolean
  /** Resolves when nothing is in hand any more. */
  readonly ended: () => Promise<void>
  /** Begins nothing more. Resolves when nothing of it is worked on any more, or it is not worth waiting for. */
  readonly stop: () => Promise<void>
}
export type Lane = {
  /** Ends the claims on what is done, and claims what is due. */
  readonly round: () => Promise<void>
  readonly stop: () => Promise<void>
}

/** So many entities are claimed by one statement. */
const CLAIM_MAX = 500

/** What is due further ahead than possible is looked for so often. */
const FAR_EVERY_MS = 10_000

const SAME_MAX = 3
const SAME_KEPT = 20_000
/** Counts how often an entity was claimed for the same moment: its row is the oldest each time, until somebody changes it. */
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
  const claim = async (moments: DueAt) => {
    // entities in hand may be claimed as well, once: they must not hide the others
    const limit = Math.min(CLAIM_MAX, worker.room())
    if (limit <= 0) return
    for (const { entity, at } of await sharing.claimDue(worker.kinds, moments, limit, options.claimMs)) {
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
      const { aheadMs } = worker
      if (aheadMs === undefined || clock.monotonic() - farAt < FAR_EVERY_MS) return
      farAt = clock.monotonic()
      await claim({ after: clock.now() + aheadMs })
    },
    stop: async () => {
      await worker.stop()
      await letGo().catch((error: unknown) => log.warn({ error: textOf(error) }, 'sweep.claims'))
    },
  }
}

/** At most this many entities whose deadline has passed are worked on at once. */
const DEADLINES_MAX = 2000

/** Ends what is over by its recorded deadline. */
export const deadlineWorker = (kernel: Kernel): Worker => {
  const { log, clock, options } = kernel
  const steps = createClockSteps(kernel, options.bindDeadlineMs)
  const inHand = new Map<EntityKey, Promise<void>>()
  let stopped = false
  const work = async (entity: EntityKey, read: Read, isOver: boolean) => {
    try {
      const fault = await attend(kernel, entity, read, isOver)
      // that the store cannot be read is logged elsewhere, once; a later round finds the entity again
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
    room: () => DEADLINES_MAX - inHand.size,
    begin: (entity, read, at = -Infinity) => {
      if (stopped || inHand.has(entity) || inHand.size >= DEADLINES_MAX || !steps.isOver(at)) return
      inHand.set(
        entity,
        work(entity, read, at > clock.now()).finally(() => inHand.delete(entity)),
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

/**
 * Keeps Placement in agreement with the records, host by host: after a change has marked a host, when its next
 * comparison is due, and again after a failure. Each pass compares everything, so a pass that was missed, interrupted
 * or repeated does no harm (placement 9).
 */
import type { EntityKey, HostName } from '../../vocabulary/identifiers.ts'
import { type Outcome, isUndecided } from '../../vocabulary/fault.ts'
import { textOf } from '../../vocabulary/errorText.ts'
import { endedWithin } from '../../vocabulary/waiting.ts'
import { PLACEMENT_DUE, isMark } from '../../actors/placement/marks.ts'
import { comparedWithinMs } from '../../actors/placement/schedule.ts'
import { type PlacementCounts, noPlacementCounts } from '../../actors/placement/counts.ts'
import type { Placement } from '../../actors/placement/port.ts'
import { type DueKind, PLACEMENT_MARK } from '../../actors/runtime/dueKinds.ts'
import { idOf } from '../../actors/runtime/memory.ts'
import type { Read } from '../../actors/runtime/region.ts'
import type { Kernel } from '../kernel/kernel.ts'
import type { Worker } from '../due/lanes.ts'
import { createPassRunner } from './passRunner.ts'

/** How many hosts are worked on at once; limited because Placement answers other services too. */
const PASSES_MAX = 8
const WAITING_MAX = 10_000
const STOP_MS = 3000

export type Placer = Worker & {
  /** Also begun for a host that no row names, without a moment. */
  readonly begin: (entity: EntityKey, read: Read, at?: number) => void
  /**
   * Compares this host now, by order of an operator. Resolves with true when the pass has ended; false: another process
   * works on the host.
   * `takesOver`: the pass begins in any case.
   */
  readonly now: (name: HostName, takesOver?: boolean) => Promise<Outcome<boolean>>
  readonly counts: () => PlacementCounts
}

const emptied = async (inHand: ReadonlyMap<HostName, Promise<unknown>>): Promise<void> => {
  while (inHand.size > 0) await Promise.allSettled(inHand.values())
}

/** A change is shown at once, whatever moment it was recorded at. */
const aheadMs = (kind: DueKind, { options }: Pick<Kernel, 'options'>): number =>
  kind === PLACEMENT_MARK ? 0 : comparedWithinMs(options.placementAuditMs)

export const createPlacer = (kernel: Kernel, port: Placement): Placer => {
  const { clock, log } = kernel
  const counts = noPlacementCounts()
  const passes = createPassRunner(kernel, port, counts)
  /** With the moment of the row of due work, if the comparison is due by time. */
  const waiting = new Map<HostName, number | null>()
  const inHand = new Map<HostName, Promise<unknown>>()
  let stopped = false

  /** A failed host is claimed again, because its moment is recorded. */
  const attempt = async (name: HostName, at: number | null): Promise<void> => {
    try {
      if (at !== null && (await passes.compare(name, at))) return
      const passed = await passes.run(name)
      if (!passed.ok && !isUndecided(passed.fault)) log.warn({ host: name, fault: passed.fault }, 'placement.refused')
    } catch (error) {
      log.error({ host: name, error: textOf(error) }, 'placement.failed')
    }
  }
  const hold = (name: HostName, work: Promise<unknown>): void => {
    const over = () => (inHand.delete(name), next())
    inHand.set(name, work.then(over, over))
  }
  const next = (): void => {
    for (const [name, at] of waiting) {
      if (stopped || inHand.size >= PASSES_MAX) return
      if (inHand.has(name)) continue
      waiting.delete(name)
      hold(name, attempt(name, at))
    }
  }
  return {
    kinds: PLACEMENT_DUE,
    moment: clock.now,
    aheadMs: (kind) => aheadMs(kind, kernel),
    room: () => WAITING_MAX - waiting.size,
    begin: (entity: EntityKey, _read: Read, at?: number) => {
      const name = idOf(entity)
      if (stopped || inHand.has(name) || waiting.has(name) || waiting.size >= WAITING_MAX) return
      waiting.set(name, isMark(entity) ? null : (at ?? null))
      next()
    },
    counts: () => structuredClone(counts),
    isInHand: (entity) => inHand.has(idOf(entity)) || waiting.has(idOf(entity)),
    ended: () => emptied(inHand),
    stop: async () => {
      stopped = true
      waiting.clear()
      await endedWithin(clock, STOP_MS, emptied(inHand))
    },
    now: async (name, takesOver = false) => {
      for (let busy = inHand.get(name); busy; busy = inHand.get(name)) await busy
      const passed = passes.run(name, { takesOver })
      hold(name, passed)
      return passed
    },
  }
}

/**
 * Compares one host with Placement without writing to Placement. If nothing new is found, only the time of the next
 * comparison is stored (RUNNER-3).
 */
import type { HostName } from '../../vocabulary/identifiers.ts'
import type { PassOutcome } from '../../actors/placement/counts.ts'
import { isNothingNew, placementKey } from '../../actors/placement/decider.ts'
import type { Placement } from '../../actors/placement/port.ts'
import { nextUnrecordedAt } from '../../actors/placement/schedule.ts'
import type { Kernel } from '../kernel/kernel.ts'
import type { Agreements } from './agreements.ts'
import { dryPass } from './dryPass.ts'
import { factsOf } from './facts.ts'
import { ofOtherHosts } from './units.ts'

/**
 * The outcome, if nothing new was found; then the row of due work with the moment `at` was moved to the next
 * comparison. Null: a pass is needed.
 */
export type Comparison = (name: HostName, at: number) => Promise<PassOutcome | null>

export const createComparison =
  (kernel: Kernel, port: Placement, { holds, note }: Agreements): Comparison =>
  async (name, at) => {
    const { clock, options, sharing } = kernel
    const facts = await factsOf(kernel, name)
    if (!facts.ok) return null
    const { task, record } = facts.value
    const times = { now: clock.now(), auditEveryMs: options.placementAuditMs }
    const next = nextUnrecordedAt(record, times)
    if (next === null) return null
    const ofOthers = ofOtherHosts(kernel, name)
    const found = await dryPass(
      { placement: port, clock, ofOthers, isUnchanged: holds, agreed: note, ordered: false },
      task,
    )
    if (!isNothingNew(record, found)) return null
    await sharing.postponeDue(placementKey(name), at, next)
    return found.trouble?.state ?? 'unchanged'
  }

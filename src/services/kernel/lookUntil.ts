/** Reads an entity again after each of its changes, and after pauses, until it is as wanted or the time is over. */
import type { Outcome } from '../../vocabulary/fault.ts'
import type { EntityKey } from '../../vocabulary/identifiers.ts'
import { type Backoff, backoffMs } from '../../vocabulary/waiting.ts'
import type { Kernel } from './kernel.ts'

/** A change that another control records does not notify this process, so the entity is read again after this long. */
const LOOK_AFTER: Backoff = { firstMs: 100, maxMs: 1000 }

type Looking<Found> = {
  readonly key: EntityKey
  readonly withinMs: number
  readonly read: () => Promise<Outcome<Found>>
  readonly isWanted: (found: Found) => boolean
}
/** The entity as it was read last; a read that fails ends the wait with its fault. */
export const lookUntil = async <Found>(
  { clock, changes }: Pick<Kernel, 'clock' | 'changes'>,
  { key, withinMs, read, isWanted }: Looking<Found>,
): Promise<Outcome<Found>> => {
  const until = clock.monotonic() + withinMs
  for (let looks = 1; ; looks++) {
    const waitMs = Math.min(backoffMs(LOOK_AFTER, looks), Math.max(0, until - clock.monotonic()))
    const changed = changes.next(key, waitMs)
    const now = await read()
    if (!now.ok || isWanted(now.value) || clock.monotonic() >= until) return now
    await changed
  }
}

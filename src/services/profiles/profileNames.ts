/**
 * Makes the traits and resource classes of device profiles known to Placement: Nova's search for a profile fails if
 * Placement does not know a custom name in it (placement 5.4).
 *
 * NAMES-1 at the creation or change of a profile, without waiting: the profile is recorded whatever Placement answers;
 * NAMES-2 in rounds for all profiles, so that names are restored that were recorded while Placement was away, or
 *    deleted there since.
 */
import type { Group } from '../../actors/arq/messages.ts'
import { customNamesIn } from '../../actors/placement/names.ts'
import type { PlacementFault } from '../../actors/placement/port.ts'
import type { Kernel } from '../kernel/kernel.ts'

const EVERY_MS = 600_000
/** How long to wait after a round that failed. */
const AGAIN_MS = 30_000
/** How many profiles may wait for their turn; further ones are found by the rounds. */
const WAITING_MAX = 100
const NAMES_MAX = 10_000
/** Answers that end a round, because all further names would get the same answer. */
const ENDING: ReadonlySet<PlacementFault['error']> = new Set(['unanswered', 'denied'])

type Parts = Pick<Kernel, 'placement' | 'log' | 'clock' | 'readers'>

/** True when Placement knows all names of the profile. Never rejects. */
const ensureAll = async ({ placement, log }: Parts, groups: readonly Group[]): Promise<boolean> => {
  if (placement === null) return true
  const { classes, traits } = customNamesIn(groups)
  const asks = [
    ...classes.map((name) => ({ name, ask: placement.ensureClass })),
    ...traits.map((name) => ({ name, ask: placement.ensureTrait })),
  ]
  let all = true
  for (const { name, ask } of asks.slice(0, NAMES_MAX)) {
    const answer = await ask(name)
    if (answer.ok) continue
    all = false
    log.warn({ name, trouble: answer.error, reason: answer.reason }, 'placement.nameUnknown')
    if (ENDING.has(answer.error)) break
  }
  return all
}

/** NAMES-1 */
export const createNaming = (parts: Parts): ((groups: readonly Group[]) => void) => {
  let waiting = 0
  let last: Promise<unknown> = Promise.resolve()
  return (groups) => {
    if (parts.placement === null || waiting >= WAITING_MAX) return
    waiting++
    last = last.then(async () => {
      await ensureAll(parts, groups)
      waiting--
    })
  }
}

/** NAMES-2: one round, if it is due. */
export const createNamingRound = (parts: Parts): (() => Promise<void>) => {
  const { clock, readers, log } = parts
  let next = -Infinity
  return async () => {
    if (clock.monotonic() < next) return
    next = clock.monotonic() + AGAIN_MS
    const profiles = await readers.list('profiles', {}, {})
    if (!profiles.ok) return log.warn({ fault: profiles.fault }, 'placement.profilesUnread')
    const groups = profiles.value.items.flatMap((row) => row.groups)
    if (await ensureAll(parts, groups)) next = clock.monotonic() + EVERY_MS
  }
}

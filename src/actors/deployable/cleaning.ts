/**
 * Decisions which ensure that no handle is given to another request before it is clean (`../../cleaning.ts`).
 *
 * UNCLEAN-1 where hosts clean, a handle that is given up stays `releasing` until its host has proved that it is clean,
 *    even if the device needs no other work on its host;
 * UNCLEAN-2 a handle that was released but not cleaned is withheld until an operator releases it or has it cleaned
 *    again. If an order asked for a cleaning and its answer has no evidence, the handle counts as not cleaned: the host
 *    is of a release that does not know cleaning;
 * UNCLEAN-3 where operators clean, a handle is withheld from the moment when it is given up;
 * UNCLEAN-4 the profile of a request may ask for more than the policy of the host, and never takes anything from it.
 *    `by_host`: the host has to clean, and where it does not, operators clean; `by_operator`: operators clean, beside
 *    what the host does;
 * UNCLEAN-5 an operator's confirmation that a withheld handle is clean does not replace its release: if its host has
 *    not released it yet, it becomes free when the host has, and is withheld again if the release fails
 *    (`handleAdmin.ts`);
 * UNCLEAN-6 once its host was ordered to clean a handle, the cleaning is owed until the host has proved it or an
 *    operator has answered for it, whatever policy the host has by then: a host that has lost its policy does not make
 *    the handle clean.
 */
import { type HostCleaning, isClean } from '../../vocabulary/cleaning.ts'
import type { DeployableCommand, DeployableEvent } from './messages.ts'
import type { Deployable, SlotHandle } from './state.ts'

export const QUARANTINED_FOR_CLEANING = 'policy of cleaning'
const BY_OPERATOR = 'it was given up, and an operator has to clean it'
const ASKED = 'the device profile of its last request asks for it'
const OWED = 'its host was to clean it when it was given up, and has neither a command nor a playbook for it any more'
const NO_EVIDENCE = 'its host has released it and does not say that it was cleaned'

type Answer = Pick<Extract<DeployableCommand, { type: 'Answer' }>, 'number' | 'failed' | 'cleaned' | 'final'>

/** Nothing is recorded if the handle is withheld already: the earlier reason stays. */
const withheld = ({ uuid: handle, quarantine }: SlotHandle, reason: string): readonly DeployableEvent[] =>
  quarantine ? [] : [{ type: 'HandleQuarantined', handle, until: 'released', by: QUARANTINED_FOR_CLEANING, reason }]

/** The host has been ordered to clean the handle and has not answered yet. */
export const isBeingCleaned = ({ pending }: SlotHandle): boolean =>
  pending?.type === 'ReleaseSlot' && pending.clean === true

type Policy = Pick<Deployable, 'hostCleaning'>
/**
 * How the handle is cleaned when it is given up, by the policy of its host, by what its request asks for (UNCLEAN-4),
 * and by what is owed (UNCLEAN-6); null: it is not.
 */
export const dueCleaning = (
  { hostCleaning }: Policy,
  { requestedCleaning, owesCleaning }: Pick<SlotHandle, 'requestedCleaning' | 'owesCleaning'>,
): HostCleaning | null => {
  if (requestedCleaning === 'by_operator') return 'by_operator'
  return hostCleaning ?? (requestedCleaning === 'by_host' || owesCleaning ? 'by_operator' : null)
}

/** The events that accompany the release of a handle (UNCLEAN-3, UNCLEAN-4). */
export const withheldFor = (held: Policy, handle: SlotHandle): readonly DeployableEvent[] => {
  if (dueCleaning(held, handle) !== 'by_operator') return []
  if (held.hostCleaning === 'by_operator') return withheld(handle, BY_OPERATOR)
  return withheld(handle, `${BY_OPERATOR}: ${handle.requestedCleaning ? ASKED : OWED}`)
}

/**
 * The events after a release that left the handle unclean (UNCLEAN-2), or of which it is not known, although the host
 * tries no further (UNCLEAN-6); null: the answer does not show that the handle is unclean.
 */
export const notCleaned = (
  handle: SlotHandle,
  { number, failed, cleaned, final }: Answer,
): readonly DeployableEvent[] | null => {
  const { pending, uuid: slot } = handle
  if (pending?.type !== 'ReleaseSlot') return null
  const isOwed = isBeingCleaned(handle)
  const isUnclean = failed === null ? isOwed && !isClean(cleaned) : cleaned !== undefined || (isOwed && final)
  if (!isUnclean) return null
  const reason = failed ?? NO_EVIDENCE
  const known = cleaned ? { cleaned } : failed === null ? { released: true as const } : {}
  return [{ type: 'OrderFailed', slot, number, reason, again: null, ...known }, ...withheld(handle, reason)]
}

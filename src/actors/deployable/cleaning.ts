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
 *    (`handleAdmin.ts`).
 */
import { type HostCleaning, isClean } from '../../cleaning.ts'
import type { DeployableCommand, DeployableEvent } from './messages.ts'
import type { Deployable, SlotHandle } from './state.ts'

export const QUARANTINED_FOR_CLEANING = 'policy of cleaning'
const BY_OPERATOR = 'it was given up, and an operator has to clean it'
const ASKED = 'the device profile of its last request asks for it'
const NO_EVIDENCE = 'its host has released it and does not say that it was cleaned'

type Answer = Pick<Extract<DeployableCommand, { type: 'Answer' }>, 'number' | 'failed' | 'cleaned'>

/** Nothing is recorded if the handle is withheld already: the earlier reason stays. */
const withheld = ({ uuid: handle, quarantine }: SlotHandle, reason: string): readonly DeployableEvent[] =>
  quarantine ? [] : [{ type: 'HandleQuarantined', handle, until: 'released', by: QUARANTINED_FOR_CLEANING, reason }]

/** The host has been ordered to clean the handle and has not answered yet. */
export const isBeingCleaned = ({ pending }: SlotHandle): boolean =>
  pending?.type === 'ReleaseSlot' && pending.clean === true

type Policy = Pick<Deployable, 'hostCleaning'>
/**
 * How the handle is cleaned when it is given up, by the policy of its host and by what its request asks for
 * (UNCLEAN-4); null: it is not.
 */
export const dueCleaning = (
  { hostCleaning }: Policy,
  { requestedCleaning }: Pick<SlotHandle, 'requestedCleaning'>,
): HostCleaning | null => {
  if (requestedCleaning === undefined) return hostCleaning ?? null
  return requestedCleaning === 'by_host' ? (hostCleaning ?? 'by_operator') : 'by_operator'
}

/** The events that accompany the release of a handle (UNCLEAN-3, UNCLEAN-4). */
export const withheldFor = (held: Policy, handle: SlotHandle): readonly DeployableEvent[] => {
  if (dueCleaning(held, handle) !== 'by_operator') return []
  return withheld(handle, held.hostCleaning === 'by_operator' ? BY_OPERATOR : `${BY_OPERATOR}: ${ASKED}`)
}

/**
 * The events after a release that left the handle unclean (UNCLEAN-2); null: the answer does not show that the handle
 * is unclean.
 */
export const notCleaned = (
  handle: SlotHandle,
  { number, failed, cleaned }: Answer,
): readonly DeployableEvent[] | null => {
  const { pending, uuid: slot } = handle
  if (pending?.type !== 'ReleaseSlot') return null
  const isUnclean = failed === null ? isBeingCleaned(handle) && !isClean(cleaned) : cleaned !== undefined
  if (!isUnclean) return null
  const reason = failed ?? NO_EVIDENCE
  return [
    { type: 'OrderFailed', slot, number, reason, again: null, ...(cleaned ? { cleaned } : {}) },
    ...withheld(handle, reason),
  ]
}

/**
 * Decisions which ensure that no handle is given to another request before it is clean (`../../cleaning.ts`).
 *
 * UNCLEAN-1 where hosts clean, a handle that is given up stays `releasing` until its host has proved that it is clean, even if the device needs
 *   no other work on its host;
 * UNCLEAN-2 a handle that was released but not cleaned is withheld until an operator releases it or has it cleaned again. If an order asked for a
 *   cleaning and its answer has no evidence, the handle counts as not cleaned: the host is of a release that does not know cleaning;
 * UNCLEAN-3 where operators clean, a handle is withheld from the moment when it is given up.
 */
import { isClean } from '../../cleaning.ts'
import type { DeployableCommand, DeployableEvent } from './messages.ts'
import type { Deployable, SlotHandle } from './state.ts'

export const CLEANING = 'policy of cleaning'
const BY_OPERATOR = 'it was given up, and an operator has to clean it'
const NO_EVIDENCE = 'its host has released it and does not say that it was cleaned'

type Answer = Pick<Extract<DeployableCommand, { type: 'Answer' }>, 'number' | 'failed' | 'cleaned'>

/** Nothing is recorded if the handle is withheld already: the earlier reason stays. */
const withheld = ({ uuid: handle, quarantine }: SlotHandle, reason: string): readonly DeployableEvent[] =>
  quarantine ? [] : [{ type: 'HandleQuarantined', handle, until: 'released', by: CLEANING, reason }]

/** The host has been ordered to clean the handle and has not answered yet. */
export const isBeingCleaned = ({ pending }: SlotHandle): boolean =>
  pending?.type === 'ReleaseSlot' && pending.clean === true

/** The events that accompany the release of a handle (UNCLEAN-3). */
export const withheldFor = ({ cleaning }: Deployable, handle: SlotHandle): readonly DeployableEvent[] =>
  cleaning === 'by_operator' ? withheld(handle, BY_OPERATOR) : []

/** The events after a release that left the handle unclean (UNCLEAN-2); null: the answer does not show that the handle is unclean. */
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

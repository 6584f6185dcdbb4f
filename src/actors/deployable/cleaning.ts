/**
 * What is decided so that no handle is given to another request before it is clean (`../../cleaning.ts`).
 *
 * UNCLEAN-1 where hosts clean, a handle that is given up stays `releasing` until its host has proved that it is clean, also where the device needs
 *   no other work on its host;
 * UNCLEAN-2 what was released and not cleaned is withheld until an operator releases it, or has it cleaned again. An order that asked for a cleaning
 *   and was answered without evidence counts as that: the host is of a release that does not know cleaning;
 * UNCLEAN-3 where operators clean, a handle is withheld from the moment when it is given up.
 */
import { isClean } from '../../cleaning.ts'
import type { DeployableCommand, DeployableEvent } from './messages.ts'
import type { Deployable, SlotHandle } from './state.ts'

export const CLEANING = 'policy of cleaning'
const BY_OPERATOR = 'it was given up, and an operator has to clean it'
const NO_EVIDENCE = 'its host has released it and does not say that it was cleaned'

type Answer = Pick<Extract<DeployableCommand, { type: 'Answer' }>, 'number' | 'failed' | 'cleaned'>

/** A reason for which somebody else withholds it stays. */
const withheld = ({ uuid: handle, quarantine }: SlotHandle, reason: string): readonly DeployableEvent[] =>
  quarantine ? [] : [{ type: 'HandleQuarantined', handle, until: 'released', by: CLEANING, reason }]

/** Its host has been ordered to clean it, and has not answered yet. */
export const isBeingCleaned = ({ pending }: SlotHandle): boolean =>
  pending?.type === 'ReleaseSlot' && pending.clean === true

/** With the release of a handle (UNCLEAN-3). */
export const withheldFor = ({ cleaning }: Deployable, handle: SlotHandle): readonly DeployableEvent[] =>
  cleaning === 'by_operator' ? withheld(handle, BY_OPERATOR) : []

/** What follows from the answer to a release after which the handle is not clean (UNCLEAN-2); null: it says nothing of that kind. */
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

/**
 * The part of an inventory report that says which slots the host has prepared, by its own ledger, and what hardware is
 * in use besides.
 *
 * SLOTS-1 it is no part of the digest of the inventory: it has a digest of its own, so that a bind does not make the
 *    inventory look changed;
 * SLOTS-2 it is complete from the slot `from` to the slot `upTo`; what is outside is said by another report;
 * SLOTS-3 a host that does not know what is prepared on it, and one of a release up to 0.2.0, leaves it out: then
 *    nothing is concluded.
 */
import * as v from 'valibot'
import type { DeepReadonly } from '../vocabulary/deepReadonly.ts'
import { line, prose } from '../vocabulary/fields.ts'
import { canonicalJson, sha256 } from './canonical.ts'
import { ArqUuid, SlotUuid } from './identifiers.ts'
import { OrderNumber } from './orders.ts'

/** `preparing`, `releasing`: the order is being carried out; `prepared`: the hardware may be prepared. */
export const SLOT_STATES = ['preparing', 'prepared', 'releasing'] as const
/** More than the longest function that a driver may report. */
const functionName = prose(200_000)

export const PreparedSlot = v.object({
  slot: SlotUuid,
  /** Of the last order of the slot. */
  number: OrderNumber,
  state: v.picklist(SLOT_STATES),
  arq: v.optional(ArqUuid),
  /**
   * The PCI function, `dddd:bb:dd.f`, or another attach handle in canonical form. After `away from `: another card is
   * there now, and that of the slot is not on the host.
   */
  function: functionName,
})
export const Slots = v.object({
  /** The first slot that this part covers; absent: from the beginning. */
  from: v.optional(SlotUuid),
  /** The last slot that this part covers; absent: up to the end. */
  upTo: v.optional(SlotUuid),
  prepared: v.pipe(v.array(PreparedSlot), v.maxLength(4000)),
  /** Hardware that the kernel shows in use, whoever uses it. Absent: the host did not look. */
  inUse: v.optional(v.pipe(v.array(v.object({ function: functionName, by: line(300) })), v.maxLength(1000))),
  /** The question of a control that this part answers: it was made after the question came. */
  answers: v.optional(line(100)),
})
export type PreparedSlot = DeepReadonly<v.InferOutput<typeof PreparedSlot>>
export type Slots = DeepReadonly<v.InferOutput<typeof Slots>>

export const slotsDigest = (slots: Slots): string => sha256(canonicalJson({ ...slots, answers: undefined }))

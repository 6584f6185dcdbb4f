/**
 * Orders to a host (`host.orders.v1`), numbered per slot: a host answers a repeat with the recorded result and ignores
 * older ones.
 */
import * as v from 'valibot'
import { Card } from '../vocabulary/card.ts'
import type { DeepReadonly } from '../vocabulary/deepReadonly.ts'
import { count, line, moment, prose } from '../vocabulary/fields.ts'
import { HANDLE_TYPES } from '../vocabulary/hardware.ts'
import type * as id from '../vocabulary/identifiers.ts'
import { ArqUuid, BootId, DeployableUuid, HandleUuid, SlotUuid } from './identifiers.ts'

const text = (max: number) => v.pipe(v.string(), v.minLength(1), v.maxLength(max))
const HostName: v.GenericSchema<string, id.HostName> = text(255)
const DriverName: v.GenericSchema<string, id.DriverName> = text(100)
const DeployableName: v.GenericSchema<string, id.DeployableName> = text(200)
const ImageUuid: v.GenericSchema<string, id.ImageUuid> = text(100)
/** Limited to what an integer column of the views can hold. */
export const OrderNumber = v.pipe(count, v.minValue(1))

/** `slot` is what is fenced: an attach handle's UUID, or a deployable's UUID for `Program` and `Probe`. */
const head = <Slot extends v.GenericSchema<string>>(slot: Slot) => ({
  /** The host the order is for; the message key. */
  host: HostName,
  slot,
  number: OrderNumber,
  /** The driver that owns the device, by entry-point name. */
  driver: DriverName,
  /** The deployable's name on the host. */
  deployable: DeployableName,
  deployableUuid: DeployableUuid,
  /**
   * The card that the order is about. The host refuses the order while another card has that name. Hosts before release
   * 0.4.0 ignore it.
   */
  card: v.optional(Card),
  /** Milliseconds since the epoch: after it the result is no longer waited for. */
  deadline: moment,
  requestId: v.optional(line(200)),
  /** `traceparent` of its cause: a repeat of the order carries the same one. */
  trace: v.optional(line(100)),
})
/**
 * Attributes that an operator has set on the deployable and that an image is compared with. Hosts before release 0.4.0
 * ignore them.
 */
const Attributes = v.optional(v.record(prose(100), prose(1000)))
const Handle = v.object({
  type: v.picklist(HANDLE_TYPES),
  info: v.record(prose(100), prose(1000)),
})

export const Order = v.variant('type', [
  v.object({
    ...head(HandleUuid),
    type: v.literal('PrepareSlot'),
    handle: Handle,
    arq: ArqUuid,
    /** The image that the card has to hold: the host loads it where the card holds another one. */
    bitstream: v.optional(ImageUuid),
    /**
     * The image that the card has to hold, and that must not be loaded now: where the card holds another one, the order
     * fails. Hosts before release 0.3.0 ignore it.
     */
    expects: v.optional(ImageUuid),
    /**
     * The request has the handle already, and its guest may have opened the device: that does not keep it from being
     * prepared. Hosts before release 0.4.0 ignore it.
     */
    again: v.optional(v.literal(true)),
    attributes: Attributes,
  }),
  v.object({
    ...head(HandleUuid),
    type: v.literal('ReleaseSlot'),
    handle: Handle,
    /**
     * Slots that the journal does not know, with the same hardware: they are released with it. Hosts up to release
     * 0.2.0 ignore it.
     */
    also: v.optional(v.pipe(v.array(SlotUuid), v.maxLength(16))),
    /**
     * The hardware has to be cleaned after the release, and the result has to prove it (CLEAN-1). Hosts before release
     * 0.3.0 ignore it.
     */
    clean: v.optional(v.literal(true)),
  }),
  v.object({ ...head(DeployableUuid), type: v.literal('Program'), image: ImageUuid, attributes: Attributes }),
  /**
   * Never sent by any release; cards are read as decision 0094 says. Kept because the topics recorded from release
   * 0.2.0 for `test/upgrade` contain one (docs/upgrade.md).
   */
  v.object({ ...head(DeployableUuid), type: v.literal('Probe') }),
])

/**
 * What the journal holds prepared on a host that has lost its ledger; it asks for it with its first report (`ledger`).
 */
export const LedgerAnswer = v.object({
  type: v.literal('LedgerAnswer'),
  host: HostName,
  /** The start of the host that asked. */
  bootId: BootId,
  slots: v.pipe(
    v.array(
      v.object({
        slot: HandleUuid,
        /** No order up to this number is carried out for the slot any more, except one that has no answer yet. */
        number: OrderNumber,
        /**
         * The order with this number has no answer yet: it may have been carried out, and is carried out when it comes
         * again.
         */
        pending: v.optional(v.picklist(['PrepareSlot', 'ReleaseSlot'])),
        driver: DriverName,
        deployable: DeployableName,
        deployableUuid: DeployableUuid,
        handle: Handle,
        /** Hosts before release 0.4.0 ignore it. */
        card: v.optional(Card),
        arq: v.optional(ArqUuid),
      }),
    ),
    v.maxLength(1000),
  ),
  /** This was the last part of the answer. */
  last: v.boolean(),
})
/** A later start of the same host has reported: the program of this start is to do nothing more. */
export const StopOrder = v.object({
  type: v.literal('Stop'),
  host: HostName,
  /** The start that is over. */
  bootId: BootId,
  /** The one that has reported since. */
  by: BootId,
})
/** The host is to say at once which slots it has prepared. Only hosts that say it in their reports are asked. */
export const SlotsQuestion = v.object({
  type: v.literal('TellSlots'),
  host: HostName,
  /** The start of the host that is asked. */
  bootId: BootId,
  /** The answer names it. */
  id: line(100),
  /** The first slot that the answer has to cover; absent: from the beginning. */
  from: v.optional(SlotUuid),
})
/** Everything that a host is sent. */
export const ToHost = v.variant('type', [...Order.options, LedgerAnswer, StopOrder, SlotsQuestion])
export type SlotsQuestion = DeepReadonly<v.InferOutput<typeof SlotsQuestion>>
export type StopOrder = DeepReadonly<v.InferOutput<typeof StopOrder>>
export type LedgerAnswer = DeepReadonly<v.InferOutput<typeof LedgerAnswer>>
export type ToHost = DeepReadonly<v.InferOutput<typeof ToHost>>
export type Order = DeepReadonly<v.InferOutput<typeof Order>>

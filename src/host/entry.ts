/** The entry of a slot in the ledger of a host, and the judgement of the next order by it. Pure. */
import * as v from 'valibot'
import type { Attaching } from '../vocabulary/attachedFunctions.ts'
import { Card } from '../vocabulary/card.ts'
import type { Slot } from '../drivers/driver.ts'
import { ReportedHandle } from '../vocabulary/hardware.ts'
import { pciAddressOf } from '../vocabulary/pci.ts'
import { canonicalJson } from '../wire/canonical.ts'
import { traceField } from '../vocabulary/trace.ts'
import { type LedgerAnswer, type Order, OrderNumber } from '../wire/orders.ts'
import { OrderResult } from '../wire/reports.ts'

export const Entry = v.object({
  slot: v.string(),
  /** The number of the last order accepted for the slot: no older order is carried out any more. */
  number: OrderNumber,
  type: v.picklist(['PrepareSlot', 'ReleaseSlot', 'Program', 'Probe']),
  driver: v.string(),
  deployable: v.string(),
  deployableUuid: v.string(),
  /** The handle on the device; empty for orders on a deployable as a whole. */
  handle: v.string(),
  /** The card of the slot; absent: its order named none, and the slot is where its handle says. */
  card: v.optional(Card),
  /** Another card is where the slot was, and its own card is not on this host. */
  away: v.optional(v.literal(true)),
  arq: v.optional(v.string()),
  /** The image that the preparation loads. */
  image: v.optional(v.string()),
  /** `traceparent` of the work on the order. */
  trace: v.optional(v.string()),
  /** `in-hand`: the order may have touched the device, and its result is not known. */
  state: v.picklist(['in-hand', 'done']),
  startedAt: v.number(),
  finishedAt: v.number(),
  result: v.optional(OrderResult.entries.result),
  /** True: the result is on the bus. */
  sent: v.boolean(),
  /** Whether the hardware may be prepared for the slot. Releases up to 0.2.0 did not write it. */
  prepared: v.optional(v.boolean()),
})
export type Entry = v.InferOutput<typeof Entry>
export type Result = OrderResult['result']

export const handleKey = (handle: { readonly type: string; readonly info: Readonly<Record<string, string>> }): string =>
  canonicalJson([handle.type, handle.info])

const Handle = v.pipe(v.string(), v.parseJson(), v.tuple([ReportedHandle.entries.type, ReportedHandle.entries.info]))
/** The handle of the entry as it last was; null for orders on a deployable as a whole. */
export const lastHandleOf = ({ handle }: Entry): Attaching | null => {
  const read = handle === '' ? null : v.safeParse(Handle, handle)
  return read?.success ? { type: read.output[0], info: read.output[1] } : null
}
/** The handle of the entry, which is hardware of this host; null also while the card of the slot is away. */
export const attachingOf = (entry: Entry): Attaching | null => (entry.away ? null : lastHandleOf(entry))

/** The slot as drivers know it. */
export const slotIn = (entry: Entry): readonly Slot[] => {
  const handle = attachingOf(entry)
  return handle === null ? [] : [{ uuid: entry.slot, deployable: entry.deployable, ...handle }]
}

/**
 * A slot may be prepared once its preparation is in hand. A failed preparation may have touched the hardware, unless
 * its failure is final: then the driver was not called. A failed release has released nothing.
 */
export const mayBePrepared = (known: Entry | undefined): boolean => {
  if (known === undefined) return false
  const { prepared, type, result } = known
  if (prepared !== undefined) return prepared
  if (type === 'PrepareSlot') return result?.status !== 'failed' || !result.final
  return type === 'ReleaseSlot' && result?.status !== 'done'
}

/** A control names no address for a card that is not where it was: the slot is then where it was known to be. */
const placeIn = (order: Order, known: Entry | undefined): Pick<Entry, 'deployable' | 'handle' | 'card' | 'away'> => {
  const card = order.card ? { card: order.card } : {}
  const isNowhere = 'handle' in order && pciAddressOf(order.handle.info) === null
  return isNowhere && known
    ? { deployable: known.deployable, handle: known.handle, ...card, ...(known.away ? { away: true } : {}) }
    : { deployable: order.deployable, handle: 'handle' in order ? handleKey(order.handle) : '', ...card }
}

/** `refused`: true if the order will not touch the hardware. */
export const inHand = (order: Order, at: number, known: Entry | undefined, refused: boolean): Entry => ({
  slot: order.slot,
  number: order.number,
  type: order.type,
  driver: order.driver,
  ...placeIn(order, known),
  deployableUuid: order.deployableUuid,
  ...('arq' in order ? { arq: order.arq } : {}),
  ...('bitstream' in order && order.bitstream !== undefined ? { image: order.bitstream } : {}),
  ...traceField(order.trace),
  state: 'in-hand',
  startedAt: at,
  finishedAt: at,
  sent: false,
  prepared: (order.type === 'PrepareSlot' && !refused) || mayBePrepared(known),
})

const preparedAfter = ({ type, prepared }: Entry, result: Result, before: boolean): boolean => {
  if (type === 'ReleaseSlot' && result.status === 'done') return false
  return result.status === 'failed' && result.final ? before : prepared === true
}
/**
 * Makes an entry of a slot that the journal holds prepared. Without a pending order, its result is known to the control
 * already.
 */
export const recalled = (held: LedgerAnswer['slots'][number], at: number): Entry => ({
  slot: held.slot,
  number: held.number,
  type: held.pending ?? 'PrepareSlot',
  driver: held.driver,
  deployable: held.deployable,
  deployableUuid: held.deployableUuid,
  handle: handleKey(held.handle),
  ...(held.card ? { card: held.card } : {}),
  ...(held.arq === undefined ? {} : { arq: held.arq }),
  ...(held.pending ? { state: 'in-hand', sent: false } : { state: 'done', sent: true, result: { status: 'done' } }),
  startedAt: at,
  finishedAt: at,
  prepared: true,
})

export type Conclusion = {
  readonly result: Result
  /** The driver has released the slot, although the order has failed. */
  readonly released: boolean
}
/** `known`: the entry of the slot when the order came. */
export const finished = (
  entry: Entry,
  { result, released }: Conclusion,
  at: number,
  known: Entry | undefined,
): Entry => ({
  ...entry,
  prepared: !released && preparedAfter(entry, result, mayBePrepared(known)),
  state: 'done',
  result,
  finishedAt: at,
  sent: false,
})

export const failed = (reason: string, final: boolean): Result => ({
  status: 'failed',
  reason: reason.slice(0, 2000),
  final,
})

/**
 * `carry out`: the order is new, or was in hand when the host died; `answer`: the recorded result is sent again;
 * `wait`: the order is in hand now, and its result will be sent; `ignore`: a newer order was accepted.
 */
export type Judgement = 'carry out' | 'answer' | 'wait' | 'ignore'
export const judge = (known: Entry | undefined, number: number, running: boolean): Judgement => {
  if (known === undefined || number > known.number) return 'carry out'
  if (number < known.number) return 'ignore'
  // also while its result is being written to the disk, since the result is sent only afterwards
  if (running) return 'wait'
  return known.state === 'done' ? 'answer' : 'carry out'
}

/**
 * Whether the entry is of another order with the same number: for something else, or for another accelerator request.
 */
export const isOther = (known: Entry, order: Order): boolean =>
  known.type !== order.type || ('arq' in order && known.arq !== undefined && known.arq !== order.arq)

/**
 * Whether nobody waits for the result any more. A release is never late: its handle stays taken until it is done. Both
 * times are of one clock.
 */
export const isLate = ({ type }: Order, dueAt: number, now: number): boolean => type !== 'ReleaseSlot' && now > dueAt

/**
 * Which image a card holds: what is recorded of it, and what its host looks at before a request gets it. Pure.
 *
 * IMAGE-1 what an order has loaded is recorded with its result. What the card itself says is recorded when its host was asked and looked after the
 *   question (COMPARE-1), and no order that may write the card was given, or waited for its answer, from before the question to after the answer. One that
 *   was given up may still be carried out: its host reports again when that has ended;
 * IMAGE-2 what is recorded may be out of date: a machine restarts, or somebody programs the card by other means. So whoever asks for an image gets an order
 *   by which the host looks at the card first, also where the image is recorded and where nothing else needs the host;
 * IMAGE-3 that order loads the image where the card does not hold it, unless it must not be programmed now: then it only compares, and fails where
 *   the card holds something else.
 */
import type { Order } from '../../wire/orders.ts'
import { type Decision, accept } from '../runtime/decider.ts'
import type { DeployableCommand, DeployableEvent } from './messages.ts'
import type { Deployable } from './shape.ts'

/** Whether the order may write the card. */
export const mayWrite = (order: Order | null): boolean =>
  order?.type === 'Program' || (order?.type === 'PrepareSlot' && order.bitstream !== undefined)

/** Whether its host may be writing the card, so that nothing follows from what it shows. */
export const isUnsettled = ({ program, handles }: Deployable): boolean =>
  program !== null || Object.values(handles).some(({ pending }) => mayWrite(pending))

/** Changes with what is recorded, and with each order that may write the card: what was compared with it before no longer counts. */
export const imageMark = ({ bitstreamId, loads = 0 }: Deployable): string => `${loads} ${bitstreamId ?? 'unknown'}`

export const readImage = (
  held: Deployable,
  { image, mark }: Extract<DeployableCommand, { type: 'ReadImage' }>,
): Decision<DeployableEvent> =>
  held.presence !== 'present' || isUnsettled(held) || imageMark(held) !== mark || held.bitstreamId === image
    ? accept()
    : accept({ type: 'BitstreamRead', bitstreamId: image })

/** The change that the order makes, if it may write the card. */
export const loadsBy = (order: Order | null): Pick<Deployable, 'loads'> =>
  order && mayWrite(order) ? { loads: order.number } : {}

/**
 * Rules about the image that a card holds: how it is recorded, and how the host checks it before a request gets the
 * card. Pure.
 *
 * IMAGE-1 the image that an order has loaded is recorded with its result. The image that the card reports is recorded
 *    only if the host looked at the card after it was asked (COMPARE-1), and no order that may write the card was given
 *    or unanswered between question and answer. The host may still carry out an order that was given up; it reports
 *    again when that has ended;
 * IMAGE-2 the record may be out of date, because a machine restarts or somebody programs the card by other means. So
 *    each request for an image gives the host an order to look at the card first, even if that image is recorded and
 *    nothing else needs the host;
 * IMAGE-3 that order loads the image if the card does not hold it. If the card must not be programmed now, the order
 *    only compares, and fails if the card holds another image;
 * IMAGE-4 an image is its bytes and its function, not its id alone. A store may have other ones under the id than when
 *    the image was loaded: then the card holds another image. The host compares them (`executeOrder.ts`).
 */
import type { Order } from '../../wire/orders.ts'
import { type Decision, accept } from '../runtime/decider.ts'
import type { DeployableCommand, DeployableEvent } from './messages.ts'
import type { Deployable } from './shape.ts'

/** Whether the order may write the card. */
export const mayWrite = (order: Order | null): boolean =>
  order?.type === 'Program' || (order?.type === 'PrepareSlot' && order.bitstream !== undefined)

/** Whether the host may be writing the card at the moment, so that a report of its image proves nothing. */
export const isUnsettled = ({ program, handles }: Deployable): boolean =>
  program !== null || Object.values(handles).some(({ pending }) => mayWrite(pending))

/**
 * A mark that changes with the recorded image and with each order that may write the card; a comparison made under
 * another mark does not count.
 */
export const imageMark = ({ bitstreamId, loads = 0 }: Deployable): string => `${loads} ${bitstreamId ?? 'unknown'}`

export const readImage = (
  held: Deployable,
  { image, mark }: Extract<DeployableCommand, { type: 'ReadImage' }>,
): Decision<DeployableEvent> =>
  held.presence !== 'present' || isUnsettled(held) || imageMark(held) !== mark || held.bitstreamId === image
    ? accept()
    : accept({ type: 'BitstreamRead', bitstreamId: image })

/** The change of the deployable when an order is given that may write the card. */
export const loadsBy = (order: Order | null): Pick<Deployable, 'loads'> =>
  order && mayWrite(order) ? { loads: order.number } : {}

/** The change of the deployable when another image, or none, is recorded: what it held can be loaded again. */
export const formerBy = (
  { bitstreamId: was }: Deployable,
  changed: Partial<Deployable>,
): Pick<Deployable, 'formerImage'> =>
  was === null || changed.bitstreamId === undefined || changed.bitstreamId === was ? {} : { formerImage: was }

/** The orders of a deployable that its host has not answered. */
import type { SlotUuid } from '../../vocabulary/identifiers.ts'
import type { Order } from '../../wire/orders.ts'
import type { Deployable } from './shape.ts'

/** `since`: when it was decided, however often it was sent since. */
export type WaitingOrder = { readonly slot: SlotUuid; readonly order: Order; readonly since: number }

/** At most one for each attach handle, and one that programs the deployable itself; none of a retired one. */
export const waitingOrders = ({
  exists,
  presence,
  uuid,
  handles,
  program,
}: Pick<Deployable, 'exists' | 'presence' | 'uuid' | 'handles' | 'program'>): readonly WaitingOrder[] =>
  exists && presence !== 'retired'
    ? [
        ...Object.values(handles).flatMap(({ uuid: slot, pending, pendingSince }) =>
          pending ? [{ slot, order: pending, since: pendingSince }] : [],
        ),
        ...(program ? [{ slot: uuid, order: program.order, since: program.since }] : []),
      ]
    : []

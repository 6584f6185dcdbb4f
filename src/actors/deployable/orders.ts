/** The orders of a deployable to its host. Each has the next number, so that the host can ignore older ones. */
import type { ArqUuid, ImageUuid, SlotUuid } from '../../vocabulary/identifiers.ts'
import { COMPARED_ATTRIBUTES } from '../../vocabulary/imageFits.ts'
import { traceField } from '../../vocabulary/trace.ts'
import type { Order } from '../../wire/orders.ts'
import { topLevel } from './attributes.ts'
import { type Deployable, type SlotHandle, localNameOf } from './shape.ts'

/** Longer values are no names that an image could have. */
const VALUE_MAX = 1000
/** The attributes that an operator has set and that the host compares with the image. */
const setByOperator = ({ attributes }: Deployable): { readonly attributes?: Readonly<Record<string, string>> } => {
  const set = topLevel(attributes).filter(
    ({ origin, key, value }) =>
      origin === 'operator' && COMPARED_ATTRIBUTES.includes(key) && value !== '' && value.length <= VALUE_MAX,
  )
  return set.length === 0 ? {} : { attributes: Object.fromEntries(set.map(({ key, value }) => [key, value])) }
}

type Wanted =
  | {
      readonly type: 'PrepareSlot'
      readonly arq: ArqUuid
      readonly deadline: number
      readonly requestId: string
      readonly bitstream: ImageUuid | null
      /** The image that the card must already hold; the host does not load it. */
      readonly expects?: ImageUuid | null
      /** The request has the handle already. */
      readonly again?: true
      readonly trace?: string | undefined
    }
  | {
      readonly type: 'ReleaseSlot'
      readonly deadline: number
      readonly trace?: string | undefined
      /** Slots that the journal does not know and that the host releases in the same order. */
      readonly also?: readonly SlotUuid[]
    }
  | {
      readonly type: 'Program'
      readonly image: ImageUuid
      readonly deadline: number
      readonly requestId: string
      readonly trace?: string | undefined
    }
export type OrderOf<Type extends Wanted['type']> = Extract<Wanted, { type: Type }>

const headOf = <Slot extends SlotUuid>(held: Deployable, slot: Slot, { deadline, trace }: Wanted) => ({
  host: held.host,
  slot,
  number: held.orders + 1,
  driver: held.driver,
  deployable: localNameOf(held),
  deployableUuid: held.uuid,
  ...(held.card ? { card: held.card } : {}),
  deadline,
  ...traceField(trace),
})

export const orderFor = (
  held: Deployable,
  { uuid, type, info }: SlotHandle,
  wanted: OrderOf<'PrepareSlot' | 'ReleaseSlot'>,
): Order => {
  const head = headOf(held, uuid, wanted)
  const handle = { type, info }
  if (wanted.type === 'ReleaseSlot') {
    const also = wanted.also?.length ? { also: wanted.also } : {}
    return {
      ...head,
      type: 'ReleaseSlot',
      handle,
      ...also,
      ...(held.hostCleaning === 'by_host' ? { clean: true } : {}),
    }
  }
  const { arq, requestId, bitstream, expects = null, again } = wanted
  const image = {
    ...(bitstream === null ? {} : { bitstream, ...setByOperator(held) }),
    ...(expects === null ? {} : { expects }),
  }
  return { ...head, type: 'PrepareSlot', handle, arq, requestId, ...image, ...(again && { again }) }
}

/** The order is about the deployable itself, so the UUID of the deployable is the slot. */
export const programOrderFor = (held: Deployable, wanted: OrderOf<'Program'>): Order => ({
  ...headOf(held, held.uuid, wanted),
  type: 'Program',
  image: wanted.image,
  ...setByOperator(held),
  requestId: wanted.requestId,
})

/** The orders a deployable gives to its host. Each carries the next number, so that the host can refuse older ones. */
import { traceField } from '../../trace.ts'
import type { Order } from '../../wire/orders.ts'
import type { Deployable, SlotHandle } from './state.ts'

type Wanted =
  | {
      readonly type: 'PrepareSlot'
      readonly arq: string
      readonly deadline: number
      readonly requestId: string
      readonly bitstream: string | null
      readonly trace?: string | undefined
    }
  | { readonly type: 'ReleaseSlot'; readonly deadline: number; readonly trace?: string | undefined }
  | {
      readonly type: 'Program'
      readonly image: string
      readonly deadline: number
      readonly requestId: string
      readonly trace?: string | undefined
    }
export type OrderOf<Type extends Wanted['type']> = Extract<Wanted, { type: Type }>

/** `handle` null: the order is about the deployable itself, and its UUID is the slot. */
export const orderFor = (held: Deployable, handle: SlotHandle | null, wanted: Wanted): Order => {
  const head = {
    host: held.host,
    slot: handle?.uuid ?? held.uuid,
    number: held.orders + 1,
    driver: held.driver,
    deployable: held.name,
    deployableUuid: held.uuid,
    deadline: wanted.deadline,
    ...traceField(wanted.trace),
  }
  if (wanted.type === 'Program') return { ...head, type: 'Program', image: wanted.image, requestId: wanted.requestId }
  const slot = { type: handle!.type, info: handle!.info }
  if (wanted.type === 'ReleaseSlot') return { ...head, type: 'ReleaseSlot', handle: slot }
  const { arq, requestId, bitstream } = wanted
  return { ...head, type: 'PrepareSlot', handle: slot, arq, requestId, ...(bitstream === null ? {} : { bitstream }) }
}

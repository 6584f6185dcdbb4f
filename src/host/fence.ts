/**
 * Keeps track of the physical functions that are prepared, by the ledger of this host.
 *
 * FENCE-1 a function is prepared for one slot at a time: a second slot for it is refused, whatever the control
 *    believes, and the release of that second slot is refused too, because the driver would release the function of the
 *    first slot;
 * FENCE-2 a physical function and its virtual functions are the same hardware; the latest discovery tells which
 *    functions these are;
 * FENCE-3 a slot counts as prepared from the moment its order is in hand until a release of it is done;
 * FENCE-4 a release may name slots of the same hardware that the journal does not know: the host releases these as
 *    well;
 * FENCE-5 a deployable is not programmed while a function that it shows is prepared for another slot: the guest would
 *   lose that function. A slot whose own preparation loads the same image and has no result yet belongs to the same
 *   bind: no guest has it;
 * FENCE-6 a slot has the hardware of its card, wherever that is now (`whereabouts.ts`): none of the card that has its
 *    former place.
 */
import type { SlotUuid } from '../vocabulary/identifiers.ts'
import { type Attaching, functionOf } from '../vocabulary/attachedFunctions.ts'
import type { Order } from '../wire/orders.ts'
import { type Entry, attachingOf, mayBePrepared } from './entry.ts'

/** Returns the other functions of the same hardware: the physical function of a function, or its virtual functions. */
export type Shares = (own: string) => readonly string[]

/** A handle as its driver shows it. */
type Shown = Pick<Attaching, 'type' | 'info'>

const isUnderWay = ({ type, state }: Entry): boolean => type === 'PrepareSlot' && state === 'in-hand'

export class Fence {
  /** Function -> the entries of its prepared slots; more than one only in ledgers of releases that had no fence. */
  readonly #prepared = new Map<string, Map<string, Entry>>()
  /** Prepared slot -> the function that is prepared for it. */
  readonly #functions = new Map<string, string>()

  /** Takes over the current entry of a slot. */
  note(entry: Entry): void {
    this.forget(entry.slot)
    const handle = mayBePrepared(entry) ? attachingOf(entry) : null
    if (handle === null) return
    const own = functionOf(handle)
    this.#functions.set(entry.slot, own)
    const slots = this.#prepared.get(own) ?? new Map<string, Entry>()
    this.#prepared.set(own, slots.set(entry.slot, entry))
  }
  forget(slot: SlotUuid): void {
    const own = this.#functions.get(slot)
    if (own === undefined) return
    this.#functions.delete(slot)
    const slots = this.#prepared.get(own)
    slots?.delete(slot)
    if (slots?.size === 0) this.#prepared.delete(own)
  }
  /**
   * Returns why the order must not touch its hardware; null: it may. A slot that is itself prepared can always be
   * released.
   */
  against(order: Order, known: Entry | undefined, shares: Shares): string | null {
    if (!('handle' in order) || (order.type === 'ReleaseSlot' && mayBePrepared(known))) return null
    const also = 'also' in order ? (order.also ?? []) : []
    const own = functionOf(order.handle)
    for (const entry of this.#others(order, shares))
      if (!also.includes(entry.slot)) return refusal(own, functionOf(attachingOf(entry)!), entry)
    return null
  }
  /** True: nothing is prepared. */
  get isOpen(): boolean {
    return this.#prepared.size === 0
  }
  /** Returns why the order must not program the deployable that shows these functions; null: it may (FENCE-5). */
  againstProgramming(order: Order, handles: readonly Shown[], shares: Shares): string | null {
    const { deployable, slot } = order
    const image = order.type === 'PrepareSlot' ? order.bitstream : undefined
    const isMate = (one: Entry) => image !== undefined && one.image === image && isUnderWay(one)
    const [entry] = handles
      .flatMap((handle) => this.#preparedOf(functionOf(handle), shares, slot))
      .filter((one) => !isMate(one))
    if (entry === undefined) return null
    const whose = entry.arq === undefined ? '' : ` for accelerator request ${entry.arq}`
    return `deployable ${deployable} is not programmed: its slot ${entry.slot} is prepared${whose} since order ${entry.number}`
  }
  /**
   * Returns the slots on the same hardware that the release names besides its own, and that the journal does not know
   * (FENCE-4).
   */
  releasedWith(order: Order, shares: Shares): readonly Entry[] {
    if (order.type !== 'ReleaseSlot' || order.also === undefined) return []
    const { also } = order
    return this.#others(order, shares).filter(({ slot }) => also.includes(slot))
  }
  #others(order: Extract<Order, { readonly handle: unknown }>, shares: Shares): readonly Entry[] {
    return this.#preparedOf(functionOf(order.handle), shares, order.slot)
  }
  /** Returns the slots on this hardware that may be prepared, except the slot `but`. */
  #preparedOf(own: string, shares: Shares, but: string): readonly Entry[] {
    return [own, ...shares(own)]
      .flatMap((one) => [...(this.#prepared.get(one)?.values() ?? [])])
      .filter(({ slot }) => slot !== but)
  }
}

const refusal = (own: string, taken: string, { slot, number, arq }: Entry): string => {
  const what = own === taken ? `function ${own}` : `${taken}, which is the same hardware as ${own},`
  const whose = arq === undefined ? '' : ` of accelerator request ${arq}`
  return `${what} is prepared for slot ${slot}${whose} since order ${number}, and is not given to a second slot`
}

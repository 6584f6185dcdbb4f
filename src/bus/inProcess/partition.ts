/**
 * One partition in memory: an ordered log that deletes messages all readers have read, and makes its writers wait when
 * it is full.
 *
 * PARTITION-1 messages that a live reader has not read are never deleted: writers wait instead;
 * PARTITION-2 messages that all readers have read, or that never had a reader, are kept up to the size `retain`;
 * PARTITION-3 a reader without members keeps its position and its unread messages, but only up to the size `room`, so
 *    that it cannot block others.
 */
import type { BusRecord } from '../../wire/envelope.ts'
import type { Delivered } from '../port.ts'

export type Size = { readonly count: number; readonly bytes: number }
export type Room = {
  /** The capacity: writers wait while the partition holds this much. */
  readonly room: Size
  readonly retain: Size
}
export type Reader = {
  /** Offset of the oldest message that is not finished. */
  readonly position: number
  readonly live: boolean
  readonly wake: () => void
}
/** Records of one publisher for this partition. */
export type Portion = { readonly records: readonly BusRecord[]; readonly stored: () => void }

/** The approximate memory of a message in bytes: two for each UTF-16 unit, plus the overhead of an object. */
const weightOf = ({ key, value }: BusRecord): number => 2 * (key.length + value.length) + 400
const slowest = (readers: readonly Reader[]): number => Math.min(Infinity, ...readers.map(({ position }) => position))

export class Partition {
  readonly topic: string
  readonly index: number
  readonly #room: Room
  readonly #messages: Delivered[] = []
  readonly #readers: Reader[] = []
  readonly #waiting: { readonly portion: Portion; next: number }[] = []
  #base = 0
  #bytes = 0

  constructor(topic: string, index: number, room: Room) {
    this.topic = topic
    this.index = index
    this.#room = room
  }

  /** Offset of the oldest message kept. */
  get base(): number {
    return this.#base
  }
  /** Offset that the next message will get. */
  get end(): number {
    return this.#base + this.#messages.length
  }
  at(offset: number): Delivered | undefined {
    return this.#messages[offset - this.#base]
  }
  join(reader: Reader): void {
    this.#readers.push(reader)
  }

  leave(reader: Reader): void {
    const place = this.#readers.indexOf(reader)
    if (place >= 0) this.#readers.splice(place, 1)
    this.moved()
  }

  /**
   * Stores the records after those of earlier callers, as far as there is room; the others wait. Returns a function
   * that withdraws the others.
   */
  put(portion: Portion): () => void {
    const entry = { portion, next: 0 }
    this.#waiting.push(entry)
    this.#admit()
    return () => {
      const place = this.#waiting.indexOf(entry)
      if (place >= 0) this.#waiting.splice(place, 1)
      if (place === 0) this.#admit()
    }
  }

  /** To be called when the position of a reader has moved, or a reader has left. */
  moved(): void {
    this.#trim()
    if (this.#waiting.length > 0) this.#admit()
  }

  #admit(): void {
    const before = this.end
    for (let head = this.#waiting[0]; head !== undefined; head = this.#waiting[0]) {
      const { records, stored } = head.portion
      while (head.next < records.length && this.#hasRoom()) this.#store(records[head.next++]!)
      if (head.next < records.length) break
      this.#waiting.shift()
      stored()
    }
    this.#trim()
    if (this.end > before) for (const reader of this.#readers) reader.wake()
  }
  #store(record: BusRecord): void {
    this.#messages.push({ ...record, headers: { ...record.headers }, partition: this.index, offset: this.end })
    this.#bytes += weightOf(record)
  }
  #hasRoom(): boolean {
    if (this.#full) this.#trim()
    return !this.#full
  }
  get #full(): boolean {
    return this.#messages.length >= this.#room.room.count || this.#bytes >= this.#room.room.bytes
  }
  get #retains(): boolean {
    return this.#messages.length > this.#room.retain.count || this.#bytes > this.#room.retain.bytes
  }
  #trim(): void {
    if (!this.#retains) return
    const read = slowest(this.#readers)
    while (this.#base < read && this.#messages.length > 1 && this.#retains) this.#forget()
    if (!this.#full) return
    const readByLiving = slowest(this.#readers.filter(({ live }) => live))
    while (this.#base < readByLiving && this.#messages.length > 1 && this.#full) this.#forget()
  }
  #forget(): void {
    this.#bytes -= weightOf(this.#messages.shift()!)
    this.#base++
  }
}

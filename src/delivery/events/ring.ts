/**
 * The last events that were read, shared by all streams of the process, with a limit in bytes. A stream is only a place
 * in this ring.
 */
import type { Entry } from './entries.ts'
import type { Earlier, EventPosition } from './position.ts'

export class Ring {
  readonly #bytesMax: number
  readonly #earlier: Earlier
  #entries: Entry[] = []
  /** Entries before this index are no longer part of the ring; they are removed from the array many at a time. */
  #from = 0
  /** How many entries were removed in total, so that the number of an entry never changes. */
  #removed = 0
  #bytes = 0
  #floor: EventPosition
  #head: EventPosition

  /** `at`: the place before the first entry that will be added. */
  constructor(at: EventPosition, bytesMax: number, earlier: Earlier) {
    this.#floor = this.#head = at
    this.#bytesMax = bytesMax
    this.#earlier = earlier
  }
  /** The ring has all events after this place, up to the head. */
  get floor(): EventPosition {
    return this.#floor
  }
  get head(): EventPosition {
    return this.#head
  }
  /** The number of the oldest entry of the ring. */
  get first(): number {
    return this.#removed + this.#from
  }
  /** The number that the next added entry gets. */
  get end(): number {
    return this.#removed + this.#entries.length
  }
  get bytes(): number {
    return this.#bytes
  }
  readonly entry = (number: number): Entry => this.#entries[number - this.#removed]!
  /** `head`: the place after the rows of the entries. The newest entry is kept, however large it is. */
  add(entries: readonly Entry[], head: EventPosition): void {
    for (const entry of entries) {
      this.#entries.push(entry)
      this.#bytes += entry.bytes
    }
    this.#head = head
    while (this.#bytes > this.#bytesMax && this.#entries.length - this.#from > 1) {
      const { bytes, place } = this.#entries[this.#from++]!
      this.#bytes -= bytes
      this.#floor = place
    }
    if (this.#from * 2 <= this.#entries.length) return
    this.#entries = this.#entries.slice(this.#from)
    this.#removed += this.#from
    this.#from = 0
  }
  /** The number of the first entry after a place that is not before the floor. */
  readonly after = (place: EventPosition): number => {
    let [low, high] = [this.first, this.end]
    while (low < high) {
      const middle = (low + high) >> 1
      if (this.#earlier(place, this.entry(middle).place)) high = middle
      else low = middle + 1
    }
    return low
  }
}

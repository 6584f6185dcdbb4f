/** The messages of one partition, stored as the batches in which they were sent. */

export type Batch = { readonly from: number; readonly end: number; readonly bytes: Buffer }

/** Byte positions in a record batch: base offset, batch length, last offset delta. */
const LENGTH_AT = 8
const HEAD_BYTES = 12
const LAST_DELTA_AT = 23

const split = (records: Buffer): readonly Buffer[] => {
  const found: Buffer[] = []
  for (let at = 0; at < records.length;) {
    const size = HEAD_BYTES + records.readInt32BE(at + LENGTH_AT)
    found.push(Buffer.from(records.subarray(at, at + size)))
    at += size
  }
  return found
}

export class PartitionLog {
  #batches: Batch[] = []
  #low = 0
  #end = 0

  get low(): number {
    return this.#low
  }
  get end(): number {
    return this.#end
  }
  /** The offset of the first. */
  append(records: Buffer): number {
    const first = this.#end
    for (const bytes of split(records)) {
      // the checksum of a batch does not cover its offset
      bytes.writeBigInt64BE(BigInt(this.#end))
      const end = this.#end + bytes.readInt32BE(LAST_DELTA_AT) + 1
      this.#batches.push({ from: this.#end, end, bytes })
      this.#end = end
    }
    return first
  }
  /** Whole batches from the one that holds the offset on; at least one, if there is one. */
  read(offset: number, maxBytes: number): Buffer {
    const found: Buffer[] = []
    let sum = 0
    for (const { end, bytes } of this.#batches) {
      if (end <= offset) continue
      sum += bytes.length
      if (found.length > 0 && sum > maxBytes) break
      found.push(bytes)
    }
    return Buffer.concat(found)
  }
  /** Forgets what is older, as retention does. */
  forgetBefore(offset: number): void {
    this.#low = Math.max(this.#low, offset)
    this.#end = Math.max(this.#end, offset)
    this.#batches = this.#batches.filter(({ end }) => end > offset)
  }
  /** Offsets that no message has, as after compaction. */
  leaveOut(offsets: number): void {
    this.#end += offsets
  }
}

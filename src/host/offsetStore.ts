/**
 * The offset of the next order to read, on the host's own disk, so that a start does not read all orders again.
 *
 * An old offset, or none, is harmless: orders are numbered, and an order that was carried out before is answered from
 * the ledger.
 */
import * as v from 'valibot'
import type { OffsetStore, StoredOffset } from '../bus/port.ts'
import { textOf } from '../vocabulary/errorText.ts'
import type { Cancel, Clock } from '../vocabulary/clock.ts'
import type { Log } from '../vocabulary/log.ts'
import type { Disk } from './disk.ts'

const Count = v.pipe(v.number(), v.safeInteger(), v.minValue(0))
const OffsetFile = v.object({
  bus: v.pipe(v.string(), v.minLength(1), v.maxLength(500)),
  partition: Count,
  offset: Count,
})
const WRITE_EVERY_MS = 1000

export type OffsetStoreOptions = {
  readonly disk: Disk
  readonly path: string
  readonly clock: Clock
  readonly log: Log
}
export type KeptOffset = OffsetStore & {
  /**
   * Writes the offset if it is not written yet; after that nothing is written. `at once`: nothing is written at all.
   */
  readonly close: (how: 'orderly' | 'at once') => Promise<void>
}

const parsed = (text: string): StoredOffset | null => {
  try {
    const file = v.safeParse(OffsetFile, JSON.parse(text))
    return file.success ? file.output : null
  } catch {
    return null
  }
}

class OffsetWriter {
  readonly #options: OffsetStoreOptions
  #latest: StoredOffset | null = null
  #timer: Cancel | null = null
  #writing: Promise<void> = Promise.resolve()
  #closed = false

  constructor(options: OffsetStoreOptions) {
    this.#options = options
  }

  readonly moved = (place: StoredOffset): void => {
    if (this.#closed) return
    this.#latest = place
    this.#timer ??= this.#options.clock.after(WRITE_EVERY_MS, () => {
      this.#timer = null
      this.#writing = this.#writing.then(this.#write)
    })
  }
  readonly close = async (how: 'orderly' | 'at once'): Promise<void> => {
    this.#closed = true
    this.#timer?.()
    if (how === 'at once') return void (this.#latest = null)
    await this.#writing.then(this.#write)
  }
  readonly #write = async (): Promise<void> => {
    const { disk, path, log } = this.#options
    const place = this.#latest
    this.#latest = null
    if (place === null) return
    try {
      await disk.replace(path, JSON.stringify(place))
    } catch (error) {
      log.warn({ path, reason: textOf(error) }, 'host.placeNotKept')
    }
  }
}

/** Rejects only when the disk fails. A file that does not hold an offset counts as missing. */
export const openOffsetStore = async (options: OffsetStoreOptions): Promise<KeptOffset> => {
  const { disk, path, log } = options
  const text = await disk.read(path)
  const from = text === null ? null : parsed(text)
  if (text !== null && from === null) log.warn({ path }, 'host.placeUnreadable')
  const { moved, close } = new OffsetWriter(options)
  return { from, moved, close }
}

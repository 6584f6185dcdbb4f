/** Values as compressed JSON: rows and states of a journal are alike, and become a tenth of their size. */
import { deflateRawSync, inflateRawSync } from 'node:zlib'

/** The fastest level. */
const LEVEL = 1

/**
 * Compresses a value, given as its JSON text. The returned buffer owns its memory, since a slice would keep a larger
 * buffer alive.
 */
export const compressed = (text: string): Buffer => {
  const bytes = deflateRawSync(text, { level: LEVEL })
  const own = Buffer.allocUnsafeSlow(bytes.length)
  own.set(bytes)
  return own
}
export const expanded = (bytes: Uint8Array): unknown => JSON.parse(inflateRawSync(bytes).toString())

/**
 * Reads a configuration file up to a limit, so that an endless file, such as `/dev/zero`, is reported as an error at
 * once.
 */
import { closeSync, openSync, readSync } from 'node:fs'

const MAX_BYTES = 4 * 1024 * 1024

/**
 * Throws when the file cannot be read, or is longer than 4 MiB. A pipe is read to its end. The mark that editors of
 * Windows set before the first character is no part of the text.
 */
export const readText = (path: string): string => {
  const buffer = Buffer.allocUnsafe(MAX_BYTES + 1)
  const file = openSync(path, 'r')
  try {
    let length = 0
    for (let more = -1; more !== 0 && length <= MAX_BYTES; length += more)
      more = readSync(file, buffer, length, buffer.length - length, null)
    if (length > MAX_BYTES) throw new Error(`it is longer than ${MAX_BYTES} bytes`)
    return buffer.toString('utf8', 0, length).replace(/^\uFEFF/, '')
  } finally {
    closeSync(file)
  }
}

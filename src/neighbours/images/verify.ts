/** Compares the bytes of a file with a digest. */
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import type { Digest } from '../../images.ts'

/** Rejects when the file cannot be read, or with the reason of the signal. */
export const matches = async (path: string, { algorithm, value }: Digest, signal: AbortSignal): Promise<boolean> => {
  const hash = createHash(algorithm)
  for await (const part of createReadStream(path, { highWaterMark: 1024 * 1024, signal })) hash.update(part as Buffer)
  return hash.digest('hex') === value
}

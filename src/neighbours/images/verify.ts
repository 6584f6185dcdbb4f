/** The digest of the bytes of a file. */
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import type { Digest } from '../../vocabulary/images.ts'

/** In hexadecimal. Rejects when the file cannot be read, or with the reason of the signal. */
export const digestOf = async (path: string, algorithm: string, signal: AbortSignal): Promise<string> => {
  const hash = createHash(algorithm)
  for await (const part of createReadStream(path, { highWaterMark: 1024 * 1024, signal })) hash.update(part as Buffer)
  return hash.digest('hex')
}
export const matches = async (path: string, { algorithm, value }: Digest, signal: AbortSignal): Promise<boolean> =>
  (await digestOf(path, algorithm, signal)) === value

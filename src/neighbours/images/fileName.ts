/**
 * The name under which a driver gets an image: its UUID, with the suffix that tools expect of such a file
 * (data-model.md 9.4, 8).
 */
import { open } from 'node:fs/promises'
import type { Image } from '../../vocabulary/images.ts'

/** The first bytes of each kind of file, and the suffix for it. */
const KINDS: readonly (readonly [Buffer, string])[] = [
  [Buffer.from('xclbin2'), '.xclbin'],
  [Buffer.from('XeonFPGA\xb7GBSv', 'latin1'), '.gbs'],
]
const LONGEST = Math.max(...KINDS.map(([mark]) => mark.byteLength))

export const fileNameOf = async ({ uuid }: Image, path: string): Promise<string> => {
  const file = await open(path, 'r')
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(LONGEST), 0, LONGEST, 0)
    const head = buffer.subarray(0, bytesRead)
    const known = KINDS.find(([mark]) => head.subarray(0, mark.byteLength).equals(mark))
    return `${uuid}${known?.[1] ?? '.bin'}`
  } finally {
    await file.close()
  }
}

/**
 * Downloads one image into the cache.
 *
 * DOWNLOAD-1 bytes are written to `part`, verified and forced to the disk, and only then is `part` renamed to `bits`;
 * DOWNLOAD-2 a partial file is continued, even one of a killed process; if Glance does not support ranges, the download
 *    starts from the beginning;
 * DOWNLOAD-3 no byte beyond the size of the image is written;
 * DOWNLOAD-4 bytes that do not match the digest are deleted.
 */
import { type FileHandle, open, rename, rm } from 'node:fs/promises'
import { type Image, type NoImage, noImage } from '../../vocabulary/images.ts'
import { type CachePaths, sizeOf, syncFolder } from './cache.ts'
import type { Bytes, Glance } from './glance.ts'
import { matches } from './verify.ts'

type Wanted = { readonly image: Image; readonly size: number; readonly place: CachePaths; readonly signal: AbortSignal }

const append = async (file: FileHandle, { body, start }: Bytes, size: number): Promise<number> => {
  let total = start
  for await (const part of body) {
    total += part.byteLength
    if (total > size) return total
    for (let at = 0; at < part.byteLength;) at += (await file.write(part, at)).bytesWritten
  }
  return total
}

/** Downloads the missing bytes. Null: all bytes are there. */
const fetchRest = async (glance: Glance, { image, size, place: { part }, signal }: Wanted): Promise<NoImage | null> => {
  const kept = await sizeOf(part)
  const from = kept > size ? 0 : kept
  if (from === size) return null
  const bytes = await glance.bytes(image.uuid, from, signal)
  if (bytes === null) {
    await rm(part, { force: true })
    return noImage('unavailable', 'the image service has no more bytes than were received, which are too few')
  }
  if (!('body' in bytes)) return bytes
  const file = await open(part, bytes.start > 0 ? 'a' : 'w')
  try {
    const total = await append(file, bytes, size)
    await file.sync()
    if (total === size) return null
    if (total < size) return noImage('unavailable', `the download ended after ${total} of ${size} bytes`)
  } finally {
    await file.close()
  }
  await rm(part, { force: true })
  return noImage('corrupt', 'more bytes came than it has')
}

/**
 * Null: the image is in the cache. Rejects with an error of the disk or the connection, or with the reason of the
 * signal.
 */
export const download = async (glance: Glance, wanted: Wanted): Promise<NoImage | null> => {
  const { image, place, signal } = wanted
  const lacking = await fetchRest(glance, wanted)
  if (lacking !== null) return lacking
  if (image.digest !== null && !(await matches(place.part, image.digest, signal))) {
    await rm(place.part, { force: true })
    return noImage('corrupt')
  }
  await rename(place.part, place.whole)
  await syncFolder(place.dir)
  return null
}

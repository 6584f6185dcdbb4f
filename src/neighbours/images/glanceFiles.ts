/**
 * Provides the bytes of images from Glance, through the cache of this host.
 *
 * FILES-1 a problem that no retry can solve ends the attempt; after any other, it is repeated with growing pauses until
 *    nobody waits any more;
 * FILES-2 each digest is downloaded once at a time, and the number of downloads is limited; others that need the same
 *    bytes wait for them;
 * FILES-3 bytes are compared with the digest after each download and before each use; if they differ, they are
 *    downloaded once more;
 * FILES-4 when Glance cannot be asked at the second attempt either, an image in the cache is used: the bytes of an
 *    image never change. It has the description that Glance gave last, which is judged by the present limits. An image
 *    without description is not used: whether it fits a card would not be known;
 * FILES-5 an image that Glance says this service may not use, as one that was withdrawn or deleted, loses its
 *    description, and so is not used when Glance cannot be asked later.
 */
import type { Clock } from '../../vocabulary/clock.ts'
import { textOf } from '../../vocabulary/errorText.ts'
import type { ImageUuid } from '../../vocabulary/identifiers.ts'
import {
  type Digest,
  type Image,
  type ImageFile,
  type ImageFiles,
  isFinal,
  type NoImage,
  noImage,
} from '../../vocabulary/images.ts'
import { type KeyedMutex, createKeyedMutex } from '../../vocabulary/keyedMutex.ts'
import type { Log } from '../../vocabulary/log.ts'
import { type Backoff, backoffMs, endedWithin, pause } from '../../vocabulary/waiting.ts'
import { type ImageCache, sizeOf } from './cache.ts'
import { download } from './download.ts'
import { fileNameOf } from './fileName.ts'
import type { Glance } from './glance.ts'
import { describedIn, descriptionText } from './keptDescription.ts'
import { matches } from './verify.ts'

export type FilesOptions = {
  /** The time limit for one image, including retries. */
  readonly totalMs: number
  readonly imageMaxBytes: number
  readonly cacheMaxBytes: number
  readonly downloadsMax: number
  /** The pauses between two attempts. */
  readonly pauses: Backoff
  /** Whether an image without a digest may be used. */
  readonly allowUnverified: boolean
}
type Parts = {
  readonly glance: Glance
  readonly cache: ImageCache
  readonly options: FilesOptions
  readonly clock: Clock
  readonly log: Log
}
const UNVERIFIED = 'unverified'
/** So often Glance is asked before the cache is used without it. */
const ASKED = 2

type Wanted = {
  readonly image: Image
  readonly size: number
  readonly key: string
  readonly digest: Digest | null
  readonly signal: AbortSignal
}

/** Holds the mutex of a key during the work. While it waits for the mutex, it rejects with the reason of the signal. */
const holding = async <Value>(
  { mutex, clock }: { readonly mutex: KeyedMutex; readonly clock: Clock },
  key: string,
  { totalMs, signal }: { readonly totalMs: number; readonly signal: AbortSignal },
  work: () => Promise<Value>,
): Promise<Value> => {
  const turn = mutex.enter(key, totalMs)
  await endedWithin(clock, totalMs + 1, turn, signal).catch((error: unknown) => {
    void turn.then((leave) => leave?.())
    throw error
  })
  const leave = await turn
  if (leave === null) throw new Error('others were being downloaded all the time')
  try {
    return await work()
  } finally {
    leave()
  }
}

/** The key, size and digest for the download of an image, or why its description does not allow one. */
const judge = (
  image: Image,
  { imageMaxBytes, cacheMaxBytes, allowUnverified }: FilesOptions,
): Omit<Wanted, 'signal'> | NoImage => {
  const { size, digest, uuid } = image
  if (size === null || size === 0) return noImage('inactive', 'it has no size')
  const limit = Math.min(imageMaxBytes, cacheMaxBytes)
  if (size > limit) return noImage('too_large', `${size} bytes, of which ${limit} are allowed`)
  if (digest === null && !allowUnverified) return noImage('unverifiable')
  const key = digest === null ? `${UNVERIFIED}_${uuid}` : `${digest.algorithm}_${digest.value}`
  return { image, size, key, digest }
}

/** Whether the cache has the bytes (FILES-3). */
const isKept = async ({ cache, log }: Parts, { key, digest, size, signal }: Wanted): Promise<boolean> => {
  const { whole } = cache.place(key)
  if ((await sizeOf(whole)) !== size) return false
  if (digest === null || (await matches(whole, digest, signal))) return true
  log.warn({ image_digest: key }, 'images.keptFileDiffers')
  return false
}
const fetched = async (parts: Parts, { key, size, image, signal }: Wanted): Promise<NoImage | null> => {
  const { glance, cache, clock, log } = parts
  const place = cache.place(key)
  await cache.clear(key)
  if (!(await cache.reserve(key, size))) return noImage('unavailable', 'images that are in use fill the cache')
  const before = await sizeOf(place.part)
  const began = clock.monotonic()
  const problem = await download(glance, { image, size, place, signal })
  const ms = Math.round(clock.monotonic() - began)
  if (problem === null) log.info({ image: image.uuid, bytes: size, resumed_at: before, ms }, 'images.downloaded')
  return problem
}

/**
 * The file of the image after `prepare` has provided it; the image is pinned from before that until the file is closed.
 */
const pinned = async (
  { cache, log }: Parts,
  { key, image }: Wanted,
  prepare: () => Promise<NoImage | null>,
): Promise<ImageFile | NoImage> => {
  const close = cache.pin(key)
  try {
    const problem = await prepare()
    if (problem === null) {
      await cache
        .describe(key, image.uuid, descriptionText(image))
        .catch((error: unknown) => log.warn({ image: image.uuid, reason: textOf(error) }, 'images.notDescribed'))
      const path = await cache.named(key, await fileNameOf(image, cache.place(key).whole))
      return { found: true, image, path, close }
    }
    close()
    return problem
  } catch (error) {
    close()
    throw error
  }
}

/**
 * What the cache has of this image, as it was described last, if the present limits allow it and its bytes are right
 * (FILES-4).
 */
const kept = async (parts: Parts, uuid: ImageUuid, signal: AbortSignal): Promise<Wanted | null> => {
  for (const { key, description } of await parts.cache.find(uuid)) {
    const image = description === null ? null : describedIn(description, uuid)
    const judged = image === null ? null : judge(image, parts.options)
    if (judged === null || 'found' in judged || judged.key !== key) continue
    const wanted = { ...judged, signal }
    if (await isKept(parts, wanted)) return wanted
  }
  return null
}
/** The answer while Glance cannot be asked. */
const withoutAsking = async (
  parts: Parts,
  asked: ImageUuid,
  problem: NoImage,
  signal: AbortSignal,
): Promise<ImageFile | NoImage> => {
  const { glance, log } = parts
  const uuid = asked.toLowerCase()
  const wanted = await kept(parts, uuid, signal)
  if (wanted === null) return problem
  log.warn({ image: uuid, reason: glance.whyFailing() }, 'images.usedWithoutAsking')
  return pinned(parts, wanted, async () => null)
}

/** FILES-5. Glance has answered, so the answer counts also where the cache cannot be changed. */
const forgotten = async ({ cache, log }: Parts, uuid: ImageUuid): Promise<void> =>
  cache
    .forget(uuid.toLowerCase())
    .catch((error: unknown) => log.warn({ image: uuid, reason: textOf(error) }, 'images.notForgotten'))

/** Makes one attempt, after so many failures. Never rejects. */
const createAttempt = (parts: Parts) => {
  const { glance, options, clock } = parts
  const { totalMs, downloadsMax } = options
  const digests = { mutex: createKeyedMutex(clock), clock }
  const lanes = { mutex: createKeyedMutex(clock), clock }
  let lane = 0
  const prepared = (wanted: Wanted): Promise<NoImage | null> => {
    const term = { totalMs, signal: wanted.signal }
    return holding(digests, wanted.key, term, async () => {
      if (await isKept(parts, wanted)) return null
      return holding(lanes, String(lane++ % downloadsMax), term, () => fetched(parts, wanted))
    })
  }
  return async (uuid: ImageUuid, failures: number, signal: AbortSignal): Promise<ImageFile | NoImage> => {
    try {
      const described = await glance.find(uuid)
      if (!described.found) {
        if (isFinal(described)) await forgotten(parts, uuid)
        const isAway = described.why === 'unavailable' && failures + 1 >= ASKED
        return isAway ? await withoutAsking(parts, uuid, described, signal) : described
      }
      const wanted = judge(described.image, options)
      if ('found' in wanted) return wanted
      const whole = { ...wanted, signal }
      return await pinned(parts, whole, () => prepared(whole))
    } catch (error) {
      return noImage('unavailable', textOf(error))
    }
  }
}

export const createGlanceFiles = (parts: Parts): ImageFiles => {
  const { options, clock, log } = parts
  const attempt = createAttempt(parts)
  const untilDone = async (uuid: ImageUuid, signal: AbortSignal): Promise<ImageFile | NoImage> => {
    let [corrupt, failures] = [0, 0]
    let last: NoImage | null = null
    for (;;) {
      const got = await attempt(uuid, failures, signal)
      if (got.found) return got
      // the problem of an earlier attempt says more than the fact that the time is over
      if (signal.aborted) return last ?? got
      if (got.why === 'corrupt' ? ++corrupt > 1 : isFinal(got)) return got
      log.warn({ image: uuid, why: got.why, reason: got.detail }, 'images.notYet')
      failures++
      last = got
      const waited = await pause(clock, backoffMs(options.pauses, failures), signal).then(
        () => true,
        () => false,
      )
      if (!waited) return got
    }
  }
  return {
    open: async (uuid, { withinMs, signal }) => {
      const end = new AbortController()
      const limitMs = Math.max(0, Math.min(withinMs, options.totalMs))
      const cancel = clock.after(limitMs, () => end.abort(new Error(`the image did not come within ${limitMs} ms`)))
      try {
        return await untilDone(uuid, AbortSignal.any([signal, end.signal]))
      } finally {
        cancel()
      }
    },
  }
}

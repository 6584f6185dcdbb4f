/**
 * The image searches of one bind. A plan cannot wait: it notes the searches it needs, and reads their results when it
 * runs again after `lookUp`.
 */
import { type Fault, refuse, type Refused } from '../../vocabulary/fault.ts'
import { isFinal, type NoImage } from '../../vocabulary/images.ts'
import type { FoundImages, ImageCatalogue, ImageSearch } from '../../actors/neighbours.ts'

type Found = FoundImages | NoImage
export type ImageSearches = {
  /** Null: the search has no result yet; the next `lookUp` makes it. */
  readonly resultOf: (search: ImageSearch) => Found | null
  /** Makes the noted searches. Refused when the image service cannot answer one of them. */
  readonly lookUp: () => Promise<Refused | null>
}
/** The most searches in one bind; each costs several requests to the image service. */
const SEARCHES_MAX = 16

const faultOf = ({ by, value }: ImageSearch, problem: NoImage): Fault => {
  const key = `accel:${by}`
  if (problem.why === 'none')
    return { kind: 'conflict', reason: `${key} needs an image service that can be searched, and none is configured` }
  const reason = `the images with ${key} ${value} cannot be read: ${problem.detail ?? problem.why}`
  return isFinal(problem) ? { kind: 'conflict', reason } : { kind: 'unavailable', reason, retryAfterSeconds: 5 }
}

export const createImageSearches = (images: ImageCatalogue): ImageSearches => {
  const known = new Map<string, Found>()
  const noted = new Map<string, ImageSearch>()
  const keyOf = ({ by, value }: ImageSearch): string => `${by} ${value}`
  return {
    resultOf: (search) => {
      const result = known.get(keyOf(search)) ?? null
      if (result === null) noted.set(keyOf(search), search)
      return result
    },
    lookUp: async () => {
      if (noted.size > SEARCHES_MAX)
        return refuse({ kind: 'conflict', reason: `one bind may search for ${SEARCHES_MAX} images` })
      for (const [key, search] of noted) {
        const found = await images.search(search)
        if (!found.found) return refuse(faultOf(search, found))
        known.set(key, found)
        noted.delete(key)
      }
      return null
    },
  }
}

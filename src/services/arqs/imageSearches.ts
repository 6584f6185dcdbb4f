/** The searches for images of one bind: a plan, which waits for nothing, notes what it needs, and finds the answers when it is made anew. */
import { type Fault, refuse, type Refused } from '../../fault.ts'
import { type Image, isFinal, type NoImage } from '../../images.ts'
import type { ImageCatalogue, ImageSearch } from '../../actors/neighbours.ts'

type Found = { readonly found: true; readonly images: readonly Image[] } | NoImage
export type ImageSearches = {
  /** Null: it was not asked yet, and is with the next `lookUp`. */
  readonly resultOf: (search: ImageSearch) => Found | null
  /** Asks for what was noted. A refusal when the store cannot say. */
  readonly lookUp: () => Promise<Refused | null>
}
/** In one bind; each costs requests at the image service. */
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

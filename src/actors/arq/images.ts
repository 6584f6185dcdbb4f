/** Chooses the image to load into a deployable among those that a search found (data-model.md 9.3, 9.4). Pure. */
import { type Hardware, misfitOf } from '../../imageFits.ts'
import type { Image } from '../../images.ts'
import type { FoundImages, ImageSearch } from '../neighbours.ts'

/** Versions are compared by their numbers: 1.10 is newer than 1.9. */
const newer = (one: string, other: string): number => one.localeCompare(other, 'en', { numeric: true })

type Choice = { readonly ok: true; readonly image: Image } | { readonly ok: false; readonly reason: string }

/** A search by name must find exactly one fitting image. A search by function takes the newest version. */
export const chooseImage = (
  { by, value }: ImageSearch,
  { images, among }: Omit<FoundImages, 'found'>,
  hardware: Hardware,
): Choice => {
  const fitting = images
    .filter((image) => misfitOf(image, hardware, 'bind') === null)
    .toSorted((a, b) => newer(b.properties['version'] ?? '', a.properties['version'] ?? ''))
  const [first, second] = fitting
  const wanted = `accel:${by} ${value}`
  if (first === undefined) {
    const others = images.length === 0 ? among && `searched: ${among}` : `${images.length} are for other hardware`
    return { ok: false, reason: `not found: no image with ${wanted} suits it${others ? ` (${others})` : ''}` }
  }
  const isSame =
    second !== undefined && newer(first.properties['version'] ?? '', second.properties['version'] ?? '') === 0
  return second !== undefined && (by === 'bitstream_name' || isSame)
    ? { ok: false, reason: `ambiguous: ${fitting.length} images with ${wanted} suit it` }
    : { ok: true, image: first }
}

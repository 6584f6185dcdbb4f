/** Chooses the image to load into a deployable among those that a search found (data-model.md 9.3, 9.4). Pure. */
import { type Hardware, misfitOf } from '../../vocabulary/imageFits.ts'
import type { Image } from '../../vocabulary/images.ts'
import type { FoundImages, ImageSearch } from '../neighbours.ts'

const VERSION = /^\s*v?(\d{1,15}(?:\.\d{1,15})*)(.*)$/is
/** What follows the numbers of a version that comes before the one with these numbers. */
const BEFORE = /^[-._~+]?\s*(?:a|alpha|b|beta|c|rc|cr|pre|preview|dev|m|milestone|snapshot|nightly)(?![a-z])/i
const partsOf = (version: string) => {
  const [, numbers = '', after = version] = VERSION.exec(version) ?? []
  const rest = after.trim()
  return { numbers: numbers.split('.').map(Number), isBefore: numbers !== '' && BEFORE.test(rest), rest }
}
/** Above 0: the first is newer. By their numbers, 1.10 is newer than 1.9; `2.0-rc1` comes before `2.0`. */
const newer = (one: string, other: string): number => {
  const [a, b] = [partsOf(one), partsOf(other)]
  for (let at = 0; at < Math.max(a.numbers.length, b.numbers.length); at++) {
    const difference = (a.numbers[at] ?? 0) - (b.numbers[at] ?? 0)
    if (difference !== 0) return difference
  }
  return Number(b.isBefore) - Number(a.isBefore) || a.rest.localeCompare(b.rest, 'en', { numeric: true })
}

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

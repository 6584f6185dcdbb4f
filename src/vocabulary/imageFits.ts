/**
 * Decides whether a bitstream is made for a piece of hardware, as far as both describe themselves (data-model.md 9.4).
 * Pure.
 *
 * IMAGE-FITS-1 `vendor`, `board`, `region_uuid`, `version` and `shell_id` of the image are compared with those of the
 *    hardware. A property that one of the two lacks is not compared (decision 0094): most cards do not name their
 *    board, and the card's own tool compares the file with the card as well;
 * IMAGE-FITS-2 an image whose `shell_id` is empty, or a word for nothing such as `null` or `N/A`, is a shell itself,
 *    which no driver loads (decision 0094): neither a bind nor an operator gets it loaded;
 * IMAGE-FITS-3 a bind does not load an image that divides the card into functions either: it would change the inventory
 *    of the resource provider that Nova has just chosen. Once an operator has loaded such an image, binds that ask for
 *    it get its functions (decision 0085).
 */
import type { ImageUuid } from './identifiers.ts'
import type { Image } from './images.ts'
import { topologyOf } from './topology.ts'
import { VENDOR_NAMES } from './vendors.ts'

export type Hardware = {
  /** PCI vendor id, with or without `0x`, or a name. */
  readonly vendor: string
  /** The first value of an attribute; null: the hardware does not have it. */
  readonly attribute: (key: string) => string | null
  /** The image that the hardware holds; null or absent: unknown. */
  readonly loaded?: ImageUuid | null
}
export type Purpose = 'bind' | 'program'

const NAMES: ReadonlySet<string> = new Set(Object.values(VENDOR_NAMES))
/** The present names of vendors that were bought, so that cards and images with either name fit each other. */
const NOW: Readonly<Record<string, string>> = { AMD: 'XILINX', ALTERA: 'INTEL' }
const plain = (text: string): string => text.trim().toLowerCase()

/** The vendor's name, for its PCI id or any spelling of its name; null: the vendor is unknown. */
export const vendorName = (given: string): string | null => {
  const text = plain(given).replace(/^0x/, '')
  const name = VENDOR_NAMES[text] ?? text.toUpperCase().split(/[^A-Z0-9]/, 1)[0]!
  return NOW[name] ?? (NAMES.has(name) ? name : null)
}

const isShell = (shell: string | undefined): boolean =>
  shell !== undefined && ['', 'null', 'none', 'nil', 'n/a', 'na', '-'].includes(plain(shell))

/**
 * Each property of an image, and the hardware attributes that it is compared with. Ids may be written with or without
 * hyphens.
 */
const COMPARED = [
  { property: 'board', attributes: ['board'], isId: false },
  { property: 'region_uuid', attributes: ['region_uuid'], isId: true },
  { property: 'version', attributes: ['version'], isId: false },
  { property: 'shell_id', attributes: ['shell_id', 'bs-uuid'], isId: true },
] as const

/** The attributes of hardware that an image is compared with. */
export const COMPARED_ATTRIBUTES: readonly string[] = COMPARED.flatMap(({ attributes }) => attributes)

/**
 * Whether the image divides the card into functions, so that its resource provider has another inventory afterwards.
 */
const divides = ({ properties }: Image): boolean => topologyOf(properties['topology']) !== null

/** Whether the image does not say which hardware it is for. */
export const isForAny = (image: Image): boolean =>
  !divides(image) &&
  image.properties['vendor'] === undefined &&
  COMPARED.every(({ property }) => image.properties[property] === undefined)

/** Why the image must not be loaded into the hardware, as a part of a sentence; null: it may be loaded. */
export const misfitOf = (image: Image, { vendor, attribute, loaded }: Hardware, purpose: Purpose): string | null => {
  const { properties, uuid } = image
  const [wanted, is] = [vendorName(properties['vendor'] ?? ''), vendorName(vendor)]
  if (wanted !== null && is !== null && wanted !== is)
    return `it is for vendor ${properties['vendor']}, and this is ${is}`
  // an image that the hardware already holds is not loaded again
  if (divides(image) && purpose === 'bind' && uuid !== loaded)
    return 'it divides the card into functions, so only an operator loads it'
  if (isShell(properties['shell_id'])) return 'it is a shell, which only the tool of its vendor loads'
  for (const { property, attributes, isId } of COMPARED) {
    const form = (text: string): string => (isId ? plain(text).replaceAll('-', '') : plain(text))
    const [asked, has] = [properties[property], attributes.map(attribute).find((value) => value !== null)]
    if (asked !== undefined && has && form(asked) !== form(has))
      return `it is for ${property} ${asked}, and this is ${has}`
  }
  return null
}

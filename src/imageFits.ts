/**
 * Whether a bitstream is made for a piece of hardware, as far as both say something of themselves (data-model.md 9.4). Pure.
 *
 * IMAGE-FITS-1 `vendor`, `board`, `region_uuid`, `version` and `shell_id` of the image are compared with what the hardware says. What one of the two does not
 *   say is not compared (decision 0074): most cards do not say their board, and the card's own tool compares the file with the card as well;
 * IMAGE-FITS-2 an image whose `shell_id` is empty or `null` is a shell itself: an operator loads it, no bind does;
 * IMAGE-FITS-3 nor does a bind load an image that divides the card into functions: the resource provider that Nova has chosen would get another
 *   inventory under its hands. Once such an image is loaded, binds that ask for it get its functions (decision 0085).
 */
import type { ImageUuid } from './identifiers.ts'
import type { Image } from './images.ts'
import { topologyOf } from './topology.ts'
import { VENDOR_NAMES } from './vendors.ts'

export type Hardware = {
  /** PCI vendor id, with or without `0x`, or a name. */
  readonly vendor: string
  /** The first value of an attribute; null: it has none. */
  readonly attribute: (key: string) => string | null
  /** The image that it holds, as far as that is known. */
  readonly loaded?: ImageUuid | null
}
export type Purpose = 'bind' | 'program'

const NAMES: ReadonlySet<string> = new Set(Object.values(VENDOR_NAMES))
/** What became of vendors that were bought: cards and images of both names go together. */
const NOW: Readonly<Record<string, string>> = { AMD: 'XILINX', ALTERA: 'INTEL' }
const plain = (text: string): string => text.trim().toLowerCase()

/** The vendor's name, by its PCI id or by any spelling of its name; null: nobody knows it. */
export const vendorName = (told: string): string | null => {
  const text = plain(told).replace(/^0x/, '')
  const name = VENDOR_NAMES[text] ?? text.toUpperCase().split(/[^A-Z0-9]/, 1)[0] ?? ''
  return NOW[name] ?? (NAMES.has(name) ? name : null)
}

const isShell = (shell: string | undefined): boolean =>
  shell !== undefined && ['', 'null', 'none'].includes(plain(shell))

/** Property of the image, and the attributes that may say the same of the hardware. Ids may be written with or without hyphens. */
const COMPARED = [
  { property: 'board', attributes: ['board'], isId: false },
  { property: 'region_uuid', attributes: ['region_uuid'], isId: true },
  { property: 'version', attributes: ['version'], isId: false },
  { property: 'shell_id', attributes: ['shell_id', 'bs-uuid'], isId: true },
] as const

/** Whether the image divides the card into functions, so that its resource provider has another inventory afterwards. */
const divides = ({ properties }: Image): boolean => topologyOf(properties['topology']) !== null

/** Whether the image says nothing of the hardware that it is for. */
export const isForAny = (image: Image): boolean =>
  !divides(image) &&
  image.properties['vendor'] === undefined &&
  COMPARED.every(({ property }) => image.properties[property] === undefined)

/** Why the image must not be loaded into the hardware, as a part of a sentence; null: nothing speaks against it. */
export const misfitOf = (image: Image, { vendor, attribute, loaded }: Hardware, purpose: Purpose): string | null => {
  const { properties, uuid } = image
  const [wanted, is] = [vendorName(properties['vendor'] ?? ''), vendorName(vendor)]
  if (wanted !== null && is !== null && wanted !== is)
    return `it is for vendor ${properties['vendor']}, and this is ${is}`
  const loadsShell = isShell(properties['shell_id'])
  // what it holds already is not loaded
  if (divides(image) && purpose === 'bind' && uuid !== loaded)
    return 'it divides the card into functions, so only an operator loads it'
  if (loadsShell && purpose === 'bind') return 'it is a shell, which only an operator loads'
  for (const { property, attributes, isId } of COMPARED) {
    if (property === 'shell_id' && loadsShell) continue
    const form = (text: string): string => (isId ? plain(text).replaceAll('-', '') : plain(text))
    const [asked, has] = [properties[property], attributes.map(attribute).find((value) => value !== null)]
    if (asked !== undefined && has && form(asked) !== form(has))
      return `it is for ${property} ${asked}, and this is ${has}`
  }
  return null
}

/**
 * Reads the description of an image in the format of Glance (Image API v2; data-model.md 9.1, 9.2), and decides whether
 * it is a bitstream.
 */
import * as v from 'valibot'
import { topologyProblem } from '../../topology.ts'
import { type Digest, type Image, type NoImage, FUNCTION_KEYS, functionsOf, noImage } from '../../images.ts'

const TEXT = v.nullish(v.string())
const BASE = v.looseObject({
  id: v.pipe(v.string(), v.uuid()),
  name: TEXT,
  status: v.string(),
  size: v.nullish(v.pipe(v.number(), v.integer(), v.minValue(0))),
  checksum: TEXT,
  os_hash_algo: TEXT,
  os_hash_value: TEXT,
  tags: v.nullish(v.array(v.string()), []),
})
type Base = v.InferOutput<typeof BASE>

/** The tag that every bitstream has. */
export const TAG = 'FPGA'
const PROPERTY_MAX = 65_535
const HEX = /^[0-9a-f]+$/

/** The accepted digest algorithms, by their names in Python, and the length of each digest in hexadecimal digits. */
const LENGTHS: Readonly<Record<string, number>> = {
  sha256: 64,
  sha384: 96,
  sha512: 128,
  sha3_256: 64,
  sha3_384: 96,
  sha3_512: 128,
}
const hex = (value: string | null | undefined, length: number | undefined): string | null => {
  const lower = value?.toLowerCase() ?? ''
  return lower.length === length && HEX.test(lower) ? lower : null
}
/** Prefers a strong digest; MD5 is used only if there is no other. */
const digestOf = ({ os_hash_algo: algorithm, os_hash_value: value, checksum }: Base): Digest | null => {
  const name = algorithm?.toLowerCase() ?? ''
  const strong = hex(value, LENGTHS[name])
  if (strong !== null) return { algorithm: name.replace('_', '-'), value: strong }
  const weak = hex(checksum, 32)
  return weak === null ? null : { algorithm: 'md5', value: weak }
}

const propertiesOf = (base: Base): Readonly<Record<string, string>> => ({
  ...Object.fromEntries(
    Object.entries(base).filter(
      (entry): entry is [string, string] => typeof entry[1] === 'string' && entry[1].length <= PROPERTY_MAX,
    ),
  ),
  // a null `shell_id` means that the image is a shell itself
  ...(base['shell_id'] === null ? { shell_id: '' } : {}),
})

/** Null: the JSON is not the description of an image. */
const readImage = (json: unknown): { readonly image: Image; readonly status: string } | null => {
  const parsed = v.safeParse(BASE, json)
  if (!parsed.success) return null
  const base = parsed.output
  const { id, name = null, size = null, tags, status } = base
  const image = { uuid: id.toLowerCase(), name, size, digest: digestOf(base), tags: tags ?? [] }
  return { image: { ...image, properties: propertiesOf(base) }, status }
}

/** The bitstream that a description stands for, or why it is not a bitstream. */
export const bitstreamIn = (json: unknown): { readonly found: true; readonly image: Image } | NoImage => {
  const read = readImage(json)
  if (read === null) return noImage('unusable', 'its description cannot be read')
  const { image, status } = read
  if (status !== 'active') return noImage('inactive', `its status is ${status}`)
  if (!image.tags.includes(TAG)) return noImage('unusable', `it does not have the tag ${TAG}`)
  if (functionsOf(image).length > 1) return noImage('unusable', `${FUNCTION_KEYS.join(' and ')} differ`)
  const problem = topologyProblem(image.properties['topology'] ?? '{}')
  return problem === null ? { found: true, image } : noImage('unusable', problem)
}

/** For each search, the properties to compare; an image is found if one of them matches. */
export const SEARCHED = {
  bitstream_name: ['bs-name', 'bs_name'],
  function_id: FUNCTION_KEYS,
  function_name: ['function_name'],
} as const

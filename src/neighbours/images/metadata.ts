/**
 * Reads the description of an image in the format of Glance (Image API v2; data-model.md 9.1, 9.2), and decides whether
 * it is a bitstream.
 */
import * as v from 'valibot'
import type { ImageSearch } from '../../actors/neighbours.ts'
import { isUuid } from '../../vocabulary/uuid.ts'
import { topologyProblem } from '../../vocabulary/topology.ts'
import { type Digest, type Image, type NoImage, FUNCTION_KEYS, functionsOf, noImage } from '../../vocabulary/images.ts'

const MUST_BE_TEXT = 'must be text'
const SIZE = 'must be a whole number of bytes'
const TEXT = v.nullish(v.string(MUST_BE_TEXT))
const BASE = v.looseObject(
  {
    id: v.pipe(v.string(MUST_BE_TEXT), v.uuid('must be a UUID')),
    name: TEXT,
    status: v.string(MUST_BE_TEXT),
    size: v.nullish(v.pipe(v.number(SIZE), v.integer(SIZE), v.minValue(0, SIZE))),
    checksum: TEXT,
    os_hash_algo: TEXT,
    os_hash_value: TEXT,
    tags: v.nullish(v.array(v.string(MUST_BE_TEXT), 'must be a list of texts'), []),
  },
  ({ expected }) => (expected === 'Object' ? 'must be an object' : 'must be there'),
)
type Base = v.InferOutput<typeof BASE>

/** The tag that every bitstream has. */
export const TAG = 'FPGA'
const PROPERTY_MAX = 65_535
/** The properties that mean something here (data-model.md 9.1), in each spelling. */
const KNOWN = [
  ...['bs-name', 'bs_name', 'bs-uuid', 'bs_uuid', 'vendor', 'board', 'shell_id', 'version', 'region_uuid'],
  ...['driver', 'driver_ver', 'driver_path', 'topology', 'description', 'function_name', ...FUNCTION_KEYS],
]
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
/** Prefers a strong digest; MD5 is used only if there is no other. Null: there is none. A text: why it is none. */
const digestOf = ({ os_hash_algo: algorithm, os_hash_value: value, checksum }: Base): Digest | string | null => {
  const name = algorithm?.toLowerCase() ?? ''
  const length = Object.hasOwn(LENGTHS, name) ? LENGTHS[name] : undefined
  const strong = hex(value, length)
  if (strong !== null) return { algorithm: name.replace('_', '-'), value: strong }
  if (length !== undefined) return `os_hash_value must be the ${length} hexadecimal digits of a ${name}`
  const weak = hex(checksum, 32)
  if (weak !== null) return { algorithm: 'md5', value: weak }
  if (algorithm || value) return `os_hash_algo must be one of ${Object.keys(LENGTHS).join(', ')}`
  return checksum ? 'checksum must be the 32 hexadecimal digits of an MD5' : null
}
/** Why a property cannot be used, with its name; null: all can. What no rule reads is not judged. */
const propertyProblem = (base: Base): string | null => {
  for (const key of KNOWN) {
    const value = base[key] ?? ''
    if (typeof value !== 'string') return `${key} ${MUST_BE_TEXT}`
    if (value.length > PROPERTY_MAX) return `${key} must not be longer than ${PROPERTY_MAX} characters`
  }
  return null
}

const propertiesOf = (base: Base): Readonly<Record<string, string>> => ({
  ...Object.fromEntries(
    Object.entries(base).filter(
      (entry): entry is [string, string] => typeof entry[1] === 'string' && entry[1].length <= PROPERTY_MAX,
    ),
  ),
  // a null `shell_id` means that the image is a shell itself
  ...(base['shell_id'] === null ? { shell_id: '' } : {}),
  ...canonical(base, 'bs-name', 'bs_name'),
  ...canonical(base, 'bs-uuid', 'bs_uuid'),
})
/** The property under the spelling by which it is read, where only the other one is there. */
const canonical = (base: Base, key: string, other: string): Readonly<Record<string, string>> => {
  const value = base[key] ?? base[other]
  return typeof value === 'string' && value.length <= PROPERTY_MAX ? { [key]: value } : {}
}

/** The bitstream that a description stands for, or why it is not a bitstream. */
export const bitstreamIn = (json: unknown): { readonly found: true; readonly image: Image } | NoImage => {
  const parsed = v.safeParse(BASE, json, { abortEarly: true })
  if (!parsed.success) {
    const [issue] = parsed.issues
    const said = [v.getDotPath(issue), issue.message].filter((text) => text !== null).join(' ')
    return noImage('unusable', `its description cannot be read: ${said}`)
  }
  const base = parsed.output
  const { id, name = null, size = null, tags, status } = base
  if (status !== 'active') return noImage('inactive', `its status is ${status}`)
  if (!(tags ?? []).includes(TAG)) return noImage('unusable', `it does not have the tag ${TAG}`)
  const digest = digestOf(base)
  const unreadable = propertyProblem(base) ?? (typeof digest === 'string' ? digest : null)
  if (unreadable !== null || typeof digest === 'string') return noImage('unusable', unreadable ?? '')
  const image = { uuid: id.toLowerCase(), name, size, digest, tags: tags ?? [], properties: propertiesOf(base) }
  if (functionsOf(image).length > 1) return noImage('unusable', `${FUNCTION_KEYS.join(' and ')} differ`)
  const problem = topologyProblem(image.properties['topology'] ?? '{}')
  return problem === null ? { found: true, image } : noImage('unusable', problem)
}

/** An image is found if one of these properties has the value beside it. */
export type Wanted = readonly (readonly [key: string, value: string])[]
const NAMES = ['bs-name', 'bs_name']
/** The suffixes that name a type of bitstream. */
const SUFFIXES = ['.gbs', '.xclbin', '.bin', '.bit', '.rbf', '.pdi']
const withOtherSuffix = (name: string): readonly string[] => {
  const suffix = SUFFIXES.find((one) => name.toLowerCase().endsWith(one))
  return suffix === undefined ? SUFFIXES.map((one) => `${name}${one}`) : [name.slice(0, -suffix.length)]
}
const each = (keys: readonly string[], values: readonly string[]): Wanted =>
  keys.flatMap((key) => values.map((value) => [key, value] as const))

/**
 * What a search compares, in order: the next are compared only where nothing was found before. A bitstream is named by
 * its property, or as the image is; the suffix of a name may be there or not. Stores compare letters, and a UUID may
 * have been written in either case.
 */
export const wantedBy = ({ by, value }: ImageSearch): readonly [Wanted, ...Wanted[]] => {
  if (by === 'function_name') return [[['function_name', value]]]
  if (by === 'function_id')
    return [
      each(
        FUNCTION_KEYS,
        isUuid(value.toLowerCase()) ? [...new Set([value, value.toLowerCase(), value.toUpperCase()])] : [value],
      ),
    ]
  return [each(NAMES, [value]), [['name', value]], each([...NAMES, 'name'], withOtherSuffix(value))]
}
export const isWanted = ({ properties }: Image, wanted: Wanted): boolean =>
  wanted.some(([key, value]) => properties[key] === value)
/** What a search compares, for people who miss an image. */
export const COMPARED_BY = {
  bitstream_name: 'bs-name and name, with and without a suffix such as .gbs, of ',
  function_id: '',
  function_name: '',
} as const satisfies Record<ImageSearch['by'], string>

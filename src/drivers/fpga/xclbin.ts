/**
 * The header of an image for AMD's Alveo cards (`xclbin`, struct `axlf` of XRT): 8 bytes that name the format, a
 * signature, and a header of 152 bytes that holds, among others, the UUID of the image.
 */
import { storable } from '../../vocabulary/text.ts'
import { canonicalUuid, isUuid } from '../../vocabulary/uuid.ts'

const MAGIC = Buffer.from('xclbin2\0')
const HEADER_AT = 304
const PLATFORM_AT = HEADER_AT + 48
const PLATFORM_BYTES = 64
const UUID_AT = PLATFORM_AT + PLATFORM_BYTES
const UUID_BYTES = 16
/** How much of a file is enough to read its header. */
export const XCLBIN_HEAD_BYTES = HEADER_AT + 152

export type XclbinHeader = {
  /** Lower case, with hyphens. */
  readonly uuid: string
  /** The platform that it was made for, such as `xilinx_u200_gen3x16_xdma_2_202110_1`; may be empty. */
  readonly platform: string
}

const NIL = '00000000-0000-0000-0000-000000000000'
/** Lower case with hyphens; null: the text is not a UUID, or is the nil UUID. */
export const imageUuid = (text: string): string | null => {
  const uuid = text.trim().toLowerCase()
  return isUuid(uuid) && uuid !== NIL ? uuid : null
}

/** Pure. Throws what is wrong with the beginning of the file. */
export const readXclbin = (head: Uint8Array): XclbinHeader => {
  const bytes = Buffer.from(head.buffer, head.byteOffset, head.byteLength)
  if (!bytes.subarray(0, MAGIC.length).equals(MAGIC)) throw new Error('is not an xclbin')
  if (bytes.length < XCLBIN_HEAD_BYTES) throw new Error('its header is cut off')
  const hex = bytes.subarray(UUID_AT, UUID_AT + UUID_BYTES).toString('hex')
  const uuid = imageUuid(canonicalUuid(hex)!)
  if (uuid === null) throw new Error('its header holds no UUID')
  const platform = bytes
    .subarray(PLATFORM_AT, PLATFORM_AT + PLATFORM_BYTES)
    .toString('utf8')
    .split('\0', 1)[0]!
  return { uuid, platform: storable(platform) }
}

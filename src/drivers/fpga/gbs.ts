/**
 * The header of an Intel FPGA bitstream (`.gbs`): 16 bytes that name the format, the length of a JSON text (4 bytes,
 * little endian), and that text. It says for which region the bitstream was made and which functions it holds. The form
 * is the one of the OPAE SDK (`packager`).
 */
import * as v from 'valibot'

/** The GUID `58656f6e-4650-4741-b747-425376303031` as it is stored: `XeonFPGA`, then `GBSv001` behind one byte. */
const MAGIC = Buffer.from('58656f6e46504741b747425376303031', 'hex')
const LENGTH_BYTES = 4
const HEADER_BYTES = MAGIC.length + LENGTH_BYTES
/** Longer texts are refused. */
const TEXT_MAX = 64 * 1024
/** How much of a file is enough to read its header. */
export const GBS_HEAD_BYTES = HEADER_BYTES + TEXT_MAX

export type GbsHeader = {
  /** 32 lower-case hex digits: the type of region that it was made for. */
  readonly region: string
  /** 32 lower-case hex digits each. */
  readonly functions: readonly string[]
}

/** Ids are compared without hyphens and in lower case; sysfs has no hyphens, the header has them. */
export const plainId = (id: string): string => id.replaceAll('-', '').trim().toLowerCase()

const Id = v.pipe(v.string(), v.maxLength(64), v.transform(plainId), v.regex(/^[0-9a-f]{32}$/))
const Header = v.pipe(
  v.string(),
  v.parseJson(),
  v.object({
    'afu-image': v.object({
      'interface-uuid': Id,
      // without a function there is nothing by which the card could show that it holds the image (INTEL-2)
      'accelerator-clusters': v.pipe(
        v.array(v.object({ 'accelerator-type-uuid': Id })),
        v.minLength(1, 'names no function'),
        v.maxLength(64),
      ),
    }),
  }),
)

/** Pure. Throws what is wrong with the beginning of the file. */
export const readGbs = (head: Uint8Array): GbsHeader => {
  const bytes = Buffer.from(head.buffer, head.byteOffset, head.byteLength)
  if (bytes.length < HEADER_BYTES || !bytes.subarray(0, MAGIC.length).equals(MAGIC))
    throw new Error('is not an Intel FPGA bitstream (GBS)')
  const length = bytes.readUInt32LE(MAGIC.length)
  if (length > TEXT_MAX || bytes.length < HEADER_BYTES + length)
    throw new Error('its header is cut off or longer than 64 KiB')
  const read = v.safeParse(Header, bytes.subarray(HEADER_BYTES, HEADER_BYTES + length).toString('utf8'), {
    abortEarly: true,
  })
  if (!read.success) {
    const [issue] = read.issues
    throw new Error(`its header cannot be read: ${v.getDotPath(issue) ?? 'JSON'}: ${issue.message}`)
  }
  const image = read.output['afu-image']
  return {
    region: image['interface-uuid'],
    functions: image['accelerator-clusters'].map((one) => one['accelerator-type-uuid']),
  }
}

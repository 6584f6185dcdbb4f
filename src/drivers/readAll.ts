/** Reads an open file to its end, within a limit. */

type OpenFile = { readonly read: (into: Buffer) => Promise<{ readonly bytesRead: number }> }
/** Most files are short, and a look at the hardware reads tens of thousands. */
const FIRST = 4 * 1024
const PORTION = 64 * 1024

export const readAll = async (file: OpenFile, path: string, maxBytes: number): Promise<string> => {
  const chunks: Buffer[] = []
  let room = Buffer.allocUnsafe(FIRST)
  // The size is counted while reading, because sysfs and procfs report no correct size.
  for (let bytes = 0; ;) {
    const { bytesRead } = await file.read(room)
    if (bytesRead === 0) return Buffer.concat(chunks).toString('utf8')
    bytes += bytesRead
    if (bytes > maxBytes) throw new Error(`${path}: must not be longer than ${maxBytes} bytes`)
    chunks.push(room.subarray(0, bytesRead))
    room = bytesRead < room.length ? room.subarray(bytesRead) : Buffer.allocUnsafe(PORTION)
  }
}

/** Reads on until it has enough or the file ends: one read may give less. */
export const readStart = async (
  file: { readonly read: (buffer: Uint8Array, at: number, bytes: number) => Promise<{ readonly bytesRead: number }> },
  bytes: number,
): Promise<Uint8Array> => {
  const buffer = Buffer.alloc(bytes)
  for (let at = 0; ;) {
    const { bytesRead } = await file.read(buffer, at, bytes - at)
    at += bytesRead
    if (bytesRead === 0 || at === bytes) return buffer.subarray(0, at)
  }
}

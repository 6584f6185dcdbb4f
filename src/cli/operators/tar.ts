/** Writes small text files as one archive in the format ustar. Pure. */

export type TextFile = { readonly name: string; readonly text: string }

const BLOCK = 512
const NAME_MAX = 100
const MODE = 0o600
const CHECKSUM = { at: 148, length: 8 }

const octal = (value: number, length: number): string => `${value.toString(8).padStart(length - 1, '0')}\0`

const headerOf = (name: string, size: number, seconds: number): Buffer => {
  if (Buffer.byteLength(name) >= NAME_MAX) throw new Error(`a name in an archive must be shorter: ${name}`)
  const header = Buffer.alloc(BLOCK)
  header.write(name, 0)
  header.write(octal(MODE, 8), 100)
  header.write(octal(0, 8), 108)
  header.write(octal(0, 8), 116)
  header.write(octal(size, 12), 124)
  header.write(octal(seconds, 12), 136)
  header.write('0', 156)
  header.write('ustar\0', 257)
  header.write('00', 263)
  // the checksum is computed with blanks in its own place
  header.fill(' ', CHECKSUM.at, CHECKSUM.at + CHECKSUM.length)
  const sum = header.reduce((total, byte) => total + byte, 0)
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, CHECKSUM.at)
  return header
}

/** `at`: when the files were made, ms since the epoch. */
export const tarOf = (files: readonly TextFile[], at: number): Buffer => {
  const parts = files.flatMap(({ name, text }) => {
    const content = Buffer.from(text)
    const padding = Buffer.alloc((BLOCK - (content.length % BLOCK)) % BLOCK)
    return [headerOf(name, content.length, Math.floor(at / 1000)), content, padding]
  })
  return Buffer.concat([...parts, Buffer.alloc(2 * BLOCK)])
}

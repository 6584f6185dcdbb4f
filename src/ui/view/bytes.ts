/** Text from outside as people can read it safely: with what is invisible made visible, or in hexadecimal. */

/** Lines and tabs stay; every other character that is invisible or changes what stands around it is written out. */
export const visible = (text: string): string =>
  text.replaceAll(
    /(?![\n\t])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu,
    (each) => `\\u{${each.codePointAt(0)!.toString(16).toUpperCase()}}`,
  )

const PER_LINE = 16
const printable = (byte: number): string => (byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : '.')
/** The UTF-8 of the text: sixteen bytes in a line, after their place and before their characters. */
export const hexOf = (text: string): string => {
  const bytes = new TextEncoder().encode(text)
  const lines: string[] = []
  for (let at = 0; at < bytes.length; at += PER_LINE) {
    const some = [...bytes.subarray(at, at + PER_LINE)]
    const digits = some.map((byte) => byte.toString(16).padStart(2, '0')).join(' ')
    lines.push(
      `${at.toString(16).padStart(8, '0')}  ${digits.padEnd(3 * PER_LINE - 1)}  ${some.map(printable).join('')}`,
    )
  }
  return lines.join('\n')
}

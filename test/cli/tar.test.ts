/** The archive of a support bundle: every byte of its heads, as the format ustar says. */
import { expect, test } from 'vitest'
import { tarOf } from '../../src/cli/operators/tar.ts'

const AT = Date.UTC(2026, 0, 2, 3, 4, 5, 678)
/** The fields of a head: name, place, length. */
const FIELDS = [
  ['name', 0, 100],
  ['mode', 100, 8],
  ['uid', 108, 8],
  ['gid', 116, 8],
  ['size', 124, 12],
  ['mtime', 136, 12],
  ['checksum', 148, 8],
  ['typeflag', 156, 1],
  ['linkname', 157, 100],
  ['magic', 257, 6],
  ['version', 263, 2],
  ['rest', 265, 247],
] as const
const headAt = (archive: Buffer, at: number): Readonly<Record<string, string>> =>
  Object.fromEntries(
    FIELDS.map(([name, from, length]) => {
      const text = archive.toString('latin1', at + from, at + from + length)
      return [name, text.replace(/\0+$/, (zeros) => `+${zeros.length}`)]
    }),
  )

test('each file has a head, its content in blocks of 512 bytes, and two empty blocks end the archive', () => {
  const archive = tarOf(
    [
      { name: 'a.txt', text: 'ä\n' },
      { name: 'b.txt', text: 'x'.repeat(512) },
      { name: 'empty', text: '' },
    ],
    AT,
  )
  expect(archive.length).toBe(512 * 7)
  expect(headAt(archive, 0)).toEqual({
    name: 'a.txt+95',
    mode: '0000600+1',
    uid: '0000000+1',
    gid: '0000000+1',
    size: '00000000003+1',
    mtime: '15125632645+1',
    checksum: expect.stringMatching(/^[0-7]{6}\0 $/),
    typeflag: '0',
    linkname: '+100',
    magic: 'ustar+1',
    version: '00',
    rest: '+247',
  })
  expect(archive.toString('utf8', 512, 1024)).toBe(`ä\n${'\0'.repeat(509)}`)
  expect(headAt(archive, 1024)).toMatchObject({ name: 'b.txt+95', size: '00000001000+1' })
  expect(archive.toString('utf8', 1536, 2048)).toBe('x'.repeat(512))
  expect(headAt(archive, 2048)).toMatchObject({ name: 'empty+95', size: '00000000000+1' })
  expect(archive.subarray(2560).every((byte) => byte === 0)).toBe(true)
})
test('the checksum of a head is the sum of its bytes, with blanks in the place of the checksum', () => {
  const head = tarOf([{ name: 'a.txt', text: 'abc' }], AT).subarray(0, 512)
  const checksum = head.toString('latin1', 148, 156)
  head.fill(' ', 148, 156)
  const sum = head.reduce((all, byte) => all + byte, 0)
  expect(checksum).toBe(`${sum.toString(8).padStart(6, '0')}\0 `)
})
test('a name may have 99 bytes, not 100', () => {
  const named = (name: string) => () => tarOf([{ name, text: '' }], AT)
  expect(headAt(named('n'.repeat(99))(), 0)).toMatchObject({ name: `${'n'.repeat(99)}+1` })
  expect(named('n'.repeat(100))).toThrow('a name in an archive must be shorter')
  expect(named('ä'.repeat(50))).toThrow('a name in an archive must be shorter')
})

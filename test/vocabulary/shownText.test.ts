/** Text of others on a terminal. */
import { expect, test } from 'vitest'
import { inOneLine, visibleJson } from '../../src/vocabulary/text.ts'

const SEQUENCE = 'a\u001B[2J\u009Bb\u202Ec\u2028d\u{E0041}e\ud800f'

test('a line has no characters that are not seen', () => expect(inOneLine(SEQUENCE)).toBe('a [2J b c d e\ufffdf'))

test.each([[SEQUENCE], [{ 'k\u0085': [SEQUENCE, 1, null] }], ['\u00e9\u4e2d\u{1f600}']])(
  'JSON says the same, and shows them as escape sequences: %j',
  (value) => {
    const text = visibleJson(value)
    expect(JSON.parse(text)).toEqual(value)
    expect(text).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u)
  },
)
test('characters that are seen stay as they are, and so do the lines of indented JSON', () => {
  expect(visibleJson('\u00e9\u4e2d\u{1f600}')).toBe('"\u00e9\u4e2d\u{1f600}"')
  expect(visibleJson({ a: [1] }, 2)).toBe('{\n  "a": [\n    1\n  ]\n}')
})

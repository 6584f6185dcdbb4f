/** Values that stores cannot hold: how deep they are looked for, and by what name they are told. */
import { describe, expect, test } from 'vitest'
import { problemIn } from '../../src/http/guard.ts'

const nested = (levels: number, inner: unknown): unknown => (levels === 0 ? inner : { a: nested(levels - 1, inner) })
const flaw = (field: string, rule: string) => ({ ok: false, fault: { kind: 'invalid', field, rule } })
const NUL = 'it holds a NUL character'
const DEEP = 'it is nested deeper than 16 levels'

test.each([0, '', 'a', null, true, [], {}, { a: [{ b: 1.5 }] }, nested(16, 'a')])('%j may be kept', (value) =>
  expect(problemIn(value)).toBe(null),
)

describe('a value that may not be kept is refused with its place and the reason', () => {
  test.each<[value: unknown, field: string, rule: string]>([
    ['\0', 'body', NUL],
    [{ a: 'b', c: ['d', 'e\0'] }, 'c[1]', NUL],
    [[{ a: { b: '\0' } }], '[0].a.b', NUL],
    [{ 'a\0b': 1 }, 'a\ufffdb', `${NUL} in its name`],
    [{ ['n'.repeat(61)]: '\0' }, 'n'.repeat(60), NUL],
    [{ a: Number.POSITIVE_INFINITY }, 'a', 'the number is too large'],
    [nested(17, 'a'), Array.from({ length: 16 }, () => 'a').join('.'), DEEP],
    [nested(16, []), Array.from({ length: 16 }, () => 'a').join('.'), DEEP],
  ])('%j at %s, since %s', (value, field, rule) => expect(problemIn(value)).toEqual(flaw(field, rule)))
})

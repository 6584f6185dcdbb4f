/** Which values every store can hold, and what it says of others; the canonical text of the rows of a view. */
import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import type { ViewChange } from '../../src/actors/runtime/views.ts'
import { drop, put } from '../../src/actors/runtime/views.ts'
import { misfitByCode, misfitOf } from '../../src/persistence/misfit.ts'
import {
  baseOf,
  dumpedViews,
  dumpLine,
  fits,
  lastChanges,
  nullable,
  uniqueRule,
  viewNames,
} from '../../src/persistence/rules.ts'
import * as sample from './samples.ts'

const UUID = '00000000-0000-4000-8000-00000000000a'

test.each([
  ['uuid', [UUID, UUID.toUpperCase()], [`x${UUID}`, `${UUID}0`, UUID.replaceAll('-', ''), 'none', '', 7]],
  ['text', ['', 'a', 'ü 😀', '\u0007'], ['nul \0', 'half \ud83d', 7, true, {}]],
  ['int', [0, 7, -7, 2_147_483_647, -2_147_483_648], [2_147_483_648, -2_147_483_649, 0.5, Number.NaN, '7', true]],
  ['bigint', [0, 9_007_199_254_740_991, -9_007_199_254_740_991], [9_007_199_254_740_992, 0.5, Infinity, '7', true]],
  ['bool', [true, false], [0, 1, 'true', {}]],
  ['json', [], [{}, [], 'a', 7, true]],
] as const)('a column of the type %s can be compared with what it can hold', (base, held, others) => {
  expect(held.map((value) => fits(base, value))).toEqual(held.map(() => true))
  expect(others.map((value) => fits(base, value))).toEqual(others.map(() => false))
})

test('a kind of column is its type, and whether it may be empty', () => {
  expect((['text', 'text?', 'uuid?', 'json'] as const).map((kind) => [baseOf(kind), nullable(kind)])).toEqual([
    ['text', false],
    ['text', true],
    ['uuid', true],
    ['json', false],
  ])
  expect(uniqueRule('handles', ['deployable_uuid', 'canonical'])).toBe('handles_deployable_uuid_canonical_unique')
})

const TEXT = 'must not hold a NUL character or half of a surrogate pair'
const INT = 'must be a whole number from -2147483648 to 2147483647'
const arq = (over: object): ViewChange => put('arqs', { ...sample.arqRow(), ...over })
const profile = (over: object): ViewChange => put('profiles', { ...sample.profileRow('p'), ...over })

test.each([
  ['an empty value where none may be', profile({ name: null }), 'profiles.name', 'must not be empty'],
  ['a column that is left out', profile({ version: undefined }), 'profiles.version', 'must not be empty'],
  ['text that is no Unicode', profile({ description: '\ud83d' }), 'profiles.description', TEXT],
  ['a number where text must be', arq({ hostname: 7 }), 'arqs.hostname', TEXT],
  ['a number that is too large', arq({ group_id: 2_147_483_648 }), 'arqs.group_id', INT],
  ['half a moment', arq({ created_at: 0.5 }), 'arqs.created_at', 'must be a whole number of at most 15 digits'],
  ['a word for yes', profile({ enabled: 'yes' }), 'profiles.enabled', 'must be true or false'],
  ['a NUL character in JSON', arq({ group: { a: '\0' } }), 'text', TEXT],
] as const)('an append with %s is refused with the field and the rule', (_, change, field, rule) => {
  const fine = [arq({}), drop('profiles', UUID), arq({ reason: null, group_id: -2_147_483_648 })]
  expect(misfitOf({ rows: [], changes: [...fine, change] })).toEqual({ kind: 'invalid', field, rule })
  expect(misfitOf({ rows: [], changes: fine })).toBeNull()
})

test('of several values that no store can hold the first is named', () => {
  const changes = [profile({ enabled: 1, version: 0.5, name: null }), arq({ group_id: 0.5 })]
  expect(misfitOf({ rows: [], changes })).toMatchObject({ field: 'profiles.name' })
})

test('text of the journal is judged as well', () => {
  const [row] = sample.one('arq/1', 1).rows
  expect(misfitOf({ rows: [row!], changes: [arq({})] })).toBeNull()
  const bad = { ...row!, key: 'arq/\ude00' }
  expect(misfitOf({ rows: [row!, bad], changes: [] })).toEqual({ kind: 'invalid', field: 'text', rule: TEXT })
})

test('a value that only the database refuses is named by the class of its code', () => {
  const rules = ['21000', '22001', '23514', '44000', '54000'].map((code) => misfitByCode(code)?.rule)
  expect(rules).toEqual([
    'is not a value that the database takes (SQLSTATE 21000)',
    'is not a value that the database takes (SQLSTATE 22001)',
    'breaks a rule of the database (SQLSTATE 23514)',
    'breaks a rule of the database (SQLSTATE 44000)',
    'is larger than the database takes (SQLSTATE 54000)',
  ])
  expect(misfitByCode('22001')).toMatchObject({ kind: 'invalid', field: 'a value' })
  expect(['42P01', '02200', '', '2'].map(misfitByCode)).toEqual([null, null, null, null])
})

test('of several changes of a row the last counts, at its place among the others', () => {
  const [one, other] = [randomUUID(), randomUUID()]
  const [first, last] = [put('profiles', sample.profileRow('first', one)), put('profiles', sample.profileRow('x', one))]
  const between = drop('profiles', other)
  // the same key in another view is another row
  const elsewhere = drop('arqs', one)
  expect(lastChanges([first, between, elsewhere, last])).toEqual([between, elsewhere, last])
  expect(lastChanges([])).toEqual([])
})

test('the text of a row depends neither on the order of its members nor on that of what they hold', () => {
  const one = { b: [{ d: 1, c: null }, 'x'], a: { z: true, y: { x: 2, w: 3 } } }
  const other = { a: { y: { w: 3, x: 2 }, z: true }, b: [{ c: null, d: 1 }, 'x'] }
  const line = 'arqs {"a":{"y":{"w":3,"x":2},"z":true},"b":[{"c":null,"d":1},"x"]}'
  expect([dumpLine('arqs', one), dumpLine('arqs', other)]).toEqual([line, line])
  // the order of a list counts
  expect(dumpLine('arqs', { ...one, b: one.b.toReversed() })).not.toBe(line)
  expect(viewNames.filter((name) => !dumpedViews.includes(name))).toEqual(['snapshots'])
  expect(dumpedViews.length).toBe(viewNames.length - 1)
})

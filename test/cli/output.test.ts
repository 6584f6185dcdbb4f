/** What each format writes of a result, and with which codes commands end. */
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { API_EXITS, EXITS, exitOfStatus, Failure, misused, USUAL_EXITS } from '../../src/cli/exits.ts'
import {
  type Columns,
  columnsOf,
  FORMATS,
  type OutputFlags,
  type Result,
  rendered as renderedFor,
  rowLines,
} from '../../src/cli/output.ts'

type Thing = { readonly name: string; readonly size: number | null; readonly inner: { readonly note: string } }
const THINGS: readonly Thing[] = [
  { name: 'b', size: 10, inner: { note: 'one, "two"' } },
  { name: 'a', size: 9, inner: { note: '=1+1' } },
  { name: 'c', size: null, inner: { note: 'tab\there' } },
]
const COLUMNS: Columns<Thing> = [
  { name: 'name', of: ({ name }) => name },
  { name: 'size_gb', head: 'size', of: ({ size }) => size },
  { name: 'note', of: ({ inner }) => inner.note },
]
const LIST = { document: { things: THINGS }, rows: THINGS, columns: COLUMNS }
const ONE = { document: THINGS[0], rows: THINGS.slice(0, 1), columns: COLUMNS, one: true } as const
/** At a terminal. */
const rendered = <Row>(result: Result<Row>, flags: OutputFlags) => renderedFor(result, flags, true)
/** In a pipe or a file. */
const piped = <Row>(result: Result<Row>, flags: OutputFlags = {}) => renderedFor(result, flags, false)
const text = (...lines: readonly string[]) => lines.join('\n')

test('a table of a list, and the fields of one object', () => {
  expect(rendered({ ...LIST, rows: THINGS.slice(0, 1) }, {})).toEqual(['NAME  SIZE  NOTE', 'b     10    one, "two"'])
  expect(rendered(ONE, {})).toEqual(['name   b', 'size   10', 'note   one, "two"'])
})
test('what people read instead, unless they ask for columns', () => {
  const withText = { ...LIST, text: () => ['three things'] }
  expect(rendered(withText, {})).toEqual(['three things'])
  expect(rendered(withText, { format: 'table', column: ['name'] })).toEqual(['NAME', 'b', 'a', 'c'])
})
test('without a terminal the same columns, with one tab between them and no padding', () => {
  expect(piped(LIST)).toEqual(['NAME\tSIZE\tNOTE', 'b\t10\tone, "two"', 'a\t9\t=1+1', 'c\t-\ttab here'])
  expect(piped(ONE)).toEqual(['name\tb', 'size\t10', 'note\tone, "two"'])
  expect(piped({ ...LIST, rows: [] })).toEqual(['NAME\tSIZE\tNOTE'])
  expect(piped(LIST, { column: ['name'] })).toEqual(['NAME', 'b', 'a', 'c'])
})
test('what is asked for by name is the same in a pipe as at a terminal', () => {
  for (const format of FORMATS) expect(piped(LIST, { format })).toEqual(rendered(LIST, { format }))
  expect(piped(LIST, { json: true })).toEqual(rendered(LIST, { json: true }))
})
test('a text is for terminals, and a report is the same everywhere', () => {
  const withText = { ...LIST, text: () => ['three things'] }
  expect(piped(withText)[0]).toBe('NAME\tSIZE\tNOTE')
  expect(piped({ ...withText, report: true })).toEqual(['three things'])
  expect(piped({ ...withText, report: true }, { column: ['name'] })).toEqual(['NAME', 'b', 'a', 'c'])
  expect(rendered({ ...withText, report: true }, { format: 'csv' })[0]).toBe('name,size_gb,note')
})
test('a single object has further fields for people, and not where columns are named', () => {
  const more = { ...ONE, more: { colour: 'red', shape: null } }
  expect(rendered(more, {}).slice(-2)).toEqual(['colour  red', 'shape   -'])
  expect(piped(more).slice(-2)).toEqual(['colour\tred', 'shape\t-'])
  expect(piped(more, { column: ['name'] })).toEqual(['name\tb'])
  expect(piped(more, { format: 'value' })).toHaveLength(3)
})
test('--no-header leaves out the names, and nothing else', () => {
  const header = false
  expect(rendered(LIST, { header })).toEqual(rendered(LIST, {}).slice(1))
  expect(rendered(LIST, { header, format: 'csv' })).toEqual(rendered(LIST, { format: 'csv' }).slice(1))
  expect(piped(LIST, { header })).toEqual(piped(LIST).slice(1))
  expect(piped(ONE, { header })).toEqual(piped(ONE))
  for (const format of ['json', 'jsonl', 'yaml', 'value'] as const)
    expect(rendered(LIST, { header, format })).toEqual(rendered(LIST, { format }))
  // whoever wants rows without a head wants rows
  expect(rendered({ ...LIST, text: () => ['three things'] }, { header })).toEqual(rendered(LIST, { header }))
})

test('rows of a list without an end are written as the whole list would be', () => {
  const line = ({ name }: Thing) => `thing ${name}`
  const written = (flags: OutputFlags, terminal: boolean) => {
    const lines = rowLines(COLUMNS, line, flags, terminal)!
    return [...THINGS.flatMap((thing) => lines.of(thing, undefined)), ...lines.end()]
  }
  for (const flags of [{}, { column: ['note'] }, { header: false }]) {
    expect(written(flags, false)).toEqual(piped(LIST, flags))
    for (const format of ['jsonl', 'csv', 'value'] as const)
      expect(written({ ...flags, format }, true)).toEqual(rendered(LIST, { ...flags, format }))
  }
  expect(written({}, true)).toEqual(['thing b', 'thing a', 'thing c'])
  expect(written({ json: true }, true)).toEqual(rendered(LIST, { format: 'jsonl' }))
  // no row has come: the names are still there
  expect(rowLines(COLUMNS, line, {}, false)!.end()).toEqual(['NAME\tSIZE\tNOTE'])
  for (const flags of [{ format: 'json' }, { format: 'yaml' }, { sortColumn: 'name' }] as const)
    expect(rowLines(COLUMNS, line, flags, true)).toBeNull()
})

test('json, jsonl and yaml have the fields of the API, or the columns that are named', () => {
  expect(JSON.parse(text(...rendered(LIST, { format: 'json' })))).toEqual(THINGS)
  expect(JSON.parse(text(...rendered(ONE, { format: 'json' })))).toEqual(THINGS[0])
  expect(rendered(LIST, { format: 'jsonl' }).map((line) => JSON.parse(line) as unknown)).toEqual(THINGS)
  expect(parse(text(...rendered(LIST, { format: 'yaml' })))).toEqual(THINGS)
  expect(JSON.parse(text(...rendered(LIST, { format: 'json', column: ['size_gb'] })))).toEqual([
    { size_gb: 10 },
    { size_gb: 9 },
    { size_gb: null },
  ])
})
test('csv quotes, and makes no formulas', () => {
  expect(rendered(LIST, { format: 'csv' })).toEqual([
    'name,size_gb,note',
    'b,10,"one, ""two"""',
    "a,9,'=1+1",
    'c,,tab\there',
  ])
})
test.each([
  ['=1', "'=1"],
  ['+1', "'+1"],
  ['-1', "'-1"],
  ['@a', "'@a"],
  ['\ta', "'\ta"],
  ['a=1', 'a=1'],
  ['a\nb', '"a\nb"'],
  ['a\rb', '"a\rb"'],
  ['"', '""""'],
  ['', ''],
])('csv writes %j as %j', (note, written) => {
  const rows = [{ name: 'a', size: -1, inner: { note } }]
  expect(rendered({ document: rows, rows, columns: COLUMNS }, { format: 'csv', header: false })).toEqual([
    `a,-1,${written}`,
  ])
})
test('fields of the API as columns: lists of words, objects, and what is not there', () => {
  type Row = { readonly a: unknown; readonly b_c: unknown }
  const columns = columnsOf<Row>(['a', 'b_c'], { a: 'first' })
  expect(columns.map(({ name, head }) => [name, head])).toEqual([
    ['a', 'first'],
    ['b_c', undefined],
  ])
  const cells = (a: unknown, b: unknown) => columns.map(({ of }) => of({ a, b_c: b }))
  expect(cells(['x', 'y'], [])).toEqual(['x y', ''])
  expect(cells(['x', 1], { d: 'e' })).toEqual(['["x",1]', '{"d":"e"}'])
  expect(cells(null, undefined)).toEqual([null, null])
  expect(cells(0, false)).toEqual([0, false])
})
test('rows without a value come last, and rows that are alike stay in their order', () => {
  const rows = [
    { at: 1, by: null },
    { at: 2, by: 'b' },
    { at: 3, by: undefined },
    { at: 4, by: 'a' },
    { at: 5, by: 'b' },
    { at: 6, by: 10 },
    { at: 7, by: 9 },
    { at: 8, by: true },
    { at: 9, by: 'z' },
  ]
  const columns: Columns<(typeof rows)[number]> = [
    { name: 'at', of: ({ at }) => at },
    { name: 'by', of: ({ by }) => by },
  ]
  const inOrder = (sortColumn: string) =>
    rendered({ document: rows, rows, columns }, { format: 'value', column: ['at'], sortColumn }).join('')
  expect([inOrder('by'), inOrder('at:desc')]).toEqual(['764258913', '987654321'])
})
test.each([null, undefined])('a missing value comes after every text, wherever its row is: %s', (none) => {
  const byText = (...values: readonly (string | null | undefined)[]) => {
    const rows = values.map((value, at) => ({ value, at }))
    const columns: Columns<(typeof rows)[number]> = [
      { name: 'at', of: ({ at }) => at },
      { name: 'value', of: ({ value }) => value },
    ]
    return rendered({ document: rows, rows, columns }, { format: 'value', column: ['at'], sortColumn: 'value' }).join(
      '',
    )
  }
  expect([byText(none, 'zz'), byText('zz', none), byText('zz', none, 'a')]).toEqual(['10', '01', '201'])
})
test('the end of a list that is written row by row has the names once, and a table of named columns has tabs', () => {
  const lines = rowLines(COLUMNS, () => 'never', { format: 'table', column: ['name', 'size_gb'] }, true)!
  expect([lines.of(THINGS[0]!, undefined), lines.of(THINGS[2]!, undefined), lines.end()]).toEqual([
    ['NAME\tSIZE', 'b\t10'],
    ['c\t-'],
    [],
  ])
})
test('value writes values alone, and no tab that is not between two', () => {
  expect(rendered(LIST, { format: 'value', column: ['name', 'note'] })).toEqual([
    'b\tone, "two"',
    'a\t=1+1',
    'c\ttab here',
  ])
  expect(rendered(ONE, { format: 'value', column: ['name', 'size_gb'] })).toEqual(['b', '10'])
})
test.each([
  ['size_gb', ['a', 'b', 'c']],
  ['size_gb:desc', ['c', 'b', 'a']],
  ['name', ['a', 'b', 'c']],
])('--sort-column %s', (sortColumn, names) => {
  expect(rendered(LIST, { format: 'value', column: ['name'], sortColumn })).toEqual(names)
})
test('--limit counts after the order; --json is the whole document', () => {
  const asked = { format: 'value', column: ['name'], sortColumn: 'name', limit: '2' } as const
  expect(rendered(LIST, { ...asked, limit: '1' })).toEqual(['a'])
  expect(rendered(LIST, { ...asked, limit: '1000000' })).toEqual(['a', 'b', 'c'])
  expect(rendered(LIST, asked)).toEqual(['a', 'b'])
  expect(JSON.parse(text(...rendered(LIST, { ...asked, json: true })))).toEqual({ things: THINGS })
})
test.each([
  [{ column: ['size'] }, '--column: must be one of name, size_gb, note (is size)'],
  [{ sortColumn: 'size' }, '--sort-column: must be one of name, size_gb, note (is size)'],
  [{ sortColumn: 'name:up' }, '--sort-column: must be NAME or NAME:desc (is name:up)'],
  [{ sortColumn: 'name:desc:desc' }, '--sort-column: must be NAME or NAME:desc (is name:desc:desc)'],
  [{ limit: '1000001' }, '--limit: must be a whole number from 1 to 1000000 (is 1000001)'],
  [{ limit: '1.5' }, '--limit: must be a whole number from 1 to 1000000 (is 1.5)'],
  [{ limit: '0' }, '--limit: must be a whole number from 1 to 1000000 (is 0)'],
])('%j is refused in every format', (flags, why) => {
  for (const format of FORMATS)
    expect(() => rendered(LIST, { format, ...flags })).toThrow(expect.objectContaining({ message: why, exit: 'usage' }))
})

test('a failure is its sentence, with what is known of it, and what has caused it', () => {
  const about = { next: 'accelerando doctor', requestId: 'req-1', about: 'a page' }
  const cause = new Error('no route')
  const whole = new Failure('unreached', 'it is away', { ...about, cause })
  expect(whole).toMatchObject({
    ...about,
    ...{ name: 'Failure', exit: 'unreached', message: 'it is away', cause },
  })
  expect(Object.hasOwn(new Failure('failed', 'no'), 'cause')).toBe(false)
  expect(misused('no such file', cause)).toMatchObject({ exit: 'usage', message: 'no such file', cause })
})
test('no code has two meanings, and what commands share is in the table', () => {
  const codes = Object.values(EXITS).map(({ code }) => code)
  expect(codes).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 130])
  expect([...USUAL_EXITS, ...API_EXITS].every((name) => name in EXITS)).toBe(true)
})
test.each([
  [400, 'usage'],
  [401, 'denied'],
  [403, 'denied'],
  [404, 'notFound'],
  [409, 'conflict'],
  [418, 'failed'],
  [423, 'conflict'],
  [429, 'unreached'],
  [500, 'failed'],
  [502, 'unreached'],
  [503, 'unreached'],
  [504, 'unreached'],
])('an answer %i ends with %s', (status, exit) => expect(exitOfStatus(status)).toBe(exit))

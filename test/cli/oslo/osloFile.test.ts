/**
 * How the files of Nova's configuration are read. What is expected here is what oslo.config 10 makes of the same text.
 */
import { expect, test } from 'vitest'
import { readOslo } from '../../../src/cli/oslo/osloFile.ts'
import { settingsOf } from '../../../src/cli/oslo/settings.ts'

const FILE = '/etc/nova/nova.conf'
const read = (...lines: readonly string[]) => readOslo(lines.join('\n'), FILE)
const given = (...lines: readonly string[]) =>
  read(...lines).assignments.map(({ section, key, value, at }) => [`${section}.${key}`, value, at.split(':')[1]])

test('sections, repeated keys, both signs, comments, quotes and spaces', () => {
  expect(
    given(
      '# a comment',
      '[DEFAULT]',
      'debug=true',
      '; another one',
      '[PCI]',
      'device_spec = {"vendor_id":"8086"}  ',
      'device_spec: {"vendor_id":"10de"}',
      '#device_spec = {"vendor_id":"dead"}',
      'alias = "quoted # not a comment"',
      "other = 'it''s'",
      'odd = "open',
      'empty =',
    ),
  ).toEqual([
    ['DEFAULT.debug', 'true', '3'],
    ['pci.device_spec', '{"vendor_id":"8086"}', '6'],
    ['pci.device_spec', '{"vendor_id":"10de"}', '7'],
    ['pci.alias', 'quoted # not a comment', '9'],
    ['pci.other', "it''s", '10'],
    ['pci.odd', '"open', '11'],
    ['pci.empty', '', '12'],
  ])
})

test('a line that begins with a space goes on with the value before it, until an empty line', () => {
  expect(
    given('[pci]', 'device_spec = [', '  {"vendor_id": "8086"},', '\t# no comment here', '  ]', '', 'a = b'),
  ).toEqual([
    ['pci.device_spec', '[\n{"vendor_id": "8086"},\n# no comment here\n]', '2'],
    ['pci.a', 'b', '7'],
  ])
})

test('lines end with or without a carriage return', () => {
  expect(readOslo('[pci]\r\na = 1\r\n 2\r\nb = 3', FILE).assignments.map(({ value }) => value)).toEqual(['1\n2', '3'])
})

test('what the services would refuse is named with its line and its rule, and the rest is read', () => {
  const { assignments, problems } = read(
    'a = 1',
    ' continued',
    '[pci',
    '[]',
    '[pci]',
    'nothing',
    '= 2',
    'b = 3',
    '',
    ' too late',
  )
  expect(assignments).toMatchObject([{ section: 'pci', key: 'b', value: '3' }])
  expect(problems).toEqual([
    { at: `${FILE}:1`, rule: 'a must stand in a section' },
    { at: `${FILE}:2`, rule: 'the line continues nothing: it must not begin with a space' },
    { at: `${FILE}:3`, rule: 'a section must have the form [name]' },
    { at: `${FILE}:4`, rule: 'a section must have the form [name]' },
    { at: `${FILE}:6`, rule: 'the line must be a section, a comment, or have = or :' },
    { at: `${FILE}:7`, rule: 'the line must have a key before its = or :' },
    { at: `${FILE}:10`, rule: 'the line continues nothing: it must not begin with a space' },
  ])
})

const settings = (...files: readonly (readonly string[])[]) =>
  settingsOf(files.map((lines, at) => readOslo(lines.join('\n'), `${at + 1}.conf`).assignments))
const valueOf = (...lines: readonly string[]) => {
  const read = settings(lines)
  return [read.last([['pci', 'x']])?.value, read.problems()]
}

test.each<readonly [text: string, more: readonly string[], value: string]>([
  ['$vendor', ['vendor = 8086'], '8086'],
  ['${vendor}s', ['vendor = 8086'], '8086s'],
  ['$vendor', ['[DEFAULT]', 'vendor = 10de'], '10de'],
  ['$ids.vendor', ['[ids]', 'vendor = 1d55'], '1d55'],
  ['${ids.vendor}', ['[IDS]', 'vendor = $other', 'other = 1d55'], '1d55'],
  ['$vendor', ['vendor = 1', 'vendor = 2'], '2'],
  ['[0-2]$', [], '[0-2]$'],
  ['a$"b$$c\\$d$1', [], 'a$"b$c$d$1'],
])('%s stands for what is set', (text, more, value) => {
  expect(valueOf('[pci]', `x = ${text}`, ...more)).toEqual([value, []])
})

test.each([
  ['$nothing', [], '$nothing must be set in the files that are named'],
  ['$x', [], '$x leads back to itself'],
])('%s cannot be known', (text, more, rule) => {
  expect(valueOf('[pci]', `x = ${text}`, ...more)).toEqual([text, [{ at: '1.conf:2', rule }]])
})

test('of several files the last one counts, and an option that may be repeated has the values of all', () => {
  const both = settings(
    ['[pci]', 'x = 1', 'old = 0', 'x = 2'],
    ['[pci]', 'old = 3', '[DEFAULT]', 'x = 4'],
    ['[other]', 'x = 5'],
  )
  const names = [
    ['pci', 'x'],
    ['pci', 'old'],
    ['DEFAULT', 'x'],
  ] as const
  expect(both.all(names)).toEqual([
    { value: '1', at: '1.conf:2' },
    { value: '0', at: '1.conf:3' },
    { value: '2', at: '1.conf:4' },
    { value: '3', at: '2.conf:2' },
    { value: '4', at: '2.conf:4' },
  ])
  expect(both.last(names)).toEqual({ value: '3', at: '2.conf:2' })
  expect(both.last([['pci', 'none']])).toBeNull()
})

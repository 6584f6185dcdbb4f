/** Each kind of option, at both ends of what it takes. */
import { describe, expect, it } from 'vitest'
import * as v from 'valibot'
import * as kinds from '../../src/cli/config/kinds.ts'

const LABEL = 'a'.repeat(100)
type Row = readonly [name: string, kind: kinds.Kind<unknown, never>, good: readonly unknown[], bad: readonly unknown[]]
const row = (name: string, kind: unknown, good: readonly unknown[], bad: readonly unknown[]): Row => [
  name,
  kind as kinds.Kind<unknown, never>,
  good,
  bad,
]
const names = (count: number) => Array.from({ length: count }, (_, n) => `n${n}`)
const brokers = (count: number) => Array.from({ length: count }, (_, n) => `b${n}:9092`)

const ROWS: readonly Row[] = [
  row('folder', kinds.folder, ['/a b', '.'], ['', 'a\nb', 'a\u0000', 7, null]),
  row('file', kinds.file, ['/a b'], ['', '\t']),
  row('word', kinds.word, ['a b'], ['', 'a\u007fb']),
  row('hostName', kinds.hostName, ['h', '1.a-b', LABEL], ['', '-a', '.a', 'a_b', 'a b', `${LABEL}a`, ' a', 'a\n']),
  row(
    'webAddress',
    kinds.webAddress,
    ['http://a', 'https://a:1/b', 'http://[::1]:6666/'],
    ['a', 'ftp://a', 'xhttp://a', 'httpsx://a', 'http://u@a', 'http://:p@a', 'http://a?q', 'http://a#f', 'http://'],
  ),
  row(
    'postgresAddress',
    kinds.postgresAddress,
    ['postgres://a/b', 'postgresql://u:p@a:1/b?sslmode=disable'],
    ['mysql://a', 'x-postgres://a', 'postgresq://a', 'postgres:/a', 'postgres://a:x', ''],
  ),
  row(
    'listenAddress',
    kinds.listenAddress,
    ['a:0', '127.0.0.1:65535', '[::1]:1', '[::ffff:1.2.3.4]:1'],
    ['a', ':1', 'a:', 'a:65536', 'a:000001', 'a b:1', 'a/b:1', '[a]b:1', '[::1', '[xyz]:1', 'x[::1]:1', 'a:1 ', 7],
  ),
  row(
    'brokers',
    kinds.brokers,
    [['a:1'], ['a:65535', '[::1]:2'], brokers(100)],
    [[], ['a:0'], ['a:65536'], ['a'], ['a:1', 'b'], [7], 'a:1', brokers(101)],
  ),
  row('topicPrefix', kinds.topicPrefix, ['', 'a.B-c_1', LABEL], [`${LABEL}a`, ' a', 'a ', 'a/b', 7]),
  row('seconds', kinds.seconds(0.5, 9), [0.5, 9, 1.25], [0.4, 9.1, '1', Number.NaN]),
  row('days', kinds.days(1, 2), [1, 2], [0.9, 2.1]),
  row('count', kinds.count(2, 5), [2, 5], [1, 6, 2.5, '3']),
  row('toggle', kinds.toggle, [true, false], ['true', 1]),
  row('choice', kinds.choice(['a', 'b']), ['a', 'b'], ['c', 'A', '', 'ab']),
  row(
    'names',
    kinds.names,
    [[], ['a.b:c-d_1'], ['a'.repeat(255)]],
    [[''], ['a b'], [' a'], ['a '], ['a'.repeat(256)], 'a', [7]],
  ),
  row(
    'headers',
    kinds.headers,
    [{}, { 'X-A': '' }, { a: 'b\tc ~' }],
    [{ '': 'a' }, { 'a b': 'c' }, { ' a': 'c' }, { 'a:': 'c' }, { a: 'é' }, { a: '\n' }, { a: 'b\n' }, { a: 7 }, 'a'],
  ),
  row(
    'hostNames',
    kinds.hostNames,
    [[], ['h', LABEL], names(100)],
    [['-a'], ['a', 'a_b'], [''], [`${LABEL}a`], [7], 'a', names(101)],
  ),
  row('fewNames', kinds.fewNames(2), [[], ['a', 'b']], [['a', 'b', 'c'], ['a b'], 'a']),
  row(
    'mappings',
    kinds.mappings,
    [[], ['a:b', 'x'.repeat(1000)], names(1000)],
    [['x'.repeat(1001)], [7], 'a:b', names(1001)],
  ),
  row(
    'namedLists',
    kinds.namedLists,
    [{}, { a: [] }, { a: ['b', 'x'.repeat(255)] }, { a: names(1000) }],
    [{ a: 'b' }, { a: [7] }, { a: ['x'.repeat(256)] }, { a: names(1001) }, 'a', null],
  ),
  row(
    'functionCounts',
    kinds.functionCounts,
    [{}, { '0000:3d:00.0': 1, '00010000:ff:1f.7': 65_535 }],
    [
      { '0000:3d:00.0': 0 },
      { '0000:3d:00.0': 65_536 },
      { '0000:3d:00.0': 1.5 },
      { '0000:3d:00.0': '1' },
      { '000:3d:00.0': 1 },
      { '000000000:3d:00.0': 1 },
      { '0000:3d:20.0': 1 },
      { '0000:3d:00.8': 1 },
      { '0000:3D:00.0': 1 },
      { ' 0000:3d:00.0': 1 },
      { '0000:3d:00.00': 1 },
      'a',
    ],
  ),
  row(
    'typeCounts',
    kinds.typeCounts,
    [{}, { 'nvidia-474': 1, 'nvidia-1': 4096 }],
    [{ 'nvidia-474': 0 }, { 'nvidia-474': 4097 }, { 'nvidia-474': 1.5 }, { 'nvidia-474': '1' }, { 'a b': 1 }, 'a'],
  ),
  row('whitelist', kinds.whitelist, ['anything', 7, null], []),
]

describe('an option of the kind', () => {
  it.each(ROWS)('%s takes what it says, and nothing else', (_, kind, good, bad) => {
    const taken = (given: unknown) => v.safeParse(kind.schema, given).success
    expect(good.filter((given) => !taken(given))).toEqual([])
    expect(bad.filter(taken)).toEqual([])
    for (const given of bad) {
      const issues = v.safeParse(kind.schema, given).issues ?? []
      expect(issues.map(({ message }) => message).filter((message) => !message.startsWith('must '))).toEqual([])
    }
  })
  it('says in one phrase what to write', () => {
    const forms = Object.fromEntries(ROWS.map(([name, { form }]) => [name, form]))
    expect(forms).toEqual({
      folder: 'folder',
      file: 'file',
      word: 'text',
      hostName: 'name',
      webAddress: 'URL',
      postgresAddress: 'URL',
      listenAddress: 'HOST:PORT',
      brokers: 'list of HOST:PORT',
      topicPrefix: 'text',
      seconds: 'seconds',
      days: 'days',
      count: 'count',
      toggle: 'true or false',
      choice: 'a, b',
      names: 'list of names',
      headers: 'table of texts',
      hostNames: 'list of names',
      fewNames: 'list of names',
      mappings: 'list of mappings',
      namedLists: 'table of lists',
      functionCounts: 'table of numbers',
      typeCounts: 'table of numbers',
      whitelist: 'list of tables; as text, JSON',
    })
    expect(v.safeParse(kinds.choice(['a', 'b']).schema, 'c').issues).toMatchObject([{ message: 'must be one of a, b' }])
  })
  it('is read from text', () => {
    const read = (kind: { readonly fromText: (text: string) => unknown }, ...texts: readonly string[]) =>
      texts.map((text) => kind.fromText(text))
    expect(read(kinds.count(0, 1), '7', '-1.5', '1.', '.5', '1e3', '0x1', '', ' 1', '1 ')).toEqual([
      7,
      -1.5,
      '1.',
      '.5',
      '1e3',
      '0x1',
      '',
      ' 1',
      '1 ',
    ])
    expect(read(kinds.brokers, 'a:1, b:2 ,', ',')).toEqual([['a:1', 'b:2'], []])
    expect(read(kinds.names, ' a ')).toEqual([['a']])
    expect(read(kinds.toggle, 'TRUE', '1', 'False', '0', 'yes', '')).toEqual([true, true, false, false, 'yes', ''])
    expect(read(kinds.headers, '{"a":"b"}', '{')).toEqual([{ a: 'b' }, '{'])
    expect(read(kinds.word, ' a ')).toEqual([' a '])
    for (const kind of [kinds.hostNames, kinds.fewNames(2), kinds.mappings])
      expect(read(kind, 'a, b', '')).toEqual([['a', 'b'], []])
    for (const kind of [kinds.namedLists, kinds.functionCounts, kinds.typeCounts])
      expect(read(kind, '{"a":1}', '{')).toEqual([{ a: 1 }, '{'])
  })
  it('becomes what the program uses', () => {
    expect(v.parse(kinds.listenAddress.schema, '[::1]:80')).toEqual({ host: '::1', port: 80 })
    expect(v.parse(kinds.listenAddress.schema, 'a.b:80')).toEqual({ host: 'a.b', port: 80 })
    expect([kinds.seconds(0, 9).toValue(1.2345), kinds.days(0, 9).toValue(0.5)]).toEqual([1235, 43_200_000])
  })
})

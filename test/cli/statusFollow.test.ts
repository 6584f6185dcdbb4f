/** `accelerando status --follow`: what is drawn again, and what a service that goes away changes. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, test } from 'vitest'
import { Failure } from '../../src/cli/exits.ts'
import { followStatus } from '../../src/cli/operators/statusFollow.ts'
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
  const overview = { counted_at: '2026-11-24T00:00:00Z', hosts: {} }
  let looks = 0
  const server = createServer((_, response) => {
    response.end(JSON.stringify(overview))
    // the reader of the output closes the pipe
    if (++looks === 2) process.stdout.emit('error', new Error('EPIPE'))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const api = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v2`
  const { code, out } = await commandHere(['status', '--follow', '--api', api], {}, { terminal: false })
  server.close()
  expect([code, out]).toEqual([0, `${JSON.stringify(overview)}\n`])
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

/** `--wait`: how long, and what is said when what happens meanwhile cannot be followed. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { CommandRow } from '../../src/cli/commandRow.ts'
import { Failure } from '../../src/cli/exits.ts'
import { waitMsOf, waitUntil, waitable } from '../../src/cli/operators/waiting.ts'

test.each([
  [undefined, null],
  [true, 300_000],
  ['0.5', 500],
  ['86400', 86_400_000],
] as const)('--wait %s is %s ms', (wait, ms) => expect(waitMsOf(wait === undefined ? {} : { wait })).toBe(ms))
test.each(['', '0', '-1', 'soon', '86401', 'Infinity'])('--wait "%s" is refused', (wait) => {
  expect(() => waitMsOf({ wait })).toThrow(
    `--wait: must be a number of seconds, more than 0 and at most 86400 (is ${wait})`,
  )
})
test('the option says what is waited for, and the command has an exit code for the end of the time', () => {
  const command = waitable(new CommandRow('bind'), 'it is bound')
  expect(command.options.map(({ flags, description }) => [flags, description])).toEqual([
    [
      '--wait [SECONDS]',
      'wait until it is bound, and tell meanwhile what happens on standard error (300 s unless said otherwise)',
    ],
  ])
  expect(command.exits).toContain('waited')
})

const server = createServer((_, response) => {
  response.writeHead(403).end(JSON.stringify({ errors: [{ detail: 'Access is denied.' }] }))
})
let api = ''
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  api = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v2`
})
afterAll(() => void server.close())
let said: string[] = []
beforeEach(() => {
  said = []
  vi.spyOn(process.stderr, 'write').mockImplementation((text) => {
    said.push(String(text))
    return true
  })
})
afterEach(() => void vi.restoreAllMocks())

const waited = (unfinished: () => Promise<string | null>, limitMs: number) =>
  waitUntil({ flags: { api }, query: { arq: 'q1' }, unfinished, limitMs, next: 'accelerando arq show q1' })
test('an account that may not read events waits nevertheless, and is told why nothing is shown', async () => {
  let looks = 0
  await waited(async () => (++looks === 2 ? null : 'it is not bound'), 10_000)
  expect(looks).toBe(2)
  expect(said).toEqual(['what happens cannot be followed: GET /events?arq=q1: 403 Access is denied.\n'])
})
test('what happens is told, and the state is looked at again at once', { timeout: 20_000 }, async () => {
  const event = { specversion: '1.0', id: 'm', source: '/s', type: 't', datacontenttype: 'application/json' }
  const data = { entity: 'arq/q1', event: { type: 'Bound' } }
  const line = JSON.stringify({ ...event, time: '2026-01-01T00:00:00.000Z', data })
  const telling = createServer((_, response) => {
    response.writeHead(200).write(`id: e1\nevent: accelerando.arq.Bound\ndata: ${line}\n\n`)
  })
  await new Promise<void>((resolve) => telling.listen(0, '127.0.0.1', resolve))
  const { port } = telling.address() as AddressInfo
  // the second after which it would look again anyway never ends
  const { setTimeout: later } = globalThis
  vi.spyOn(globalThis, 'setTimeout').mockImplementation(((run: () => void, ms: number) =>
    ms >= 1000 ? undefined : later(run, ms)) as typeof setTimeout)
  let looks = 0
  await waitUntil({
    flags: { api: `http://127.0.0.1:${port}/v2` },
    query: { arq: 'q1' },
    unfinished: async () => (++looks === 2 ? null : 'it is not bound'),
    limitMs: 60_000,
    next: 'accelerando arq show q1',
  })
  expect([looks, said]).toEqual([2, ['2026-01-01T00:00:00.000Z  arq/q1  Bound  e1\n']])
  telling.closeAllConnections()
  telling.close()
})
test('when the time is over, the failure says what is unfinished and which command shows it later', async () => {
  const failed = await waited(async () => 'it is not bound', 20).catch((error: unknown) => error)
  expect(failed).toBeInstanceOf(Failure)
  expect(failed).toMatchObject({
    exit: 'waited',
    message: 'after 0.02 s it is not bound',
    next: 'accelerando arq show q1',
  })
})
test('what is finished already is not waited for, and a failed look ends the wait', async () => {
  await waited(async () => null, 10)
  await expect(waited(() => Promise.reject(new Error('404')), 10)).rejects.toThrow('404')
})

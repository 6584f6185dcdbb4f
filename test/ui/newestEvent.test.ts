/** The id of the newest event, from a stream of the API that says it first, or says nothing of the kind. */
import { expect, test, vi } from 'vitest'
import type { Api } from '../../src/ui/api.ts'
import { newestEvent } from '../../src/ui/newestEvent.ts'
import { loaded, pageError } from '../../src/ui/loaded.ts'
import { quiet } from '../support/lab.ts'

const STREAM = { 'content-type': 'text/event-stream; charset=utf-8' }
const read = async (stream: () => Response | Promise<Response>) => {
  const asked: (string | null)[] = []
  let signal: AbortSignal | null = null
  const newest = await newestEvent({
    stream: async (after: string | null, given: AbortSignal) => {
      asked.push(after)
      signal = given
      return stream()
    },
  } as Api)
  expect(asked).toEqual([null])
  // nothing is read on
  expect(signal!.aborted).toBe(true)
  return newest
}
/** A stream of these pieces. */
const pieces = (...texts: readonly string[]) =>
  new Response(
    new ReadableStream({
      start: (stream) => {
        for (const text of texts) stream.enqueue(new TextEncoder().encode(text))
        stream.close()
      },
    }),
    { headers: STREAM },
  )
const NONE = pageError('away', 'The stream of events does not begin.')
const BEAT = `: ${'x'.repeat(97)}\n`

test.each([
  ['at its beginning', ['id: 7-1\nevent: message\n\n'], '7-1'],
  ['after a hint and a sign of life', ['retry: 1000\n\nevent: beat\nid:7-2\ndata: {}\n\n'], '7-2'],
  ['in pieces', ['i', 'd: 7', '-3', '\n'], '7-3'],
  ['the first of two', ['id: 7-4\n\nid: 7-5\n\n'], '7-4'],
  ['within what is read', [...Array.from({ length: 79 }, () => BEAT), 'id: 7-6\n'], '7-6'],
])('the id is read %s', async (_, texts, id) => expect(await read(() => pieces(...texts))).toEqual(loaded(id)))
test.each([
  ['that ends without one', ['retry: 1000\n\n']],
  ['that is empty', []],
  ['whose id is not whole', ['id: 7-1']],
  ['whose id is within a line', ['data: id: 7-1\n']],
  ['that is too long before it', [...Array.from({ length: 80 }, () => BEAT), 'id: 7-1\n']],
])('a stream %s does not begin', async (_, texts) => expect(await read(() => pieces(...texts))).toEqual(NONE))
test('without a body it does not begin', async () => {
  expect(await read(() => new Response(null, { headers: STREAM }))).toEqual(NONE)
})
test('what is no stream, and a refusal, are told in the words of the API', async () => {
  const none = pageError('failed', 'The API did not answer with a stream of events.')
  expect(await read(() => new Response('id: 7-1\n', { headers: { 'content-type': 'text/html' } }))).toEqual(none)
  expect(await read(() => new Response(new Uint8Array()))).toEqual(none)
  const errors = [{ detail: 'the rule cyborg:event:get_all forbids it', code: 'x' }]
  const headers = { ...STREAM, 'x-openstack-request-id': 'req-1' }
  expect(await read(() => Response.json({ errors }, { status: 403, headers }))).toEqual(
    pageError('forbidden', errors[0]!.detail, 'req-1', 'cyborg:event:get_all'),
  )
})
test.each<[string, unknown, string]>([
  ['in time', new DOMException('late', 'TimeoutError'), 'did not begin in time'],
  ['because it was cut', new Error('cut'), 'cannot be read: cut'],
  ['because it was aborted', new DOMException('gone', 'AbortError'), 'cannot be read: gone'],
])('a stream that is not read %s says so', async (_, error, why) => {
  expect(await read(() => Promise.reject(error))).toEqual(pageError('away', `The stream of events ${why}.`))
})
test('it is waited for no longer than four seconds, and a stream that goes on is given back', async () => {
  const limits = vi.spyOn(AbortSignal, 'timeout')
  let isGivenBack = false
  const endless = new ReadableStream({
    start: (stream) => stream.enqueue(new TextEncoder().encode('id: 7-1\n\n')),
    cancel: () => void (isGivenBack = true),
  })
  expect(await read(() => new Response(endless, { headers: STREAM }))).toEqual(loaded('7-1'))
  await quiet()
  expect([limits.mock.calls, isGivenBack]).toEqual([[[4000]], true])
  limits.mockRestore()
})

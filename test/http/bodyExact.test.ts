/** Reading a body, on both sides of each limit. */
import { expect, test } from 'vitest'
import { readJson } from '../../src/http/body.ts'

type Body = string | Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array> | null
const streamed = (...parts: readonly string[]) => {
  let [taken, cancelled] = [0, false]
  const stream = new ReadableStream<Uint8Array>(
    {
      pull: (controller) => {
        const part = parts[taken++]
        if (part === undefined) controller.close()
        else controller.enqueue(new TextEncoder().encode(part))
      },
      cancel: () => void (cancelled = true),
    },
    { highWaterMark: 0 },
  )
  return { stream, seen: () => ({ taken, cancelled }) }
}
const request = (body: Body, headers: Readonly<Record<string, string>> = {}) =>
  new Request('http://a/', { method: 'POST', body, headers, duplex: 'half' })
/** The value, or the kind of fault with what it names. */
const read = async (body: Body, headers: Readonly<Record<string, string>> = {}, limit = 8) => {
  const got = await readJson(request(body, headers), limit)
  return got.ok ? got.value : got.fault
}
const TOO_LARGE = { kind: 'too_large', limitBytes: 8 }
const JSON_TYPE = { 'content-type': 'application/json' }
const media = (given: string) => ({ kind: 'media_type', given })

test.each<readonly [type: string, outcome: unknown]>([
  ['', 1],
  ['application/json', 1],
  [' Application/JSON ; charset=utf-8', 1],
  ['application/json;', 1],
  ['application/jsonx', media('application/jsonx')],
  ['xapplication/json', media('xapplication/json')],
  ['text/plain; charset=utf-8', media('text/plain')],
  ['; charset=utf-8', media('; charset=utf-8')],
  [`a/${'b'.repeat(98)}`, media(`a/${'b'.repeat(98)}`)],
  [`a/${'b'.repeat(99)}`, media(`a/${'b'.repeat(98)}`)],
])('a body of the type %j', async (type, outcome) => {
  expect(await read('1', { 'content-type': type })).toEqual(outcome)
})

test('a declared length counts, and so does what comes', async () => {
  const json = { 'content-type': 'application/json' }
  const declared = (length: string) => ({ ...json, 'content-length': length })
  expect(await read('"123456"', declared('8'))).toBe('123456')
  expect(await read('"1234567"', declared('8'))).toEqual(TOO_LARGE)
  expect(await read('1', declared('9'))).toEqual(TOO_LARGE)
  expect(await read('1', declared('many'))).toEqual(TOO_LARGE)
})
test('a body without a declared length is read as far as the limit, and then left', async () => {
  const json = { 'content-type': 'application/json' }
  const whole = streamed('"12', '3456', '"')
  expect(await read(whole.stream, json)).toBe('123456')
  expect(whole.seen().cancelled).toBe(false)
  const long = streamed('"123', '45678', 'never read')
  expect(await read(long.stream, json)).toEqual(TOO_LARGE)
  expect(long.seen()).toEqual({ taken: 2, cancelled: true })
})
test('what is no JSON is named', async () => {
  const fault = async (body: Body) => JSON.stringify(await read(body, { 'content-type': '' }))
  expect(await fault(null)).toContain('it is empty, and JSON is needed')
  expect(await fault('')).toContain('it is empty, and JSON is needed')
  expect(await fault('{')).toContain('it is not JSON')
  expect(await fault(new Uint8Array([0x22, 0xff, 0x22]))).toContain('it is not JSON')
  const broken = new ReadableStream({ pull: () => Promise.reject(new Error('gone')) })
  expect(await fault(broken)).toContain('it ended before its length')
})

test('marks in a text are none of the document, and values are counted to the limit', async () => {
  const text = `${'[{,'.repeat(5)}\\"${'}],'.repeat(5)}`
  expect(await read(JSON.stringify({ a: text }), JSON_TYPE, 64)).toEqual({ a: text })
  expect(await read('[1,2,3]', JSON_TYPE, 96)).toEqual([1, 2, 3])
  expect(await read('[1,2,3,4]', JSON_TYPE, 96)).toEqual({
    kind: 'invalid',
    field: 'body',
    rule: 'it holds more than 3 values',
  })
  expect(await read(`${'['.repeat(16)}${']'.repeat(16)}`, JSON_TYPE, 1024)).toBeInstanceOf(Array)
  expect(await read(`${'['.repeat(17)}${']'.repeat(17)}`, JSON_TYPE, 1024)).toMatchObject({
    rule: expect.stringContaining('16 levels'),
  })
})

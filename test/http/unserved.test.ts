/**
 * What Node's server refuses by itself, before there is a request: on raw sockets, against the listener of the
 * programs.
 */
import { maxHeaderSize } from 'node:http'
import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { listen } from '../../src/cli/programs/listen.ts'
import type { Listening } from '../../src/cli/programs/listen.ts'
import { systemClock, systemIds } from '../../src/vocabulary/clock.ts'
import { unserved } from '../../src/http/unserved.ts'
import { silent } from '../../src/vocabulary/log.ts'
import { strictApp } from './app.ts'

type Noted = Readonly<Record<string, unknown>>
const noted: Noted[] = []
const log = { ...silent, info: (fields: object, event: string) => void noted.push({ ...fields, event }) }
const { app, asked } = strictApp()
let open: Listening
beforeAll(async () => {
  const slow = async (request: Request) => {
    if (!request.url.endsWith('/slow')) return app.fetch(request)
    await sleep(100)
    return new Response('slow')
  }
  open = await listen(
    { fetch: slow },
    { host: '127.0.0.1', port: 0 },
    {
      unserved: unserved({ ids: systemIds, clock: systemClock, log }),
      times: { headersTimeout: 200, requestTimeout: 300, connectionsCheckingInterval: 50 },
    },
  )
})
afterAll(() => open.close(0))
beforeEach(() => void noted.splice(0))

/**
 * Sends the texts, one after the other, and gives back all that comes until the connection ends. A pattern: what must
 * have come before the next text.
 */
const raw = (...texts: readonly (string | RegExp)[]): Promise<string> =>
  new Promise((resolve, reject) => {
    const socket = connect(open.port, '127.0.0.1')
    let got = ''
    socket.setEncoding('utf8')
    socket.on('data', (part: string) => void (got += part))
    socket.on('end', () => resolve(got))
    socket.on('error', reject)
    void (async () => {
      for (const text of texts) {
        if (typeof text === 'string') socket.write(text)
        do await sleep(20)
        while (text instanceof RegExp && !text.test(got) && !socket.closed)
      }
    })()
  })
const answerIn = (got: string) => {
  const [head, text] = got.split('\r\n\r\n') as [string, string]
  const [line, ...lines] = head.split('\r\n') as [string, ...string[]]
  const headers = Object.fromEntries(lines.map((each) => [each.split(': ')[0]!.toLowerCase(), each.split(': ')[1]!]))
  return { line, headers, text, json: JSON.parse(text) }
}

const CASES: readonly (readonly [string, readonly string[], number, string, RegExp])[] = [
  ['no HTTP at all', ['hello\r\n\r\n'], 400, 'unreadable', /Invalid method/],
  ['a handshake of TLS', ['\u0016\u0003\u0001\u0002'], 400, 'unreadable', /Invalid method/],
  ['a method that HTTP does not know', ['FETCH /v2 HTTP/1.1\r\nHost: x\r\n\r\n'], 400, 'unreadable', /cannot be read/],
  ['a header without a colon', ['GET /v2 HTTP/1.1\r\nHost\r\n\r\n'], 400, 'unreadable', /cannot be read/],
  [
    'two lengths',
    ['GET /v2 HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n'],
    400,
    'unreadable',
    /./,
  ],
  ['a length that is no number', ['POST /v2 HTTP/1.1\r\nHost: x\r\nContent-Length: x\r\n\r\n'], 400, 'unreadable', /./],
  [
    'a length beside chunks',
    ['POST /v2 HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n'],
    400,
    'unreadable',
    /./,
  ],
  ['no Host header', ['GET /v2 HTTP/1.1\r\n\r\n'], 400, 'unreadable', /it has no Host header/],
  ['a Host header that is none', ['GET /v2 HTTP/1.1\r\nHost: a b\r\n\r\n'], 400, 'unreadable', /make no URL/],
  [
    'a target that names another host than its Host header',
    ['GET http://evil.example/v2 HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n'],
    400,
    'unreadable',
    /different hosts/,
  ],
  [
    'a target with its scheme in capitals that names another host',
    ['GET HTTP://evil.example/v2 HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n'],
    400,
    'unreadable',
    /different hosts/,
  ],
  [
    'a target with its scheme in capitals',
    ['GET HTTP://x/v2 HTTP/1.1\r\nHost: x\r\n\r\n'],
    400,
    'unreadable',
    /make no URL/,
  ],
  ['a target with a fragment', ['GET http://x#y HTTP/1.1\r\nHost: x\r\n\r\n'], 400, 'unreadable', /cannot be read/],
  ['a target with a user', ['GET http://a:b@x/v2 HTTP/1.1\r\nHost: x\r\n\r\n'], 400, 'unreadable', /different hosts/],
  ['a whole URL without a Host header', ['GET http://x/v2 HTTP/1.0\r\n\r\n'], 400, 'unreadable', /different hosts/],
  ['a target that is no path', ['GET http://[ HTTP/1.1\r\nHost: x\r\n\r\n'], 400, 'unreadable', /./],
  [
    'headers that are too large',
    [`GET /v2 HTTP/1.1\r\nHost: x\r\nX: ${'y'.repeat(200_000)}\r\n\r\n`],
    431,
    'headers_too_large',
    new RegExp(`${maxHeaderSize} bytes`),
  ],
  [
    'a target that is too long',
    [`GET /${'y'.repeat(20_000)} HTTP/1.1\r\nHost: x\r\n\r\n`],
    431,
    'headers_too_large',
    /./,
  ],
  ['headers that do not end', ['GET /v2 HTTP/1.1\r\nHost: x\r\n'], 408, 'too_slow', /in time/],
  [
    'an expectation',
    ['GET /v2 HTTP/1.1\r\nHost: x\r\nConnection: close\r\nExpect: tea\r\n\r\n'],
    417,
    'expectation',
    /tea/,
  ],
]

describe('refused in the shape of every other refusal, with a request id, noted once, and the connection ends', () => {
  test.each(CASES)('%s', async (_, texts, status, code, detail) => {
    const { line, headers, text, json } = answerIn(await raw(...texts))
    expect(line).toMatch(new RegExp(`^HTTP/1\\.1 ${status} [A-Z]`))
    expect(headers).toMatchObject({
      'x-openstack-request-id': expect.stringMatching(/^req-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/),
      'x-content-type-options': 'nosniff',
      'content-type': 'application/json',
      'content-length': String(Buffer.byteLength(text)),
      connection: 'close',
      date: expect.stringMatching(/ GMT$/),
    })
    const request = headers['x-openstack-request-id']
    const nested = JSON.parse(json.error_message)
    expect(nested).toEqual({ faultcode: 'Client', faultstring: expect.stringMatching(detail), debuginfo: null })
    expect(json.errors).toEqual([
      {
        status,
        code: `accelerator.${code}`,
        title: expect.stringMatching(/^[A-Z]/),
        detail: nested.faultstring,
        request_id: request,
      },
    ])
    expect(Object.keys(json)).toEqual(['error_message', 'errors'])
    const { faultstring: reason } = nested
    // the layer that makes the URL does not say who asks
    const from = reason.includes('make no URL') ? {} : { remote: '127.0.0.1' }
    expect(noted).toEqual([{ event: 'http.unserved', request, status, reason, ...from }])
    expect(asked).toEqual([])
  })
})

describe('a request reaches the application', () => {
  test.each([
    ['that has the host in its header only', 'GET /v2 HTTP/1.1', 'localhost', 200],
    ['whose target names the host of its header', 'GET http://localhost/v2 HTTP/1.1', 'localhost', 200],
    ['whose target names it in other letters', 'GET http://LocalHost:1/v2 HTTP/1.1', 'localhost:1', 200],
    ['of HTTP/1.0 without a Host header', 'GET /v2 HTTP/1.0', null, 200],
    // the application knows none of these parameters
    ['whose target has a query and no path', 'GET http://localhost?x=1 HTTP/1.1', 'localhost', 400],
    ['that names another host in its query', 'GET /v2?url=http://other/ HTTP/1.1', 'localhost', 400],
  ])('%s', async (_, line, host, status) => {
    const got = await raw(`${line}\r\n${host === null ? '' : `Host: ${host}\r\n`}Connection: close\r\n\r\n`)
    expect([Number(/^HTTP\/1\.1 (\d+) /.exec(got)?.[1]), noted]).toEqual([status, []])
  })
})

describe('one connection', () => {
  test('that goes on with nonsense is answered and noted once', async () => {
    const got = await raw('nonsense\r\n\r\n', 'more\r\n\r\n', 'and more\r\n\r\n')
    expect(got.match(/HTTP\/1\.1/g)).toHaveLength(1)
    await sleep(50)
    expect(noted).toHaveLength(1)
  })
  test('whose second request cannot be read has its first one answered', async () => {
    const got = await raw('GET /v2 HTTP/1.1\r\nHost: localhost\r\n\r\n', /HTTP.1.1 200/, 'nonsense\r\n\r\n')
    expect(got.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 400'])
  })
  test('that is refused while a request is in hand ends with the refusal', async () => {
    const got = await raw('GET /slow HTTP/1.1\r\nHost: x\r\n\r\nnonsense\r\n\r\n')
    expect(got.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 400'])
  })
  test('that is refused is closed although its client goes on sending', async () => {
    const socket = connect(open.port, '127.0.0.1')
    socket.on('error', () => {})
    const closed = new Promise<void>((resolve) => void socket.on('close', () => resolve()))
    const begun = performance.now()
    socket.write('nonsense\r\n\r\n')
    const again = setInterval(() => socket.write('x'.repeat(1000)), 10)
    socket.resume()
    await closed
    clearInterval(again)
    expect(performance.now() - begun).toBeLessThan(5000)
  })
  test('that is reset leaves nothing behind', async () => {
    const socket = connect(open.port, '127.0.0.1')
    socket.write('GET /v2 HTTP/1.1\r\n', () => socket.resetAndDestroy())
    await sleep(50)
    expect(noted).toEqual([])
  })
})

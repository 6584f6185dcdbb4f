import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, test } from 'vitest'
import { createSender, type Request, Unanswered } from '../../../src/neighbours/openstack/send.ts'
import { describeWith } from '../../support/needs.ts'
import { certificates, OPENSSL, tlsProxy } from '../../support/tls.ts'

const closing: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close()
})

const serve = async (answer: RequestListener): Promise<string> => {
  const server = createServer(answer)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  closing.push(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
}
const sender = (ca: string | null = null) => {
  const made = createSender(ca)
  closing.push(made.close)
  return made.send
}
const get = (url: string, more: Partial<Request> = {}): Request => ({
  method: 'GET',
  url,
  headers: {},
  timeoutMs: 2000,
  ...more,
})
const refusal = (work: Promise<unknown>): Promise<Unanswered> =>
  work.then(
    () => Promise.reject(new Error('it was answered')),
    (error: unknown) => error as Unanswered,
  )

describe('a request', () => {
  test('brings method, headers and body, and gives back status, headers and text', async () => {
    const url = await serve((request, response) => {
      let text = ''
      request.setEncoding('utf8').on('data', (part: string) => (text += part))
      request.on('end', () => {
        response.writeHead(207, { 'X-One': 'a', 'set-cookie': ['first', 'second'] })
        response.end(`${request.method} ${request.url} ${String(request.headers['x-given'])} ${text}`)
      })
    })
    const answer = await sender()(get(`${url}p?q=1`, { method: 'PUT', headers: { 'x-given': 'g' }, body: 'ä' }))
    expect(answer).toMatchObject({
      status: 207,
      text: 'PUT /p?q=1 g ä',
      headers: { 'x-one': 'a', 'set-cookie': 'first' },
    })
  })
  test('does not follow a redirect: the token would go to a place that nobody configured', async () => {
    const url = await serve((_, response) => response.writeHead(302, { location: '/elsewhere' }).end())
    expect((await sender()(get(url))).status).toBe(302)
  })
  test('has a limit for the whole of it, also when the answer trickles', async () => {
    const url = await serve((_, response) => {
      response.writeHead(200)
      const timer = setInterval(() => response.write('x'), 20)
      response.on('close', () => clearInterval(timer))
    })
    const error = await refusal(sender()(get(url, { timeoutMs: 300 })))
    expect([error.message, error.late, error instanceof Unanswered]).toEqual(['no answer within 300 ms', true, true])
  })
  test('that nobody takes, or whose connection is cut, is told as such', async () => {
    const url = await serve((request) => request.socket.destroy())
    expect(await refusal(sender()(get(url)))).toMatchObject({ message: 'other side closed', late: false })
    expect((await refusal(sender()(get('http://127.0.0.1:1/')))).message).toContain('ECONNREFUSED')
  })
  test('an answer beyond 16 MiB is broken off', async () => {
    const url = await serve((_, response) => void response.end(Buffer.alloc(17 * 1024 * 1024, 'x')))
    expect((await refusal(sender()(get(url)))).message).toContain('larger than 16777216 bytes')
  })
})

describeWith(OPENSSL, 'over TLS', (openssl) => {
  test('a neighbour is believed whose certificate the configured CA has signed, and no other', async () => {
    const tls = certificates(openssl)
    const front = await tlsProxy(await serve((_, response) => response.end('well')), tls)
    closing.push(front.close)
    expect((await sender(tls.ca)(get(front.url))).text).toBe('well')
    const untrusted = 'its certificate is not signed by a CA that is trusted here (keystone_authtoken.cafile): '
    expect((await refusal(sender()(get(front.url)))).message).toBe(`${untrusted}UNABLE_TO_VERIFY_LEAF_SIGNATURE`)
    expect((await refusal(sender(certificates(openssl).ca)(get(front.url)))).message).toContain(untrusted)
    const elsewhere = front.url.replace('127.0.0.1', 'localhost')
    expect((await refusal(sender(tls.ca)(get(elsewhere)))).message).toContain('does not match')
  })
})

/** The listener of the API and of the admin page, as balancers and old clients speak to it. */
import { connect } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { type Listening, listen, urlOf } from '../../src/cli/programs/listen.ts'

let open: Listening | null = null
afterEach(() => open?.close(100))

const said = (port: number, text: string): Promise<string> =>
  new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1')
    let got = ''
    socket.setEncoding('utf8')
    socket.on('data', (part: string) => void (got += part))
    socket.on('close', () => resolve(got))
    socket.on('error', reject)
    socket.write(text)
  })

test('a check that names no host, as balancers send it in HTTP/1.0, is answered', async () => {
  open = await listen({ fetch: () => new Response('fine') }, { host: '127.0.0.1', port: 0 })
  expect(await said(open.port, 'GET /readyz HTTP/1.0\r\n\r\n')).toMatch(/^HTTP\/1\.1 200[\s\S]*fine$/)
})

test('who sends a body that nobody reads, on a connection that is to be closed, gets the answer', async () => {
  const refusal = () => new Response('too large', { status: 413 })
  open = await listen({ fetch: refusal }, { host: '127.0.0.1', port: 0 })
  const head = 'POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\nContent-Length: 8000000\r\n\r\n'
  const socket = connect({ port: open.port, host: '127.0.0.1', allowHalfOpen: true })
  const over = Promise.withResolvers<void>()
  const got: string[] = []
  socket.setEncoding('utf8').on('error', over.reject).on('close', over.resolve)
  await new Promise<void>((begun) => {
    socket.on('data', (part: string) => begun(void got.push(part)))
    socket.write(head)
  })
  // the answer is there, and the client sends on
  for (let n = 0; n < 80; n++) await new Promise((written) => void socket.write('x'.repeat(100_000), written))
  socket.end()
  await over.promise
  expect(got.join('')).toMatch(/^HTTP\/1\.1 413[\s\S]*too large$/)
})

test('an address is shown as it stands in a URL', () => {
  expect(urlOf({ host: '::1', port: 6666 })).toBe('http://[::1]:6666')
})

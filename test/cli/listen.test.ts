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

test('an address is shown as it stands in a URL', () => {
  expect(urlOf({ host: '::1', port: 6666 })).toBe('http://[::1]:6666')
})

import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer as httpServer, type RequestListener } from 'node:http'
import { createServer as httpsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { createSender, type Request, Unanswered } from '../../../src/neighbours/openstack/send.ts'
import { describeWith, type Found, type Part } from '../../support/needs.ts'

const closing: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close()
})

type Tls = { readonly key: string; readonly cert: string }
const serve = async (answer: RequestListener, tls?: Tls): Promise<string> => {
  const server = tls ? httpsServer(tls, answer) : httpServer(answer)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  closing.push(() => {
    server.closeAllConnections()
    server.close()
  })
  return `${tls ? 'https' : 'http'}://127.0.0.1:${(server.address() as AddressInfo).port}/`
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

const OPENSSL: Part = {
  name: 'openssl',
  installable: true,
  find: (): Found => {
    try {
      const program = 'openssl'
      execFileSync(program, ['version'], { stdio: 'ignore' })
      return { at: program }
    } catch {
      return { lacking: 'no openssl in PATH' }
    }
  },
}
describeWith(OPENSSL, 'over TLS', (openssl) => {
  const folder = mkdtempSync(join(tmpdir(), 'accelerando-tls-'))
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')]
  const made = (): Tls => {
    const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=IP:127.0.0.1', '-days', '1']
    execFileSync(openssl, ['req', '-x509', '-newkey', 'ed25519', '-nodes', '-keyout', key, '-out', cert, ...subject], {
      stdio: 'ignore',
    })
    const read = { key: readFileSync(key, 'utf8'), cert: readFileSync(cert, 'utf8') }
    rmSync(folder, { recursive: true })
    return read
  }
  test('a neighbour is believed whose certificate the configured CA has signed, and no other', async () => {
    const tls = made()
    const url = await serve((_, response) => response.end('well'), tls)
    expect((await sender(tls.cert)(get(url))).text).toBe('well')
    expect((await refusal(sender()(get(url)))).message).toMatch(/self.signed certificate/)
  })
})

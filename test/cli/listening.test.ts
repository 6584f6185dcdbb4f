/** Listeners: what a stop lets finish, which addresses are taken, and what old clients and balancers get. */
import { connect } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import {
  type App,
  expectFree,
  type Listening,
  listen,
  listenOrElsewhere,
  reachedAt,
  urlOf,
} from '../../src/cli/programs/listen.ts'
import { memoryLog, until } from '../support/lab.ts'

let open: Listening | null = null
afterEach(() => open?.close(0))
const LOCAL = { host: '127.0.0.1', port: 0 }
const listening = async (fetch: App['fetch']): Promise<Listening> => (open = await listen({ fetch }, LOCAL))

test('a request that runs is answered although the listener stops, and a new one is not taken', async () => {
  const { promise, resolve } = Promise.withResolvers<Response>()
  let running = 0
  const here = await listening(() => (running++, promise))
  const answer = fetch(urlOf(here))
  await until(() => running === 1)
  const closed = here.close(10_000)
  await expect(fetch(urlOf(here))).rejects.toThrow('fetch failed')
  resolve(new Response('done'))
  expect(await (await answer).text()).toBe('done')
  await closed
})
test('a request that does not end is cut when its time is over', async () => {
  let running = 0
  const here = await listening(() => (running++, new Promise<Response>(() => {})))
  const answer = fetch(urlOf(here)).catch((error: unknown) => String(error))
  await until(() => running === 1)
  await here.close(10)
  expect(await answer).toContain('fetch failed')
})
test('a connection on which nothing is asked holds up no stop', async () => {
  const here = await listening(() => new Response('fine', { headers: { connection: 'keep-alive' } }))
  const socket = connect(here.port, here.host)
  let got = ''
  socket.on('data', (part) => (got += String(part))).write('GET / HTTP/1.1\r\nhost: h\r\n\r\n')
  await until(() => got.includes('fine'))
  await here.close(60_000)
  socket.destroy()
})
test('an address that cannot be listened on rejects, unless it is a default that may be another', async () => {
  const here = await listening(() => new Response('one'))
  const app: App = { fetch: () => new Response('two') }
  await expect(listen(app, here)).rejects.toThrow('EADDRINUSE')
  const log = memoryLog()
  const address = { host: here.host, port: here.port }
  await expect(listenOrElsewhere(app, { ...address, chosen: true }, { name: 'x', log })).rejects.toThrow('EADDRINUSE')
  expect(log.said).toEqual([])
  const elsewhere = await listenOrElsewhere(app, { ...address, chosen: false }, { name: 'x', log })
  expect(log.said).toEqual([
    {
      level: 'warn',
      detail: { ...address, chosen: false, error: expect.stringContaining('EADDRINUSE') },
      message: 'the default x address is taken, any free port is used',
    },
  ])
  expect([elsewhere.host, elsewhere.port === here.port]).toEqual([here.host, false])
  expect(await (await fetch(urlOf(elsewhere))).text()).toBe('two')
  await elsewhere.close(0)
})

test('an address that is taken is known before anything else is done', async () => {
  const { host, port } = await listening(() => new Response())
  await expect(expectFree({ host, port })).rejects.toMatchObject({ code: 'EADDRINUSE' })
  await open!.close(0)
  await expectFree({ host, port })
  await expectFree({ host, port })
})
test('each address that the operator chose has to be free, and another one than the others', async () => {
  const free = { host: '127.0.0.1', port: 0 }
  const { host, port } = await listening(() => new Response())
  for (const wanted of [
    [free, { host, port, chosen: true }],
    [{ host, port, chosen: true }, free],
  ])
    await expect(expectFree(...wanted)).rejects.toMatchObject({ code: 'EADDRINUSE', port })
  await expectFree(free, { host, port, chosen: false })
  await open!.close(0)
  const both = { host, port, chosen: true }
  await expect(expectFree(both, both)).rejects.toMatchObject({ code: 'EADDRINUSE' })
  await expectFree(both, free)
})
test.each([
  ['0.0.0.0', 'http://127.0.0.1:1'],
  ['::', 'http://[::1]:1'],
  ['10.0.0.1', 'http://10.0.0.1:1'],
  ['fd00::1', 'http://[fd00::1]:1'],
])('a listener on %s is reached at %s', (host, url) => {
  expect(reachedAt({ host, port: 1 })).toBe(url)
  expect(urlOf({ host, port: 1 })).toBe(host.includes(':') ? `http://[${host}]:1` : `http://${host}:1`)
})
test('a check that names no host, as balancers send it in HTTP/1.0, is answered', async () => {
  const { port } = await listening(() => new Response('fine'))
  const socket = connect(port, '127.0.0.1')
  let got = ''
  const over = new Promise((resolve) => socket.on('close', resolve))
  socket.on('data', (part) => (got += String(part))).write('GET /readyz HTTP/1.0\r\n\r\n')
  await over
  expect(got).toMatch(/^HTTP\/1\.1 200[\s\S]*fine$/)
})
test('who sends a body that nobody reads, on a connection that is to be closed, gets the answer', async () => {
  const { port } = await listening(() => new Response('too large', { status: 413 }))
  const head = 'POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\nContent-Length: 8000000\r\n\r\n'
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
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

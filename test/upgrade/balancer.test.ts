/** What stands between the customers and the service tells failed calls from those that may be repeated (L8). */
import { type RequestListener, createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, expect, test } from 'vitest'
import { Lost } from '../kill/api.ts'
import { openBalancer } from './balancer.ts'

const closing: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close()
})

/** Ready always, and to every call the same. */
const server = async (answer: RequestListener) => {
  const http = createServer((request, response) =>
    request.url === '/readyz' ? void response.end('{}') : answer(request, response),
  )
  await new Promise<void>((listening) => http.listen(0, '127.0.0.1', listening))
  const close = async () => {
    http.closeAllConnections()
    await new Promise((closed) => http.close(closed))
  }
  closing.push(close)
  return { origin: `http://127.0.0.1:${(http.address() as AddressInfo).port}`, close }
}
const before = async (...origins: readonly string[]) => {
  const balancer = openBalancer()
  closing.push(balancer.close)
  balancer.behind(...origins)
  while (!origins.every(balancer.isReady)) await sleep(10)
  return balancer
}
const status =
  (code: number, headers = {}): RequestListener =>
  (_, response) =>
    void response.writeHead(code, headers).end('{"said": "so"}')

const cut: RequestListener = (request) => void request.socket.destroy()
const half: RequestListener = (request, response) => {
  response.writeHead(200, { 'content-length': '100' }).write('{')
  setImmediate(() => request.socket.destroy())
}

test.each([
  ['an error of the server', status(500), /GET \/x .*answered 500/],
  ['no time for a repetition', status(503), /GET \/x .*answered 503/],
  ['a time that is none', status(503, { 'retry-after': 'soon' }), /GET \/x .*answered 503/],
  ['no answer', cut, /GET \/x .*broke off: ECONNRESET/],
  ['half an answer', half, /GET \/x .*broke off: ECONNRESET/],
])('%s is a failed call (L8)', async (_, answer, found) => {
  const { call, figures } = await before((await server(answer)).origin)
  await expect(call('GET', '/x')).rejects.toThrow(Lost)
  expect(figures.failed).toEqual([expect.stringMatching(found)])
})

test('503 that says when to come again, and a refused connection, are none', async () => {
  const busy = await before((await server(status(503, { 'retry-after': '1' }))).origin)
  await expect(busy.call('GET', '/x')).rejects.toThrow(Lost)
  expect([busy.figures.failed, busy.figures.retryable()]).toEqual([[], 1])
  const { origin, close } = await server(status(200))
  const gone = await before(origin)
  await close()
  await expect(gone.call('GET', '/x')).rejects.toThrow(Lost)
  expect([gone.figures.failed, gone.figures.refused() <= 1]).toEqual([[], true])
})

test('who is killed breaks off calls, which is its own', async () => {
  const { origin } = await server(cut)
  const { call, excuse, figures } = await before(origin)
  excuse(origin)
  await expect(call('GET', '/x')).rejects.toThrow(Lost)
  expect([figures.failed, figures.excused()]).toEqual([[], 1])
})

test('calls go round, and a client error is an answer', async () => {
  const both = await Promise.all([server(status(200)), server(status(404))])
  const { call, figures } = await before(...both.map(({ origin }) => origin))
  const codes = [await call('GET', '/x'), await call('GET', '/x')].map((answer) => answer.status)
  expect(codes.toSorted((one, other) => one - other)).toEqual([200, 404])
  expect([...figures.answered.values()]).toEqual([1, 1])
})

/** What commands ask over HTTP reaches every port, the default one included. */
import { type RequestListener, createServer } from 'node:http'
import { once } from 'node:events'
import { afterEach, expect, test } from 'vitest'
import { ask } from '../../src/cli/ask.ts'
import { freePort, portThatFetchRefuses } from '../support/port.ts'

let close = (): void => {}
afterEach(() => close())
const served = async (port: number, listener: RequestListener): Promise<string> => {
  const server = createServer(listener).listen(port, '127.0.0.1')
  await once(server, 'listening')
  close = () => {
    server.closeAllConnections()
    server.close()
  }
  return `http://127.0.0.1:${port}/v2`
}

test('a port that fetch refuses is asked like any other', async () => {
  const url = await served(await portThatFetchRefuses(), (request, response) => {
    response.setHeader('x-length', request.headers['content-length']!)
    request.pipe(response.writeHead(409, { 'x-method': request.method, 'x-type': request.headers['content-type'] }))
  })
  await expect(fetch(url)).rejects.toThrow('fetch failed')
  const { status, headers, text } = await ask(url, { method: 'POST', body: { name: 'ä' }, timeoutMs: 5000 })
  expect({ status, text }).toEqual({ status: 409, text: '{"name":"ä"}' })
  expect(headers).toMatchObject({ 'x-method': 'POST', 'x-type': 'application/json', 'x-length': '13' })
})
test('an address says how it is asked, and headers and methods are those that are given', async () => {
  const seen: unknown[] = []
  const url = await served(await freePort(), (request, response) => {
    const { method, headers } = request
    seen.push([method, headers['x-a'], headers['content-type'], headers['content-length']])
    response.end()
  })
  await ask(url, { timeoutMs: 5000 })
  await ask(url, { method: 'DELETE', headers: { 'x-a': 'b', 'content-type': 'mine' }, timeoutMs: 5000 })
  await ask(url, { method: 'PATCH', headers: { 'content-type': 'mine' }, body: null, timeoutMs: 5000 })
  expect(seen).toEqual([
    ['GET', undefined, undefined, undefined],
    ['DELETE', 'b', 'mine', undefined],
    ['PATCH', undefined, 'application/json', '4'],
  ])
  // the server speaks no TLS
  await expect(ask(url.replace('http:', 'https:'), { timeoutMs: 5000 })).rejects.toThrow(/SSL|EPROTO|wrong version/)
})
test('whoever is not there, or does not answer, is said to', async () => {
  const nobody = `http://127.0.0.1:${await freePort()}/`
  await expect(ask(nobody, { timeoutMs: 5000 })).rejects.toThrow('ECONNREFUSED')
  const silent = await served(await freePort(), () => {})
  await expect(ask(silent, { timeoutMs: 100 })).rejects.toThrow('no answer within 0.1 s')
  close()
  const cut = await served(await freePort(), (_, response) => void response.writeHead(200).write('half'))
  await expect(ask(cut, { timeoutMs: 100 })).rejects.toThrow('no answer within 0.1 s')
})

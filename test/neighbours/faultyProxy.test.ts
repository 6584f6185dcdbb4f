/** The harm that the proxy does, seen from both sides. */
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type FaultyProxy, faultyProxy } from './faultyProxy.ts'

let service: Server
let proxy: FaultyProxy
let done: string[]
beforeEach(async () => {
  done = []
  service = createServer((request, response) => {
    let text = ''
    request.on('data', (part: Buffer) => (text += part.toString()))
    request.on('end', () => {
      done.push(`${request.method} ${request.url} ${text}`)
      response.writeHead(201, { 'x-own': 'yes' }).end('0123456789')
    })
  })
  await new Promise<void>((resolve) => service.listen(0, '127.0.0.1', resolve))
  proxy = await faultyProxy(`http://127.0.0.1:${(service.address() as AddressInfo).port}/placement/`)
})
afterEach(async () => {
  await proxy.close()
  service.closeAllConnections()
  service.close()
})
const put = (timeoutMs = 3000) =>
  fetch(`${proxy.url}/x?a=1`, { method: 'PUT', body: 'body', signal: AbortSignal.timeout(timeoutMs) })
const DONE = 'PUT /placement/x?a=1 body'

test('without a rule it changes nothing', async () => {
  const answer = await put()
  expect([answer.status, answer.headers.get('x-own'), await answer.text()]).toEqual([201, 'yes', '0123456789'])
  expect([proxy.asked, done]).toEqual([['PUT /placement/x?a=1'], [DONE]])
})
test('it resets before and after the service has done its work', async () => {
  proxy.inject({ harm: { kind: 'resetBefore' }, times: 1 })
  await expect(put()).rejects.toThrow('fetch failed')
  expect(done).toEqual([])
  proxy.inject({ harm: { kind: 'resetAfter' }, times: 1 })
  await expect(put()).rejects.toThrow('fetch failed')
  expect(done).toEqual([DONE])
})

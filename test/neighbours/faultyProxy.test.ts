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
test('it answers in place of the service, as often as it is told', async () => {
  const storm = proxy.inject({ harm: { kind: 'answer', status: 409, body: 'no' }, times: 2 })
  expect([(await put()).status, (await put()).status, done.length]).toEqual([409, 409, 0])
  expect([(await put()).status, done.length, storm.applied()]).toEqual([201, 1, 2])
})
test('a rule is for the requests it names, and can be removed', async () => {
  proxy.inject({ harm: { kind: 'answer', status: 500 }, when: ({ method }) => method === 'GET' })
  const all = proxy.inject({ harm: { kind: 'answer', status: 503 } })
  expect([(await fetch(proxy.url)).status, (await put()).status]).toEqual([500, 503])
  all.remove()
  expect((await put()).status).toBe(201)
  proxy.heal()
  expect((await fetch(proxy.url)).status).toBe(201)
})
test('it resets before and after the service has done its work', async () => {
  proxy.inject({ harm: { kind: 'resetBefore' }, times: 1 })
  await expect(put()).rejects.toThrow('fetch failed')
  expect(done).toEqual([])
  proxy.inject({ harm: { kind: 'resetAfter' }, times: 1 })
  await expect(put()).rejects.toThrow('fetch failed')
  expect(done).toEqual([DONE])
})
test('it keeps silent before and after', async () => {
  proxy.inject({ harm: { kind: 'silentBefore' }, times: 1 })
  await expect(put(100)).rejects.toThrow('timeout')
  expect(done).toEqual([])
  proxy.inject({ harm: { kind: 'silentAfter' }, times: 1 })
  await expect(put(500)).rejects.toThrow('timeout')
  expect(done).toEqual([DONE])
})
test('it is slow, and does work of the test first', async () => {
  proxy.inject({ harm: { kind: 'slow', ms: 80 }, times: 1 })
  const began = performance.now()
  await put()
  expect(performance.now() - began).toBeGreaterThan(75)
  proxy.inject({ harm: { kind: 'first', run: () => done.push('first') } })
  await put()
  expect(done).toEqual([DONE, 'first', DONE])
})
test('it cuts an answer in the middle', async () => {
  proxy.inject({ harm: { kind: 'cut', afterBytes: 4 } })
  const answer = await put()
  expect(answer.status).toBe(201)
  await expect(answer.text()).rejects.toThrow('terminated')
})
test('it lets an answer stop in the middle', async () => {
  proxy.inject({ harm: { kind: 'stall', afterBytes: 4 } })
  const answer = await put(300)
  await expect(answer.text()).rejects.toThrow('timeout')
})

/** On the wire: bodies in halves, in pieces and without end, and headers as they leave the process. */
import { createServer } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { connect } from 'node:net'
import { getRequestListener } from '@hono/node-server'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { silent } from '../../src/log.ts'
import { strictApp } from './app.ts'

const errors: unknown[] = []
const { app, asked } = strictApp(
  { bodyLimitBytes: 1000 },
  { log: { ...silent, error: (fields) => void errors.push(fields) } },
)
const listener = getRequestListener(app.fetch)
const server = createServer((incoming, outgoing) => void listener(incoming, outgoing))
let port = 0
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  port = (server.address() as AddressInfo).port
})
afterAll(() => void server.close())

const open = (): Socket => connect(port, '127.0.0.1')
/** Sends the text and gives back all that comes until the connection ends. */
const raw = (text: string, hangUp = false): Promise<string> =>
  new Promise((resolve, reject) => {
    const socket = open()
    let got = ''
    socket.setEncoding('utf8')
    socket.on('data', (part: string) => void (got += part))
    socket.on('close', () => resolve(got))
    socket.on('error', reject)
    socket.write(text, () => hangUp && socket.end())
  })
const head = (line: string, more: readonly string[] = []) =>
  [`${line} HTTP/1.1`, 'Host: localhost', 'Connection: close', ...more, '', ''].join('\r\n')
const json = 'Content-Type: application/json'

describe('a body', () => {
  test('in pieces is read whole', async () => {
    const text = `${head('POST /v2/attributes', [json, 'Transfer-Encoding: chunked'])}4\r\n{"ke\r\n7\r\ny": 5}\n\r\n0\r\n\r\n`
    expect(await raw(text)).toMatch(/^HTTP\/1\.1 400[\s\S]*deployable_id/)
  })
  test('in pieces without end is refused at the limit', async () => {
    const socket = open()
    const answer = new Promise<string>((resolve) => socket.once('data', (part) => resolve(String(part))))
    socket.on('error', () => {})
    socket.write(head('POST /v2/attributes', [json, 'Transfer-Encoding: chunked']))
    const piece = `3e8\r\n${'x'.repeat(1000)}\r\n`
    socket.write(piece + piece)
    expect(await answer).toMatch(/^HTTP\/1\.1 413/)
    socket.destroy()
  })
  test('that says it is too long is refused before it comes', async () => {
    const socket = open()
    const answer = new Promise<string>((resolve) => socket.once('data', (part) => resolve(String(part))))
    socket.on('error', () => {})
    socket.write(head('POST /v2/attributes', [json, 'Content-Length: 1000000000']))
    expect(await answer).toMatch(/^HTTP\/1\.1 413/)
    socket.destroy()
  })
  test.each([
    ['POST', '/v2/accelerator_requests'],
    ['PATCH', '/v2/accelerator_requests'],
  ])('half sent to %s %s changes nothing and is no fault', async (method, path) => {
    await raw(`${head(`${method} ${path}`, [json, 'Content-Length: 100'])}{"device_profile_name": "x"}`, true)
    const socket = open()
    socket.write(`${head(`${method} ${path}`, [json, 'Content-Length: 100'])}{"a"`, () => socket.destroy())
    await new Promise((resolve) => setTimeout(resolve, 50))
    expect(asked).toEqual([])
    expect(errors).toEqual([])
  })
})

describe('an answer', () => {
  test('has the headers of the contract', async () => {
    const got = await raw(head('GET /v2', ['OpenStack-API-Version: accelerator 2.2']))
    const [top = '', body = ''] = got.split('\r\n\r\n')
    const headers = new Map(
      top
        .split('\r\n')
        .slice(1)
        .map((line) => line.toLowerCase().split(': ') as [string, string]),
    )
    expect(Object.fromEntries(headers)).toMatchObject({
      'content-type': 'application/json',
      'content-length': String(Buffer.byteLength(body)),
      'openstack-api-version': 'accelerator 2.2',
      'openstack-api-minimum-version': '2.0',
      'openstack-api-maximum-version': '2.3',
      vary: 'openstack-api-version',
      'x-openstack-request-id': expect.stringMatching(/^req-[0-9a-f-]{36}$/),
    })
  })
  test('to HEAD has no body', async () => {
    const got = await raw(head('HEAD /v2'))
    expect(got).toMatch(/^HTTP\/1\.1 200/)
    expect(got.endsWith('\r\n\r\n')).toBe(true)
  })
  test('names the host that was asked', async () => {
    const got = await raw(head('GET /').replace('localhost', 'cloud.example:6666'))
    expect(got).toContain('http://cloud.example:6666/accelerator/v2')
  })
})

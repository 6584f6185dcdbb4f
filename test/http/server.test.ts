/** On the wire: bodies in halves, in pieces and without end, and headers as they leave the process. */
import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { connect } from 'node:net'
import { getRequestListener } from '@hono/node-server'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { silent } from '../../src/vocabulary/log.ts'
import { strictApp } from './app.ts'
import { bindBody, openCloud } from './cloud.ts'

const errors: unknown[] = []
const { app, asked } = strictApp(
  { bodyLimitBytes: 1000, trustedHosts: ['cloud.example'] },
  { log: { ...silent, error: (fields) => void errors.push(fields) } },
)

const serve = async (fetch: typeof app.fetch) => {
  const listener = getRequestListener(fetch)
  const server = createServer((incoming, outgoing) => void listener(incoming, outgoing))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return { port: (server.address() as AddressInfo).port, close: () => void server.close() }
}
let served: Awaited<ReturnType<typeof serve>>
beforeAll(async () => void (served = await serve(app.fetch)))
afterAll(() => served.close())

const open = (port = served.port): Socket => connect(port, '127.0.0.1')
/** Sends the text and gives back all that comes until the connection ends. */
const raw = (text: string, { hangUp = false, port = served.port } = {}): Promise<string> =>
  new Promise((resolve, reject) => {
    const socket = open(port)
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
    await raw(`${head(`${method} ${path}`, [json, 'Content-Length: 100'])}{"device_profile_name": "x"}`, {
      hangUp: true,
    })
    const socket = open()
    socket.write(`${head(`${method} ${path}`, [json, 'Content-Length: 100'])}{"a"`, () => socket.destroy())
    await new Promise((resolve) => setTimeout(resolve, 50))
    expect(asked).toEqual([])
    expect(errors).toEqual([])
  })
})

/** Lines and headers of an answer; the body is dropped. */
const headersOf = (got: string): Readonly<Record<string, string>> => {
  const [, ...lines] = got.split('\r\n\r\n')[0]!.split('\r\n')
  return Object.fromEntries(
    lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 2)]),
  )
}

describe('an answer', () => {
  test('has the headers of the contract', async () => {
    const got = await raw(head('GET /v2', ['OpenStack-API-Version: accelerator 2.2']))
    const body = got.slice(got.indexOf('\r\n\r\n') + 4)
    expect(headersOf(got)).toMatchObject({
      'content-type': 'application/json',
      'content-length': String(Buffer.byteLength(body)),
      'openstack-api-version': 'accelerator 2.2',
      'openstack-api-minimum-version': '2.0',
      'openstack-api-maximum-version': '2.3',
      vary: 'OpenStack-API-Version',
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
  test('without a body says so by its status or by a length of zero, never by both', async () => {
    const cloud = await openCloud()
    const { port, close } = await serve(cloud.app.fetch)
    const [arq] = await cloud.newArqs()
    const body = JSON.stringify(bindBody([arq!], cloud.fpga.rp_uuid, randomUUID()))
    const bind = head('PATCH /v2/accelerator_requests', [
      json,
      'X-Service-Roles: service',
      `Content-Length: ${body.length}`,
    ])
    const bound = await raw(bind + body, { port })
    const deleted = await raw(head(`DELETE /v2/accelerator_requests/${arq!.uuid}`, ['X-Service-Roles: service']), {
      port,
    })
    for (const [got, status, length] of [
      [bound, 202, '0'],
      [deleted, 204, undefined],
    ] as const) {
      expect(got.startsWith(`HTTP/1.1 ${status} `), got).toBe(true)
      expect(got.endsWith('\r\n\r\n')).toBe(true)
      expect(headersOf(got)['content-length']).toBe(length)
      expect(headersOf(got)).not.toHaveProperty('content-type')
      expect(headersOf(got)).not.toHaveProperty('transfer-encoding')
    }
    close()
    await cloud.close()
  })
})

/** Requests that are broken at the HTTP level, on sockets of the test's own and by a clock that it moves. */
import { EventEmitter } from 'node:events'
import { maxHeaderSize } from 'node:http'
import { RequestError } from '@hono/node-server'
import { describe, expect, test } from 'vitest'
import type { HttpFault } from '../../src/http/faults.ts'
import { errorAnswer } from '../../src/http/faults.ts'
import { unserved } from '../../src/http/unserved.ts'
import { handClock, memoryLog } from '../support/lab.ts'
import { uuid } from './toldControl.ts'

const REQUEST = `req-${uuid(1)}`
const open = () => {
  const [clock, log] = [handClock(), memoryLog()]
  return { clock, log, ...unserved({ ids: { uuid: () => uuid(1), ordered: () => uuid(2) }, clock, log }) }
}
const socketOf = (more: object = {}) => {
  const sent: string[] = []
  let destroyed = 0
  const socket = Object.assign(new EventEmitter(), {
    writable: true,
    remoteAddress: '10.0.0.9',
    _httpMessage: null,
    end: (text: string) => void sent.push(text),
    destroy: () => void destroyed++,
    ...more,
  })
  return { socket: socket as never, sent, close: () => socket.emit('close'), destroyed: () => destroyed }
}
const failure = (more: object = {}) => Object.assign(new Error('broken'), more)
const unreadable = (reason: string): HttpFault => ({ kind: 'unreadable', reason })
const textOf = (fault: HttpFault) => errorAnswer(fault, REQUEST).text
const headersOf = (fault: HttpFault) => ({
  'x-openstack-request-id': REQUEST,
  'x-content-type-options': 'nosniff',
  'content-type': 'application/json',
  'content-length': String(Buffer.byteLength(textOf(fault))),
  connection: 'close',
})
const noted = (status: number, reason: string, remote = '10.0.0.9') => ({
  level: 'info',
  detail: { request: REQUEST, status, reason, remote },
  message: 'http.unserved',
})

describe('a connection whose request cannot be read', () => {
  test.each<[error: Parameters<ReturnType<typeof open>['unreadable']>[0], status: string, fault: HttpFault]>([
    [failure({ code: 'HPE_INVALID', reason: 'Bad' }), '400 Bad Request', unreadable('Bad')],
    [failure(), '400 Bad Request', unreadable('it breaks the grammar of HTTP')],
    [
      failure({ code: 'HPE_HEADER_OVERFLOW' }),
      '431 Request Header Fields Too Large',
      { kind: 'headers_too_large', limitBytes: maxHeaderSize },
    ],
    [failure({ code: 'ERR_HTTP_REQUEST_TIMEOUT' }), '408 Request Timeout', { kind: 'too_slow' }],
  ])('is answered in the form of every other error: case %#', (error, status, fault) => {
    const { log, unreadable: handle } = open()
    const { socket, sent } = socketOf()
    handle(error, socket)
    handle(error, socket)
    const lines = Object.entries(headersOf(fault)).map(([name, value]) => `${name}: ${value}`)
    const head = [`HTTP/1.1 ${status}`, ...lines, 'date: Thu, 01 Jan 2026 00:00:00 GMT']
    expect(sent).toEqual([`${head.join('\r\n')}\r\n\r\n${textOf(fault)}`])
    expect(log.said).toEqual([noted(Number(status.slice(0, 3)), errorAnswer(fault, REQUEST).detail)])
  })
  test('is closed after a second, unless its client closes it before', async () => {
    const { clock, unreadable: handle } = open()
    const [lingering, closing] = [socketOf(), socketOf()]
    for (const { socket } of [lingering, closing]) handle(failure(), socket)
    closing.close()
    await clock.pass(999)
    expect([lingering.destroyed(), closing.destroyed()]).toEqual([0, 0])
    await clock.pass(1)
    expect([lingering.destroyed(), closing.destroyed()]).toEqual([1, 0])
  })
  test.each([
    [{ writable: false }, failure()],
    [{}, failure({ code: 'ECONNRESET' })],
    [{ _httpMessage: { headersSent: true } }, failure()],
  ])('is only closed where no answer can be read: case %#', (more, error) => {
    const { log, unreadable: handle } = open()
    const { socket, sent, destroyed } = socketOf(more)
    handle(error, socket)
    expect([sent, destroyed(), log.said]).toEqual([[], 1, []])
  })
  test('is answered while the headers of another answer are not sent yet', () => {
    const { unreadable: handle } = open()
    const { socket, sent, destroyed } = socketOf({ _httpMessage: { headersSent: false } })
    handle(failure(), socket)
    expect([sent.length, destroyed()]).toEqual([1, 0])
  })
})

const outgoing = () => {
  const sent: unknown[] = []
  const answer = { writeHead: (...head: unknown[]) => ({ end: (text: string) => void sent.push([...head, text]) }) }
  return { answer: answer as never, sent }
}
const incoming = (httpVersion: string, host: string | undefined, url: string, more: object = {}) =>
  ({ httpVersion, headers: { host, ...more }, url, socket: { remoteAddress: '10.0.0.9' } }) as never

describe('the address of a request', () => {
  const NONE = 'it has no Host header'
  const DIFFERENT = 'its target and its Host header name different hosts'
  test.each<[httpVersion: string, host: string | undefined, url: string, reason: string | null]>([
    ['1.1', 'h', '/v2', null],
    ['1.1', undefined, '/v2', NONE],
    ['1.0', undefined, '/v2', null],
    ['1.1', 'h', 'http://h/v2', null],
    ['1.1', 'H:1', 'HTTP://h:1?x', null],
    ['1.1', 'h', 'http://H#x', null],
    ['1.1', 'h', 'http://other/v2', DIFFERENT],
    ['1.0', undefined, 'http://h/v2', DIFFERENT],
    ['1.1', 'h', '/to?url=http://other/', null],
  ])('HTTP/%s with the host %s for %s: %s', (httpVersion, host, url, reason) => {
    const { log, misaddressed } = open()
    const { answer, sent } = outgoing()
    expect(misaddressed(incoming(httpVersion, host, url), answer)).toBe(reason !== null)
    if (reason === null) return expect([sent, log.said]).toEqual([[], []])
    const fault = unreadable(reason)
    expect(sent).toEqual([[400, headersOf(fault), textOf(fault)]])
    expect(log.said).toEqual([noted(400, `The request cannot be read: ${reason}.`)])
  })
})

test('an expectation that nobody meets is refused by its name', () => {
  const { unexpected } = open()
  const { answer, sent } = outgoing()
  unexpected(incoming('1.1', 'h', '/v2', { expect: 'tea' }), answer)
  const fault: HttpFault = { kind: 'expectation', given: 'tea' }
  expect(sent).toEqual([[417, headersOf(fault), textOf(fault)]])
})

test.each<[error: Error, status: number, fault: HttpFault, level: readonly string[]]>([
  [new RequestError('bad'), 400, unreadable('its target and its Host header make no URL'), ['info']],
  [new Error('a defect'), 500, { kind: 'broken', reason: 'a defect' }, ['error', 'info']],
])('an error before routing: %s', async (error, status, fault, levels) => {
  const { log, failed } = open()
  const response = failed(error)
  expect([response.status, Object.fromEntries(response.headers), await response.text()]).toEqual([
    status,
    headersOf(fault),
    textOf(fault),
  ])
  expect(log.said.map(({ level }) => level)).toEqual(levels)
})

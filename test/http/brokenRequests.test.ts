/** Of requests that are broken at the HTTP level, what real sockets cannot show: times, and states of a connection. */
import { EventEmitter } from 'node:events'
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
const noted = (status: number, reason: string) => ({
  level: 'info',
  detail: { request: REQUEST, status, reason, remote: '10.0.0.9' },
  message: 'http.unserved',
})

describe('a connection whose request cannot be read', () => {
  test.each([
    ['with the reason of the parser', 'Bad', failure({ code: 'HPE_INVALID', reason: 'Bad' })],
    ['also where the parser gives no reason', 'it breaks the grammar of HTTP', failure()],
  ])('is answered to the letter %s', (_, reason, error) => {
    const { log, unreadable: handle } = open()
    const { socket, sent } = socketOf()
    handle(error, socket)
    const fault = unreadable(reason)
    const lines = Object.entries(headersOf(fault)).map(([name, value]) => `${name}: ${value}`)
    const head = ['HTTP/1.1 400 Bad Request', ...lines, 'date: Thu, 01 Jan 2026 00:00:00 GMT']
    expect(sent).toEqual([`${head.join('\r\n')}\r\n\r\n${textOf(fault)}`])
    expect(log.said).toEqual([noted(400, errorAnswer(fault, REQUEST).detail)])
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
    ['its client no longer reads', { writable: false }, failure()],
    ['its client has reset it', {}, failure({ code: 'ECONNRESET' })],
    ['another answer has begun', { _httpMessage: { headersSent: true } }, failure()],
  ])('is only closed where %s', (_, more, error) => {
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

test('an error of the application before routing is a defect, which is logged as one', async () => {
  const { log, failed } = open()
  const response = failed(new Error('a defect'))
  const fault: HttpFault = { kind: 'broken', reason: 'a defect' }
  const { status, headers } = response
  expect([status, Object.fromEntries(headers), await response.text()]).toEqual([500, headersOf(fault), textOf(fault)])
  expect(log.said.map(({ level }) => level)).toEqual(['error', 'info'])
})
// the parser of Node refuses such a target before
test('a fragment is no part of the host that a target names', () => {
  const { log, misaddressed } = open()
  const incoming = { httpVersion: '1.1', headers: { host: 'h' }, url: 'http://h#x' }
  expect([misaddressed(incoming as never, null as never), log.said]).toEqual([false, []])
})

/** An answer that comes in parts: what is sent for it, what is dropped, and how each way to fail is told. */
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { createSender, Unanswered } from '../../../src/neighbours/openstack/send.ts'
import { createStream, type StreamRequest } from '../../../src/neighbours/openstack/stream.ts'
import { until } from '../../support/lab.ts'

const closing: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close()
})
const opened = async (answer: RequestListener) => {
  const server = createServer(answer)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const sender = createSender(null)
  closing.push(
    () => server.close(),
    () => server.closeAllConnections(),
    sender.close,
  )
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const ask = createStream(sender.agent)
  const signal = new AbortController().signal
  return (more: Partial<StreamRequest> = {}) =>
    ask({ method: 'GET', url: `${url}/f?q=1`, headers: {}, timeoutMs: 20_000, idleMs: 20_000, signal, ...more })
}
const textOf = async (body: AsyncIterable<Uint8Array>): Promise<string> => {
  const parts: Uint8Array[] = []
  for await (const part of body) parts.push(part)
  return Buffer.concat(parts).toString()
}
const told = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => 'it was answered',
    (error: unknown) => [error instanceof Unanswered, (error as Error).message],
  )

test('a request brings its method and headers, and gives back status, headers and all parts', async () => {
  const asked: Pick<IncomingMessage, 'method' | 'url' | 'headers'>[] = []
  const ask = await opened((request, response) => {
    asked.push(request)
    response.writeHead(206, { 'X-One': 'a', 'set-cookie': ['first', 'second'] })
    response.write('one ')
    response.end('two')
  })
  const answer = await ask({ headers: { range: 'bytes=4-' } })
  expect(answer).toMatchObject({ status: 206, headers: { 'x-one': 'a', 'set-cookie': 'first' } })
  expect(await textOf(answer.body)).toBe('one two')
  const [{ method, url, headers }] = asked as [(typeof asked)[number]]
  expect([method, url, headers.range]).toEqual(['GET', '/f?q=1', 'bytes=4-'])
})

/** Answers with the status and the first part; whether the client has left is known afterwards. */
const unended = (status: number) => {
  const responses: ServerResponse[] = []
  const listener: RequestListener = (_, response) => {
    responses.push(response)
    response.writeHead(status).write('part')
  }
  return { listener, isLeft: () => responses[0]!.destroyed }
}
test.each([300, 404, 503])('the body of an answer %i is dropped unread', async (status) => {
  const { listener, isLeft } = unended(status)
  expect((await (await opened(listener))()).status).toBe(status)
  await until(isLeft)
})
test('the body of any other answer is dropped when that is said', async () => {
  const { listener, isLeft } = unended(299)
  const { body, drop } = await (await opened(listener))()
  const first = await body[Symbol.asyncIterator]().next()
  expect([Buffer.from(first.value as Uint8Array).toString(), isLeft()]).toEqual(['part', false])
  drop()
  await until(isLeft)
})

test('an answer that does not begin in time, or stands still, is given up with the time that it had', async () => {
  const [silent, still] = [await opened(() => undefined), await opened(unended(200).listener)]
  const [none, part] = await Promise.all([
    told(silent({ timeoutMs: 40 })),
    still({ idleMs: 60 }).then(({ body }) => told(textOf(body))),
  ])
  expect([none, part]).toEqual([
    [true, 'nothing came for 40 ms'],
    [true, 'nothing came for 60 ms'],
  ])
})
test('a request that is aborted ends with its reason, before and after its answer has begun', async () => {
  const stop = new AbortController()
  const ask = await opened(unended(200).listener)
  const { body } = await ask({ signal: stop.signal })
  const read = told(textOf(body))
  stop.abort(new Error('a newer order came'))
  expect(await read).toEqual([true, 'a newer order came'])
  expect(await told(ask({ signal: stop.signal }))).toEqual([true, 'a newer order came'])
})
test('a connection that is cut is told so, before and after its answer has begun', async () => {
  const before = await opened((request) => void request.socket.destroy())
  expect(await told(before())).toEqual([true, 'other side closed'])
  const responses: ServerResponse[] = []
  const after = await opened((_, response) => {
    responses.push(response)
    response.writeHead(200, { 'content-length': '100' }).write('part')
  })
  const { body } = await after()
  responses[0]!.destroy()
  expect(await told(textOf(body))).toEqual([true, 'other side closed'])
})

/** What the pages of a browser are told of the stream of events, and when there is none. */
import { type RequestListener, createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { followStream } from '../../src/ui/browser/followStream.ts'

const STREAM = { 'content-type': 'text/event-stream; charset=utf-8' }
const EVENT = 'id: 7\nevent: message\ndata: {"name":"gr\u00fc\u00dfe"}\n\n'
const BEAT = 'event: beat\ndata: {}\n\n'

const followed = async (answer: RequestListener) => {
  const server = createServer(answer)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const happened: string[] = []
  const { port } = server.address() as AddressInfo
  const ended = followStream(new URL(`http://127.0.0.1:${port}/stream`), (what) => void happened.push(what))
  return { happened, ended }
}

test('it is open, something may have happened before, and later events count', async () => {
  const { happened, ended } = await followed((_request, response) => {
    response.writeHead(200, STREAM)
    for (const text of [EVENT, BEAT]) response.write(text)
    response.end(EVENT)
  })
  await ended
  expect(happened.slice(0, 3)).toEqual(['open', 'changed', 'changed'])
})
test('a sign of life is no news', async () => {
  const { happened, ended } = await followed((_request, response) => response.writeHead(200, STREAM).end(BEAT))
  await ended
  expect(happened).toEqual(['open', 'changed'])
})
test.each([
  ['a refusal', 401, STREAM, '401'],
  ['a page', 200, { 'content-type': 'text/html' }, '200'],
  ['no content type', 200, {}, '200'],
  ['nothing', 204, STREAM, '204'],
] as const)('%s is no stream, and nothing is told', async (_name, status, headers, reason) => {
  const { happened, ended } = await followed((_request, response) => response.writeHead(status, headers).end())
  await expect(ended).rejects.toThrow(reason)
  expect(happened).toEqual([])
})
test('the address of the sign-in page is not followed', async () => {
  const { happened, ended } = await followed((request, response) =>
    request.url === '/stream'
      ? response.writeHead(302, { location: '/sign-in' }).end()
      : response.writeHead(200, STREAM).end(EVENT),
  )
  await expect(ended).rejects.toThrow('fetch failed')
  expect(happened).toEqual([])
})
test('a stream that breaks off is told as such', async () => {
  const { happened, ended } = await followed((_request, response) => {
    response.writeHead(200, STREAM)
    response.write(EVENT, () => response.destroy())
  })
  await expect(ended).rejects.toThrow('terminated')
  expect(happened).toContain('open')
})

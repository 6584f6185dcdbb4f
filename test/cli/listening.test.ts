/** Listeners: what a stop lets finish and what it cuts, and the small Nova of the tour. */
import { connect } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import {
  type App,
  expectFree,
  type Listening,
  listen,
  listenOrElsewhere,
  urlOf,
} from '../../src/cli/programs/listen.ts'
import { openTourNova } from '../../src/cli/programs/tourNova.ts'
import { memoryLog, until } from '../support/lab.ts'

let open: Listening | null = null
afterEach(() => open?.close(0))
const LOCAL = { host: '127.0.0.1', port: 0 }
const listening = async (fetch: App['fetch']): Promise<Listening> => (open = await listen({ fetch }, LOCAL))

test('a request that runs is answered although the listener stops, and a new one is not taken', async () => {
  const { promise, resolve } = Promise.withResolvers<Response>()
  let running = 0
  const here = await listening(() => (running++, promise))
  const answer = fetch(urlOf(here))
  await until(() => running === 1)
  const closed = here.close(10_000)
  await expect(fetch(urlOf(here))).rejects.toThrow('fetch failed')
  resolve(new Response('done'))
  expect(await (await answer).text()).toBe('done')
  await closed
})
test('a request that does not end is cut when its time is over', async () => {
  let running = 0
  const here = await listening(() => (running++, new Promise<Response>(() => {})))
  const answer = fetch(urlOf(here)).catch((error: unknown) => String(error))
  await until(() => running === 1)
  await here.close(10)
  expect(await answer).toContain('fetch failed')
})
test('a connection on which nothing is asked holds up no stop', async () => {
  const here = await listening(() => new Response('fine', { headers: { connection: 'keep-alive' } }))
  const socket = connect(here.port, here.host)
  let got = ''
  socket.on('data', (part) => (got += String(part))).write('GET / HTTP/1.1\r\nhost: h\r\n\r\n')
  await until(() => got.includes('fine'))
  await here.close(60_000)
  socket.destroy()
})
test('an address that cannot be listened on rejects, unless it is a default that may be another', async () => {
  const here = await listening(() => new Response('one'))
  const app: App = { fetch: () => new Response('two') }
  await expect(listen(app, here)).rejects.toThrow('EADDRINUSE')
  const log = memoryLog()
  const address = { host: here.host, port: here.port }
  await expect(listenOrElsewhere(app, { ...address, chosen: true }, { name: 'x', log })).rejects.toThrow('EADDRINUSE')
  expect(log.said).toEqual([])
  const elsewhere = await listenOrElsewhere(app, { ...address, chosen: false }, { name: 'x', log })
  expect(log.said).toEqual([
    {
      level: 'warn',
      detail: { ...address, chosen: false, error: expect.stringContaining('EADDRINUSE') },
      message: 'the default x address is taken, any free port is used',
    },
  ])
  expect([elsewhere.host, elsewhere.port === here.port]).toEqual([here.host, false])
  expect(await (await fetch(urlOf(elsewhere))).text()).toBe('two')
  await elsewhere.close(0)
})

test('the Nova of the tour remembers what it is told, takes all of it, and refuses what is too long', async () => {
  const nova = await openTourNova()
  const event = (tag: string) => ({ name: 'n', server_uuid: 's', tag, status: 'completed' })
  const told = async (...events: readonly object[]) => {
    const answer = await fetch(nova.url, { method: 'POST', body: JSON.stringify({ events }) })
    return [answer.status, answer.headers.get('content-type'), await answer.json()]
  }
  expect(nova.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/)
  expect(await told(event('a'), event('b'))).toEqual([
    200,
    'application/json',
    {
      events: [
        { ...event('a'), code: 200 },
        { ...event('b'), code: 200 },
      ],
    },
  ])
  expect(await told(event('c'))).toMatchObject([200, 'application/json', { events: [{ tag: 'c' }] }])
  expect(nova.heard()).toEqual([event('a'), event('b'), event('c')])
  await expect(told({ tag: 'x'.repeat(1024 * 1024) })).rejects.toThrow('fetch failed')
  expect(nova.heard()).toHaveLength(3)
  await nova.close()
  await expect(told()).rejects.toThrow('fetch failed')
})

test('an address that is taken is known before anything else is done', async () => {
  const { host, port } = await listening(() => new Response())
  await expect(expectFree({ host, port })).rejects.toMatchObject({ code: 'EADDRINUSE' })
  await open!.close(0)
  await expectFree({ host, port })
  await expectFree({ host, port })
})
test('each address that the operator chose has to be free, and another one than the others', async () => {
  const free = { host: '127.0.0.1', port: 0 }
  const { host, port } = await listening(() => new Response())
  for (const wanted of [
    [free, { host, port, chosen: true }],
    [{ host, port, chosen: true }, free],
  ])
    await expect(expectFree(...wanted)).rejects.toMatchObject({ code: 'EADDRINUSE', port })
  await expectFree(free, { host, port, chosen: false })
  await open!.close(0)
  const both = { host, port, chosen: true }
  await expect(expectFree(both, both)).rejects.toMatchObject({ code: 'EADDRINUSE' })
  await expectFree(both, free)
})

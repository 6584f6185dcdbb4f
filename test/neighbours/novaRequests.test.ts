/** Each request to Nova, whole: its headers at an address and through the session, and how events are divided. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { NovaEvent } from '../../src/actors/neighbours.ts'
import { novaThrough } from '../../src/neighbours/nova.ts'
import { directly, inCatalogue, type NovaOptions } from '../../src/neighbours/novaCall.ts'
import { serversThrough } from '../../src/neighbours/novaServers.ts'
import type { Answer, Request } from '../../src/neighbours/openstack/send.ts'
import type { Call } from '../../src/neighbours/openstack/session.ts'

const some = (count: number): readonly NovaEvent[] =>
  Array.from({ length: count }, (_, at) => ({
    ...{ name: 'accelerator-request-bound', server_uuid: `s${at}`, tag: `t${at}`, status: 'completed' as const },
  }))
const told = (status: number, text = ''): Answer => ({ status, headers: {}, text })
const opened = (answer: (request: Request) => Answer = () => told(200), more: Partial<NovaOptions> = {}) => {
  const asked: Request[] = []
  const send = async (request: Request): Promise<Answer> => (asked.push(request), answer(request))
  const call = directly({ url: 'http://nova/v2.1//', timeoutMs: 700, send, ...more })
  return { asked, nova: novaThrough(call, 700), servers: serversThrough(call, 700) }
}
const ALWAYS = {
  accept: 'application/json',
  'openstack-api-version': 'compute 2.82',
  'x-openstack-nova-api-version': '2.82',
}
const JSON_TYPE = { 'content-type': 'application/json' }

test('events are one request with the id of the request that caused them, and its trace', async () => {
  const { asked, nova } = opened(undefined, { headers: { 'X-Own': 'o', Accept: 'text/html' } })
  expect(await nova.notify(some(1), 'req-1', '00-trace')).toEqual([{ tag: 't0', outcome: 'delivered', code: 200 }])
  await nova.notify(some(1), 'req-2')
  const request = {
    method: 'POST',
    url: 'http://nova/v2.1/os-server-external-events',
    body: JSON.stringify({ events: some(1) }),
    timeoutMs: 700,
  }
  const headers = { 'x-own': 'o', ...ALWAYS, ...JSON_TYPE }
  expect(asked).toEqual([
    { ...request, headers: { ...headers, 'x-openstack-request-id': 'req-1', traceparent: '00-trace' } },
    { ...request, headers: { ...headers, 'x-openstack-request-id': 'req-2' } },
  ])
})
test('a request id that no header can carry is left out, and keeps no event back', async () => {
  for (const [id, isCarried] of [
    ['!~', true],
    ['r'.repeat(200), true],
    ['r'.repeat(201), false],
    ['', false],
    ['req\n1', false],
    [' req', false],
    ['req ', false],
    ['r\u00e4q', false],
  ] as const) {
    const { asked, nova } = opened()
    expect(await nova.notify(some(1), id)).toMatchObject([{ outcome: 'delivered' }])
    expect([id, asked[0]!.headers['x-openstack-request-id']]).toEqual([id, isCarried ? id : undefined])
  }
})
test.each([400, 413])('events of which one is blamed with all by %i are told in halves', async (status) => {
  const sizes: number[] = []
  const { nova } = opened(({ body }) => {
    const { events } = JSON.parse(body!) as { readonly events: readonly { readonly tag: string }[] }
    sizes.push(events.length)
    return told(events.some(({ tag }) => tag === 't1') ? status : 200)
  })
  const verdicts = await nova.notify(some(3), 'req-1')
  expect(verdicts.map(({ tag, code }) => [tag, code])).toEqual([
    ['t0', 200],
    ['t1', status],
    ['t2', 200],
  ])
  expect(sizes).toEqual([3, 2, 1, 1, 1])
})
test('events that are refused with 409 are told together again', async () => {
  const { asked, nova } = opened(() => told(409))
  expect((await nova.notify(some(2), 'req-1')).map(({ outcome }) => outcome)).toEqual(['retry', 'retry'])
  expect(asked).toHaveLength(1)
})

test('a token file holds one token of at most 16384 characters, which is sent instead of a header of that name', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'nova-requests-'))
  const tokenFile = join(folder, 'token')
  const sent = async (content: string) => {
    writeFileSync(tokenFile, content)
    const { asked, servers } = opened(() => told(200, '{"servers": []}'), {
      tokenFile,
      headers: { 'X-Auth-Token': 'old' },
    })
    const blind = await servers.blind()
    return [blind, asked.map(({ headers }) => headers['x-auth-token'])]
  }
  try {
    const reason =
      'Nova does not answer: nova.token_file has to hold a token and nothing else: one word of ASCII characters in one line'
    expect(await sent(` ${'x'.repeat(16_384)}\n`)).toEqual([null, ['x'.repeat(16_384)]])
    expect(await sent('x'.repeat(16_385))).toEqual([reason, []])
    for (const content of ['a b', 'a\nb', '\u00e4b', 'b\u00e4']) expect(await sent(content)).toEqual([reason, []])
  } finally {
    rmSync(folder, { recursive: true })
  }
})

test('through the session each request names the service, and has the same headers and its own time', async () => {
  const asked: Call[] = []
  const session = { call: async (call: Call) => (asked.push(call), told(200, '{"servers": []}')) }
  const call = inCatalogue(session, { headers: { 'X-Own': 'o', Accept: 'text/html' }, timeoutMs: 300 })
  expect(await serversThrough(call, 300).blind()).toBeNull()
  await novaThrough(inCatalogue(session, { timeoutMs: 400 }), 400).notify(some(1), 'req-1')
  expect(asked).toEqual([
    {
      service: 'compute',
      method: 'GET',
      path: '/servers?all_tenants=true&limit=1',
      headers: { 'x-own': 'o', ...ALWAYS },
      timeoutMs: 300,
    },
    {
      service: 'compute',
      method: 'POST',
      path: '/os-server-external-events',
      body: JSON.stringify({ events: some(1) }),
      headers: { ...ALWAYS, ...JSON_TYPE, 'x-openstack-request-id': 'req-1' },
      timeoutMs: 400,
    },
  ])
})

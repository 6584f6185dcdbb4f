/** What Nova says of servers: the contract on the double, and answers that say nothing. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { serversAt } from '../support/novaClients.ts'
import { novaServersContract } from '../contracts/novaServers.contract.ts'
import { novaServersDouble } from './novaServersDouble.ts'

describe('the double', () => {
  let lab: Awaited<ReturnType<typeof novaServersDouble>>
  beforeAll(async () => void (lab = await novaServersDouble()))
  afterAll(() => lab.close())
  novaServersContract(() => lab)
})

const ID = '5eed0000-0000-4000-8000-00000000000a'
const gone = (message: string) => ({ itemNotFound: { code: 404, message } })
const read = (status: number, body: unknown) => {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  return serversAt({ url: 'http://nova', timeoutMs: 1000, send: async () => ({ status, text, headers: {} }) }).server(
    ID,
  )
}

test.each<readonly [status: number, body: unknown]>([
  [404, ''],
  [404, '<html>not here</html>'],
  [404, gone('The resource could not be found.')],
  [404, gone('Instance 5eed0000-0000-4000-8000-00000000000b could not be found.')],
  [404, { error: { code: 404, message: `Instance ${ID} could not be found.` } }],
  [200, ''],
  [200, {}],
  [200, { server: { id: '5eed0000-0000-4000-8000-00000000000b', status: 'ACTIVE' } }],
  [200, { server: { id: ID } }],
  [204, ''],
  [301, ''],
  [401, gone(`Instance ${ID} could not be found.`)],
  [403, { forbidden: { code: 403, message: 'no' } }],
  [410, gone(`Instance ${ID} could not be found.`)],
  [500, { computeFault: { code: 500, message: 'Cell is not responding' } }],
  [503, ''],
])('%i %o says nothing', async (status, body) => {
  expect(await read(status, body)).toMatchObject({
    is: 'unclear',
    reason: expect.stringContaining(`Nova answered ${status}`),
  })
})
test('only the 404 of Nova about this very server counts, in any spelling of its UUID', async () => {
  expect(await read(404, gone(`Instance ${ID.toUpperCase()} could not be found.`))).toEqual({ is: 'unknown' })
})
test.each([
  ['a node', { 'OS-EXT-SRV-ATTR:hypervisor_hostname': 'n1' }, 'n1'],
  ['no node', { 'OS-EXT-SRV-ATTR:hypervisor_hostname': null }, null],
  ['an empty one', { 'OS-EXT-SRV-ATTR:hypervisor_hostname': '' }, null],
  ['none that is shown', {}, null],
])('a server with %s is known', async (_, more, node) => {
  expect(await read(200, { server: { id: ID.toUpperCase(), status: 'SHELVED_OFFLOADED', ...more } })).toEqual({
    is: 'known',
    status: 'SHELVED_OFFLOADED',
    node,
  })
})
test('nobody answers', async () => {
  const nova = serversAt({ url: 'http://127.0.0.1:1/v2.1', timeoutMs: 1000 })
  const silent = expect.stringContaining('Nova does not answer')
  expect(await nova.server(ID)).toEqual({ is: 'unclear', reason: silent })
  expect(await nova.blind()).toEqual(silent)
})
test.each([
  ['an answer that is no list', 200, '{}'],
  ['an error', 500, '{"computeFault": {"message": "no"}}'],
])('%s to the question about all servers', async (_, status, text) => {
  const send = async () => ({ status, text, headers: {} })
  const nova = serversAt({ url: 'http://nova', timeoutMs: 1000, send })
  expect(await nova.blind()).toContain(`Nova answered ${status}`)
})
test('one server is asked for by its UUID, and one of all projects to see whether the account may', async () => {
  const asked: unknown[] = []
  const answers = [
    { status: 200, text: JSON.stringify({ server: { id: ID, status: 'ACTIVE' } }) },
    { status: 200, text: '{"servers": []}' },
    { status: 403, text: '{"forbidden": {"message": "no"}}' },
  ]
  const send = async ({ method, url, timeoutMs }: { method: string; url: string; timeoutMs: number }) => {
    asked.push([method, url, timeoutMs])
    return { headers: {}, ...answers.shift()! }
  }
  const nova = serversAt({ url: 'http://nova/v2.1/', timeoutMs: 700, send })
  expect(await nova.server(ID)).toEqual({ is: 'known', status: 'ACTIVE', node: null })
  expect([await nova.blind(), await nova.blind()]).toEqual([
    null,
    'the account for Nova needs the role admin: it may not list the servers of all projects',
  ])
  const list = ['GET', 'http://nova/v2.1/servers?all_tenants=true&limit=1', 700]
  expect(asked).toEqual([['GET', `http://nova/v2.1/servers/${ID}`, 700], list, list])
})
test('a status or a node longer than 255 characters is not taken, and the words of Nova are told in one line', async () => {
  const server = (status: string, node: string) =>
    read(200, { server: { id: ID, status, 'OS-EXT-SRV-ATTR:hypervisor_hostname': node } })
  const [long, longer] = ['x'.repeat(255), 'x'.repeat(256)]
  expect(await server(long, long)).toEqual({ is: 'known', status: long, node: long })
  expect([(await server(longer, long)).is, (await server(long, longer)).is]).toEqual(['unclear', 'unclear'])
  expect(await read(500, { computeFault: { message: 'Cell is\n not responding' } })).toEqual({
    is: 'unclear',
    reason: 'Nova answered 500: Cell is not responding',
  })
})

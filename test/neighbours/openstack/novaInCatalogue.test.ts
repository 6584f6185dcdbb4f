/** Nova is found in the service catalogue, and told with the token of the session. */
import { randomUUID } from 'node:crypto'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { NovaEvent } from '../../../src/actors/neighbours.ts'
import { systemClock } from '../../../src/vocabulary/clock.ts'
import { silent } from '../../../src/vocabulary/log.ts'
import { novaOf } from '../../support/novaClients.ts'
import { createSender, type Sender } from '../../../src/neighbours/openstack/send.ts'
import { createSession } from '../../../src/neighbours/openstack/session.ts'
import { sessionOptions } from '../../contracts/keystone.contract.ts'
import { json, type ScriptedNova, scriptedNova, withCodes } from '../scriptedNova.ts'
import { type KeystoneDouble, keystoneDouble } from './keystoneDouble.ts'

let keystone: KeystoneDouble
let nova: ScriptedNova
let sender: Sender
beforeEach(async () => {
  ;[keystone, nova] = await Promise.all([keystoneDouble(), scriptedNova()])
  keystone.services = { compute: nova.url }
  sender = createSender(null)
})
afterEach(async () => {
  await sender.close()
  await Promise.all([keystone.close(), nova.close()])
})
const event = (): NovaEvent => ({
  name: 'accelerator-request-bound',
  server_uuid: randomUUID(),
  tag: randomUUID(),
  status: 'completed',
})
const open = () => {
  const options = sessionOptions(keystone.authUrl)
  const session = createSession({ options, send: sender.send, clock: systemClock, log: silent })
  return novaOf(session, {
    timeoutMs: 2000,
    headers: { 'X-Extra': 'e', 'OpenStack-API-Version': 'compute 2.1' },
  })
}

test('the event arrives with a token of the session, and the headers that Nova wants', async () => {
  nova.answers = withCodes(200, () => 200)
  const one = event()
  expect(await open().notify([one], 'req-1')).toEqual([{ tag: one.tag, outcome: 'delivered', code: 200 }])
  expect(nova.asked).toMatchObject([
    {
      method: 'POST',
      path: '/v2.1/os-server-external-events',
      headers: {
        'x-auth-token': expect.stringMatching(/^gAAAA/),
        'x-extra': 'e',
        'openstack-api-version': 'compute 2.82',
        'x-openstack-request-id': 'req-1',
      },
      body: { events: [one] },
    },
  ])
})
test('a token that Nova refuses is replaced once', async () => {
  const seen: unknown[] = []
  nova.answers = (response, asked) => {
    seen.push(asked.headers['x-auth-token'])
    ;(seen.length === 1 ? json(401, {}) : withCodes(200, () => 200))(response, asked)
  }
  expect(await open().notify([event()], 'req-1')).toMatchObject([{ outcome: 'delivered' }])
  expect(new Set(seen).size).toBe(2)
})
test('a Nova that refuses every token is told again later', async () => {
  nova.answers = json(401, {})
  expect(await open().notify([event()], 'req-1')).toMatchObject([{ outcome: 'retry', code: 401 }])
  expect(nova.asked).toHaveLength(2)
})
test('without Keystone, or without Nova in the catalogue, it is told again later, with the reason', async () => {
  keystone.mood = 'broken'
  expect(await open().notify([event()], 'req-1')).toMatchObject([
    { outcome: 'retry', code: 0, note: 'it gives this service no token (503)' },
  ])
  keystone.mood = 'well'
  keystone.services = {}
  expect(await open().notify([event()], 'req-1')).toMatchObject([
    { outcome: 'retry', note: expect.stringContaining('the catalogue has no endpoint of compute') },
  ])
})

/**
 * A stream of events lasts no longer than the token that opened it: with the validation of tokens, on the double of
 * Keystone.
 */
import { request } from 'node:http'
import type { IncomingMessage } from 'node:http'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Control } from '../../src/actors/control.ts'
import { listen } from '../../src/cli/programs/listen.ts'
import type { Listening } from '../../src/cli/programs/listen.ts'
import { systemClock } from '../../src/vocabulary/clock.ts'
import { createApp } from '../../src/http/app.ts'
import { tokenIdentity } from '../../src/http/tokenIdentity.ts'
import { silent } from '../../src/vocabulary/log.ts'
import { createSender, type Sender } from '../../src/neighbours/openstack/send.ts'
import { createSession } from '../../src/neighbours/openstack/session.ts'
import { createTokens } from '../../src/neighbours/openstack/tokens.ts'
import { memoryStores } from '../support/memoryStore/memory.ts'
import { sessionOptions } from '../contracts/keystone.contract.ts'
import { createEvents } from '../delivery/eventsLab.ts'
import { type KeystoneDouble, keystoneDouble } from '../neighbours/openstack/keystoneDouble.ts'
import { until } from '../support/lab.ts'
import { signIn } from '../support/signIn.ts'

const store = memoryStores({ exclusive: false })()
let keystone: KeystoneDouble
let sender: Sender
let events: ReturnType<typeof createEvents>
let api: Listening

beforeEach(async () => {
  keystone = await keystoneDouble()
  sender = createSender(null)
  const options = sessionOptions(keystone.authUrl)
  const session = createSession({ options, send: sender.send, clock: systemClock, log: silent })
  const tokens = createTokens({
    session,
    cache: { cacheMs: 100, entries: 10 },
    clock: systemClock,
    log: silent,
  })
  events = createEvents(store, { random: () => 0, identifiedForMs: 10, beatMs: 20 })
  const identity = { authUrl: keystone.authUrl, serviceType: 'accelerator', serviceTokenRoles: ['service'] }
  const app = createApp({ control: {} as Control, events, identify: tokenIdentity(tokens, identity), log: silent })
  api = await listen(app, { host: '127.0.0.1', port: 0 })
})
afterEach(async () => {
  events.stop()
  await api.close(0)
  await sender.close()
  await keystone.close()
})

const streamOf = async (token: string) => {
  const headers = { accept: 'text/event-stream', 'x-auth-token': token }
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
  request({ host: '127.0.0.1', port: api.port, path: '/v2/events', headers }, resolve).on('error', reject).end()
  const answer = await promise
  const read = { status: answer.statusCode, text: '', ended: false }
  answer.on('data', (bytes: Buffer) => void (read.text += bytes.toString('utf8')))
  answer.on('end', () => void (read.ended = true))
  await until(() => read.text.includes('event: beat') || read.ended)
  return read
}
const held = (user: string) => signIn(keystone.authUrl, user, { project: 'alpha' })
const EXPIRED = /event: bye\ndata: \{"reason":"expired"\}\n\n$/

test('it goes on while the token is valid, and ends when the token was revoked and is validated again', async () => {
  const { token } = await held('alpha-member')
  const read = await streamOf(token)
  const asked = () => keystone.asked.filter((line) => line.startsWith('GET /v3/auth/tokens')).length
  const before = asked()
  await until(() => asked() > before + 1)
  expect([read.status, read.ended]).toEqual([200, false])
  keystone.revokeAll()
  await until(() => read.ended)
  expect(read.text).toMatch(EXPIRED)
  expect((await streamOf(token)).status).toBe(401)
})
test('it ends with the token, although nothing happens', async () => {
  keystone.lifeMs = 1500
  const read = await streamOf((await held('alpha-member')).token)
  expect(read.status).toBe(200)
  await until(() => read.ended)
  expect(read.text).toMatch(EXPIRED)
})

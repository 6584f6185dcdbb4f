/** The session of a program with the cloud. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { closer } from '../../src/cli/closer.ts'
import { ailingOf, openSession } from '../../src/cli/programs/session.ts'
import { silent } from '../../src/log.ts'
import { sessionOptions } from '../contracts/keystone.contract.ts'
import { type KeystoneDouble, keystoneDouble } from '../neighbours/openstack/keystoneDouble.ts'
import { handClock } from '../support/lab.ts'

let keystone: KeystoneDouble
const asked: string[] = []
let status = 503
const service = createServer((request, response) => {
  asked.push(`${request.method} ${request.url}`)
  response.writeHead(status).end()
})
beforeEach(async () => {
  await new Promise<void>((resolve) => service.listen(0, '127.0.0.1', resolve))
  keystone = await keystoneDouble()
  keystone.services = { placement: `http://127.0.0.1:${(service.address() as AddressInfo).port}` }
})
afterEach(async () => {
  await new Promise((resolve) => service.close(resolve))
  await keystone.close()
})

test('a service that did not answer is asked again though nobody needs it, and until it answers', async () => {
  const clock = handClock()
  const open = closer(silent)
  const options = { session: sessionOptions(keystone.authUrl), ca: null } as Parameters<
    typeof openSession
  >[0]['keystone']
  const session = openSession({ keystone: options, clock, log: silent, open })!
  for (let n = 0; n < 3; n++) await session.call({ service: 'placement', method: 'GET', path: '/traits' })
  expect(ailingOf(session)).toBe('placement: it answers 503')
  asked.splice(0)
  await clock.pass(14_999)
  expect(asked).toEqual([])
  await clock.pass(1)
  await expect.poll(() => asked).toEqual(['GET /'])
  expect(ailingOf(session)).toBe('placement: it answers 503')
  status = 404
  const recovered = async () => {
    await clock.pass(15_000)
    return ailingOf(session)
  }
  await expect.poll(recovered).toBe(null)
  asked.splice(0)
  await clock.pass(60_000)
  expect(asked).toEqual([])
  await open.close()
})

test('a Keystone that did not answer is asked again as well, and without a cloud there is no session', async () => {
  const clock = handClock()
  const open = closer(silent)
  const account = { session: sessionOptions(keystone.authUrl), ca: null } as Parameters<
    typeof openSession
  >[0]['keystone']
  const session = openSession({ keystone: account, clock, log: silent, open })!
  await session.ask('/')
  keystone.mood = 'broken'
  for (let n = 0; n < 3; n++) await session.ask('/').catch(() => undefined)
  expect(ailingOf(session)).toBe('identity: it answers 503')
  keystone.mood = 'well'
  const before = keystone.asked.length
  const recovered = async () => {
    await clock.pass(15_000)
    return ailingOf(session)
  }
  await expect.poll(recovered).toBe(null)
  expect(keystone.asked.slice(before)).toContain('GET /v3/')
  await open.close()
  expect(openSession({ keystone: null, clock, log: silent, open })).toBeNull()
})
test('services that do not answer are told together, each with its reason', () => {
  const session = (whyFailing: Readonly<Record<string, string>>) => ({ whyFailing: () => whyFailing }) as never
  expect(ailingOf(session({}))).toBe(null)
  expect(ailingOf(session({ identity: 'late', image: 'it answers 500' }))).toBe('identity: late; image: it answers 500')
})

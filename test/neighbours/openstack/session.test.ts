import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createSender, type Sender } from '../../../src/neighbours/openstack/send.ts'
import { createSession } from '../../../src/neighbours/openstack/session.ts'
import { sessionOptions } from '../../contracts/keystone.contract.ts'
import { handClock, memoryLog } from '../../support/lab.ts'
import { type KeystoneDouble, keystoneDouble } from './keystoneDouble.ts'

let keystone: KeystoneDouble
let sender: Sender
beforeEach(async () => {
  keystone = await keystoneDouble()
  sender = createSender(null)
})
afterEach(async () => {
  await sender.close()
  await keystone.close()
})
const ISSUE = 'POST /v3/auth/tokens'
const issued = () => keystone.asked.filter((line) => line === ISSUE).length
const PATH = '/auth/tokens?nocatalog'
const open = (timeoutMs = 2000) => {
  const [clock, log] = [handClock(), memoryLog()]
  const options = { ...sessionOptions(keystone.authUrl), timeoutMs }
  return { clock, log, session: createSession({ options, send: sender.send, clock, log }) }
}
const subject = { 'x-subject-token': 'gAAAAAinvented' }

describe('session', () => {
  test('SESSION-1 one token serves many requests, and those that begin together', async () => {
    const { session } = open()
    await Promise.all([1, 2, 3].map(() => session.ask(PATH, subject)))
    await session.ask(PATH, subject)
    expect(issued()).toBe(1)
  })
  test('SESSION-1 it is renewed two minutes before its end', async () => {
    const { session, clock } = open()
    await session.ask(PATH, subject)
    await clock.pass(3_600_000 - 122_000)
    await session.ask(PATH, subject)
    expect(issued()).toBe(1)
    await clock.pass(3000)
    await session.ask(PATH, subject)
    expect(issued()).toBe(2)
  })
  test('SESSION-1 while Keystone gives no new one the old one is used until its end', async () => {
    const { session, clock } = open()
    await session.ask(PATH, subject)
    await clock.pass(3_600_000 - 60_000)
    keystone.mood = 'broken'
    const before = keystone.asked.length
    expect((await session.ask(PATH, subject)).status).toBe(503)
    expect(keystone.asked.slice(before)).toEqual([ISSUE, `GET /v3${PATH}`])
    await clock.pass(60_000)
    await expect(session.ask(PATH, subject)).rejects.toThrow('it gives this service no token (503)')
  })
  test('SESSION-2 a revoked token is replaced, and the request sent once more', async () => {
    const { session } = open()
    await session.ask(PATH, subject)
    keystone.revokeAll()
    expect((await session.ask(PATH, subject)).status).toBe(404)
    expect(issued()).toBe(2)
  })
  test('SESSION-2 a neighbour that refuses every token does not make this service ask for one each time', async () => {
    const { session, clock } = open()
    keystone.services = { teapot: keystone.authUrl.replace(/v3$/, 'refusing') }
    const call = () => session.call({ service: 'teapot', method: 'GET', path: '/' })
    expect((await call()).status).toBe(401)
    expect(issued()).toBe(2)
    await call()
    expect(issued()).toBe(2)
    await clock.pass(10_000)
    await call()
    expect(issued()).toBe(3)
  })
  test('SESSION-5 Keystone, which gave no token, is left alone for five seconds', async () => {
    const { session, clock, log } = open()
    keystone.mood = 'broken'
    for (let n = 0; n < 3; n++)
      await expect(session.ask(PATH, subject)).rejects.toThrow('it gives this service no token (503)')
    expect(issued()).toBe(1)
    expect(log.said.map(({ message }) => message)).toEqual(['keystone.noToken'])
    keystone.mood = 'well'
    await clock.pass(4999)
    await expect(session.ask(PATH, subject)).rejects.toThrow('it gives this service no token (503)')
    await clock.pass(1)
    expect((await session.ask(PATH, subject)).status).toBe(404)
  })
  test('SESSION-3 a clock that is an hour behind or ahead does no harm', async () => {
    for (const skewMs of [-3_600_000, 3_600_000]) {
      keystone.skewMs = skewMs
      const { session, clock } = open()
      const before = issued()
      await session.ask(PATH, subject)
      await clock.pass(3_400_000)
      await session.ask(PATH, subject)
      expect(issued() - before).toBe(1)
    }
  })
  test('SESSION-4 a reading request whose connection was closed is sent once more', async () => {
    const { session } = open()
    await session.ask(PATH, subject)
    keystone.mood = 'down'
    const before = keystone.asked.length
    await expect(session.ask(PATH, subject)).rejects.toThrow('other side closed')
    expect(keystone.asked.length - before).toBe(2)
  })
  test('CIRCUIT-1, CIRCUIT-2 a silent neighbour is left alone after three failures, then tried by one at a time', async () => {
    const { session, clock, log } = open(100)
    await session.ask(PATH, subject)
    keystone.mood = 'silent'
    for (let n = 0; n < 3; n++) await expect(session.ask(PATH, subject)).rejects.toThrow('no answer within 100 ms')
    const before = keystone.asked.length
    await expect(session.ask(PATH, subject)).rejects.toThrow('it is not asked again yet: no answer within 100 ms')
    expect(keystone.asked.length).toBe(before)
    expect(session.whyFailing()).toEqual({ identity: 'no answer within 100 ms' })
    await clock.pass(500)
    const [probe, other] = await Promise.allSettled([session.ask(PATH, subject), session.ask(PATH, subject)])
    expect([probe, other].map((one) => one.status)).toEqual(['rejected', 'rejected'])
    expect(String((other as PromiseRejectedResult).reason)).toContain('it is not asked again yet')
    keystone.mood = 'well'
    await clock.pass(999)
    await expect(session.ask(PATH, subject)).rejects.toThrow('it is not asked again yet')
    await clock.pass(1)
    expect((await session.ask(PATH, subject)).status).toBe(404)
    expect(session.whyFailing()).toEqual({})
    expect(log.said.map(({ message }) => message)).toEqual(['neighbour.unreachable', 'neighbour.reachable'])
  })
  test('CIRCUIT-3 answers 503 count as failures, 404 does not', async () => {
    const { session } = open()
    for (let n = 0; n < 5; n++) expect((await session.ask(PATH, subject)).status).toBe(404)
    expect(session.whyFailing()).toEqual({})
    keystone.mood = 'broken'
    for (let n = 0; n < 3; n++) expect((await session.ask(PATH, subject)).status).toBe(503)
    expect(session.whyFailing()).toEqual({ identity: 'it answers 503' })
  })
})

import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { silent } from '../../../src/vocabulary/log.ts'
import { createSender, type Sender } from '../../../src/neighbours/openstack/send.ts'
import { createSession } from '../../../src/neighbours/openstack/session.ts'
import { createTokens } from '../../../src/neighbours/openstack/tokens.ts'
import { sessionOptions } from '../../contracts/keystone.contract.ts'
import { handClock, memoryLog } from '../../support/lab.ts'
import { signIn } from '../../support/signIn.ts'
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
const open = (entries = 1000) => {
  const clock = handClock()
  const options = { ...sessionOptions(keystone.authUrl), timeoutMs: 500 }
  const session = createSession({ options, send: sender.send, clock, log: silent })
  return { clock, tokens: createTokens({ session, cache: { cacheMs: 60_000, entries }, clock, log: silent }) }
}
const enter = async (user = 'alpha-member'): Promise<string> =>
  (await signIn(keystone.authUrl, user, { project: 'alpha' })).token
const validated = () => keystone.asked.filter((line) => line.startsWith('GET /v3/auth/tokens')).length
const PLAIN = { allowExpired: false }
const LENIENT = { allowExpired: true }
const GONE = { kind: 'unavailable', reason: 'the identity service does not answer', retryAfterSeconds: 1 }

/** Of one address (TOKENS-6). */
const [OPEN_OF_ONE, WAITING_OF_ONE] = [32, 256]
describe('tokens', () => {
  test('TOKENS-1 an answer is used for its time, and a revoked token works no longer than that', async () => {
    const { tokens, clock } = open()
    const token = await enter()
    await tokens.validate(token, PLAIN)
    keystone.revokeAll()
    await clock.pass(59_999)
    expect(await tokens.validate(token, PLAIN)).toMatchObject({ kind: 'valid' })
    expect(validated()).toBe(1)
    await clock.pass(1)
    expect(await tokens.validate(token, PLAIN)).toEqual({ kind: 'invalid' })
  })
  test('TOKENS-1 it is not used beyond the end of the token, whatever the clock of this machine says', async () => {
    keystone.lifeMs = 30_000
    const { tokens, clock } = open()
    const token = await enter()
    await tokens.validate(token, PLAIN)
    await clock.pass(27_000)
    await tokens.validate(token, PLAIN)
    expect(validated()).toBe(1)
    await clock.pass(4000)
    await tokens.validate(token, PLAIN)
    expect(validated()).toBe(2)
  })
  test('TOKENS-1 an invented token is asked about again after ten seconds', async () => {
    const { tokens, clock } = open()
    await tokens.validate('gAAAAAnope', PLAIN)
    await clock.pass(9999)
    await tokens.validate('gAAAAAnope', PLAIN)
    expect(validated()).toBe(1)
    await clock.pass(1)
    await tokens.validate('gAAAAAnope', PLAIN)
    expect(validated()).toBe(2)
  })
  test('TOKENS-2 callers that bring one token together cost one request', async () => {
    const { tokens } = open()
    const token = await enter()
    const verdicts = await Promise.all(Array.from({ length: 20 }, () => tokens.validate(token, PLAIN)))
    expect(new Set(verdicts.map(({ kind }) => kind))).toEqual(new Set(['valid']))
    expect(validated()).toBe(1)
  })
  test('TOKENS-3 an answer that allowed an expired token does not make it valid for others', async () => {
    keystone.lifeMs = 1000
    const { tokens } = open()
    const token = await enter()
    keystone.skewMs = 5000
    keystone.lifeMs = 3_600_000
    expect(await tokens.validate(token, LENIENT)).toMatchObject({ kind: 'valid' })
    expect(await tokens.validate(token, PLAIN)).toEqual({ kind: 'invalid' })
    expect(await tokens.validate(token, LENIENT)).toMatchObject({ kind: 'valid' })
    expect(validated()).toBe(2)
  })
  test('TOKENS-3 one that is valid is so where expired ones are allowed', async () => {
    const { tokens } = open()
    const token = await enter()
    await tokens.validate(token, PLAIN)
    expect(await tokens.validate(token, LENIENT)).toMatchObject({ kind: 'valid' })
    expect(validated()).toBe(1)
  })
  test('TOKENS-4 of many tokens the oldest are forgotten', async () => {
    const { tokens } = open(2)
    const all = [await enter(), await enter(), await enter()]
    for (const token of all) await tokens.validate(token, PLAIN)
    await tokens.validate(all[1]!, PLAIN)
    await tokens.validate(all[2]!, PLAIN)
    expect(validated()).toBe(3)
    await tokens.validate(all[0]!, PLAIN)
    expect(validated()).toBe(4)
  })
  test('TOKENS-4 invented tokens push out none that is valid', async () => {
    const { tokens } = open(2)
    const token = await enter()
    await tokens.validate(token, PLAIN)
    for (const n of [1, 2, 3]) await tokens.validate(`gAAAAA${n}`, PLAIN)
    await tokens.validate(token, PLAIN)
    expect(validated()).toBe(4)
  })
  test.each(['down', 'broken', 'silent'] as const)(
    'TOKENS-5 Keystone is %s: what is known is used, nothing else',
    async (mood) => {
      const { tokens } = open()
      const [known, other] = [await enter(), await enter('alpha-reader')]
      await tokens.validate(known, PLAIN)
      keystone.mood = mood
      expect(await tokens.validate(known, PLAIN)).toMatchObject({ kind: 'valid' })
      expect(await tokens.validate(other, PLAIN)).toEqual(GONE)
      keystone.mood = 'well'
      expect(await tokens.validate(other, PLAIN)).toMatchObject({ kind: 'valid' })
    },
  )
  test('TOKENS-6 a flood of invented tokens from one address keeps out neither other addresses nor what was valid', async () => {
    const { tokens, clock } = open()
    const [known, fresh] = [await enter(), await enter('alpha-reader')]
    await tokens.validate(known, PLAIN)
    await clock.pass(61_000)
    const flood = Array.from({ length: 500 }, (_, n) => tokens.validate(`gAAAAA${n}`, { ...PLAIN, from: '192.0.2.1' }))
    const same = { ...PLAIN, from: '192.0.2.1' }
    const honest = [
      tokens.validate(fresh, { ...PLAIN, from: '192.0.2.2' }),
      tokens.validate(known, same),
      tokens.validate(await enter('alpha-manager'), { ...PLAIN, from: '192.0.2.3' }),
    ]
    expect((await Promise.all(honest)).map(({ kind }) => kind)).toEqual(['valid', 'valid', 'valid'])
    const refused = (await Promise.all(flood)).filter(({ kind }) => kind === 'unavailable')
    expect(refused).toHaveLength(500 - OPEN_OF_ONE - WAITING_OF_ONE)
  })
  test('TOKENS-6 a hundred callers of one address at once are all served: they wait for each other', async () => {
    const { tokens } = open()
    const invented = Array.from({ length: 100 }, (_, n) => tokens.validate(`gAAAAA${n}`, PLAIN))
    expect(await tokens.validate(await enter(), PLAIN)).toMatchObject({ kind: 'valid' })
    expect((await Promise.all(invented)).map(({ kind }) => kind)).not.toContain('unavailable')
  })
  test('TOKENS-6 who waits longer than two seconds is refused', async () => {
    const { tokens, clock } = open()
    await tokens.validate(await enter(), PLAIN)
    keystone.mood = 'silent'
    const all = Array.from({ length: OPEN_OF_ONE + 1 }, (_, n) => tokens.validate(`gAAAAA${n}`, PLAIN))
    await clock.pass(2000)
    expect(await all.at(-1)).toMatchObject({ kind: 'unavailable', reason: 'too many tokens are being validated' })
  })
  test('TOKENS-7 what Keystone refuses as a request is invalid, and is not asked about again', async () => {
    const session = { askFor: vi.fn(async () => ({ status: 400, headers: {}, text: 'bad request' })) }
    const tokens = createTokens({ session, cache: { cacheMs: 60_000, entries: 9 }, clock: handClock(), log: silent })
    expect(await tokens.validate('x'.repeat(300), PLAIN)).toEqual({ kind: 'invalid' })
    expect(await tokens.validate('x'.repeat(300), PLAIN)).toEqual({ kind: 'invalid' })
    expect(session.askFor).toHaveBeenCalledTimes(1)
  })
  test('TOKENS-8 tokens for which Keystone fails do not make it count as unreachable', async () => {
    const { tokens, clock } = open()
    keystone.breaksFor = (token) => token.startsWith('poison')
    for (let n = 0; n < 20; n++)
      expect(await tokens.validate(`poison${n}`, PLAIN)).toMatchObject({
        kind: 'unavailable',
        reason: 'the identity service fails for this token',
      })
    expect(await tokens.validate(await enter(), PLAIN)).toMatchObject({ kind: 'valid' })
    const before = validated()
    await tokens.validate('poison0', PLAIN)
    expect(validated()).toBe(before)
    keystone.breaksFor = () => false
    await clock.pass(5000)
    expect(await tokens.validate('poison0', PLAIN)).toEqual({ kind: 'invalid' })
  })
  test('refused tokens are counted, and logged once a minute with the addresses that sent most', async () => {
    const [clock, log] = [handClock(), memoryLog()]
    const session = { askFor: async () => ({ status: 404, headers: {}, text: '' }) }
    const tokens = createTokens({ session, cache: { cacheMs: 0, entries: 9 }, clock, log })
    const send = (from: string) => tokens.validate('gAAAAAnope', { ...PLAIN, from })
    await send('192.0.2.1')
    for (let n = 0; n < 50; n++) await send(n < 40 ? '192.0.2.2' : `192.0.2.${n}`)
    await clock.pass(60_000)
    await send('192.0.2.2')
    expect(tokens.refused()).toEqual({ invalid: 52, unavailable: 0 })
    expect(log.said.map(({ detail }) => detail)).toMatchObject([
      { invalid: 1, from: { '192.0.2.1': 1 } },
      { invalid: 51, unavailable: 0, from: { '192.0.2.2': 41 } },
    ])
  })
  test.each(['', 'a b', 'a\nb', 'ä', 'x'.repeat(4097)])(
    'a text that can be no token is invalid, and nobody is asked',
    async (text) => {
      const { tokens } = open()
      expect(await tokens.validate(text, PLAIN)).toEqual({ kind: 'invalid' })
      expect(keystone.asked).toEqual([])
    },
  )
})

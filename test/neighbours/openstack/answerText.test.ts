/** What is made of an answer's text and headers, and of an error instead of it: without a connection. */
import { describe, expect, test, vi } from 'vitest'
import { silent } from '../../../src/log.ts'
import { PLACES } from '../../../src/neighbours/openstack/places.ts'
import { headersOf, NotAsked, reasonOf, textIn, Unanswered } from '../../../src/neighbours/openstack/send.ts'
import type { Answer } from '../../../src/neighbours/openstack/send.ts'
import { createTokens } from '../../../src/neighbours/openstack/tokens.ts'
import { handClock, memoryLog } from '../../support/lab.ts'

const named = (name: string, message = '') => Object.assign(new Error(message), { name })
const coded = (code: string, message = '') => Object.assign(new Error(message), { code })

test('the reason of a failure is that of its cause, in the words that say most', () => {
  const reason = (error: unknown) => reasonOf(error, 70)
  expect(reason(named('TimeoutError', 'aborted'))).toBe('no answer within 70 ms')
  expect(reason(new Unanswered('no route', { cause: named('TimeoutError') }))).toBe('no route')
  expect([reason('text'), reason(new Error('outer', { cause: new Error('inner') }))]).toEqual(['text', 'inner'])
  expect(reason(new Error('outer', { cause: 'no error' }))).toBe('outer')
  expect(reason(new Error('outer', { cause: coded('ECONNREFUSED') }))).toBe('ECONNREFUSED')
  expect(reason(new Error('outer', { cause: new Error('') }))).toBe('outer')
  expect(reason(named('SomeError'))).toBe('SomeError')
})
test.each([
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
])('a certificate that nobody trusted has signed is explained: %s', (code) => {
  const words = `its certificate is not signed by a CA that is trusted here (keystone_authtoken.cafile): ${code}`
  expect(reasonOf(new Error('outer', { cause: coded(code, 'self-signed') }), 70)).toBe(words)
  expect(reasonOf(coded(code, 'self-signed'), 70)).toBe(words)
})
test('a failure is late only where that is said', () => {
  const late = new Unanswered('r', { late: true, cause: 'c' })
  expect([late.late, late.cause, late.name, late.message]).toEqual([true, 'c', 'Unanswered', 'r'])
  expect([new Unanswered('r').late, new NotAsked('r').late]).toEqual([false, false])
})

const parts = (...texts: readonly (string | number[])[]) =>
  texts.map((text) => Uint8Array.from(typeof text === 'string' ? Buffer.from(text) : text))
test('a text of several parts is one, whatever character the parts divide, up to its size in bytes', async () => {
  const [first, ...rest] = Buffer.from('ä')
  expect(await textIn(parts('a', [first!], rest, 'b'), 4)).toBe('aäb')
  expect([await textIn([], 0), await textIn(parts([first!]), 1)]).toEqual(['', '\ufffd'])
  await expect(textIn(parts('a', 'äb'), 3)).rejects.toThrow('the answer is larger than 3 bytes')
})
test('of a header that was sent twice the first counts', () => {
  expect(headersOf({ a: 'x', b: ['y', 'z'], c: [], d: undefined })).toEqual({ a: 'x', b: 'y', c: '', d: '' })
})

describe('a token that is validated', () => {
  const token = (more: object = {}) =>
    JSON.stringify({ token: { expires_at: new Date(9e12).toISOString(), user: { id: 'u' }, ...more } })
  const opened = (cache = { cacheMs: 60_000, entries: 9 }) => {
    const [clock, log] = [handClock(), memoryLog()]
    const asked: unknown[] = []
    const answers: (Partial<Answer> | Error)[] = []
    const ask = async (path: string, headers: unknown): Promise<Answer> => {
      asked.push([path, headers])
      const next = answers.shift() ?? {}
      if (next instanceof Error) throw next
      return { status: 200, headers: {}, text: token(), ...next }
    }
    const tokens = createTokens({ session: { askFor: ask }, cache, clock, log })
    const validate = (text = 'tok', allowExpired = false) => tokens.validate(text, { allowExpired })
    return { clock, log, asked, answers, validate }
  }
  const VALID = { kind: 'valid', token: { userId: 'u', projectId: null, roles: [], accessRules: null } }
  const AWAY = { kind: 'unavailable', reason: 'the identity service does not answer', retryAfterSeconds: 1 }

  test('is asked about with its text, and whether it may have expired', async () => {
    const { asked, validate } = opened()
    expect(await validate()).toEqual(VALID)
    expect(await validate('other', true)).toEqual(VALID)
    const headers = { 'openstack-identity-access-rules': '1.0' }
    expect(asked).toEqual([
      ['/auth/tokens?nocatalog', { 'x-subject-token': 'tok', ...headers }],
      ['/auth/tokens?nocatalog&allow_expired=1', { 'x-subject-token': 'other', ...headers }],
    ])
  })
  test.each([{ status: 500 }, { status: 401 }, { status: 203 }, { text: '{}' }])(
    'is neither valid nor invalid after an answer that is none: %j',
    async (answer) => {
      const { answers, log, validate } = opened()
      answers.push(answer, { status: 404 })
      expect(await validate()).toEqual(AWAY)
      const reason = `it answers ${answer.status ?? 200} to a token`
      expect(log.said).toEqual([
        {
          level: 'warn',
          message: 'keystone.tokensRefused',
          detail: { invalid: 0, unavailable: 1, from: { '': 1 }, reason },
        },
      ])
      expect(await validate()).toEqual({ kind: 'invalid' })
    },
  )
  test('of which the session has told the trouble already is logged without its reason', async () => {
    const { answers, log, validate } = opened()
    answers.push(new NotAsked('it rests'))
    expect(await validate()).toEqual(AWAY)
    expect(log.said[0]!.detail).toEqual({ invalid: 0, unavailable: 1, from: { '': 1 } })
  })
  test('is remembered to its end, which does not count where it may have expired', async () => {
    const { asked, clock, answers, validate } = opened()
    const ends = { text: token({ expires_at: new Date(clock.now() + 500).toISOString() }) }
    answers.push(ends, ends, { status: 404 })
    for (const allowExpired of [false, true]) await validate(`t${allowExpired}`, allowExpired)
    await clock.pass(499)
    for (const allowExpired of [false, true]) expect(await validate(`t${allowExpired}`, allowExpired)).toEqual(VALID)
    await clock.pass(1)
    expect([await validate('ttrue', true), asked.length]).toEqual([VALID, 2])
    expect([await validate('tfalse'), asked.length]).toEqual([{ kind: 'invalid' }, 3])
  })
  test('that is over when its answer comes is not remembered, nor is one where nothing may be', async () => {
    const { asked, clock, answers, validate } = opened()
    answers.push({ text: token({ expires_at: new Date(clock.now()).toISOString() }) })
    expect([await validate(), await validate(), asked.length]).toEqual([VALID, VALID, 2])
    for (const cache of [
      { cacheMs: 0, entries: 9 },
      { cacheMs: 60_000, entries: 0 },
    ]) {
      const none = opened(cache)
      none.answers.push({}, {}, { status: 404 }, { status: 404 })
      for (let call = 0; call < 4; call++) await none.validate()
      expect(none.asked).toHaveLength(4)
    }
  })
  test('that is invalid is remembered ten seconds at most', async () => {
    for (const [cacheMs, forMs] of [
      [60_000, 10_000],
      [3_000, 3_000],
    ] as const) {
      const { asked, clock, answers, validate } = opened({ cacheMs, entries: 9 })
      answers.push({ status: 404 })
      await validate()
      await clock.pass(forMs - 1)
      expect([await validate(), asked.length]).toEqual([{ kind: 'invalid' }, 1])
      await clock.pass(1)
      expect([await validate(), asked.length]).toEqual([VALID, 2])
    }
  })
  test('TOKENS-3 that was invalid may be valid where it may have expired, and the last answer counts', async () => {
    const { asked, clock, answers, validate } = opened()
    answers.push({ status: 404 }, {}, {}, { status: 404 })
    expect([await validate(), await validate('tok', true)]).toEqual([{ kind: 'invalid' }, VALID])
    expect([await validate(), asked.length]).toEqual([{ kind: 'invalid' }, 2])
    await clock.pass(10_000)
    expect([await validate(), asked.length]).toEqual([VALID, 3])
    await clock.pass(60_000)
    expect([await validate(), await validate(), asked.length]).toEqual([{ kind: 'invalid' }, { kind: 'invalid' }, 4])
  })
  test('TOKENS-4 is forgotten when so many others came after it; each is one, however often it was asked about', async () => {
    const { asked, clock, validate } = opened({ cacheMs: 1000, entries: 2 })
    await validate('a')
    await clock.pass(1000)
    await validate('b')
    await validate('a')
    expect(asked).toHaveLength(3)
    // the first is now the later one
    await validate('c')
    await validate('a')
    expect(asked).toHaveLength(4)
    await validate('b')
    expect(asked).toHaveLength(5)
  })
  test('TOKENS-6 is refused while as many as may wait do so, and not when one of them was answered', async () => {
    const gates: ((answer: Answer) => void)[] = []
    const ask = () => new Promise<Answer>((resolve) => gates.push(resolve))
    const tokens = createTokens({
      session: { askFor: ask },
      cache: { cacheMs: 1, entries: 1 },
      clock: handClock(),
      log: silent,
    })
    const validate = (text: string) => tokens.validate(text, { allowExpired: false })
    const waiting = Array.from({ length: PLACES.openOfOne + PLACES.waitingOfOne }, (_, at) => validate(`t${at}`))
    const crowded = { kind: 'unavailable', reason: 'too many tokens are being validated', retryAfterSeconds: 1 }
    expect(await validate('last')).toEqual(crowded)
    const answer = { status: 404, headers: {}, text: '' }
    gates[0]!(answer)
    expect(await waiting[0]).toEqual({ kind: 'invalid' })
    const last = validate('last')
    const all = Promise.all([...waiting, last])
    // the first of those that wait was asked about when the first was answered
    for (let at = 1; at < waiting.length + 1; at++) {
      await vi.waitFor(() => expect(gates[at]).toBeDefined())
      gates[at]!(answer)
    }
    expect(new Set((await all).map(({ kind }) => kind))).toEqual(new Set(['invalid']))
  })
  test('has no blank, and 4096 characters at most', async () => {
    const { asked, validate } = opened()
    for (const text of ['x'.repeat(4096), '!~']) expect(await validate(text)).toEqual(VALID)
    for (const text of ['x'.repeat(4097), ' x', 'x ', 'x\u007f', ''])
      expect(await validate(text)).toEqual({ kind: 'invalid' })
    expect(asked).toHaveLength(2)
  })
})

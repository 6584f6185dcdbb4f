/** A token for somebody who signs in with a password: what Keystone is asked, and what each of its answers comes to. */
import { describe, expect, it, test } from 'vitest'
import { type Issued, issueToken } from '../../../src/neighbours/openstack/passwordToken.ts'
import { type Answer, type Request, Unanswered } from '../../../src/neighbours/openstack/send.ts'

const NOW = Date.UTC(2026, 2, 1, 12, 0, 0)
const ACCOUNT = {
  username: 'kim',
  password: 'secret',
  userDomain: 'Default',
  projectName: 'p',
  projectDomain: 'Default',
}
const token = (expiresAt: number) =>
  JSON.stringify({ token: { expires_at: new Date(expiresAt).toISOString(), user: { id: 'u1' } } })
const CREATED: Answer = { status: 201, headers: { 'x-subject-token': 'gAAA' }, text: token(NOW + 60_000) }

const answered = async (answer: Answer | Error) => {
  const asked: Request[] = []
  const send = async (request: Request): Promise<Answer> => {
    asked.push(request)
    if (answer instanceof Error) throw answer
    return answer
  }
  const account = ACCOUNT as unknown as Parameters<typeof issueToken>[1]
  const issued = await issueToken({ send, authUrl: 'http://keystone/v3', timeoutMs: 700, now: () => NOW }, account)
  return { asked, issued }
}

test('Keystone is asked once, for a token of that account', async () => {
  const { asked } = await answered(CREATED)
  const headers = { 'content-type': 'application/json', accept: 'application/json' }
  expect(asked).toEqual([
    { method: 'POST', url: 'http://keystone/v3/auth/tokens', headers, timeoutMs: 700, body: expect.any(String) },
  ])
  expect(JSON.parse(asked[0]!.body!)).toMatchObject({
    auth: { identity: { methods: ['password'], password: { user: { password: 'secret' } } } },
  })
})
describe('an answer', () => {
  const none = (status: number): Issued => ({ ok: false, reason: `Keystone gave no token: it answered ${status}.` })
  it.each<[string, Answer, Issued]>([
    ['with a token: it lasts to its end', CREATED, { ok: true, token: 'gAAA', lifeMs: 60_000 }],
    [
      'that says its time: by the clock of Keystone',
      { ...CREATED, headers: { ...CREATED.headers, date: new Date(NOW + 50_000).toUTCString() } },
      { ok: true, token: 'gAAA', lifeMs: 10_000 },
    ],
    ['with a token that is over', { ...CREATED, text: token(NOW - 1) }, { ok: true, token: 'gAAA', lifeMs: 0 }],
    [
      'of 401',
      { ...CREATED, status: 401 },
      { ok: false, reason: 'Keystone does not accept this user, password and project.', wrong: true },
    ],
    ['of another status', { ...CREATED, status: 200 }, none(200)],
    ['of 500', { ...CREATED, status: 500 }, none(500)],
    ['without the header', { ...CREATED, headers: {} }, none(201)],
    ['that cannot be read', { ...CREATED, text: '<html>' }, none(201)],
  ])('%s', async (_, answer, issued) => expect((await answered(answer)).issued).toEqual(issued))
  it('that does not come is told', async () => {
    const { issued } = await answered(new Unanswered('no answer within 700 ms'))
    expect(issued).toEqual({ ok: false, reason: 'Keystone does not answer: no answer within 700 ms' })
  })
  it('but a fault of this program is none', async () => {
    await expect(answered(new TypeError('a bug'))).rejects.toThrow('a bug')
  })
})

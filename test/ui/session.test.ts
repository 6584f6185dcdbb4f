/** Who looks at a page: the cookies of a session, what a change has to come from, and where nobody is led to. */
import { createHash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { createUi } from '../../src/ui/app.ts'
import { handClock, memoryLog } from '../support/lab.ts'
import { NOW, expectSaid, mainOf, noAssets, saidOf, uuid } from './drawing.ts'
import { SAME, type SignIn } from './world.ts'

const MAY = { user_id: 'u1', user_name: null, project_id: 'p1', project_name: null, permissions: {} }
type Accounts = Parameters<SignIn['withPassword']>[0]
/** `permissions`: what the API answers to whoever asks what the token allows. */
const site = ({ permissions = Response.json(MAY), open = false }: { permissions?: Response; open?: boolean } = {}) => {
  const [accounts, revoked, tokens]: [Accounts[], string[], (string | null)[]] = [[], [], []]
  const signIn: SignIn = {
    identity: 'http://keystone',
    withPassword: async (account) => {
      accounts.push(account)
      return account.password === ' right '
        ? { ok: true, token: 'issued', lifeMs: 3_599_900 }
        : { ok: false, reason: 'Keystone does not know it.', wrong: true }
    },
    revoke: async (token) => {
      revoked.push(token)
      return { ok: true }
    },
  }
  const log = memoryLog()
  let later = 0
  const ui = createUi({
    fetch: ({ headers, url }) => {
      tokens.push(headers.get('x-auth-token'))
      return url.endsWith('/permissions') ? permissions.clone() : new Response('', { status: 404 })
    },
    assets: noAssets,
    signIn: open ? null : signIn,
    barred: () => null,
    remote: (c) => c.req.header('x-from') ?? 'here',
    clock: { ...handClock(), now: () => NOW + later },
    ids: { uuid: () => uuid(1) },
    log,
  })
  const ask = async (path: string, headers: Record<string, string> = {}, fields?: Record<string, string>) => {
    const answer = await ui.request(path, {
      headers,
      ...(fields && { method: 'POST', body: new URLSearchParams(fields) }),
    })
    const [status, to, set] = [answer.status, answer.headers.get('location'), answer.headers.getSetCookie()]
    return { status, to, set, text: await answer.text() }
  }
  return { ask, accounts, revoked, tokens, log, pass: (ms: number) => void (later += ms) }
}
const digest = (token: string) => createHash('sha256').update(token).digest('base64url')
const cookie = (token: string, issued?: string) => ({
  cookie: `accelerando-token=${token}${issued === undefined ? '' : `; accelerando-issued=${issued}`}`,
})
const KEPT = 'HttpOnly; SameSite=Strict'
const refusal = (status: number) => Response.json({ errors: [{ detail: 'why not', code: 'x' }] }, { status })

describe('signing in', () => {
  test('with a password keeps the token as long as it lives, and its digest', async () => {
    const { ask, accounts, tokens } = site()
    const form = { user: ' kim ', password: ' right ', project: ' p ', domain: ' d ', back: 'arqs' }
    expect(await ask('/ui/sign-in', SAME, form)).toEqual({
      status: 303,
      to: 'arqs',
      text: '',
      set: [
        `accelerando-token=issued; Max-Age=3599; ${KEPT}`,
        `accelerando-issued=${digest('issued')}; Max-Age=3599; ${KEPT}`,
      ],
    })
    expect([accounts, tokens]).toEqual([[{ user: 'kim', password: ' right ', project: 'p', domain: 'd' }], ['issued']])
  })
  test('with a token keeps it for twelve hours, and forgets that an earlier one was issued', async () => {
    const { ask, accounts } = site()
    const pasted = (headers: Record<string, string>) => ask('/ui/sign-in', { ...SAME, ...headers }, { token: ' t1 ' })
    const kept = `accelerando-token=t1; Max-Age=43200; ${KEPT}`
    expect(await pasted({})).toEqual({ status: 303, to: './', text: '', set: [kept] })
    const [, forgotten] = (await pasted(cookie('old', digest('old')))).set
    expect(forgotten).toBe(`accelerando-issued=; Max-Age=0; ${KEPT}`)
    expect(accounts).toEqual([])
  })
  test('without a domain means the one called Default', async () => {
    const { ask, accounts } = site()
    await ask('/ui/sign-in', SAME, { user: 'kim' })
    expect(accounts).toEqual([{ user: 'kim', password: '', project: '', domain: 'Default' }])
  })
  test.each([
    ['https://h/ui/sign-in', {}, true],
    ['http://h/ui/sign-in', { 'x-forwarded-proto': 'https' }, true],
    ['http://h/ui/sign-in', { 'x-forwarded-proto': 'http' }, false],
    ['http://h/ui/sign-in', {}, false],
  ])('over %s with %j: a cookie that was sent encrypted is never sent otherwise', async (url, more, secure) => {
    const { set } = await site().ask(url, { ...SAME, ...more }, { token: 't1' })
    expect(set).toEqual([`accelerando-token=t1; Max-Age=43200; HttpOnly; ${secure ? 'Secure; ' : ''}SameSite=Strict`])
  })
  test.each([
    ['a wrong password', { user: 'kim', password: 'no' }, undefined, 'Keystone does not know it.'],
    ['a blank in the token', { token: 'a b' }, undefined, 'This is not a token, or one that is too long for a cookie.'],
    ['a token of another script', { token: 'tök' }, undefined, 'This is not a token'],
    ['4001 characters', { token: 'x'.repeat(4001) }, undefined, 'This is not a token'],
    ['an old token', { token: 't1' }, refusal(401), 'The API does not accept this token: it may have expired.'],
  ])('with %s says so, keeps no cookie, and what was typed', async (_, fields, permissions, said) => {
    const { ask } = site(permissions && { permissions })
    const { status, to, set, text } = await ask('/ui/sign-in', SAME, { ...fields, back: 'arqs' })
    expect([status, to, set]).toEqual([401, null, []])
    expect(text).toContain(said)
    expect(text).toContain('name="back" value="arqs"')
    expect(text).toContain(`name="user" value${'user' in fields ? '="kim"' : ''} autocapitalize`)
  })
  test('with wrong passwords is slowed down for this user from this address, and logged', async () => {
    const { ask, accounts, log, pass } = site()
    const tried = async (user: string, password: string, from = 'there') =>
      (await ask('/ui/sign-in', { ...SAME, 'x-from': from }, { user, password })).status
    const statuses: number[] = []
    for (let second = 0; second < 60; second++) {
      statuses.push(await tried('kim', 'no'))
      pass(1000)
    }
    // after 1, 2, 4, 8, 16 and 32 s
    expect(statuses.filter((status) => status === 401)).toHaveLength(6)
    expect(accounts).toHaveLength(6)
    expect(log.said.filter(({ message }) => message === 'ui.signInRefused')).toHaveLength(6)
    expect(log.said[0]).toMatchObject({ level: 'warn', detail: { user: 'kim', remote: 'there' } })
    expect(await tried('kim', ' right ')).toBe(429)
    expect(await tried('kim', ' right ', 'elsewhere')).toBe(303)
    expect(await tried('lee', ' right ')).toBe(303)
    pass(60_000)
    expect(await tried('kim', ' right ')).toBe(303)
    expect(await tried('kim', 'no')).toBe(401)
  })
  test('with many names from one address is slowed down too', async () => {
    const { ask } = site()
    const statuses: number[] = []
    for (let n = 0; n < 60; n++)
      statuses.push((await ask('/ui/sign-in', SAME, { user: `user-${n}`, password: 'no' })).status)
    expect(statuses.filter((status) => status === 401)).toHaveLength(51)
  })
  test('many times at once is no way around that', async () => {
    const { ask, accounts } = site()
    const statuses = (names: readonly string[]) =>
      Promise.all(names.map(async (user) => (await ask('/ui/sign-in', SAME, { user, password: 'no' })).status))
    expect((await statuses(Array(20).fill('kim'))).filter((status) => status === 401)).toHaveLength(1)
    await statuses(Array.from({ length: 60 }, (_, n) => `user-${n}`))
    expect(accounts).toHaveLength(1 + 50)
  })
  test('is possible while the API does not answer, and with the longest token', async () => {
    const away = await site({ permissions: refusal(503) }).ask('/ui/sign-in', SAME, { token: 't1' })
    expect([away.status, away.set.length]).toEqual([303, 1])
    expect((await site().ask('/ui/sign-in', SAME, { token: 'x'.repeat(4000) })).status).toBe(303)
  })
  test.each([
    ['revoked', 'mark good', 'You are signed out, and your token was revoked.'],
    ['kept', 'mark held', 'The token that you had pasted was not revoked'],
    ['failed', 'mark bad', 'your token could not be revoked'],
  ])('after the end %s of another session says how that ended', async (out, mark, said) => {
    const done = /<p class="done".*?<\/p>/.exec((await site().ask(`/ui/sign-in?out=${out}&back=arqs`)).text)?.[0]
    expect(done).toContain(mark)
    expect(done).toContain(said)
  })
  test('is a page of its own, with the command that makes a token', async () => {
    const { text } = await site().ask('/ui/sign-in?back=hosts%3Fa=b')
    expectSaid(saidOf(mainOf(text)), [
      '|With your account of the cloud at |http://keystone|.',
      '|User|Password|Project|Domain of user and project|or, instead of all of these|Token|Sign in|',
      '|openstack token issue -f value -c id|',
    ])
    expect(text).toContain('name="back" value="hosts?a=b"')
  })
  test.each(['https://evil.example/', '//evil.example/', String.raw`/\evil.example`, 'javascript:alert(1)', 'a\nb'])(
    'leads nowhere but to a page of the console: %j',
    async (back) => {
      const { ask } = site()
      expect((await ask('/ui/sign-in', SAME, { token: 't1', back })).to).toBe('./')
      const { text } = await ask(`/ui/sign-in?back=${encodeURIComponent(back)}`)
      expect(text).toContain('name="back" value="./"')
    },
  )
  test('is none where nobody is authenticated', async () => {
    const { ask } = site({ open: true })
    expect((await ask('/ui/sign-in')).status).toBe(404)
    expect((await ask('/ui/sign-in', SAME, { token: 't1' })).status).toBe(404)
  })
})

describe('signing out', () => {
  const GONE = `accelerando-token=; Max-Age=0; ${KEPT}`
  const FORGOTTEN = `accelerando-issued=; Max-Age=0; ${KEPT}`
  test.each([
    ['a token that was issued', cookie('t1', digest('t1')), 'sign-in?out=revoked', [GONE, FORGOTTEN], ['t1']],
    ['one that was pasted', cookie('t1'), 'sign-in?out=kept', [GONE], []],
    ['one beside the digest of another', cookie('t1', digest('t2')), 'sign-in?out=kept', [GONE, FORGOTTEN], []],
    ['none', {}, 'sign-in', [GONE], []],
  ])('with %s', async (_, headers, to, set, gone) => {
    const { ask, revoked } = site()
    expect(await ask('/ui/sign-out', { ...SAME, ...headers }, {})).toEqual({
      status: 303,
      to,
      text: '',
      set,
    })
    expect(revoked).toEqual(gone)
  })
})

describe('a change', () => {
  const OTHER = 'It was sent for a page of another site.'
  const NONE = 'The browser did not say which page it was sent for.'
  test.each([
    [{ 'sec-fetch-site': 'same-origin' }, null],
    [{ 'sec-fetch-site': 'same-origin', origin: 'http://evil' }, null],
    [{ 'sec-fetch-site': 'same-site', origin: 'http://h' }, OTHER],
    [{ 'sec-fetch-site': 'none' }, OTHER],
    [{ origin: 'http://h:7', host: 'h:7' }, null],
    [{ origin: 'http://h:7', host: 'h:8' }, OTHER],
    [{ origin: 'null', host: 'h' }, OTHER],
    [{}, NONE],
  ])('that a browser describes as %j', async (headers, reason) => {
    const { status, text } = await site().ask('/ui/sign-out', headers, {})
    expect([status, text]).toEqual(reason === null ? [303, ''] : [403, reason])
  })
})

describe('a page', () => {
  const screenOf = async (given: Parameters<typeof site>[0], headers: Record<string, string> = cookie('t1')) => {
    const { text } = await site(given).ask('/ui/timeline?q=a+b', { accept: 'application/json', ...headers })
    return JSON.parse(text) as { who: object; search: string; now: number }
  }
  test('names its user and project as the API does, and whether there is anything to sign out of', async () => {
    const named = Response.json({ ...MAY, user_name: 'Kim', project_name: 'operations' })
    const seen = await screenOf({ permissions: named })
    expect([seen.who, seen.search, seen.now]).toEqual([
      { user: 'Kim', project: 'operations', signedIn: true },
      'a b',
      NOW,
    ])
    expect((await screenOf({})).who).toEqual({ user: 'u1', project: 'p1', signedIn: true })
    expect((await screenOf({ open: true }, {})).who).toEqual({ user: 'u1', project: 'p1', signedIn: false })
  })
  test('is shown without a name while it is not known who looks', async () => {
    const nobody = { user: '', project: '', signedIn: true }
    expect((await screenOf({ permissions: refusal(503) })).who).toEqual(nobody)
    expect((await screenOf({ permissions: refusal(503), open: true }, {})).who).toEqual({ ...nobody, signedIn: false })
  })
  test('asks the API with the token, and leads to the sign-in page without one, or with one that is none', async () => {
    const { ask, tokens } = site()
    await ask('/ui/timeline', cookie('t1'))
    expect(tokens).toEqual(['t1'])
    for (const headers of [{}, cookie('%22a%20b%22'), cookie('x'.repeat(4001))])
      expect(await ask('/ui/hosts/a%20b?x=1', headers)).toMatchObject({
        status: 303,
        to: '../sign-in?back=hosts%2Fa%2520b%3Fx%3D1',
      })
    expect(tokens).toEqual(['t1'])
    expect(await site({ permissions: refusal(401) }).ask('/ui/', cookie('t1'))).toMatchObject({
      status: 303,
      to: 'sign-in?back=',
    })
  })
  test('to which a link on another site leads is asked for once more from here, with the cookie', async () => {
    const { text, status } = await site().ask('/ui/hosts', { 'sec-fetch-site': 'cross-site' })
    expect([status, text]).toEqual([
      200,
      '<!doctype html><meta http-equiv="refresh" content="0"><title>accelerando</title>',
    ])
  })
  test('of those who may not read the overview is the list of requests', async () => {
    const given = (may: boolean) => Response.json({ ...MAY, permissions: { 'cyborg:overview:get': may } })
    expect(await site({ permissions: given(false) }).ask('/ui/', cookie('t1'))).toMatchObject({
      status: 302,
      to: 'arqs',
    })
    expect((await site({ permissions: given(true) }).ask('/ui/', cookie('t1'))).to).toBeNull()
    expect((await site({ permissions: given(false) }).ask('/ui/hosts', cookie('t1'))).to).toBeNull()
  })
})

test('an address of no page is answered by a page that leads on, and needs the same sign-in as others', async () => {
  const here = await site({ open: true }).ask('/ui/nowhere/at/all')
  expect(here.status).toBe(404)
  expect(here.text).toContain('The console has no page at this address.')
  expect(here.text).toContain('aria-label="Pages"')
  expect(await site().ask('/ui/nowhere')).toMatchObject({ status: 303, to: expect.stringMatching(/^sign-in/) })
})

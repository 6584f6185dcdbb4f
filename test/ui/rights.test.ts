/** UI-1: the console asks the API with the token of whoever is looking, and with nothing else. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ASTRAY, type Lived, ROLES, SAME, type UiWorld, createConsole, lived, openUiWorld, placesOf } from './world.ts'

let world: UiWorld
let seen: Lived
beforeAll(async () => {
  world = await openUiWorld()
  seen = await lived(world)
})
afterAll(() => world.close())

const cookie = (token: string) => ({ cookie: `accelerando-token=${token}` })
/** What a browser could be made to send, so that a console that passed it on would grant more than the token does. */
const FORGED = {
  'x-auth-token': 'token-of-admin',
  'x-service-token': 'token-of-admin',
  'x-roles': 'admin',
  'x-user-id': 'root',
  'x-project-id': 'operations',
  'x-service-roles': 'service',
}
const watched = (tokens: boolean) => {
  const asked: Request[] = []
  return { asked, ui: createConsole(world, { fetch: (request) => void asked.push(request), tokens }) }
}
const everyPlace = () => [
  ...placesOf(seen),
  ...ASTRAY,
  `arqs/${seen.bound.uuid}/timeline.json`,
  `arqs/${seen.bound.uuid}/trace-events.json`,
  'usage.csv',
]

describe('the API is asked', () => {
  const PASSED = new Set([
    'openstack-api-version',
    'accept',
    'content-type',
    'x-auth-token',
    'idempotency-key',
    'x-openstack-request-id',
  ])
  test.each(Object.keys(ROLES))(
    'with the token of the one who looks, and no other word of who asks: %s',
    async (token) => {
      const { asked, ui } = watched(true)
      for (const place of everyPlace()) await ui.request(`/ui/${place}`, { headers: { ...FORGED, ...cookie(token) } })
      await ui.request(`/ui/devices/${seen.card}/do/disable`, {
        method: 'POST',
        headers: { ...SAME, ...FORGED, ...cookie(token) },
        body: new URLSearchParams(),
      })
      expect(asked.length).toBeGreaterThan(40)
      for (const request of asked) {
        expect(request.headers.get('x-auth-token')).toBe(token)
        expect([...request.headers.keys()].filter((name) => !PASSED.has(name))).toEqual([])
      }
    },
  )
  test('without any word of who asks where nobody is authenticated', async () => {
    const { asked, ui } = watched(false)
    for (const place of everyPlace())
      await ui.request(`/ui/${place}`, { headers: { ...FORGED, ...cookie('token-of-admin') } })
    const said = new Set(asked.flatMap((request) => [...request.headers.keys()]))
    expect([...said].toSorted()).toEqual(['accept', 'content-type', 'openstack-api-version'])
  })
  test('not at all without a token', async () => {
    const { asked, ui } = watched(true)
    for (const place of everyPlace()) {
      const answer = await ui.request(`/ui/${place}`, { headers: FORGED })
      expect([answer.status, answer.headers.get('location')]).toEqual([
        303,
        expect.stringMatching(/^(\.\.\/)*sign-in\?back=/),
      ])
    }
    expect(asked).toEqual([])
  })
})

test('the stream of events is that of the one who looks, too', async () => {
  const { asked, ui } = watched(true)
  const stop = new AbortController()
  const headers = { ...FORGED, ...cookie('token-of-member') }
  const answer = await ui.request(new Request('http://localhost/ui/stream', { headers, signal: stop.signal }))
  expect(answer.headers.get('content-type')).toMatch(/^text\/event-stream/)
  stop.abort()
  await answer.body?.cancel().catch(() => {})
  const streamed = asked.at(-1)!
  expect(streamed.headers.get('x-auth-token')).toBe('token-of-member')
  expect([...streamed.headers.keys()]).toEqual(['accept', 'openstack-api-version', 'x-auth-token'])
})

describe('a member of another project', () => {
  test('sees what the API shows a member: nothing of others, and which rule keeps the rest', async () => {
    const ui = createConsole(world, { tokens: true })
    for (const place of placesOf(seen)) {
      const html = await (await ui.request(`/ui/${place}`, { headers: cookie('token-of-member') })).text()
      const own = decodeURIComponent(place)
      for (const foreign of [
        seen.bound.uuid,
        seen.bound.instance,
        seen.failed.uuid,
        seen.handle,
        seen.card,
        'compute-1',
      ])
        if (!own.includes(foreign)) expect(html, place).not.toContain(foreign)
    }
    const hosts = await (await ui.request('/ui/hosts', { headers: cookie('token-of-member') })).text()
    expect(hosts).toContain('You may not see this')
    expect(hosts).toContain('cyborg:host:get_all')
  })
})

describe('signing in', () => {
  const enter = (fields: Readonly<Record<string, string>>, headers: Readonly<Record<string, string>> = SAME) =>
    createConsole(world, { tokens: true }).request('/ui/sign-in', {
      method: 'POST',
      body: new URLSearchParams(fields),
      headers,
    })
  test('with a password or a token; the token lies in a cookie that no script and no other site can use', async () => {
    for (const fields of [{ user: 'admin', password: 'right', project: 'p' }, { token: 'token-of-admin' }]) {
      const answer = await enter({ ...fields, back: 'arqs?state=Bound' })
      expect([answer.status, answer.headers.get('location')]).toEqual([303, 'arqs?state=Bound'])
      const [set, ...more] = answer.headers.getSetCookie()
      expect(set).toMatch(/^accelerando-token=token-of-admin; Max-Age=\d+; HttpOnly; SameSite=Strict$/)
      const issued = expect.stringMatching(/^accelerando-issued=[\w-]{43}; Max-Age=\d+; HttpOnly; SameSite=Strict$/)
      expect(more).toEqual('token' in fields ? [] : [issued])
    }
  })
  test('is refused with a wrong password, and with a token that the API does not know', async () => {
    for (const fields of [
      { user: 'admin', password: 'wrong' },
      { token: 'no-such-token' },
      { token: 'with a blank' },
      { token: 'x'.repeat(5000) },
    ]) {
      const answer = await enter(fields)
      expect([answer.status, answer.headers.get('set-cookie')]).toEqual([401, null])
    }
  })
  test('is a form with a field for each thing that is read of it', async () => {
    const form = await (await createConsole(world, { tokens: true }).request('/ui/sign-in')).text()
    const names = [...form.slice(form.indexOf('action="sign-in"')).matchAll(/<input[^>]* name="(\w+)"/g)].map(
      ([, name]) => String(name),
    )
    expect(names.toSorted()).toEqual(['back', 'domain', 'password', 'project', 'token', 'user'])
  })
  test('never leads to another site', async () => {
    for (const back of [
      '//evil.example',
      'https://evil.example',
      'javascript:alert(1)',
      '/\\evil.example',
      'a//b',
      'a:b?c',
      'a?\\',
      'a?\r\nset-cookie: b',
      'a#b/c',
    ])
      expect((await enter({ token: 'token-of-admin', back })).headers.get('location')).toBe('./')
  })
  test('leads back to the same place, with its filters, whatever is in them', async () => {
    const ui = createConsole(world, { tokens: true })
    for (const place of [
      'arqs?state=BindFailed&project_id=p',
      'events?after=0&type=a+b:c,d;e%20%C3%A9&host=x~%2F%2F',
      'explain?draft=[{%22resources:FPGA%22:%221%22}]',
      'usage.csv?from=2026-01-01T00:00:00.000Z',
      `arqs/${seen.bound.uuid}/timeline.json`,
      "hosts/it's~(one)*!",
    ]) {
      const away = new URL((await ui.request(`/ui/${place}`)).headers.get('location')!, `http://h/ui/${place}`)
      expect(away.pathname).toBe('/ui/sign-in')
      const form = await (await ui.request(`/ui/sign-in${away.search}`)).text()
      const back = /name="back" value="([^"]*)"/.exec(form)![1]!.replaceAll('&amp;', '&')
      const asked = new URL(`http://h/ui/${place}`)
      const entered = await enter({ token: 'token-of-admin', back: `${back}#step-3` })
      expect(`/ui/${entered.headers.get('location')}`).toBe(`${asked.pathname}${asked.search}#step-3`)
    }
  })
  test('only from a page of this site', async () => {
    expect((await enter({ token: 'token-of-admin' }, {})).status).toBe(403)
  })
  test('an old token leads back to it; a link on another site is followed once more with the cookie', async () => {
    const ui = createConsole(world, { tokens: true })
    expect((await ui.request('/ui/arqs', { headers: cookie('expired') })).headers.get('location')).toBe(
      'sign-in?back=arqs',
    )
    const visit = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' }
    expect(await (await ui.request('/ui/arqs', { headers: visit })).text()).toContain('http-equiv="refresh"')
    expect((await ui.request('/ui/arqs', { headers: { 'sec-fetch-site': 'cross-site' } })).status).toBe(403)
  })
  test('signing out takes the cookie away', async () => {
    const answer = await createConsole(world, { tokens: true }).request('/ui/sign-out', {
      method: 'POST',
      headers: SAME,
    })
    expect(answer.headers.get('set-cookie')).toMatch(/^accelerando-token=; Max-Age=0/)
  })
})

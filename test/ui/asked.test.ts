/** What the console asks of the API, word for word, and what it makes of each answer. */
import * as v from 'valibot'
import { describe, expect, it, test } from 'vitest'
import { systemClock } from '../../src/clock.ts'
import { bodyOf } from '../../src/ui/action.ts'
import { ACTIONS, actionOf, hindrance, offersOf } from '../../src/ui/actions.ts'
import { at, createApi } from '../../src/ui/api.ts'
import { loaded } from '../../src/ui/loaded.ts'
import { handClock } from '../support/lab.ts'
import { SAME, consoleOf } from './world.ts'

type Answer = { readonly status: number; readonly text?: string; readonly requestId?: string }
/** An API that gives one answer to everything, and notes what it is asked. */
const scripted = ({ status, text = '', requestId }: Answer) => {
  const asked: Record<string, unknown>[] = []
  const fetch = async (request: Request): Promise<Response> => {
    const { method, url } = request
    asked.push({ method, url, headers: Object.fromEntries(request.headers), body: await request.text() })
    return new Response(status === 204 ? null : text, {
      status,
      headers: requestId === undefined ? {} : { 'x-openstack-request-id': requestId },
    })
  }
  return { asked, fetch }
}
const over = (answer: Answer, token: string | null = null) => {
  const { asked, fetch } = scripted(answer)
  return { asked, api: createApi({ fetch, clock: systemClock, timeoutMs: 60_000 })(token) }
}
const errors = (detail: string, code = 'x') => JSON.stringify({ errors: [{ detail, code }] })
const COMMAND = '00000000-0000-4000-8000-000000000001'
const Body = v.object({ list: v.array(v.object({ name: v.string() })) })

describe('an answer of the API', () => {
  it('that is as expected is a value, without anything else in it', async () => {
    const { api } = over({ status: 200, text: '{"list":[{"name":"a","more":1}],"other":2}' })
    expect(await api.get('/x', Body)).toEqual({ ok: true, value: { list: [{ name: 'a' }] } })
  })
  it.each<[string, Answer, object]>([
    ['401', { status: 401 }, { kind: 'sign_in', text: 'A valid token is needed.' }],
    ['401 with a reason', { status: 401, text: errors('no') }, { kind: 'sign_in', text: 'no' }],
    ['403', { status: 403 }, { kind: 'forbidden', text: 'The API answered 403, without a reason.' }],
    [
      '403 that names the rule',
      { status: 403, text: errors('the rule cyborg:arq:force_unbind forbids it') },
      { kind: 'forbidden', text: 'the rule cyborg:arq:force_unbind forbids it', rule: 'cyborg:arq:force_unbind' },
    ],
    ['403 without a rule', { status: 403, text: errors('a:b no') }, { kind: 'forbidden', text: 'a:b no' }],
    ['404', { status: 404, text: errors('none') }, { kind: 'missing', text: 'none' }],
    ['409', { status: 409, text: errors('in use by a:b:c') }, { kind: 'refused', text: 'in use by a:b:c' }],
    [
      '409 without Keystone',
      { status: 409, text: errors('it needs auth = keystone') },
      { kind: 'off', text: 'it needs auth = keystone' },
    ],
    [
      '409 without images',
      { status: 409, text: errors('there is no image store') },
      { kind: 'off', text: 'there is no image store' },
    ],
    ['400', { status: 400, text: errors('no image store') }, { kind: 'refused', text: 'no image store' }],
    ['499', { status: 499 }, { kind: 'refused', text: 'The API answered 499, without a reason.' }],
    ['300', { status: 300 }, { kind: 'refused', text: 'The API answered 300, without a reason.' }],
    ['500', { status: 500, text: '<html>' }, { kind: 'failed', text: 'The API answered 500, without a reason.' }],
    ['502', { status: 502, text: errors('away') }, { kind: 'failed', text: 'away' }],
    ['503', { status: 503, text: errors('no database') }, { kind: 'away', text: 'no database' }],
    ['200 that is empty', { status: 200 }, { kind: 'failed', text: expect.stringMatching(/^the document: /) }],
    ['200 that is no JSON', { status: 200, text: '{' }, { kind: 'failed', text: expect.stringMatching(/^the doc/) }],
    [
      '200 with another content',
      { status: 200, text: '{"list":[{"name":"a"},{"name":7}]}' },
      { kind: 'failed', text: expect.stringMatching(/^list\.1\.name: /) },
    ],
  ])('%s', async (_, answer, error) => {
    const { api } = over({ ...answer, requestId: 'req-1' })
    expect(await api.get('/x', Body)).toEqual({ ok: false, error: { rule: null, requestId: 'req-1', ...error } })
  })
  it('that does not come in time, or not at all', async () => {
    const clock = handClock()
    const late = createApi({ fetch: () => new Promise(() => {}), clock, timeoutMs: 8000 })(null).get('/x', Body)
    await clock.pass(8000)
    const error = { kind: 'away', text: 'The API did not answer in time.', rule: null, requestId: null }
    expect(await late).toEqual({ ok: false, error })
    const broken = createApi({ fetch: () => Promise.reject(new Error('cut')), clock, timeoutMs: 8000 })(null)
    expect(await broken.get('/x', Body)).toMatchObject({
      error: { kind: 'failed', text: 'The API cannot be asked: Error: cut' },
    })
  })
  it('about whom a change would concern', async () => {
    const impact = {
      refusal: null,
      effect: 'kept' as const,
      devices: [],
      instances: ['i'],
      projects: [],
      arqs: [{ uuid: 'a' }],
      arqs_left_out: 0,
    }
    const { api, asked } = over({ status: 200, text: JSON.stringify(impact) })
    expect(await api.wouldConcern('POST', '/x')).toEqual({ ok: true, value: impact })
    await api.wouldConcern('DELETE', '/x?a=1', { reason: 'r' })
    expect(asked.map(({ method, url, body }) => [method, url, body])).toEqual([
      ['POST', 'http://127.0.0.1/v2/x?dry_run=true', ''],
      ['DELETE', 'http://127.0.0.1/v2/x?a=1&dry_run=true', '{"reason":"r"}'],
    ])
    expect(await over({ status: 200, text: '{}' }).api.wouldConcern('POST', '/x')).toMatchObject({
      error: { kind: 'failed' },
    })
    expect(await over({ status: 409, text: errors('no') }).api.wouldConcern('POST', '/x')).toMatchObject({
      error: { kind: 'refused', text: 'no' },
    })
  })
  it('to a change is the id under which it is recorded, which is that of the command', async () => {
    const answered = await over({ status: 204, requestId: 'req-2' }).api.change(COMMAND, 'POST', '/x')
    expect(answered).toEqual({ ok: true, value: { requestId: `req-${COMMAND}`, answer: null } })
    expect(await over({ status: 500 }).api.change(COMMAND, 'POST', '/x')).toMatchObject({ ok: false })
  })
})

describe('a question to the API', () => {
  const VERSION = { 'openstack-api-version': 'accelerator latest, accelerando latest' }
  it('carries the version, the token if there is one, and the type of its body', async () => {
    const [without, with_] = [over({ status: 200 }), over({ status: 200 }, 'secret')]
    await without.api.get('/x', Body)
    await with_.api.change(COMMAND, 'POST', '/x', { a: 1 })
    expect(without.asked).toEqual([{ method: 'GET', url: 'http://127.0.0.1/v2/x', headers: VERSION, body: '' }])
    const headers = {
      ...VERSION,
      'x-auth-token': 'secret',
      'content-type': 'application/json',
      'idempotency-key': COMMAND,
      'x-openstack-request-id': `req-${COMMAND}`,
    }
    expect(with_.asked).toEqual([{ method: 'POST', url: 'http://127.0.0.1/v2/x', headers, body: '{"a":1}' }])
  })
  it('for events says which was seen last', async () => {
    const { signal } = new AbortController()
    const [without, with_] = [over({ status: 200 }), over({ status: 200 }, 'secret')]
    await without.api.stream(null, signal)
    await with_.api.stream('7-1', signal)
    const accepted = { ...VERSION, accept: 'text/event-stream' }
    expect(without.asked[0]).toMatchObject({ method: 'GET', url: 'http://127.0.0.1/v2/events', headers: accepted })
    expect(with_.asked[0]!['headers']).toEqual({ ...accepted, 'x-auth-token': 'secret', 'last-event-id': '7-1' })
  })
  it('for a file has its answer, whatever it is, or the reason', async () => {
    const { asked, api } = over({ status: 200, text: 'bytes' }, 'secret')
    const file = await api.file('/file', 1)
    expect([file.ok && (await file.value.text()), asked]).toEqual([
      'bytes',
      [{ method: 'GET', url: 'http://127.0.0.1/v2/file', headers: { ...VERSION, 'x-auth-token': 'secret' }, body: '' }],
    ])
    const none = { rule: null, requestId: null }
    const refused = await over({ status: 503, text: errors('later') }).api.file('/file', 1)
    expect(refused).toEqual({ ok: false, error: { ...none, kind: 'away', text: 'later' } })
    const clock = handClock()
    const late = createApi({ fetch: () => new Promise(() => {}), clock, timeoutMs: 1 })(null).file('/file', 90)
    await clock.pass(89)
    await clock.pass(1)
    expect(await late).toEqual({ ok: false, error: { ...none, kind: 'away', text: 'The API did not answer in time.' } })
    const broken = createApi({ fetch: () => Promise.reject(new Error('cut')), clock, timeoutMs: 1 })(null)
    const text = 'The API cannot be asked: Error: cut'
    expect(await broken.file('/file', 90)).toEqual({ ok: false, error: { ...none, kind: 'failed', text } })
  })
  it('for a change may take longer than others', async () => {
    const clock = handClock()
    const api = createApi({ fetch: () => new Promise(() => {}), clock, timeoutMs: 10 })(null)
    const ended: string[] = []
    void api.change(COMMAND, 'POST', '/x').then(() => ended.push('short'))
    void api.change(COMMAND, 'POST', '/x', {}, 20).then(() => ended.push('long'))
    await clock.pass(10)
    expect(ended).toEqual(['short'])
    await clock.pass(10)
    expect(ended).toEqual(['short', 'long'])
  })
  test('a value in an address is one segment', () => {
    expect(at`/a/${'../b?c=1'}/d?e=${7}`).toBe('/a/..%2Fb%3Fc%3D1/d?e=7')
  })
})

describe('what can be done', () => {
  it.each(ACTIONS.map(({ kind, name }) => [kind, name] as const))('%s: %s', async (kind, name) => {
    const said = '{"healed":[{"host":"id 1","outcome":"in_step","left":null}],"probe":null}'
    const { asked, fetch } = scripted({ status: 200, text: said, requestId: 'req-3' })
    const fields = { confirm: 'id 1', name: 'new', version: '1', if_version: '2', groups: '[{"resources:FPGA": "1"}]' }
    const body = new URLSearchParams({ ...fields, command: COMMAND, reason: `  ${'r'.repeat(1000)} ` })
    const answer = await consoleOf(fetch).request(`/ui/${kind}/id 1/do/${name}`, {
      method: 'POST',
      headers: SAME,
      body,
    })
    const deed = asked.at(-1)!
    expect(answer.status).toBe(303)
    await expect(
      JSON.stringify({ deed, to: answer.headers.get('location') }, null, 1).replace('r'.repeat(1000), '<1000 times r>'),
    ).toMatchFileSnapshot(`golden/deeds/${kind}-${name}.txt`)
  })
  it('has a rule, states in which it is possible, and words for the others', async () => {
    await expect(JSON.stringify(ACTIONS, null, 1)).toMatchFileSnapshot('golden/actions.txt')
  })
  it.each<[string, Readonly<Record<string, string>>, object]>([
    ['create', { name: 'n', description: 'd', groups: '[]' }, [{ name: 'n', groups: [], description: 'd' }]],
    ['create', { name: 'n', description: '', groups: '[]' }, [{ name: 'n', groups: [] }]],
    [
      'version',
      { if_version: '7', description: 'd', groups: '[]', reason: 'r' },
      { groups: [], description: 'd', if_version: 7, reason: 'r' },
    ],
    [
      'version',
      { if_version: '', description: '', groups: '[]', reason: 'r' },
      { groups: [], description: null, reason: 'r' },
    ],
    ['disable', { version: '3', reason: 'r' }, { versions: { 3: false }, reason: 'r' }],
    ['enable', { version: '3', reason: 'r' }, { versions: { 3: true }, reason: 'r' }],
  ])('to a profile: %s sends what was typed, and nothing for what was not', (name, typed, body) =>
    expect(bodyOf(actionOf('profiles', name)!, typed)).toEqual(loaded(body)),
  )
  it('is hindered by a role, by a state, and by nothing else', () => {
    const disable = actionOf('devices', 'disable')!
    expect(hindrance(disable, 'enabled', {})).toBe(null)
    expect(hindrance(disable, 'enabled', { 'cyborg:device:disable': true })).toBe(null)
    expect(hindrance(disable, 'enabled', { 'cyborg:device:disable': false })).toBe(
      'your roles do not allow cyborg:device:disable',
    )
    expect(hindrance(disable, 'maintaining', {})).toBe('it is disabled already')
    expect([actionOf('devices', 'delete'), actionOf('pods', 'disable')]).toEqual([undefined, undefined])
    expect(offersOf('handles', 'quarantined', { 'cyborg:handle:clean': false })).toEqual([
      { name: 'quarantine', label: 'Withhold', grave: true, not: 'only a handle that nobody has can be withheld' },
      { name: 'release', label: 'Release', grave: false, not: null },
      { name: 'clean', label: 'Clean', grave: false, not: 'your roles do not allow cyborg:handle:clean' },
    ])
  })
})

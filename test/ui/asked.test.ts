/** What the console asks of the API, and what it makes of each answer. */
import { describe, expect, it, test } from 'vitest'
import { handClock } from '../support/lab.ts'
import { pageOf, uiOver, uuid } from './drawing.ts'
import { MAY, device, host } from './samples.ts'
import { SAME, signIn } from './world.ts'

const errors = (detail: string) => JSON.stringify({ errors: [{ detail, code: 'x' }] })
const headers = { 'x-openstack-request-id': 'req-1' }

describe('an answer of the API', () => {
  const shown = (status: number, text: string) =>
    pageOf({ '/permissions': MAY, '/hosts/x': new Response(text, { status, headers }) }, 'hosts/x')
  it('may have more in it than the console reads', async () => {
    expect(await shown(200, JSON.stringify({ ...host(), another: { field: 1 } }))).toMatchObject({ status: 200 })
  })
  it.each<[string, number, string, number, string]>([
    ['401', 401, '', 401, '|A valid token is needed.|'],
    [
      '403 that names the rule',
      403,
      errors('cyborg:host:get forbids it'),
      403,
      '|The policy rule is |cyborg:host:get|',
    ],
    ['403 without a rule', 403, errors('a:b no'), 403, '|You may not see this|a:b no|'],
    ['404', 404, errors('none'), 404, '|There is no such thing|none|'],
    ['409', 409, errors('in use by a:b:c'), 409, '|The service refused|in use by a:b:c|'],
    [
      '409 without Keystone',
      409,
      errors('it needs auth = keystone'),
      200,
      '|Not configured|It needs auth = keystone.|',
    ],
    ['409 without images', 409, errors('there is no image store'), 200, '|Not configured|There is no image store.|'],
    ['400', 400, errors('no image store'), 409, '|The service refused|no image store|'],
    ['499', 499, '', 409, '|The API answered 499, without a reason.|'],
    ['500', 500, '<html>', 502, '|This could not be read|The API answered 500, without a reason.|'],
    ['503', 503, errors('no database'), 503, '|No answer at present|no database|'],
    ['200 that is empty', 200, '', 502, '|This could not be read|the document: '],
    ['200 that is no JSON', 200, '{', 502, '|the document: '],
    ['200 with another content', 200, JSON.stringify({ ...host(), aliases: [7] }), 502, '|aliases.0: '],
  ])('%s is told in the words of the API', async (_, status, text, pageStatus, said) => {
    const page = await shown(status, text)
    expect([page.status, page.said]).toEqual([pageStatus, expect.stringContaining(said)])
  })
  it.each([
    ['/ui/hosts', 8000],
    ['/ui/system/support-bundle', 90_000],
  ])('%s is waited for no longer than %d ms', async (path, ms) => {
    const clock = handClock()
    const fetch = (request: Request) =>
      request.url.endsWith('/permissions') ? Response.json(MAY) : new Promise<Response>(() => {})
    const answer = Promise.resolve(uiOver(fetch, { clock }).request(path))
    let isOver = false
    void answer.then(() => (isOver = true))
    await clock.pass(ms - 1)
    expect(isOver).toBe(false)
    await clock.pass(1)
    const { status } = await answer
    expect([status, await (await answer).text()]).toEqual([503, expect.stringContaining('did not answer in time.')])
  })
  it('that is cut off is told with its cause', async () => {
    const fetch = () => Promise.reject(new Error('cut'))
    const answer = await uiOver(fetch).request('/ui/hosts')
    expect([answer.status, await answer.text()]).toEqual([
      502,
      expect.stringContaining('The API cannot be asked: Error: cut'),
    ])
  })
})

/** An API that answers everything with this, and notes what it is asked. */
const noting = (body: object = {}) => {
  const asked: { method: string; path: string; headers: Record<string, string>; body: string }[] = []
  const fetch = async (request: Request): Promise<Response> => {
    const path = request.url.slice(request.url.indexOf('/v2') + '/v2'.length)
    asked.push({
      ...{ method: request.method, path, headers: Object.fromEntries(request.headers) },
      body: await request.text(),
    })
    return Response.json(body, { headers })
  }
  return { asked, fetch }
}
const VERSION = { 'openstack-api-version': 'accelerator latest, accelerando latest' }
const COMMAND = uuid(1)

describe('a question to the API', () => {
  const cookie = { cookie: 'accelerando-token=secret' }
  it('carries the version, and the token of the one who looks, if there is one', async () => {
    const [without, with_] = [noting(), noting()]
    await uiOver(without.fetch).request('/ui/hosts/x')
    await uiOver(with_.fetch, { signIn }).request('/ui/hosts/x', { headers: cookie })
    expect(without.asked.at(-1)).toEqual({ method: 'GET', path: expect.any(String), headers: VERSION, body: '' })
    expect(with_.asked.at(-1)!.headers).toEqual({ ...VERSION, 'x-auth-token': 'secret' })
  })
  it('for a change carries the id of the command as well, and the type of its body', async () => {
    const { asked, fetch } = noting()
    const body = new URLSearchParams({ reason: ' why ', command: COMMAND })
    const init = { method: 'POST', headers: { ...SAME, ...cookie }, body }
    await uiOver(fetch, { signIn }).request('/ui/handles/x/do/release', init)
    const { headers: sent, ...deed } = asked.find(({ method }) => method === 'POST')!
    expect(deed).toEqual({ method: 'POST', path: '/handles/x/release', body: '{"reason":"why"}' })
    const { 'idempotency-key': key, ...others } = sent
    expect(others).toEqual({
      ...{ ...VERSION, 'x-auth-token': 'secret', 'content-type': 'application/json' },
      'x-openstack-request-id': `req-${key}`,
    })
  })
  it('for events says which was seen last', async () => {
    const { asked, fetch } = noting()
    await uiOver(fetch, { signIn }).request('/ui/stream', { headers: { ...cookie, 'last-event-id': '7-1' } })
    const sent = { ...VERSION, 'x-auth-token': 'secret', accept: 'text/event-stream', 'last-event-id': '7-1' }
    expect(asked.at(-1)).toMatchObject({ path: '/events', headers: sent })
  })
  it('about whom a change would concern changes nothing', async () => {
    const { asked } = await pageOf({ '/permissions': MAY, '/devices/x': device(1) }, 'devices/x/do/disable')
    expect(asked).toContain('/devices/x/disable?dry_run=true')
  })
})

const R = '{"reason":"r"}'
const GROUPS = '[{"resources:FPGA":"1"}]'
const LOAD = `[{"op":"replace","path":"/program","value":[{"image_uuid":"${uuid(5)}"}]}]`
test.each<[string, string, string, string, string?]>([
  ['arqs/a%201/do/delete', 'DELETE', '/accelerator_requests?arqs=a%201', '', 'arqs'],
  ['arqs/a%201/do/force-unbind', 'POST', '/accelerator_requests/a%201/force_unbind', R],
  ['devices/a%201/do/disable', 'POST', '/devices/a%201/disable', ''],
  ['devices/a%201/do/enable', 'POST', '/devices/a%201/enable', ''],
  [
    `differences/${COMMAND}.a%201/do/ignore`,
    'POST',
    '/drift/ignored',
    `{"host":"a 1","difference":"${COMMAND}","until":"2026-03-02","reason":"r"}`,
    'drift',
  ],
  ['drift/a%201/do/repair', 'POST', '/drift/heal?host=a%201&dry_run=false', '', 'drift?host=a%201'],
  ['handles/a%201/do/clean', 'POST', '/handles/a%201/clean', R],
  ['handles/a%201/do/quarantine', 'POST', '/handles/a%201/quarantine', R],
  ['handles/a%201/do/release', 'POST', '/handles/a%201/release', R],
  ['hosts/a%201/do/approve', 'POST', '/hosts/a%201/approve', R],
  ['hosts/a%201/do/probe', 'POST', '/hosts/a%201/probe', ''],
  ['hosts/a%201/do/restore', 'POST', '/hosts/a%201/restore', R],
  ['hosts/a%201/do/retire', 'POST', '/hosts/a%201/retire', R],
  ['ignored/a%201/do/unignore', 'POST', '/drift/ignored/a%201/end', R, 'drift'],
  ['instances/a%201/do/resend', 'POST', '/deliveries/a%201/resend', R],
  ['letters/a%201/do/drop', 'POST', '/dead_letters/a%201/drop', R],
  ['letters/a%201/do/replay', 'POST', '/dead_letters/a%201/replay', R],
  [
    'profiles/new/do/create',
    'POST',
    '/device_profiles',
    `[{"name":"new one","groups":${GROUPS},"description":"d"}]`,
    'profiles/new%20one',
  ],
  ['profiles/a%201/do/delete', 'DELETE', '/device_profiles/a%201', '', 'profiles'],
  ['profiles/a%201/do/disable', 'PATCH', '/device_profiles/a%201', '{"versions":{"3":false},"reason":"r"}'],
  ['profiles/a%201/do/enable', 'PATCH', '/device_profiles/a%201', '{"versions":{"3":true},"reason":"r"}'],
  [
    'profiles/a%201/do/version',
    'PATCH',
    '/device_profiles/a%201',
    `{"groups":${GROUPS},"description":"d","if_version":2,"reason":"r"}`,
  ],
  ['programs/a%201/do/load', 'PATCH', '/deployables/a%201/program', LOAD, 'programs'],
  ['programs/a%201/do/revert', 'PATCH', '/deployables/a%201/program', LOAD, 'programs'],
])('%s is %s %s', async (place, method, path, body, to) => {
  const { asked, fetch } = noting({ healed: [{ host: 'a 1', outcome: 'in_step', left: null }], probe: null })
  const typed = { name: 'new one', version: '3', if_version: '2', groups: GROUPS, description: 'd', image: uuid(5) }
  const fields = {
    ...typed,
    reason: 'r',
    confirm: 'a 1',
    command: COMMAND,
    until: '2026-03-02',
    host: 'a 1',
    difference: COMMAND,
  }
  const init = { method: 'POST', headers: SAME, body: new URLSearchParams(fields) }
  const answer = await uiOver(fetch).request(`/ui/${place}`, init)
  expect(answer.status).toBe(303)
  expect(asked.filter((each) => each.method !== 'GET')).toMatchObject([{ method, path, body }])
  const [kind, id, , name] = place.split('/')
  const next = to ?? `${kind}/${id}`
  const [shown = '', query = ''] = answer.headers.get('location')!.replace('../../../', '').split('?')
  expect(shown).toBe(next.split('?')[0])
  expect(query).toContain(`done=${name}`)
})

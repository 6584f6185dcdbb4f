/** What the console answers beside its pages: the files of the browser, downloads, redirects, and what it refuses. */
import { gunzipSync, brotliDecompressSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { createUi } from '../../src/ui/app.ts'
import { loadAssets } from '../../src/ui/assets.ts'
import { handClock, memoryLog } from '../support/lab.ts'
import { NOW, POLICY, ago, noAssets, uiOver, uuid } from './drawing.ts'
import { SAME, signIn } from './world.ts'

type Answers = Readonly<Record<string, Response | object>>
const MAY = { user_id: 'u1', user_name: null, project_id: 'p1', project_name: null, permissions: {} }
type Given = Partial<Parameters<typeof createUi>[0]>
/** Over an API with these answers, by path and query. */
const over = (answers: Answers = {}, given: Given = {}) => {
  const asked: string[] = []
  const log = memoryLog()
  const all: Answers = { '/permissions': MAY, ...answers }
  const ui = createUi({
    fetch: ({ url }) => {
      const path = url.slice(url.indexOf('/v2') + 3)
      asked.push(path)
      const answer = all[path] ?? new Response('', { status: 404 })
      return answer instanceof Response ? answer : Response.json(answer)
    },
    assets: noAssets,
    signIn: null,
    barred: () => null,
    clock: { ...handClock(), now: () => NOW },
    ids: { uuid: () => uuid(1) },
    log,
    ...given,
  })
  const ask = async (path: string, init: RequestInit = {}) => {
    const answer = await ui.request(path, init)
    const headers = Object.fromEntries(answer.headers)
    return { status: answer.status, headers, to: headers['location'] ?? null, text: await answer.text() }
  }
  return { ask, asked, log }
}
const ALWAYS = {
  'content-security-policy': POLICY,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'same-origin',
}
const TEXT = { ...ALWAYS, 'content-type': 'text/plain; charset=UTF-8' }

describe('a file of the browser', () => {
  const asset = {
    type: 'text/javascript',
    plain: Buffer.from('plain'),
    br: Buffer.from('small'),
    gzip: Buffer.from('zipped'),
  }
  const get = (name: string) => (name === 'view/a.js' ? asset : undefined)
  const { ask } = over({}, { assets: async () => ({ hash: 'h1', scripts: () => [], get }) })
  test.each([
    ['', 'plain', null],
    ['deflate, brx, xgzip', 'plain', null],
    ['gzip', 'zipped', 'gzip'],
    ['gzip, deflate, br', 'small', 'br'],
  ])('is sent as the browser takes it: %s', async (accepted, text, coding) => {
    const headers: Record<string, string> = accepted === '' ? {} : { 'accept-encoding': accepted }
    expect(await ask('/ui/assets/h1/view/a.js', { headers })).toEqual({
      status: 200,
      to: null,
      text,
      headers: {
        ...ALWAYS,
        'content-type': 'text/javascript',
        'cache-control': 'public, max-age=31536000, immutable',
        vary: 'accept-encoding',
        ...(coding !== null && { 'content-encoding': coding }),
      },
    })
  })
  test.each(['h1/view/b.js', 'h2/view/a.js'])('of another name or another version is none: %s', async (name) => {
    const none = { status: 404, to: null, text: 'there is no such file', headers: TEXT }
    expect(await ask(`/ui/assets/${name}`)).toEqual(none)
  })
})

test('each page has its scripts, whole, and each of them finds what it imports', async () => {
  const assets = loadAssets()
  const ui = uiOver(() => new Response('', { status: 404 }), { assets: () => assets })
  const get = async (path: string, coding = '') => {
    const answer = await ui.request(path, { headers: { 'accept-encoding': coding } })
    expect([answer.status, path]).toEqual([200, path])
    return { type: answer.headers.get('content-type'), bytes: Buffer.from(await answer.arrayBuffer()) }
  }
  const scriptsOf = async (place: string) => {
    const html = await (await ui.request(`/ui/${place}`)).text()
    return [...html.matchAll(/(?:href|src)="(assets\/[^"]+\.js)"/g)].map(([, name]) => `/ui/${name}`)
  }
  const things = ['arqs', 'instances', 'hosts', 'devices', 'handles', 'profiles', 'letters']
  const lists = ['drift', 'deliveries', 'explain', 'capacity', 'usage', 'events', 'programs', 'system', 'timeline']
  const places = [
    '',
    ...things,
    ...lists,
    ...things.map((kind) => `${kind}/x`),
    'profiles/x/versions',
    'hosts/x/do/retire',
  ]
  const [home = [], ...others] = await Promise.all(places.map(scriptsOf))
  const root = home[0]!.split('/').slice(0, 4).join('/')
  expect(root).toMatch(/^\/ui\/assets\/[0-9a-f]{12}$/)
  expect(home).toContain(`${root}/view/home.js`)
  expect(home).not.toContain(`${root}/view/explain.js`)
  const workers = ['worker', 'tail', 'recorder', 'hub'].map((name) => `${root}/browser/${name}.js`)
  for (const path of new Set([...home, ...others.flat(), ...workers])) {
    const { type, bytes } = await get(path)
    expect(type).toBe('text/javascript; charset=utf-8')
    const [br, gzip] = [await get(path, 'br'), await get(path, 'gzip')]
    expect(brotliDecompressSync(br.bytes).equals(bytes) && gunzipSync(gzip.bytes).equals(bytes), path).toBe(true)
    expect(bytes.toString(), path).not.toMatch(/\.ts'|\/\*\*|sourceMappingURL/)
    if (path.endsWith('/preact.js')) continue
    for (const [, to = ''] of bytes.toString().matchAll(/(?:from|import\()\s*'([^'\s]+\.js)'/g))
      await get(new URL(to, `http://h${path}`).pathname)
  }
  expect([(await get(`${root}/style.css`)).type, (await get(`${root}/icon.svg`)).type]).toEqual([
    'text/css; charset=utf-8',
    'image/svg+xml',
  ])
})

describe('a request', () => {
  test.each([
    ['/', 302, 'ui/', ''],
    ['/ui', 302, 'ui/', ''],
    ['/elsewhere', 404, null, expect.stringContaining('<a href="ui/">To the console</a>')],
    ['/an/other/place', 404, null, expect.stringContaining('<a href="../../ui/">To the console</a>')],
  ])('for %s is answered', async (path, status, to, text) => {
    const answer = await over().ask(path)
    expect(answer).toMatchObject({ status, to, text, headers: ALWAYS })
  })
  test('that is barred is answered with the reason, under the same policy', async () => {
    const barred = () => 'it names another host'
    const refused = { status: 403, to: null, text: 'it names another host', headers: TEXT }
    expect(await over({}, { barred }).ask('/ui/')).toEqual(refused)
  })
  test('by a link on another site is judged as if it came from none; every other is judged as it is', async () => {
    const seen = async (headers: Record<string, string>, method = 'GET') => {
      const names: (string | undefined)[] = []
      const barred = (header: (name: string) => string | undefined) => {
        names.push(header('sec-fetch-site'), header('origin'))
        return 'no'
      }
      await over({}, { barred }).ask('/ui/', { method, headers: { origin: 'http://evil', ...headers } })
      return names
    }
    const visit = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' }
    expect(await seen(visit)).toEqual([undefined, 'http://evil'])
    expect(await seen({ ...visit, 'sec-fetch-mode': 'cors' })).toEqual(['cross-site', 'http://evil'])
    expect(await seen(visit, 'POST')).toEqual(['cross-site', 'http://evil'])
  })
  test('that fails by an error of the console is logged, and says so', async () => {
    const failing = over({}, { assets: () => Promise.reject(new Error('no file is there')) })
    const failed = { status: 500, text: 'The console failed: no file is there', headers: TEXT }
    expect(await failing.ask('/ui/timeline')).toMatchObject(failed)
    const detail = { err: new Error('no file is there'), path: '/ui/timeline' }
    expect(failing.log.said).toEqual([{ level: 'error', detail, message: 'ui.failed' }])
  })
  test.each([
    ['/ui/sign-in', 32 * 1024],
    ['/ui/hosts/h1/do/none', 32 * 1024 + 270_000],
    ['/ui/hosts/h1/do/none/more', 32 * 1024],
    ['/ui/more/ui/hosts/h1/do/none', 32 * 1024],
  ])('with a form to %s is read up to %d bytes', async (path, max) => {
    const { ask } = over({}, { signIn })
    const send = async (bytes: number) => {
      const init = { 'content-length': String(bytes), 'content-type': 'application/x-www-form-urlencoded' }
      return ask(path, { method: 'POST', body: 'x'.repeat(bytes), headers: { ...SAME, ...init } })
    }
    expect((await send(max)).status).not.toBe(413)
    expect(await send(max + 1)).toMatchObject({ status: 413, text: 'The form is larger than the console takes.' })
  })
})

describe('finding', () => {
  const [ARQ, OTHER] = [uuid(7), uuid(8)]
  const one = (path: string, answer: object = {}) => over({ [path]: answer }).ask
  test.each([
    [`/accelerator_requests/${ARQ}`, `arqs/${ARQ}`],
    [`/accelerator_requests/${ARQ}/timeline`, `arqs/${ARQ}`],
    [`/devices/${ARQ}`, `devices/${ARQ}`],
    [`/handles/${ARQ}`, `handles/${ARQ}`],
    [`/device_profiles/${ARQ}`, `profiles/${ARQ}`],
  ])('a UUID that is known at %s leads to %s', async (path, place) => {
    expect(await one(path)(`/ui/find?q=%20${ARQ}%20`)).toMatchObject({ status: 302, to: place })
  })
  test('a UUID of a part leads to its device, and one of an instance to the instance, if it has requests', async () => {
    const ofPart = one(`/deployables/${ARQ}`, { device_uuid: OTHER })
    expect(await ofPart(`/ui/find?q=${ARQ}`)).toMatchObject({ status: 302, to: `devices/${OTHER}` })
    expect((await one(`/deployables/${ARQ}`)(`/ui/find?q=${ARQ}`)).status).toBe(404)
    const path = `/accelerator_requests?instance=${ARQ}&limit=1`
    expect((await one(path, { arqs: [] })(`/ui/find?q=${ARQ}`)).status).toBe(404)
  })
  test('a word is that of a host or of a profile; other things have none', async () => {
    const both = over({ '/hosts/a%20b': {}, '/device_profiles/a%20b': {} })
    expect(await both.ask('/ui/find?q=a%20b')).toMatchObject({ status: 302, to: 'hosts/a%20b' })
    expect(both.asked.toSorted()).toEqual(['/device_profiles/a%20b', '/hosts/a%20b', '/permissions'])
    expect(await one('/device_profiles/a%20b')('/ui/find?q=a%20b')).toMatchObject({ to: 'profiles/a%20b' })
    expect(await over().ask('/ui/find?q=a%20b')).toMatchObject({ status: 404, to: null })
  })
  test('nothing leads to the overview, and no more than 255 characters are looked for', async () => {
    for (const query of ['', '?q=', '?q=%20%20'])
      expect(await over().ask(`/ui/find${query}`)).toMatchObject({ status: 302, to: './' })
    const { ask, asked } = over()
    const { text } = await ask(`/ui/find?q=${'x'.repeat(256)}`)
    expect(asked).toContain(`/hosts/${'x'.repeat(255)}`)
    expect(text).toContain(`has the UUID or the name ${'x'.repeat(255)}.`)
    expect(text).toContain(`value="${'x'.repeat(255)}"`)
  })
})

describe('a download', () => {
  const refusal = (status: number) =>
    Response.json(
      { errors: [{ detail: 'not now', code: 'x' }] },
      { status, headers: { 'x-openstack-request-id': 'r1' } },
    )
  const step = { at: ago(5000), step: 'created', took_ms: null, cause: null, request_id: null, detail: {}, event: null }
  const timeline = { arq: 'a 1', project_id: null, deleted: false, total_ms: 0, steps: [step] }
  const FILES = {
    'arqs/a%201/timeline.json': '/accelerator_requests/a%201/timeline?events=true',
    'arqs/a%201/timeline.json?as_of=2026-01-01': '/accelerator_requests/a%201/timeline?events=true&as_of=2026-01-01',
    'arqs/a%201/trace-events.json': '/accelerator_requests/a%201/timeline?events=true',
    'letters/a%201/bytes': '/dead_letters/a%201',
    'usage.csv?period=day&other=x': '/usage?period=day',
  }
  test.each(Object.entries(FILES))('%s that the API refuses is the refusal, with its status', async (place, path) => {
    for (const [status, kind, said] of [
      [403, 'forbidden', 403],
      [404, 'missing', 404],
      [409, 'refused', 409],
      [500, 'failed', 502],
      [503, 'away', 503],
    ] as const) {
      const { ask, asked } = over({ [path]: refusal(status) })
      const answer = await ask(`/ui/${place}`)
      expect([answer.status, JSON.parse(answer.text)]).toEqual([
        said,
        { kind, text: 'not now', rule: null, requestId: 'r1' },
      ])
      expect(asked).toEqual(['/permissions', path])
    }
  })
  test.each(Object.keys(FILES).concat('system/support-bundle', 'stream', 'find?q=x', 'arqs/a%201/do/delete'))(
    '%s leads whoever is not signed in to the sign-in page, and back',
    async (place) => {
      const { ask, asked } = over({}, { signIn })
      const [path = '', query] = place.split('?')
      const up = '../'.repeat(path.split('/').length - 1)
      const back = encodeURIComponent(query === undefined ? path : `${path}?${query}`)
      expect(await ask(`/ui/${place}`)).toMatchObject({ status: 303, to: `${up}sign-in?back=${back}`, text: '' })
      expect(asked).toEqual([])
    },
  )
  test('of a timeline is what the API says; for trace viewers what has not ended lasts until now, or until then', async () => {
    const path = FILES['arqs/a%201/timeline.json']
    const { ask } = over({ [path]: timeline, [`${path}&as_of=${encodeURIComponent(ago(2000))}`]: timeline })
    expect(JSON.parse((await ask('/ui/arqs/a%201/timeline.json')).text)).toEqual(timeline)
    const lasted = async (query: string) => {
      const { text } = await ask(`/ui/arqs/a%201/trace-events.json${query}`)
      return (JSON.parse(text) as { traceEvents: { dur?: number }[] }).traceEvents.flatMap(({ dur }) => dur ?? [])
    }
    expect(await lasted('')).toEqual([5_000_000])
    expect(await lasted(`?as_of=${ago(2000)}`)).toEqual([3_000_000])
  })
  test('of usage and of a message has the type and the name of the file, and is not kept', async () => {
    const usage = { from: ago(2), until: ago(1), as_of: ago(0), period: 'day', usage: [] }
    const { headers, text } = await over({ '/usage?period=day': usage }).ask('/ui/usage.csv?period=day')
    expect([text, headers]).toEqual([
      'project_id,resource_class,from,until,device_seconds,bindings\r\n',
      {
        ...ALWAYS,
        'content-type': 'text/csv; charset=utf-8',
        'content-disposition': 'attachment; filename="usage.csv"',
        'cache-control': 'no-store',
      },
    ])
  })
  test('of the support bundle has the headers of the API, and of these only its own', async () => {
    const given = { 'content-type': 'application/gzip', 'content-disposition': 'attachment; filename="b"' }
    const bundle = (headers: Record<string, string>) =>
      over({ '/system/support_bundle': new Response('bytes', { headers }) }).ask('/ui/system/support-bundle')
    const kept = { ...given, 'cache-control': 'no-store' }
    expect(await bundle({ ...kept, 'set-cookie': 'a=b' })).toEqual({
      status: 200,
      to: null,
      text: 'bytes',
      headers: { ...ALWAYS, ...kept },
    })
    expect((await bundle(given)).headers).toMatchObject({ ...given, 'cache-control': '' })
    const refused = await over({ '/system/support_bundle': refusal(503) }).ask('/ui/system/support-bundle')
    expect([refused.status, refused.text]).toEqual([503, expect.stringContaining('not now')])
    expect(refused.text).toContain('<title>Support bundle · accelerando</title>')
  })
  test('of the stream is passed on as it is answered, and kept nowhere', async () => {
    const stream = (answer: Response) => over({ '/events': answer }).ask('/ui/stream')
    const headers = { ...ALWAYS, 'cache-control': 'no-store', 'x-accel-buffering': 'no' }
    const type = { 'content-type': 'text/event-stream' }
    expect(await stream(new Response('id: 1\n', { headers: { ...type, 'set-cookie': 'a=b' } }))).toEqual({
      status: 200,
      to: null,
      text: 'id: 1\n',
      headers: { ...headers, ...type },
    })
    const odd = await stream(new Response(new Uint8Array([65]), { status: 503 }))
    expect([odd.status, odd.text, odd.headers]).toEqual([503, 'A', { ...headers, 'content-type': 'text/plain' }])
  })
})

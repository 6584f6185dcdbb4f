/**
 * What is asked before an action, and what follows it, over an API that answers as it is told: each state of the
 * entity, whom it would concern, and what was typed. `-u` where a change is meant.
 */
import { describe, expect, it, test } from 'vitest'
import { createUi } from '../../src/ui/app.ts'
import { silent } from '../../src/log.ts'
import { handClock } from '../support/lab.ts'
import { NOW, TIMES, ago, keysDuring, mainOf, noAssets, pagesOf, uuid } from './drawing.ts'
import { SAME } from './world.ts'

type Documents = Readonly<Record<string, unknown>>
const MAY = { user_id: 'u1', user_name: 'kim', project_id: 'p1', project_name: null, permissions: {} }
const drawn = async (name: string, ...worlds: readonly (readonly [Documents, readonly string[]])[]) => {
  let text = ''
  for (const [documents, places] of worlds) text += await pagesOf({ '/permissions': MAY, ...documents }, places, NOW)
  await expect(text).toMatchFileSnapshot(`golden/asked-${name}.txt`)
}

const image = (n: number, name: string | null, digest: string | null = null) => ({
  uuid: uuid(n),
  name,
  size: null,
  digest,
})
const PROGRAM = {
  deployable_uuid: uuid(1),
  device_uuid: uuid(2),
  hostname: 'host 1',
  name: 'part 1',
  programmable: true,
  state: 'loaded',
  image_uuid: null,
  former_image_uuid: null,
  since: null,
  reason: null,
  refusal: null,
  arqs: [],
  arqs_left_out: 0,
  image: null,
  image_problem: null,
  images: [],
  images_left_out: 0,
  images_problem: null,
}
it('of a card: what it holds, what the image store says of it, who uses it, and what there is to choose from', async () => {
  const both = [`programs/${uuid(1)}/do/load`, `programs/${uuid(1)}/do/revert`]
  const [load] = both as [string, string]
  const card = (more: object): Documents => ({ [`/programs/${uuid(1)}`]: { ...PROGRAM, ...more } })
  const held = { image_uuid: uuid(10), former_image_uuid: uuid(11) }
  await drawn(
    'programs',
    [card({}), both],
    [card({ ...held, images: [image(20, 'aes'), image(21, null)], images_left_out: 7 }), both],
    [card({ ...held, image: image(10, 'aes', 'sha256:ab'), images: [image(20, 'aes')] }), [load]],
    [card({ ...held, image: image(10, 'aes'), arqs: [uuid(30), uuid(31)], arqs_left_out: 3 }), [load]],
    [card({ ...held, image_problem: 'it does not answer', images_problem: 'it does not list' }), [load]],
    [card({ ...held, refusal: 'a request uses it', arqs: [uuid(30)] }), both],
    [{}, both],
  )
})

const PROFILE = {
  ...{ uuid: uuid(900), name: 'p', description: null, groups: [{ 'resources:FPGA': '1' }] },
  ...{ version: 1, enabled: true, projects: null },
  ...TIMES,
}
const impact = (more: object) => ({
  refusal: null,
  effect: 'kept',
  devices: [],
  instances: [],
  projects: [],
  arqs: [],
  arqs_left_out: 0,
  ...more,
})
const used = { instances: [uuid(40)], projects: ['p 1', 'p2'], arqs: [{ uuid: uuid(41) }], arqs_left_out: 2 }
it('of a profile: what is filled in follows from its versions', async () => {
  const names = ['version', 'disable', 'enable', 'delete'].map((name) => `profiles/p/do/${name}`)
  const profile = (more: object, ...enabled: readonly boolean[]): Documents => ({
    '/device_profiles/p': { device_profile: { ...PROFILE, ...more } },
    'PATCH /device_profiles/p': impact(used),
    'DELETE /device_profiles/p': impact({}),
    '/device_profiles/p/versions': {
      versions: enabled.map((on, at) => ({
        version: at + 1,
        enabled: on,
        description: null,
        groups: [],
        created_at: ago(1),
      })),
    },
  })
  const [first] = names as [string]
  await drawn(
    'profiles',
    [profile({ version: 3, description: 'words' }, true, false, true, false), names],
    [profile({ version: 7, description: 'words' }), [first]],
    [profile({ version: 2 }, true, true), names],
    [profile({ version: 2 }, false, false), names],
    [{}, ['profiles/new/do/create', first]],
    [
      { '/devices/d': deviceIn('enabled'), '/devices/d/disable': impact({ ...used, effect: 'unbound' }) },
      ['devices/d/do/disable', 'devices/d/do/enable'],
    ],
    [
      { '/devices/d': deviceIn('enabled'), '/devices/d/disable': impact({ refusal: 'it is being measured' }) },
      ['devices/d/do/disable'],
    ],
    [{ '/devices/d': deviceIn('maintaining') }, ['devices/d/do/disable', 'devices/d/do/enable']],
    [{ '/devices/d': deviceIn('enabled') }, ['devices/d/do/disable', 'devices/d/do/none', 'pods/d/do/disable']],
  )
})
const deviceIn = (status: string) => ({
  uuid: uuid(1),
  type: 'GPU',
  vendor: '10de',
  model: 'T4',
  std_board_info: null,
  vendor_board_info: null,
  hostname: 'h1',
  ...{ state: 'enabled', state_reason: null, state_since: null, arqs: 0 },
  status,
  ...TIMES,
})

it('the keys of the entries, of which no two in one list are the same', async () => {
  const many = Array.from({ length: 21 }, (_, at) => uuid(at))
  const documents: Documents = {
    '/permissions': MAY,
    '/devices/d': deviceIn('enabled'),
    '/devices/d/disable': impact({ ...used, instances: many, projects: many.map((each) => `project ${each}`) }),
    [`/programs/${uuid(1)}`]: { ...PROGRAM, former_image_uuid: uuid(11), images: [image(20, 'aes'), image(21, null)] },
  }
  const places = ['devices/d/do/disable', ...['load', 'revert'].map((name) => `programs/${uuid(1)}/do/${name}`)]
  const text = await keysDuring(places, (place) => pagesOf(documents, [place], NOW))
  await expect(text).toMatchFileSnapshot('golden/keys-asked.txt')
})

it('of a handle, a host, an instance, a dead letter and drift: whether it is possible, and if not, why', async () => {
  const handle = (state: string, order: number | null, cleaning?: object): Documents => ({
    '/handles/x': {
      uuid: uuid(1),
      deployable_uuid: uuid(2),
      hostname: 'h1',
      state,
      arq_uuid: null,
      attach_handle_type: 'PCI',
      attach_handle_info: {},
      last_arq_uuid: null,
      order,
      quarantine: null,
      ...(cleaning && { cleaning }),
    },
  })
  const host = (more: object): Documents => ({
    '/hosts/x': {
      name: 'x',
      liveness: 'up',
      aliases: [],
      drivers: {},
      boot_id: null,
      last_seen_at: null,
      retired: null,
      public_key: null,
      offered_key: null,
      ...TIMES,
      handles: {},
      arqs: [],
      ...more,
    },
  })
  const letter = (state: string, refusal: string | null): Documents => ({
    '/dead_letters/x': {
      uuid: uuid(1),
      id: 'x/1',
      state,
      stored_at: ago(1),
      topic: 't',
      partition: null,
      offset: null,
      key: '',
      reason: '',
      size_bytes: 1,
      cut: false,
      replay_refusal: refusal,
      handled: null,
      headers: {},
      value: '',
    },
  })
  const entry = (repairs: readonly string[]) => ({
    uuid: `of ${repairs.length}`,
    kind: 'provider',
    provider_uuid: uuid(3),
    name: 'board',
    deployable_uuid: null,
    repairs,
    state: null,
    reason: null,
    consumer_uuid: null,
    arqs: [],
    ignored: null,
  })
  const healing = (...all: readonly (readonly string[])[]): Documents => ({
    '/drift/heal': {
      dry_run: true,
      drift: [{ host: 'x', compute_node_uuid: null, checked_at: null, trouble: null, entries: all.map(entry) }],
    },
  })
  const kinds = (kind: string, ...names: readonly string[]) => names.map((name) => `${kind}/x/do/${name}`)
  const ofHandles = kinds('handles', 'quarantine', 'release', 'clean')
  const ofHosts = kinds('hosts', 'retire', 'restore', 'approve', 'probe')
  const ofLetters = kinds('letters', 'replay', 'drop')
  await drawn(
    'others',
    [handle('free', null), ofHandles],
    [handle('quarantined', 7, { policy: 'by_operator' }), ofHandles],
    [handle('quarantined', null, { policy: 'by_operator' }), ofHandles],
    [handle('quarantined', null), ofHandles],
    [host({ offered_key: 'B' }), ofHosts],
    [host({ offered_key: 'B', public_key: 'A', retired: { by: 'a', reason: 'b', at: ago(1) } }), ofHosts],
    [host({ liveness: 'removed', retired: { by: 'a', reason: 'b', at: ago(1) } }), ofHosts],
    [letter('open', null), ofLetters],
    [letter('open', 'too long'), ofLetters],
    [letter('dropped', null), ofLetters],
    [healing([], ['a', 'b']), ['drift/x/do/repair']],
    [healing([]), ['drift/x/do/repair']],
    [{ '/accelerator_requests': { arqs: [] } }, ['instances/x/do/resend']],
    [{}, [...ofHandles, ...ofLetters, 'drift/x/do/repair', 'instances/x/do/resend']],
  )
})

describe('after a form was sent', () => {
  type Sent = { readonly answer?: Response | object; readonly newest?: readonly string[] }
  /** `answer`: of the API to the change; `newest`: the ids of the newest event, one after the other. */
  const send = async (
    place: string,
    fields: Readonly<Record<string, string>>,
    { answer = {}, newest = [] }: Sent = {},
  ) => {
    const changes: Request[] = []
    const asked: string[] = []
    const ids = newest.values()
    const ui = createUi({
      fetch: (request) => {
        const path = new URL(request.url).pathname.slice('/v2'.length)
        if (request.method !== 'GET') {
          changes.push(request)
          return answer instanceof Response ? answer : Response.json(answer)
        }
        asked.push(path)
        if (path === '/permissions') return Response.json(MAY)
        if (path !== '/events') return new Response('', { status: 404 })
        if (new URL(request.url).search !== '') return Response.json({ events: [], next: '7-9', more: false })
        const headers = { 'content-type': 'text/event-stream' }
        const id = ids.next().value
        return new Response(id === undefined ? 'retry: 1\n\n' : `id: ${id}\n\n`, { headers })
      },
      assets: noAssets,
      signIn: null,
      barred: () => null,
      clock: { ...handClock(), now: () => NOW },
      ids: { uuid: () => uuid(77) },
      log: silent,
    })
    const init = { method: 'POST', body: new URLSearchParams(fields), headers: SAME }
    const given = await ui.request(`/ui/${place}`, init)
    const main = mainOf(await given.text())
    return { status: given.status, to: given.headers.get('location'), main, changes, asked }
  }
  const refusal = (status: number) => Response.json({ errors: [{ detail: 'not now', code: 'x' }] }, { status })

  test('the page that follows names the request, and the event after which what it recorded is found', async () => {
    const form = { reason: ' why\r\nnot ', command: uuid(5), since: '7-1' }
    const one = await send('handles/x/do/release', form, { newest: ['7-5'] })
    expect([one.status, one.to]).toEqual([
      303,
      expect.stringMatching(/^\.\.\/\.\.\/\.\.\/handles\/x\?done=release&request=req-/),
    ])
    expect(one.to).toMatch(/&since=7-1$/)
    expect(await one.changes[0]!.json()).toEqual({ reason: 'why\nnot' })
    const [without, unknown] = [
      { ...form, since: '' },
      { ...form, since: '../x' },
    ]
    expect((await send('handles/x/do/release', without, { newest: ['7-5'] })).to).toMatch(/&since=7-5$/)
    expect((await send('handles/x/do/release', unknown, { newest: ['7-5'] })).to).toMatch(/&since=7-5$/)
    expect((await send('handles/x/do/release', without)).to).not.toContain('since')
  })
  test('a form without an id, or with one that is none, is a new command', async () => {
    const keyOf = async (command: string) => {
      const { changes } = await send('handles/x/do/release', { reason: 'r', ...(command && { command }) })
      return changes[0]!.headers.get('idempotency-key')
    }
    const [none, broken, own, again] = [await keyOf(''), await keyOf('x'), await keyOf(uuid(5)), await keyOf(uuid(5))]
    expect(broken).toBe(none)
    expect(own).not.toBe(none)
    expect(again).toBe(own)
    for (const key of [none, own]) expect(key).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-[89ab][0-9a-f]{3}-/)
  })
  test.each([
    ['letters/x/do/replay', { reason: 'r', since: '7-1' }, {}, 'letters/x?done=replay&request=REQUEST'],
    ['hosts/x/do/probe', {}, { probe: { asked_at: '', by: '', answer: null } }, 'hosts/x?done=probe&ended=silent'],
    ['drift/x/do/repair', {}, { healed: [{ outcome: 'in_step' }] }, 'drift?done=repair&ended=in_step'],
    ['drift/a b/do/repair', {}, { healed: [{ outcome: 'left' }] }, 'drift?host=a%20b&done=repair&ended=left'],
    ['arqs/x/do/delete', { confirm: 'x' }, {}, 'arqs?done=delete&request=REQUEST'],
    ['profiles/new/do/create', { name: 'a b', groups: '[]' }, {}, 'profiles/a%20b?done=create&request=REQUEST'],
  ])('%s leads to where what came of it is shown', async (place, fields, answer, to) => {
    const sent = await send(place, fields, { answer })
    expect(sent.to?.replace(/req-[0-9a-f-]{36}/, 'REQUEST')).toBe(`../../../${to}`)
  })
  test.each([
    [
      'drift/x/do/repair',
      { healed: [{ outcome: 'busy' }] },
      'Nothing was repaired: another control works on this host.',
    ],
    ['drift/x/do/repair', { healed: [] }, 'healed.0'],
    ['drift/x/do/repair', { healed: [{ outcome: 'other' }] }, 'healed.0.outcome'],
    ['hosts/x/do/probe', {}, 'probe'],
  ])('%s that did not do it, or does not say so, is told on the form', async (place, answer, said) => {
    const { status, main, changes } = await send(place, {}, { answer })
    expect([status, main, changes.length]).toEqual([409, expect.stringContaining(said), 1])
  })
  test('what is refused is told on the form with what was typed, for the same command', async () => {
    const fields = { reason: 'because', command: uuid(5), since: '7-1', confirm: 'x' }
    const { status, main, changes, asked } = await send('handles/x/do/quarantine', fields, { answer: refusal(409) })
    expect([status, changes.length, asked]).toEqual([409, 1, ['/permissions', '/events']])
    await expect(main).toMatchFileSnapshot('golden/asked-again.txt')
  })
  test.each([
    [
      'handles/x/do/quarantine',
      { reason: 'r', confirm: 'y' },
      'Nothing was done. To confirm, type x as it is written.',
    ],
    ['handles/x/do/quarantine', { reason: 'r' }, 'Nothing was done. To confirm, type x as it is written.'],
    [
      `handles/${uuid(5)}/do/quarantine`,
      { reason: 'r', confirm: uuid(5) },
      'To confirm, type 00000000 as it is written.',
    ],
    ['handles/x/do/release', { reason: 'r'.repeat(1001) }, 'Reason: at most 1000 characters; these are 1001.'],
    ['profiles/new/do/create', { name: 'n', groups: '[oops' }, 'The groups are not JSON'],
    ['profiles/p/do/version', { if_version: '1234567890', groups: '[]' }, 'if_version: at most 9 characters'],
  ])('%s that is not filled in as it has to be changes nothing', async (place, fields, said) => {
    const { status, main, changes } = await send(place, fields)
    expect([status, main, changes]).toEqual([409, expect.stringContaining(said), []])
  })
  test('the longest of each is taken', async () => {
    expect((await send('handles/x/do/release', { reason: 'r'.repeat(1000) })).status).toBe(303)
    expect((await send(`handles/${uuid(5)}/do/quarantine`, { reason: 'r', confirm: '00000000' })).status).toBe(303)
  })
  test('what is only checked is told with what was typed, for the same command, and nothing is changed', async () => {
    const fields = { version: ' 3 ', reason: '', command: uuid(5), since: '7-1', sent: 's'.repeat(43), check: 'first' }
    const { status, main, changes } = await send('profiles/x/do/disable', fields, { answer: impact(used) })
    expect([status, changes.map(({ method, url }) => `${method} ${url}`)]).toEqual([
      200,
      ['PATCH http://127.0.0.1/v2/device_profiles/x?dry_run=true'],
    ])
    expect(await changes[0]!.json()).toEqual({ versions: { 3: false }, reason: 'to be given' })
    await expect(main).toMatchFileSnapshot('golden/asked-checked.txt')
    const missing = await send('profiles/x/do/disable', { ...fields, version: '', sent: 's'.repeat(44), command: 'x' })
    expect([missing.main, missing.changes]).toEqual([expect.stringContaining('Version is needed.'), []])
    expect(missing.main).toContain(`name="command" value="${uuid(77)}"`)
    expect(missing.main).not.toContain('name="sent"')
  })
  test('a check does not need what the form itself fills in, where nothing is known of it', async () => {
    const fields = { groups: '[]', if_version: '', description: '', reason: '', check: 'first' }
    const { status, changes } = await send('profiles/x/do/version', fields, { answer: impact(used) })
    expect([status, await Promise.all(changes.map((change) => change.json()))]).toEqual([
      200,
      [{ groups: [], description: null, reason: 'to be given' }],
    ])
  })
  test('an action that there is none of cannot be done', async () => {
    for (const place of ['handles/x/do/none', 'pods/x/do/release']) {
      const { status, main, changes } = await send(place, { reason: 'r' })
      expect([status, main, changes]).toEqual([404, expect.stringContaining('This cannot be done here.'), []])
    }
  })
})

/**
 * What is asked before an action, and what follows it, over an API that answers as it is told: each state of the
 * entity, whom it would concern, and what was typed.
 */
import { describe, expect, it, test } from 'vitest'
import { createUi } from '../../src/ui/app.ts'
import { silent } from '../../src/vocabulary/log.ts'
import { handClock } from '../support/lab.ts'
import {
  type Documents,
  NOW,
  ago,
  expectOwnKeys,
  expectSaid,
  mainOf,
  noAssets,
  pageOf,
  saidOf,
  uuid,
} from './drawing.ts'
import { MAY, NOTE, compared, device, difference, handle, host, letter, profile, programme } from './samples.ts'
import type { Facts } from './samples.ts'
import { SAME } from './world.ts'

type Row = readonly [place: string, documents: Documents, texts: readonly string[]]
const says = async (...[place, documents, texts]: Row) =>
  expectSaid((await pageOf({ '/permissions': MAY, ...documents }, place)).said, texts)

const image = (n: number, name: string | null, digest: string | null = null) => ({
  ...{ uuid: uuid(n), name, size: null, digest },
})
const card = (more: Facts): Documents => ({
  [`/programs/${uuid(1)}`]: programme(1, 'loaded', {
    ...{ hostname: 'host 1', refusal: null, arqs: [], arqs_left_out: 0, image: null, image_problem: null },
    ...{ images: [], images_left_out: 0, images_problem: null, ...more },
  }),
})
const HELD = { image_uuid: uuid(10), former_image_uuid: uuid(11) }
const [LOAD, REVERT] = ['load', 'revert'].map((name) => `programs/${uuid(1)}/do/${name}`) as [string, string]
it.each<Row>([
  [
    LOAD,
    card({ ...HELD, images: [image(20, 'aes'), image(21, null)], images_left_out: 7 }),
    [
      `|Deployable|part 1 of host host 1|Holds|${uuid(10)}|Image store|it does not say|Held before|${uuid(11)}|`,
      '|In use by|nobody|To choose from|9 images fit its hardware|Image|· its UUID in the image store|',
      `|aes (${uuid(20)})|${uuid(21)}|Type 00000000 to confirm|Load an image|Cancel|`,
      `|accelerando bitstream preload ${uuid(1)} --image UUID|`,
    ],
  ],
  [LOAD, card({}), ['|Holds|no known image|Image store|no image is recorded, so there is nothing to verify|']],
  [REVERT, card({}), ['|no image is recorded that it held before|Back|', `|accelerando bitstream revert ${uuid(1)}|`]],
  [REVERT, card(HELD), ['|Load the former image|Cancel|']],
  [LOAD, card({ ...HELD, image: image(10, 'aes', 'sha256:ab') }), ['|it still has the image, sha256:ab|']],
  [
    LOAD,
    card({ ...HELD, image: image(10, 'aes'), arqs: [uuid(30), uuid(31)], arqs_left_out: 3 }),
    ['|it still has the image, without a digest|', `|In use by|5 requests: ${uuid(30)}, ${uuid(31)}|`],
  ],
  [
    LOAD,
    card({ ...HELD, image_problem: 'it does not answer', images_problem: 'it does not list' }),
    ['it does not answer', 'it does not list'],
  ],
  [LOAD, card({ ...HELD, refusal: 'a request uses it', arqs: [uuid(30)] }), ['a request uses it']],
  [LOAD, {}, ['|Load an image|']],
])('a card: what it holds, who uses it, and what there is to choose from: %s', says)

const impact = (more: Facts) => ({
  ...{ refusal: null, effect: 'kept', devices: [], instances: [], projects: [], arqs: [], arqs_left_out: 0, ...more },
})
const used = { instances: [uuid(40)], projects: ['p 1', 'p2'], arqs: [{ uuid: uuid(41) }], arqs_left_out: 2 }
const IN_USE =
  '|In use: 3 requests of 1 instance in 2 projects. They stay as they are.|Project |p 1|Project |p2|Instance |'
const profileWith = (more: Facts, ...enabled: readonly boolean[]): Documents => ({
  '/device_profiles/p': { device_profile: profile(more) },
  'PATCH /device_profiles/p': impact(used),
  'DELETE /device_profiles/p': impact({}),
  '/device_profiles/p/versions': {
    versions: enabled.map((on, at) => ({
      ...{ version: at + 1, enabled: on, description: null, groups: [], created_at: ago(1) },
    })),
  },
})
const deviceIn = (status: string, would?: Facts): Documents => ({
  '/devices/d': device(1, { status }),
  ...(would && { '/devices/d/disable': impact(would) }),
})
it.each<Row>([
  [
    'profiles/p/do/version',
    profileWith({ version: 3, description: 'words' }, true, false),
    [IN_USE, '|[ { "resources:FPGA": "1" } ]|Description|Reason|· kept in the journal|New version|Check first|Cancel|'],
  ],
  ['profiles/p/do/disable', profileWith({ version: 3 }, true, false), [IN_USE, '|Disable|Check first|Cancel|']],
  ['profiles/p/do/enable', profileWith({ version: 3 }, true, false), [IN_USE, '|Enable|Check first|Cancel|']],
  ['profiles/p/do/delete', profileWith({}, true), ['|Nobody uses it at present.|Type p to confirm|Delete|Cancel|']],
  ['profiles/p/do/enable', profileWith({}, true, true), ['|each version of it is enabled|Back|']],
  ['profiles/p/do/disable', profileWith({}, false, false), ['|no version of it is enabled|Back|']],
  ['profiles/new/do/create', {}, ['|Name|Description|Groups|', '|accelerando profile create NAME --file FILE|']],
  [
    'devices/d/do/disable',
    deviceIn('enabled', { ...used, effect: 'unbound' }),
    ['|In use: 3 requests of 1 instance in 2 projects. They are unbound by force.|', '|Disable|Cancel|'],
  ],
  [
    'devices/d/do/disable',
    deviceIn('enabled', { refusal: 'it is being measured' }),
    ['|It would be refused: it is being measured|Nobody uses it at present.|'],
  ],
  ['devices/d/do/disable', deviceIn('maintaining'), ['|it is disabled already|Back|']],
  ['devices/d/do/enable', deviceIn('maintaining'), ['|Enable|Cancel|', '|accelerando device enable d|']],
  ['devices/d/do/disable', deviceIn('enabled'), ['|The API answered 404, without a reason.|', '|Disable|Cancel|']],
])('whom a change would concern is said before it is made: %s', says)

test('the entries of these pages have keys of their own', async () => {
  const many = Array.from({ length: 21 }, (_, at) => uuid(at))
  const would = { ...used, instances: many, projects: many.map((each) => `project ${each}`) }
  const cards = card({ former_image_uuid: uuid(11), images: [image(20, 'aes'), image(21, null)] })
  const documents = { '/permissions': MAY, ...deviceIn('enabled', would), ...cards }
  await expectOwnKeys(['devices/d/do/disable', LOAD, REVERT], (place) => pageOf(documents, place))
})

const handleIn = (state: string, order: number | null, policy?: string): Documents => ({
  '/handles/x': handle(1, state, {
    ...{ attach_handle_type: 'PCI', attach_handle_info: {}, last_arq_uuid: null, order, quarantine: null },
    ...(policy !== undefined && { cleaning: { policy } }),
  }),
})
const hostIn = (more: Facts): Documents => ({ '/hosts/x': host(more) })
const letterIn = (state: string, refusal: string | null): Documents => ({
  '/dead_letters/x': letter(1, { state, replay_refusal: refusal }),
})
const healing = (...all: readonly (readonly string[])[]): Documents => ({
  '/drift/heal': {
    dry_run: true,
    drift: [
      compared(
        'x',
        all.map((repairs, at) => difference(at, { kind: 'provider', repairs })),
      ),
    ],
  },
})
const WITHHELD = 'quarantined'
const ASKED = '|Reason|· kept in the journal|'
it.each<Row>([
  ['handles/x/do/quarantine', handleIn('free', null), [`${ASKED}Type x to confirm|Quarantine|Cancel|`]],
  ['handles/x/do/release', handleIn('free', null), ['|it is not quarantined|Back|']],
  ['handles/x/do/quarantine', handleIn(WITHHELD, 7), ['|only a handle that nobody has can be quarantined|Back|']],
  ['handles/x/do/release', handleIn(WITHHELD, 7), [`${ASKED}Release|Cancel|`]],
  ['handles/x/do/clean', handleIn(WITHHELD, 7, 'by_operator'), ['|its host is at work on it|Back|']],
  [
    'handles/x/do/clean',
    handleIn(WITHHELD, null, 'by_operator'),
    ['|neither a command nor a playbook that cleans it is chosen on its host|Back|'],
  ],
  ['handles/x/do/clean', handleIn(WITHHELD, null), [`${ASKED}Clean|Cancel|`]],
  ['hosts/x/do/retire', hostIn({ offered_key: 'B' }), [`${ASKED}Type x to confirm|Retire|Cancel|`]],
  ['hosts/x/do/restore', hostIn({ offered_key: 'B' }), ['|it is neither retired nor removed|Back|']],
  ['hosts/x/do/approve', hostIn({ offered_key: 'B' }), [`${ASKED}Accept its key|Cancel|`]],
  ['hosts/x/do/probe', hostIn({ offered_key: 'B' }), ['|its reports are not taken|Back|']],
  ['hosts/x/do/retire', hostIn({ retired: NOTE }), ['|it is out of service already, or was never in it|Back|']],
  ['hosts/x/do/restore', hostIn({ retired: NOTE }), [`${ASKED}Restore|Cancel|`]],
  ['hosts/x/do/approve', hostIn({ public_key: 'A' }), ['|no key of it waits|Back|']],
  ['hosts/x/do/probe', hostIn({ public_key: 'A' }), ['|Ask for a report|Cancel|', '|accelerando host probe x|']],
  ['letters/x/do/replay', letterIn('open', null), ['|Reason|· kept with the dead letter|Send again|Cancel|']],
  ['letters/x/do/replay', letterIn('open', 'too long'), ['|its message was not kept whole, or is neither']],
  ['letters/x/do/drop', letterIn('open', null), ['|Type x to confirm|Drop|Cancel|']],
  ['letters/x/do/drop', letterIn('dropped', null), ['|it was sent again or dropped already|Back|']],
  [
    'drift/x/do/repair',
    healing([], ['a', 'b']),
    ['|What would be repaired, if it is still so:|', '|Placement shows it otherwise|provider|–|a, b|–|Repair|Cancel|'],
  ],
  ['drift/x/do/repair', healing([]), ['|nothing of it can be repaired here|Back|']],
  ['instances/x/do/resend', { '/accelerator_requests': { arqs: [] } }, ['|no bind of it has ended|Back|']],
])('an action is offered where it is possible, and says otherwise why it is not: %s', says)

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
    expectSaid(saidOf(main), ['|Quarantine|', '|The service refused|not now|', '|Reason|', '|Quarantine|Cancel|'])
    expect(main).toMatch(/name="command" value="[0-9a-f-]{36}"/)
    for (const [name, value] of [
      ['since', '7-1'],
      ['reason', 'because'],
    ])
      expect(main).toMatch(new RegExp(`name="${name}"[^>]* value="${value}"`))
    expect(main).not.toMatch(/name="confirm"[^>]* value="x"/)
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
    expectSaid(saidOf(main), [IN_USE, '|Version|· its number|Reason|', '|Disable|Check first|Cancel|'])
    const kept = { command: uuid(5), since: '7-1', sent: 's'.repeat(43), version: '3' }
    for (const [name, value] of Object.entries(kept))
      expect(main).toMatch(new RegExp(`name="${name}"[^>]* value="${value}"`))
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

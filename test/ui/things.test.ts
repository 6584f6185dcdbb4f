/** The pages of one device, host, attach handle, profile or dead letter, in each of its states. */
import { describe, expect, it, test } from 'vitest'
import { type Documents, ago, expectOwnKeys, expectSaid, pageOf, uuid } from './drawing.ts'
import { HEALTH, LINKS, MAY, NOTE, device, handle, host, letter, may, part, profile, times } from './samples.ts'
import type { Facts } from './samples.ts'

const says = async (documents: Documents, place: string, texts: readonly string[], expected = 200) => {
  const { said, status } = await pageOf({ '/permissions': MAY, ...documents }, place)
  expect(status).toBe(expected)
  expectSaid(said, texts)
}
const MISSING = '|There is no such thing|The API answered 404, without a reason.|'
it.each(['arqs/x', 'instances/x', 'hosts/x', 'devices/x', 'handles/x', 'profiles/x', 'letters/x'])(
  '%s that the API does not know is not found',
  (place) => says({}, place, [MISSING], 404),
)

const hostPage = (more: Facts, devices: readonly object[] | null = []): Documents => ({
  '/hosts/host%201': host(more),
  ...(devices !== null && { '/devices': { devices } }),
})
const ANSWER = { at: ago(2000), took_ms: 1234, report_number: 4321, devices: 2, failed_drivers: [] }
const PROBE = { asked_at: ago(4000), by: 'kim', answer: null }
const THREE = ['enabled', 'failing', 'missing'].map((state, at) => device(400 + at, { state, arqs: at }))
describe('a host', () => {
  it.each<[string, Documents, readonly string[]]>([
    [
      'that is up: its orders, its last report, its drivers, and what was measured of its devices',
      hostPage(
        {
          ...{
            arqs: [uuid(1), uuid(2)],
            handles: { free: 1, held: 2 },
            boot_id: uuid(300),
            public_key: 'A'.repeat(43),
          },
          drivers: { one: { status: 'ok', error: null }, two: { status: 'failed', error: 'no card' } },
          last_report: { number: 1234, at: ago(61_000) },
          orders: { waiting: 2, waiting_since: ago(125_000) },
          measured: [
            { device_uuid: uuid(400), numbers: { utilisation_percent: 87, temperature_celsius: 63.5 } },
            { device_uuid: uuid(401), numbers: { utilisation_percent: 0, power_watts: 20 } },
          ],
        },
        THREE,
      ),
      [
        '|Host|host 1|up|Retire|Restore|Accept its key|Ask for a report|',
        '|Restore: it is neither retired nor removed.|Accept its key: no key of it waits.|',
        '|Last heard of|3 s ago|Last report recorded|number 1 234 since its program started, |1 min ago|',
        '|Orders without an answer|2 orders, the oldest given |2 min ago|Drivers|one|two|Other names|one|',
        `|This start of it|${uuid(300)}|Key|${'A'.repeat(43)}|Key that waits|–|`,
        '|Attach handles|3|1|free|2|held|0|releasing|0|quarantined|0|missing|',
        '|Devices|All|1|missing|1|failing|0|host silent|0|disabled|1|enabled|',
        '|State|Since|Device|Type|Model|Requests|Utilisation|Temperature|',
        `|enabled|–|${uuid(400)}|GPU|T400|0|87 %|63.5 °C|failing|–|${uuid(401)}|GPU|T401|1|0 %|–|missing|`,
        `|Requests that hold one of them|2|${uuid(1)}|${uuid(2)}|accelerando host show 'host 1'|`,
      ],
    ],
    [
      'whose key waits: its reports are not taken',
      hostPage({ probe: PROBE, last_seen_at: null, liveness: 'pending', offered_key: 'B' }),
      [
        '|pending|',
        '|Retire: it is out of service already, or was never in it.|',
        '|Ask for a report: its reports are not taken.|',
        '|Key that waits|B|',
        '|asked |4 s ago|by kim|Answer|none|Silent since|it was never heard of|',
        '|It has reported no device|',
      ],
    ],
    [
      'that was removed, and whose devices cannot be read',
      hostPage({ probe: PROBE, orders: { waiting: 1, waiting_since: ago(9000) }, liveness: 'removed' }, null),
      ['|removed|', '|1 order, the oldest given |9 s ago|', '|Silent since|3 s ago|', `|Devices|All${MISSING}`],
    ],
    [
      'that is retired, with the word of who did it, and its answer to the last question',
      hostPage({ probe: { ...PROBE, answer: ANSWER }, retired: NOTE }),
      [
        '|retired|',
        '|Taken out of service by kim: old · |1 min ago|',
        '|Answer|reported|2 s ago|after 1 234 ms|Report|number 4 321 since its program started, with 2 devices|',
        '|Drivers that failed|–|',
      ],
    ],
    [
      'whose drivers failed when it was asked',
      hostPage({ probe: { ...PROBE, answer: { ...ANSWER, devices: 1, failed_drivers: ['d1', 'd2'] } } }),
      ['with 1 device|Drivers that failed|d1, d2|'],
    ],
    [
      'that the user may not retire',
      { ...hostPage({ liveness: 'stale' }), ...may({ 'cyborg:host:retire': false }) },
      ['|stale|', '|Retire: your roles do not allow cyborg:host:retire.|'],
    ],
  ])('%s', (_, documents, texts) => says(documents, 'hosts/host%201', texts))
})

const deviceWith = (more: Facts, parts: readonly object[] | null, handles: readonly object[] | null): Documents => ({
  '/devices/x': device(400, { health: HEALTH, ...more }),
  ...(parts !== null && { '/deployables': { deployables: parts } }),
  ...(handles !== null && { '/handles': { handles } }),
})
const WARM = { ...HEALTH, state: 'warning', reason: 'hot', numbers: { power_watts: 7.5 } }
const HELD = [
  { attach_handle_uuid: uuid(500), state: 'held', arq_uuid: uuid(1), instance_uuid: uuid(2) },
  { attach_handle_uuid: uuid(501), state: 'releasing', arq_uuid: null, instance_uuid: null },
]
const GONE = {
  state: 'missing',
  state_reason: 'its host does not report it any more',
  state_since: ago(60_000),
  arqs: 2,
}
describe('a device', () => {
  it.each<[string, Documents, readonly string[]]>([
    [
      'that is enabled: its board, its health, its parts with their attach handles',
      deviceWith(
        { std_board_info: '{"product_id": 7, "numa_node": "1"}', health: { ...WARM, measured_at: ago(5000) } },
        [part(1)],
        ['held', 'free', 'free', 'releasing', 'new'].map((state, at) => handle(500 + at, state)),
      ),
      [
        `|Device|${uuid(400)}|enabled|Disable|Enable|Enable: it is enabled already.|T400|`,
        '|Host|host 1|Type|GPU|Vendor|10de|Product ID|7|NUMA node|1|Known since|2 h ago|',
        '|Health|measured |5 s ago|State|warning|Reason|hot|Since|–|Power watts|7.5|',
        '|part 1|1 accelerator · 1 held · 2 free · 1 releasing · 1 new|FPGA|CUSTOM_A|CUSTOM_B|',
        `|Deployable|${uuid(601)}|Resource provider|${uuid(701)}|Driver|driver|Loaded image|–|Changed|1 min ago|`,
        `|accelerando device show ${uuid(400)}|`,
      ],
    ],
    [
      'with board information and attributes that are no JSON, and attach handles that cannot be read',
      deviceWith(
        { std_board_info: 'no JSON', vendor_board_info: '{"a": "b"}' },
        [part(0, { attributes_list: 'no JSON', driver_name: null, bitstream_id: uuid(702) })],
        null,
      ),
      [
        '|Board|no JSON|A|b|',
        '|Health|never measured|',
        `|part 0|0 accelerators|no JSON${MISSING}`,
        `|Driver|–|Loaded image|${uuid(702)}|`,
      ],
    ],
    [
      'that is missing: why, since when, and who uses it',
      deviceWith({ ...GONE, health: { ...WARM, state: 'bad', measured_at: ago(1000), held: HELD } }, null, null),
      [
        '|missing|',
        '|It is not offered (missing): its host does not report it any more · |1 min ago|',
        '|State|bad|Reason|hot|',
        '|Who uses it|2|Request|Instance|Attach handle|State|',
        `|${uuid(1)}|${uuid(2)}|${uuid(500)}|held|–|–|${uuid(501)}|releasing|`,
        MISSING,
      ],
    ],
    [
      'that is failing and disabled',
      deviceWith({ state: 'failing', state_reason: 'too hot', status: 'maintaining' }, [], []),
      ['|failing|', '|Disable: it is disabled already.|', '|It is not offered (failing): too hot'],
    ],
  ])('%s', (_, documents, texts) => says(documents, 'devices/x', texts))
})

describe('an attach handle', () => {
  const handlePage = (state: string, more: Facts = {}): Documents => ({
    '/handles/x': handle(500, state, {
      ...{ attach_handle_type: 'PCI', attach_handle_info: { bus: '0a', device: '00' } },
      ...{ last_arq_uuid: null, order: null, quarantine: null, ...more },
    }),
  })
  const of = (state: string, reason: string | null) => ({
    device: { uuid: uuid(9), state, state_reason: reason, state_since: null },
  })
  it.each<[string, Documents, readonly string[]]>([
    [
      'that is free',
      handlePage('free', { attach_handle_info: {} }),
      [
        `|Attach handle|${uuid(500)}|free|Quarantine|Release|Clean|`,
        '|Release: it is not quarantined.|Clean: it is not quarantined.|',
        '|Host|host 1|Request that has it|–|Request that gave it up|–|Type|PCI|Deployable|',
        `|accelerando handle show ${uuid(500)}|`,
      ],
    ],
    [
      'that is held, with the request that has it',
      handlePage('held', of('enabled', null)),
      [
        '|Quarantine: only a handle that nobody has can be quarantined.|',
        `|Part of|${uuid(9)}|enabled|Request that has it|${uuid(1)}|`,
        '|Type|PCI|Bus|0a|Device|00|',
      ],
    ],
    [
      'that is released by an order, on a device that is missing',
      handlePage('releasing', { ...of('missing', 'why'), order: 7 }),
      ['|releasing|', '|Its device is not offered (missing): why|', '|Order without an answer|7|'],
    ],
    [
      'that is withheld, by whom and why',
      handlePage('quarantined', { last_arq_uuid: uuid(7), quarantine: NOTE }),
      ['|quarantined|', '|Quarantined by kim: old · |1 min ago|', `|Request that gave it up|${uuid(7)}|`],
    ],
  ])('%s', (_, documents, texts) => says(documents, 'handles/x', texts))
})

/** What the page says is left out, with its link. */
const leftOut = async (documents: Documents, place: string): Promise<readonly string[]> => {
  const { html } = await pageOf({ '/permissions': MAY, ...documents }, place)
  const notes = html.matchAll(/<p class="rest dim">([^<]*)(?:<a href="([^"]*)">Show the others<\/a>)?/g)
  return [...notes].map(([, said = '', to = '']) => `${said}${to}`.replace(`devices/${uuid(400)}`, 'DEVICE'))
}
const parts = (count: number) => deviceWith({}, times(count, part), [])
const freeHandles = (count: number) =>
  deviceWith(
    {},
    [part(1)],
    times(count, (at) => handle(at, 'free')),
  )
it.each<[string, Documents, string, readonly string[]]>([
  ['50 requests', hostPage({ arqs: times(50, uuid) }), 'hosts/host%201', []],
  [
    '51',
    hostPage({ arqs: times(51, uuid) }),
    'hosts/host%201',
    ['50 of 51 requests are shown. handles?state=held&amp;hostname=host+1'],
  ],
  ['50 devices', hostPage({}, times(50, device)), 'hosts/host%201', []],
  ['51', hostPage({}, times(51, device)), 'hosts/host%201', ['50 of 51 devices are shown. devices?hostname=host+1']],
  ['256 attach handles', freeHandles(256), 'devices/x', []],
  ['257', freeHandles(257), 'devices/x', [`256 of 257 attach handles are shown. handles?deployable_uuid=${uuid(601)}`]],
  ['32 parts', parts(32), 'devices/x', []],
  ['33', parts(33), 'devices/x', ['32 of 33 deployables are shown. DEVICE?from=32']],
  ['32 parts from the last', parts(32), 'devices/x?from=31', ['1 of 32 deployables are shown. DEVICE']],
  ['32 parts from one that is no number', parts(32), 'devices/x?from=1x', []],
])('what a page leaves out is counted, with the place where it is: of %s', async (_, documents, place, notes) => {
  expect(await leftOut(documents, place)).toEqual(notes)
})

const version = (n: number, groups: readonly object[], more: Facts = {}) => ({
  ...{ version: n, enabled: n !== 2, description: null, groups, created_at: ago(n * 60_000), ...more },
})
const VERSIONS = [
  version(1, [{ 'resources:FPGA': '1', 'trait:CUSTOM_A': 'required', 'accel:function_id': '7', other: '1' }]),
  version(2, [{ 'resources:FPGA': '2', other: '2' }, { 'resources:PGPU': '1' }], { description: 'words' }),
  version(3, [{ 'resources:FPGA': '2', other: '2' }], { description: 'others' }),
  version(4, [{ 'resources:FPGA': '2', other: '2' }], { description: 'others' }),
] as const
const profileWith = (versions: readonly object[], more: Facts = {}): Documents => ({
  '/device_profiles/a%20b': { device_profile: profile(more) },
  '/device_profiles/a%20b/versions': { versions },
})
describe('a profile', () => {
  const [one, two] = VERSIONS
  it.each<[string, Documents, readonly string[]]>([
    [
      'shows its groups, who may use it, and its versions, the newest first',
      profileWith(VERSIONS, { projects: ['p1', 'p2'], description: 'words' }),
      [
        '|Profile|a b|New version|Disable|Enable|Delete|words|',
        '|Version|3|Who may use it|p1, p2|Group 0|each group is one accelerator request|resources:FPGA|1|',
        '|Explain which hosts fit|Versions|',
        '|4|enabled|[{"resources:FPGA":"2","other":"2"}]|4 min ago|against the one before|3|enabled|',
        '|1 min ago|–|',
      ],
    ],
    [
      'with one version has nothing to compare',
      profileWith([one], { projects: [] }),
      ['|Enable: each version of it is enabled.|', '|Who may use it|nobody|', '!compare'],
    ],
    [
      'without an enabled version can be used by nobody',
      profileWith([two], { enabled: false }),
      ['|Disable: no version of it is enabled.|', '|Version|none is enabled: nobody can use it|', '|everybody|'],
    ],
  ])('%s', (_, documents, texts) => says(documents, 'profiles/a%20b', texts))
  it.each<[string, readonly string[], number?]>([
    ['', ['|Before|version 3, enabled|3 min ago|After|version 4, enabled|', '|Both ask for the same|', ' 3 4|']],
    [
      '?from=1&to=2',
      [
        '|6 parts differ, 0 parts are the same.|',
        '|Group 0|Change|Kind|Part|Before|After|changed|Resource|resources:FPGA|1|2|',
        '|removed|Trait|trait:CUSTOM_A|required|–|removed|Property|accel:function_id|7|–|changed|Other|other|1|2|',
        '|Group 1, added|Change|Kind|Part|Before|After|added|Resource|resources:PGPU|–|1|',
        "|added|Field|description|–|words|accelerando profile diff 'a b' 1 2|",
      ],
    ],
    ['?from=2&to=1', ['|added|Trait|trait:CUSTOM_A|–|required|', '|Group 1, removed|', "'a b' 2 1|"]],
    ['?from=2&to=3', ['|2 parts differ, 2 parts are the same.|', '|changed|Field|description|words|others|']],
    ['?from=9', ['|a b: from: there is no version 9, or it is too old to be kept; there are 1 to 4.|'], 404],
    ['?to=x', ['|a b: to: it must be the number of a version (is x).|Back to the profile|'], 404],
  ])('compares versions%s', (query, texts, status) =>
    says(profileWith(VERSIONS), `profiles/a%20b/versions${query}`, texts, status),
  )
})

test('versions are chosen from all there are, and compared from the page of the profile', async () => {
  const { html } = await pageOf(
    { '/permissions': MAY, ...profileWith(VERSIONS) },
    'profiles/a%20b/versions?from=1&to=2',
  )
  const choices = [...html.matchAll(/<select name="(\w+)">([^]*?)<\/select>/g)].map(([, name, options = '']) => [
    name,
    [...options.matchAll(/value="(\d)"/g)].map(([, value]) => value).join(''),
    /<option[^>]*selected[^>]*>(\d)/.exec(options)?.[1],
  ])
  expect(choices).toEqual([
    ['from', '1234', '1'],
    ['to', '1234', '2'],
  ])
  const page = (await pageOf({ '/permissions': MAY, ...profileWith(VERSIONS) }, 'profiles/a%20b')).html
  expect(page).toContain('href="profiles/a%20b/versions?from=2&amp;to=3"')
  expect(page).not.toContain('from=0')
})

const handled = (by: string | null, reason: string | null, request: string | null) => ({
  ...{ at: ago(30_000), by, reason, request_id: request },
})
const LETTERS = {
  open: letter(1),
  cut: letter(2, { partition: null, offset: null, key: '', cut: true, replay_refusal: 'too long', value: '' }),
  replayed: letter(3, { state: 'replayed', handled: handled('kim', 'mended', 'req-3') }),
  dropped: letter(4, { state: 'dropped', handled: handled(null, null, null) }),
}
const OF_LETTERS = {
  ...{ '/permissions': MAY, '/dead_letters': { dead_letters: Object.values(LETTERS), dead_letters_links: LINKS } },
  ...Object.fromEntries(Object.entries(LETTERS).map(([name, one]) => [`/dead_letters/${name}`, one])),
}
describe('a dead letter', () => {
  it.each<[string, readonly string[]]>([
    [
      'letters/open',
      [
        '|open|Send again|Drop|reason 1|Message of|host.orders.v1, partition 1, offset 101|Key|key 1|Stored|just now|',
        '|Size|1 001 bytes|Id on the topic|orders/1|Header a\\u{202E}b|c\\u{7}d|',
        '|text\\u{0} more|Bytes that are no UTF-8 were replaced when it was received.|',
      ],
    ],
    ['letters/open?form=hex', ['|00000000 74 65 78 74 00 0a 09 6d 6f 72 65 text...more|']],
    [
      'letters/cut',
      [
        '|Send again: its message was not kept whole, or is neither a report nor an order of a host',
        '|It cannot be sent again: too long.|',
        '|1 002 bytes, cut|',
        '|The message is empty|Only the beginning was kept, 64 KiB at most.',
      ],
    ],
    [
      'letters/replayed',
      ['|sent again|', '|Drop: it was sent again or dropped already.|Sent again by kim: mended · |30 s ago|· |req-3|'],
    ],
    ['letters/dropped', ['|Dropped by somebody whose name was not recorded · |30 s ago|']],
    ['letters', ['|Open|Sent again|Dropped|', '|reason 2|host.orders.v1|–|1 002 bytes, cut|no|', '|4 on this page|']],
    ['letters?state=replayed', ['|Handled|', '|key 3|1 003 bytes|kim |30 s ago|', '|somebody |30 s ago|']],
  ])('%s shows what is known of the message, invisible characters by their numbers', (place, texts) =>
    says(OF_LETTERS, place, texts),
  )
  test('is looked for by state and topic, page by page', async () => {
    const { asked, said } = await pageOf(OF_LETTERS, 'letters?topic=t%201&state=dropped&after=u%201&other=x')
    expect(asked).toContain('/dead_letters?state=dropped&limit=50&topic=t%201&marker=u%201')
    expect(said).toContain('|topic |t 1|×|')
    expect((await pageOf(OF_LETTERS, 'letters?state=other')).asked).toContain('/dead_letters?state=open&limit=50')
  })
})
test('the entries of each of these pages have keys of their own', async () => {
  const documents = {
    ...profileWith(VERSIONS),
    ...OF_LETTERS,
    ...hostPage({ arqs: [uuid(1), uuid(2)] }, THREE),
    ...deviceWith({ ...GONE, health: { ...WARM, held: HELD } }, [part(1), part(2)], [handle(1, 'free')]),
  }
  const versions = 'profiles/a%20b/versions?from=1&to=2'
  const places = ['hosts/host%201', 'devices/x', 'profiles/a%20b', versions, 'letters', 'letters/open']
  await expectOwnKeys(places, (place) => pageOf(documents, place))
})

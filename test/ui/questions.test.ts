/** The pages that answer a question: explain, capacity, usage, events, programs. */
import { describe, expect, it, test } from 'vitest'
import { type Documents, ago, expectOwnKeys, expectSaid, pageOf, uuid } from './drawing.ts'
import { type Facts, LINKS, MAY, overview, programme } from './samples.ts'

const pageSays = async (documents: Documents, place: string, texts: readonly string[], expected = 200) => {
  const { said, status } = await pageOf({ '/permissions': MAY, ...documents }, place)
  expect(status).toBe(expected)
  expectSaid(said, texts)
}

const obstacle = (code: string, change: string, ...stops: readonly string[]) => ({
  ...{ code, reason: `why ${code}`, change, stops },
})
const candidate = (n: number, ...obstacles: readonly object[]) => ({
  ...{ name: `part ${n}`, deployable_uuid: uuid(n), obstacles },
})
const FITS = {
  ...{ fits: true, hosts_checked: 1, devices_checked: 1200, hosts_fitting: 1, placement: 'not_configured' },
  ...{ groups: [], hosts: [], hosts_left_out: 0 },
}
const EXPLAINED = {
  ...{ ...FITS, fits: false, hosts_checked: 3, hosts_fitting: 0, hosts_left_out: 4 },
  groups: [
    {
      ...{ group: 0, arqs: 1, devices: 0, removed: { vendor: 2, product: 1 } },
      nearest: { ...candidate(1, obstacle('trait', 'choose another.', 'bind', 'work')), host: 'host 1' },
    },
    { group: 1, arqs: 2, devices: 5, removed: {}, nearest: null },
  ],
  hosts: [
    {
      ...{ host: 'host 1', fits: false, obstacles: [obstacle('retired', 'restore it', 'placement', 'something new')] },
      groups: [
        { group: 0, devices: [candidate(2, obstacle('busy', 'wait', 'bind')), candidate(3)], left_out: 1 },
        { group: 1, devices: [], left_out: 0 },
      ],
    },
    { host: 'h2', fits: true, obstacles: [], groups: [] },
  ],
}
const check = (more: Facts = {}): Documents => ({ '/device_profiles/p%201/check': { ...FITS, ...more } })
const DRAFT: Documents = { '/profile_checks': FITS }
describe('explain', () => {
  it.each<[string, Documents, readonly string[], number?]>([
    ['explain', {}, ['|Name a profile, or write a draft|', '|accelerando explain PROFILE|']],
    [
      'explain?profile=p%201',
      { '/device_profiles/p%201/check': EXPLAINED },
      [
        '|0 of 3 hosts fit|1 200 devices looked at, no Placement is configured|',
        '|Group 0|1 request, 0 devices without an obstacle|vendor|2 devices|product|1 device|',
        '|Nearest: |part 1|on |host 1|trait|',
        '|why trait (a bind is refused, its host cannot serve a bind). |choose another.|',
        '|Group 1|2 requests, 5 devices without an obstacle|',
        '|host 1|does not fit|retired|why retired (Nova is not shown it, something new). |restore it.|',
        '|Group 0: |part 2|busy|why busy (a bind is refused). |wait.|Group 0: |part 3|Group 0: 1 further device.|',
        '|h2|fits|4 further hosts are not shown: name one of them above.|',
        "|accelerando explain 'p 1'|",
      ],
    ],
    ['explain?profile=p%201', check({ placement: 'asked' }), ['|1 of 1 host fits|', ', Placement was asked|']],
    ['explain?profile=p%201', check({ placement: 'unreachable' }), [', Placement could not be asked|']],
    ['explain?profile=p%201', check({ placement: 'something new' }), [', something new|']],
    ['explain?profile=none', {}, ['|There is no such thing|'], 404],
    [
      'explain?profile=one&draft=[]&host=h%201',
      DRAFT,
      ['|[]|', '|1 of 1 host fits|', "|accelerando explain --file FILE --host 'h 1'|"],
    ],
    ['explain?draft=[oops', {}, ['|The service refused|The draft is not JSON: '], 409],
  ])('%s says which hosts fit, and what keeps each other one from it', (place, documents, texts, status) =>
    pageSays(documents, place, texts, status),
  )
  test('of one host asks about that host only', async () => {
    const { asked } = await pageOf(check(), 'explain?profile=p%201&host=h%201')
    expect(asked).toContain('/device_profiles/p%201/check?host=h%201')
  })
  test('takes a draft of 8000 characters, and does not send one with more', async () => {
    const page = (length: number) => pageOf(DRAFT, `explain?draft=${encodeURIComponent(`[${' '.repeat(length - 2)}]`)}`)
    expect((await page(8000)).asked).toContain('/profile_checks')
    const longer = await page(8001)
    expect(longer.asked).not.toContain('/profile_checks')
    expect(longer.said).toContain('The draft must not have more than 8000 characters.')
  })
})

const amounts = (held: number, free: number, withheld: number, broken: number) => ({
  ...{ total: held + free + withheld + broken, held, free, withheld, broken },
})
const amountHosts = (count: number) =>
  Array.from({ length: count }, (_, at) => ({ host: `host ${at}`, ...amounts(at, count - at, 2, 3) }))
const CAPACITY = {
  counted_at: ago(3000),
  capacity: [
    { resource_class: 'FPGA', traits: ['CUSTOM_A', 'CUSTOM_B'], ...amounts(3, 231, 5, 7), hosts: amountHosts(21) },
    { resource_class: 'NONE', traits: [], ...amounts(1, 0, 0, 0), hosts: [{ host: 'h', ...amounts(1, 0, 0, 0) }] },
  ],
}
const placement = (said: string) => overview({ program: { placement: said } })
const NO_CAPACITY = { '/capacity': { ...CAPACITY, capacity: [] } }
describe('capacity', () => {
  it.each<[string, string, Documents, readonly string[]]>([
    [
      'counts what is free by class, traits and host, those with the most free ones first',
      'capacity',
      { '/capacity': CAPACITY, ...placement('in use') },
      [
        '|Counted |3 s ago|.|FPGA |CUSTOM_A|CUSTOM_B|231 free of 246|3|held|231|free|5|withheld|7|broken|',
        '|At most 21 with exactly these traits for one server: the free ones are on 21 hosts; fragmentation 91 %.|',
        '|Host|Total|Held|Free|Withheld|Broken|Explain|host 0|26|0|21|2|3|would one fit here|host 1|26|1|20|2|3|',
        '!|host 20|',
        '|20 of 21 hosts are shown, those with the most free ones first; the command below shows all.|',
        '|NONE |0 free of 1|',
        '|None without traits is free.|',
        '|accelerando capacity show --hosts|',
      ],
    ],
    ['of nothing', 'capacity', NO_CAPACITY, ['|No host has reported an accelerator|', '|accelerando device scan|']],
    [
      'of nothing that was asked for',
      'capacity?resource_class=FPGA&trait=CUSTOM_A',
      NO_CAPACITY,
      ['|resource class |FPGA|×|trait |CUSTOM_A|×|', '|Nothing matches this filter|', '--class FPGA --trait CUSTOM_A|'],
    ],
  ])('%s', (_, place, documents, texts) => pageSays(documents, place, texts))
  it.each([
    ['unreachable', 'bad'],
    ['absent', 'idle'],
  ])('says of a Placement that is %s what its numbers are then worth', async (said, tone) => {
    const { html } = await pageOf({ ...NO_CAPACITY, ...placement(said) }, 'capacity')
    expect(html).toMatch(new RegExp(`<p class="headline">\\s*<svg class="mark ${tone}"[^]*of this service`))
  })
})

const used = (project: string | null, name: string, seconds: number) => ({
  ...{ project_id: project, resource_class: name, from: ago(86_400_000), until: ago(1000) },
  ...{ device_seconds: seconds, bindings: 1000 + seconds },
})
const USAGE = {
  ...{ from: ago(90_000_000), until: ago(2000), as_of: ago(500), period: 'total' },
  usage: [
    ...[used(null, 'FPGA', -1), used('=1+1', 'a,b', 2), used('+p', 'say "so"', 3), used('-p', 'two\nlines', 4)],
    ...[used('@p', 'a\rb', 5), used('\tp', 'p=1', 6), used('\rp', 'plain', 7)],
  ],
}
describe('usage', () => {
  test('is shown by project, class and time', async () => {
    const place = 'usage?from=2026-01-01&until=2026-02-01&period=month&project_id=p1&other=x'
    const { said, asked } = await pageOf({ '/permissions': MAY, '/usage': USAGE }, place)
    expect(asked).toContain('/usage?from=2026-01-01&until=2026-02-01&period=month&project_id=p1')
    expectSaid(said, [
      '|From 2026-02-28 11:00:00 UTC until 2026-03-01 11:59:58 UTC; what is still bound counts up to 2026-03-01 11:59:59',
      '|Project|Class|From|Until|Device seconds|Bindings|',
      '|–|FPGA|2026-02-28 12:00:00 UTC|2026-03-01 11:59:59 UTC|-1|999|=1+1|a,b|',
      '|accelerando usage --from 2026-01-01 --until 2026-02-01 --period month --project p1|',
    ])
    await pageSays({ '/usage': { ...USAGE, usage: [] } }, 'usage', ['|Nothing was bound in this time|'])
  })
  test('as a file has no cell that a spreadsheet would take for a formula', async () => {
    const { html, asked } = await pageOf({ '/permissions': MAY, '/usage': USAGE }, 'usage.csv?period=day')
    expect(asked).toContain('/usage?period=day')
    const when = '2026-02-28T12:00:00.000Z,2026-03-01T11:59:59.000Z'
    expect(html.trimEnd().split('\r\n')).toEqual([
      'project_id,resource_class,from,until,device_seconds,bindings',
      `,FPGA,${when},-1,999`,
      `'=1+1,"a,b",${when},2,1002`,
      `'+p,"say ""so""",${when},3,1003`,
      `'-p,"two\nlines",${when},4,1004`,
      `'@p,"a\rb",${when},5,1005`,
      `'\tp,p=1,${when},6,1006`,
      `"'\rp",plain,${when},7,1007`,
    ])
  })
})

const event = (n: number, type: string, more: object = {}) => ({ id: `7-${n}`, event: { type, ...more } })
const fact = (entity: unknown, facts: object) => ({
  ...{ subject: uuid(1), time: ago(12_345), data: { entity, event: { type: 'X', ...facts } } },
})
/** Facts whose JSON has this length. */
const long = (length: number) => ({ a: 'x'.repeat(length - '{"a":""}'.length) })
const EVENTS = {
  events: [
    event(0, 'accelerando.fact.Of0', fact(`arq/${uuid(1)}`, { number: 0, nothing: null })),
    event(10, 'accelerando.fact.Long', fact('arq/x', long(240))),
    event(11, 'accelerando.fact.Longer', fact('arq/x', long(241))),
    event(12, 'something.else'),
    event(13, 'accelerando.fact.Odd', fact(7, {})),
  ],
  ...{ next: '7-99', more: true },
}
const FILTER = 'kind=arq&type=Bound&subject=s&host=h&instance=i&project=p&request=r'
describe('events', () => {
  it.each<[string, string, Documents, readonly string[]]>([
    [
      'are shown the newest first, their facts up to 240 characters',
      'events?after=0',
      { '/events': EVENTS },
      [
        '|5 shown. |The following ones|UTC|Event|Kind|About|Facts|Id|',
        `|11:59:47.655|Odd|${uuid(1)}|{}|from here|–|something.else|{}|from here|`,
        `|Longer|arq|${uuid(1)}|${JSON.stringify(long(241)).slice(0, 240)} …|`,
        `|Long|arq|${uuid(1)}|${JSON.stringify(long(240))}|`,
        `|Of0|arq|${uuid(1)}|{"number":0,"nothing":null}|from here|`,
        '|accelerando event --follow --after 7-99|',
      ],
    ],
    [
      'that there are none of',
      'events?after=0',
      { '/events': { events: [], next: '8-1', more: false } },
      ['|Nothing has happened since this page was opened|', ' --after 8-1|'],
    ],
    [
      'of a filter',
      `events?after=7-1&${FILTER}&other=x`,
      { '/events': { ...EVENTS, more: false } },
      ['|kind |arq|×|type |Bound|×|', '|request |r|×|5 shown. |UTC|', ' --kind arq --type Bound --subject s --host h'],
    ],
  ])('%s', (_, place, documents, texts) => pageSays(documents, place, texts))
  test('are asked for as they are filtered, a hundred at a time', async () => {
    expect((await pageOf({ '/events': EVENTS }, `events?after=7-1&${FILTER}&other=x`)).asked).toContain(
      `/events?${FILTER}&after=7-1&limit=100`,
    )
  })
})

const PROGRAMS: Documents = {
  '/programs': {
    programs: [
      programme(1, 'empty'),
      programme(2, 'loaded', { image_uuid: uuid(201), former_image_uuid: uuid(202), since: ago(61_000) }),
      programme(3, 'running', { programmable: false }),
      programme(4, 'failed', { reason: 'image_corrupt: other bytes' }),
      programme(5, 'failed', { reason: 'image_corruption' }),
      programme(6, 'something new'),
    ],
    programs_links: LINKS,
  },
}
describe('programming', () => {
  it.each<[string, Documents, readonly string[]]>([
    [
      'shows what each card holds, how the last programming ended, and what can be done',
      PROGRAMS,
      [
        '|State|Deployable|Image|Since|Last result|Host|Actions|empty|part 1|–|–|–|host 1|Load an image|',
        `|loaded|part 2|${uuid(201)}|1 min ago|done|host 2|Load an image|Load the former image|`,
        '|running|part 3|–|–|–|host 3|–|',
        '|failed|part 4|–|–|Stop: the digest does not match|image_corrupt: other bytes|',
        'Do not use this image',
        '|failed|part 5|–|–|image_corruption|host 5|Load an image|',
        '|6 on this page|‹ Previous|Next ›|',
      ],
    ],
    ['of no card', { '/programs': { programs: [] } }, ['|No programmable device is known|']],
  ])('%s', (_, documents, texts) => pageSays(documents, 'programs?after=u%201', texts))
})
test('the entries of these pages have keys of their own', async () => {
  const documents = { '/capacity': CAPACITY, '/usage': USAGE, '/events': EVENTS, ...PROGRAMS, ...check(EXPLAINED) }
  const places = ['explain?profile=p%201', 'capacity', 'usage', 'events?after=0', 'programs']
  await expectOwnKeys(places, (place) => pageOf(documents, place))
})

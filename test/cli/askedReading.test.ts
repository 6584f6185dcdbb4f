/** What each command that only shows something asks of the API, and how it shows what is special in the answer. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { tempFolder } from '../support/program.ts'
import { DELIVERY, DEVICE, HANDLE, HOST, LETTER, OVERVIEW, PROGRAM, SET_ASIDE, arq, profile } from './apiDocuments.ts'
import { type Answers, scriptedApi } from './scriptedApi.ts'

const folder = tempFolder('asked-reading')
afterAll(folder.remove)
const DRAFT = join(folder.path, 'draft.json')
writeFileSync(DRAFT, '{"groups": [{"a": "1"}]}')

const AS_OF = '--as-of 2026-01-31T12:00:00Z'
const MOMENT = 'as_of=2026-01-31T12%3A00%3A00Z'
const LINE = { resource_class: 'FPGA', traits: ['A', 'B'], total: 9, held: 1, free: 2, withheld: 3, broken: 4 }
const PLACE = { host: 'h2', total: 4, held: 0, free: 2, withheld: 1, broken: 1 }
const STEP = { at: 'T1', step: 'created', took_ms: 5, cause: 'nova', detail: { host: 'h1', arqs: ['a'] } }
const BINDING = { resource_class: 'FPGA', from: 'T1', until: 'T2', device_seconds: 12.5, bindings: 2 }
const USAGE = { from: 'T1', until: 'T5', as_of: 'T4', period: 'total', usage: [{ ...BINDING, project_id: 'p1' }] }
const CHECK = {
  fits: true,
  hosts: [{ host: 'h1', fits: true, obstacles: [{ code: 'a' }, { code: 'a' }], groups: [] }],
  profile: null,
}
const EVENT = {
  ...{ specversion: '1.0', id: 'm', source: '/s', type: 't', datacontenttype: 'application/json' },
  time: '2026-01-01T00:00:00.000Z',
  data: { entity: 'arq/a1', event: { type: 'Bound', host: 'h1' }, cause: { by: 'kim', requestId: 'req-1' } },
}
const page = (next: string, more: boolean, ...ids: readonly string[]) => ({
  events: ids.map((id) => ({ id, event: EVENT })),
  next,
  more,
})
const TREE: Answers = {
  'GET /devices/d%2F1': { uuid: 'v1', model: 'A100', status: 'enabled' },
  'GET /deployables?device_uuid=v1': {
    deployables: [
      { uuid: 'below', parent_uuid: 'root', name: 'part', rp_uuid: 'rp2', placement: { state: 'pending' } },
      { uuid: 'root', parent_uuid: null, name: 'board', rp_uuid: null, placement: null },
    ],
  },
  'GET /handles?deployable_uuid=below': { handles: [{ ...HANDLE, deployable_uuid: 'below' }] },
  'GET /handles?deployable_uuid=root': {
    handles: [{ ...HANDLE, uuid: 'u2', deployable_uuid: 'root', state: 'free', arq_uuid: null }],
  },
}
const { run } = scriptedApi({
  'GET /device_profiles/a%20b/versions': { versions: [profile(1), profile(2), profile(3)] },
  'GET /programs/d%2F1': PROGRAM,
})

test.each<readonly [line: string, asks: string, answer: unknown, shows: string | readonly string[]]>([
  [
    `arq list --instance i1 --state Bound --project j1 ${AS_OF} --limit 2`,
    `/accelerator_requests?instance=i1&state=Bound&project_id=j1&${MOMENT}&limit=2`,
    { arqs: [arq('a1'), arq('a2'), arq('a3')] },
    ['UUID  STATE  PROFILE  HOST  INSTANCE  CREATED\n', 'a2    Bound  p1       h1    i1        T3\n'],
  ],
  [
    `arq show a/1 ${AS_OF}`,
    `/accelerator_requests/a%2F1?${MOMENT}`,
    arq('a1'),
    ['resource provider  r1\n', 'attach handle      k1\n'],
  ],
  [
    `arq show a1 --timeline ${AS_OF}`,
    `/accelerator_requests/a1/timeline?${MOMENT}`,
    { steps: [STEP] },
    'T1  created  5         nova   host=h1 arqs=["a"]\n',
  ],
  [
    `instance show i/1 ${AS_OF}`,
    `/accelerator_requests?instance=i%2F1&${MOMENT}`,
    { arqs: [arq('a1')] },
    'a1    Bound  p1       h1    r1                 k1\n',
  ],
  [
    `device list --type FPGA --vendor v1 --host h1 --status enabled --failing ${AS_OF}`,
    `/devices?type=FPGA&vendor=v1&hostname=h1&status=enabled&state=failing&${MOMENT}`,
    { devices: [DEVICE] },
    'd1    FPGA  v1      m1     h1    enabled  failing  T2     1          too hot\n',
  ],
  [
    `device show d/1 ${AS_OF}`,
    `/devices/d%2F1?${MOMENT}`,
    DEVICE,
    ['health         bad\n', 'in use by      a1\n', 'servers        i1\n'],
  ],
  [
    `host list --liveness down ${AS_OF} --limit 3`,
    `/hosts?liveness=down&${MOMENT}&limit=3`,
    { hosts: [HOST] },
    'h1    down      yes      T1         a, b: no bus, c: starting\n',
  ],
  [
    'host show h/1',
    '/hosts/h%2F1',
    HOST,
    [
      'devices                      3 enabled, 1 host silent\n',
      'playbooks                    setup of b failed (exit 2)\n',
    ],
  ],
  [
    'handle list --state free --host h1',
    '/handles?state=free&hostname=h1',
    { handles: [HANDLE] },
    'u1    held   h1    d1          q1\n',
  ],
  [
    'handle show u/1',
    '/handles/u%2F1',
    { ...HANDLE, cleaning: { due: 'by_host', under_way: true, last: null } },
    ['device state     missing\n', 'last cleaning    under way\n'],
  ],
  [
    'profile list --as-of 2026-01-31',
    '/device_profiles?as_of=2026-01-31',
    { device_profiles: [profile(1)] },
    'small  u1    1        false    2       j1 j2     T1\n',
  ],
  [
    `profile show 'a b' --as-of 2026-01-31`,
    '/device_profiles/a%20b?as_of=2026-01-31',
    { device_profile: profile(2) },
    'groups       resources:FPGA=2,trait:A=required; a=b\n',
  ],
  [
    'bitstream list --limit 1',
    '/programs?limit=1',
    { programs: [PROGRAM] },
    'd1          loaded  h1    card  m1     as asked\n',
  ],
  [
    'bitstream show d/1',
    '/programs/d%2F1',
    PROGRAM,
    [
      'the image store       it has blue, sha256:1\n',
      'images that fit       m1 blue, m2, and 112 more\n',
      'its driver            SDX 1.0 /opt/sdx\n',
    ],
  ],
  [
    'capacity show --class FPGA --trait A',
    '/capacity?resource_class=FPGA&trait=A',
    { capacity: [{ ...LINE, hosts: [PLACE] }] },
    'FPGA   A B     -     9      1     2     3         4\n',
  ],
  [
    'capacity show --hosts',
    '/capacity',
    { capacity: [{ ...LINE, hosts: [PLACE] }] },
    'FPGA   A B     h2    4      0     2     1         1\n',
  ],
  [
    'delivery list',
    '/deliveries?state=waiting&limit=500',
    { deliveries: [DELIVERY] },
    'i1        retrying  h1    3         T5        T6     req-1       a1 a2  it answered 500; nothing\n',
  ],
  [
    `dead-letter show ${LETTER.uuid.toUpperCase()}`,
    `/dead_letters/${LETTER.uuid}`,
    LETTER,
    ['cannot be sent again  its topic is gone\n', 'message               {"a": 1}\n'],
  ],
  [
    'drift ignored --host h1 --limit 5',
    '/drift/ignored?host=h1&limit=5',
    { ignored: [SET_ASIDE] },
    'x1    h1    provider  e1    T9     kim         known              it differs\n',
  ],
  [
    'usage',
    '/usage?period=total',
    USAGE,
    ['from T1 to T5; what is still bound counts up to T4\n', 'p1       FPGA   T1    T2     12.5            2\n'],
  ],
  [
    `usage --from 2026-01-01 --until 2026-02-01 --period day --project 'a b'`,
    '/usage?from=2026-01-01&until=2026-02-01&period=day&project_id=a+b',
    { ...USAGE, as_of: 'T6' },
    'counts up to T5\n',
  ],
  [
    `explain --file ${DRAFT} --host h1 --limit 3 -f value`,
    '/profile_checks?host=h1&limit=3 {"groups":[{"a":"1"}]}',
    CHECK,
    'h1\ttrue\ta\t',
  ],
  [
    'event --kind arq --type Bound --subject s1 --host h1 --instance i1 --project j1 --request r1',
    '/events?limit=500&kind=arq&type=Bound&subject=s1&host=h1&instance=i1&project=j1&request=r1',
    page('1', false, '1-1-aa'),
    '2026-01-01T00:00:00.000Z  arq/a1  Bound host=h1  by kim req-1  1-1-aa\n',
  ],
  [
    'event --after 1-2-abcdef012345 -f value -c id',
    '/events?limit=500&after=1-2-abcdef012345',
    page('1', false, '1-3-cc'),
    '1-3-cc\n',
  ],
])('%s', async (line, asks, answer, shows) => {
  const method = asks.includes('{') ? 'POST' : 'GET'
  const { code, out, err, asked } = await run(line, { [`${method} ${asks.split(' ')[0]}`]: [200, answer] })
  expect([code, err, asked]).toEqual([0, '', [`${method} ${asks}`]])
  for (const text of [shows].flat()) expect(out).toContain(text)
})

test('a device is shown as a tree, parents before their children', async () => {
  expect((await run('device tree d/1', TREE)).out).toBe(
    [
      'device v1  A100  enabled',
      '  deployable root  board  resource provider -',
      '    deployable below  part  resource provider rp2',
      '      handle u1  held  arq q1',
      '    handle u2  free',
      '',
    ].join('\n'),
  )
})
test.each([
  ['', ['version 2 of T2, and version 3 of T3', '- group 0 resources:FPGA = 2', '+ group 0 resources:FPGA = 3']],
  [' 3 1', ['version 3 of T3, and version 1 of T1', '- group 0 resources:FPGA = 3', '+ group 0 resources:FPGA = 1']],
])('versions of a profile are compared: profile diff NAME%s', async (which, lines) => {
  const { code, out } = await run(`profile diff 'a b'${which}`)
  expect([code, out.split('\n').slice(0, 3)]).toEqual([0, lines])
})
test.each<readonly [line: string, answers: Answers, code: number, err: string]>([
  [
    'instance show i1',
    { 'GET /accelerator_requests?instance=i1': { arqs: [] } },
    3,
    'the instance i1 has no accelerator request\nnext: accelerando arq list\n',
  ],
  [
    `profile diff 'a b' 1 4`,
    {},
    3,
    'a b: to: there is no version 4, or it is too old to be kept; there are 1 to 3\nnext: accelerando profile versions a b\n',
  ],
  [
    'dead-letter show host.reports.v1/3/1700',
    {},
    3,
    'GET /dead_letters/66b42284-a4cf-5e1e-88f1-4681acc098bf: 404 it is not there\n',
  ],
  ['usage --period hour', {}, 2, "error: option '--period <PERIOD>' argument 'hour' is invalid"],
  ['event --after x1-2-abcdef012345', {}, 2, '--after: must be the id of an event, as it is shown\n'],
])('%s is refused', async (line, answers, code, says) => {
  expect(await run(line, answers)).toMatchObject({ code, out: '', err: expect.stringContaining(says) })
})

test.each<readonly [image: object, says: string]>([
  [{ image: { name: null, digest: null } }, 'it has the image, without a digest\n'],
  [{ image: null, image_problem: 'it is away' }, 'it is away\n'],
  [{ images: [], images_left_out: 0, images_problem: 'all is away' }, 'images that fit       all is away\n'],
])('the image store of a card: %j', async (more, says) => {
  expect((await run('bitstream show d/1', { 'GET /programs/d%2F1': { ...PROGRAM, ...more } })).out).toContain(says)
})
const LAST = {
  command: '/sbin/wipe',
  finished_at: 'T3',
  duration_ms: 12,
  exit_code: 3,
  output_sha256: 'abcd',
  output: 'no\nanswer',
}
test.each([
  [LAST, '/sbin/wipe at T3: exit code 3 after 12 ms; sha256 of the output abcd\nits output       no answer\n'],
  [{ ...LAST, exit_code: null }, '/sbin/wipe at T3: did not end by itself after 12 ms'],
  [null, 'last cleaning    -\n'],
])('the last cleaning of a handle: %j', async (last, says) => {
  const cleaning = { due: 'by_host', under_way: false, last }
  expect((await run('handle show u1', { 'GET /handles/u1': { ...HANDLE, cleaning } })).out).toContain(says)
})

describe('lists of several pages', () => {
  test('are read to their end: deliveries, events, orphans', async () => {
    const marked = (marker: string) => `GET /deliveries?state=undelivered&limit=500${marker}`
    const of = (...instances: readonly string[]) => ({
      deliveries: instances.map((uuid) => ({ ...DELIVERY, instance_uuid: uuid })),
      ...(instances.length > 0 && { deliveries_links: [{}] }),
    })
    const told = await run('delivery list --state undelivered -f value -c instance_uuid', {
      [marked('')]: of('i1', 'i2'),
      [marked('&marker=i2')]: of('i3'),
      [marked('&marker=i3')]: of(),
    })
    expect(told.out).toBe('i1\ni2\ni3\n')
    const events = await run('event -f value -c id --limit 3', {
      'GET /events?limit=3': page('n', true, 'e1', 'e2'),
      'GET /events?limit=1&after=n': page('m', true, 'e3', 'e4'),
    })
    expect(events.out).toBe('e1\ne2\ne3\n')
  })
  test('a limit is asked of the service unless the order or the whole document is wanted', async () => {
    const all = { 'GET /handles': { handles: [HANDLE, { ...HANDLE, uuid: 'u9' }] } }
    const { out, asked } = await run('handle list --sort-column uuid:desc --limit 1 -f value -c uuid', all)
    expect([out, asked]).toEqual(['u9\n', ['GET /handles']])
    expect((await run('handle list --json --limit 1', all)).asked).toEqual(['GET /handles'])
  })
})

test('formulas of a spreadsheet are none in CSV, and quotes are doubled', async () => {
  const usage = ['p1', null, '=1+2,"x"', '+1', '-1', '@a', '\ta'].map((project) => ({
    ...BINDING,
    project_id: project,
  }))
  const { out } = await run('usage -f csv -c project_id', { 'GET /usage?period=total': { ...USAGE, usage } })
  expect(out.split('\n')).toEqual(['project_id', 'p1', '', `"'=1+2,""x"""`, "'+1", "'-1", "'@a", "'\ta", ''])
})

test('status says what is wrong, and which command shows it and which mends it', async () => {
  const of = (more: object, line = 'status') => run(line, { 'GET /overview': { ...OVERVIEW, ...more } })
  const well = await of({})
  expect([well.code, well.out.split('\n')[2]]).toEqual([0, 'all is well: every host answers, and nothing is stuck'])
  expect(well.out).toContain('requests               5  2 Bound, 3 Initial\n')
  const late = { binds: { late: 2, next_deadline_at: null } }
  const waits = await of(late)
  expect([waits.code, waits.out.split('\n')[2]]).toEqual([0, 'nothing is wrong; some things wait'])
  const cards = [{ device_uuid: 'd7', hostname: 'h9', pci_address: '0000:02:00.0' }]
  const vanished = { devices: 1, arqs: 9, instances: 8, since: 'T9', cards }
  const sick = await of({ ...late, hosts: { down: 1 }, vanished, arqs: { BindFailed: 1 } }, 'status -f csv')
  expect([sick.code, sick.out.split('\n')]).toEqual([
    7,
    [
      'severity,says,look,mend',
      'bad,1 host is down,accelerando host list --liveness down,systemctl restart accelerando-host',
      'bad,"1 card has vanished under 8 servers: h9 0000:02:00.0, since T9",accelerando device list --state missing,accelerando device show d7',
      'bad,1 request could not be bound,accelerando arq list --state BindFailed,accelerando arq timeline UUID',
      'waits,2 binds have used more than half of the time,accelerando arq list --state BindStarted,accelerando arq timeline UUID',
      '',
    ],
  ])
})

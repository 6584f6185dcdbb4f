/** The commands that call the API of a running service: what each asks, and what it prints of the answer. */
import { type IncomingMessage, createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { commandHere } from '../support/commandHere.ts'
import { tempFolder } from '../support/program.ts'

type Asked = { readonly line: string; readonly headers: IncomingMessage['headers']; readonly body: unknown }
let asked: Asked[] = []
let answer: { readonly status: number; readonly text: string } = { status: 200, text: '{}' }
const server = createServer((request, response) => {
  void text(request).then((body) => {
    const { method, url, headers } = request
    asked.push({ line: `${method} ${url}`, headers, body: body === '' ? null : JSON.parse(body) })
    response.writeHead(answer.status).end(answer.text)
  })
})
const folder = tempFolder('api-commands')
let api = ''
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  api = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v2`
})
afterAll(() => {
  server.close()
  folder.remove()
})

const ran = async (json: unknown, args: readonly string[], status = 200) => {
  asked = []
  answer = { status, text: typeof json === 'string' ? json : JSON.stringify(json) }
  return commandHere([...args, '--api', api])
}
const file = (name: string, content: string): string => {
  writeFileSync(join(folder.path, name), content)
  return join(folder.path, name)
}

const HOST = {
  name: 'h1',
  liveness: 'up',
  last_seen_at: 'T1',
  retired: null,
  drivers: { pci_driver: { status: 'ok', error: null } },
  aliases: [],
  handles: {},
  arqs: [],
}
const NOTE = { by: 'kim', at: 'T2', reason: 'old' }
const ODD_HOST = {
  ...HOST,
  name: 'longer-name',
  liveness: 'down',
  last_seen_at: null,
  retired: NOTE,
  public_key: 'key-one',
  offered_key: 'key-two',
  aliases: ['a1', 'a2'],
  drivers: { b: { status: 'failed', error: 'no bus' }, c: { status: 'starting', error: null }, d: { status: 'ok' } },
  devices: { enabled: 3, host_silent: 1 },
  handles: { free: 2, held: 1 },
  arqs: ['x', 'y'],
  playbooks: [{ driver: 'b', playbook: 'setup', status: 'failed', reason: 'exit 2' }],
}
const ODD_HOST_SHOWN = `name                         longer-name
liveness                     down
last seen                    -
retired                      by kim at T2: old
key                          key-one
key that waits for approval  key-two
aliases                      a1, a2
drivers                      b: no bus, c: starting, d
devices                      3 enabled, 1 host silent
handles                      2 free, 1 held
arqs                         x y
playbooks                    setup of b failed (exit 2)
`
const HANDLE = {
  uuid: 'u1',
  state: 'held',
  hostname: 'h1',
  deployable_uuid: 'd1',
  arq_uuid: 'q1',
  last_arq_uuid: 'q0',
  order: 'prepare',
  quarantine: NOTE,
  device: { uuid: 'd2', state: 'missing', state_reason: 'it is gone', state_since: 'T3' },
}
const HANDLE_SHOWN = `uuid             u1
state            held
host             h1
deployable       d1
arq              q1
last arq         q0
order under way  prepare
device           d2
device state     missing
why of device    it is gone
since of device  T3
quarantined      by kim at T2: old
`
const ARQ = {
  uuid: 'q1',
  state: 'Bound',
  device_profile_name: 'p1',
  project_id: 'j1',
  hostname: 'h1',
  instance_uuid: 'i1',
  device_rp_uuid: 'r1',
  attach_handle_uuid: 'u1',
  created_at: 'T3',
}
const ARQ_SHOWN = `uuid               q1
state              Bound
profile            p1
project            j1
host               h1
instance           i1
resource provider  r1
attach handle      u1
created            T3
`
const TIMELINE = {
  steps: [
    { at: 'T1', step: 'created', took_ms: null, cause: 'nova', detail: {} },
    { at: 'T2', step: 'bound', took_ms: 12, cause: 'host', detail: { a: 'b', c: { d: 1 } } },
  ],
}
const IMPACT = {
  refusal: null,
  effect: 'kept',
  devices: ['d1'],
  instances: ['i1'],
  projects: ['j1'],
  arqs: [
    { uuid: 'q1', state: 'Bound', project_id: 'j1', instance_uuid: 'i1', hostname: 'h1' },
    { uuid: 'q2', state: 'Unbound', project_id: null, instance_uuid: null, hostname: null },
  ],
  arqs_left_out: 0,
}
const IMPACT_SHOWN = `ARQ  STATE    PROJECT  INSTANCE  HOST
q1   Bound    j1       i1        h1
q2   Unbound  -        -         -
nothing was changed
`
const MIGRATED = {
  applied: true,
  profiles: [
    { name: 'p1', uuid: 'u1', changes: [{ group: 0, from: 'A', to: 'B' }] },
    { name: 'p2', uuid: 'u2', changes: [{ group: 1, from: 'C', to: 'D' }] },
  ],
}
const MIGRATED_SHOWN = 'p1 (u1)\n  group 0: A -> B\np2 (u2)\n  group 1: C -> D\n'
const because = (...args: readonly string[]) => [...args, '--reason', 'it is so']
const REASON = { reason: 'it is so' }

type Case = readonly [args: readonly string[], json: unknown, line: string, body: unknown, out: string]
test.each<Case>([
  [
    ['hosts', 'list'],
    { hosts: [HOST, ODD_HOST] },
    'GET /v2/hosts',
    null,
    'NAME         LIVENESS  RETIRED  LAST SEEN  DRIVERS\n' +
      'h1           up        no       T1         pci_driver\n' +
      'longer-name  down      yes      -          b: no bus, c: starting, d\n',
  ],
  [
    ['hosts', 'show', 'a/b'],
    HOST,
    'GET /v2/hosts/a%2Fb',
    null,
    `name                         h1
liveness                     up
last seen                    T1
retired                      -
key                          -
key that waits for approval  -
aliases                      -
drivers                      pci_driver
devices                      -
handles
arqs                         -
`,
  ],
  [['hosts', 'show', 'h1'], { ...ODD_HOST }, 'GET /v2/hosts/h1', null, ODD_HOST_SHOWN],
  [because('hosts', 'retire', 'a/b'), ODD_HOST, 'POST /v2/hosts/a%2Fb/retire', REASON, ODD_HOST_SHOWN],
  [because('hosts', 'restore', 'h1'), ODD_HOST, 'POST /v2/hosts/h1/restore', REASON, ODD_HOST_SHOWN],
  [because('hosts', 'approve', 'h1'), ODD_HOST, 'POST /v2/hosts/h1/approve', REASON, ODD_HOST_SHOWN],
  [
    [...because('hosts', 'approve', 'h1'), '--key', 'key-two'],
    ODD_HOST,
    'POST /v2/hosts/h1/approve',
    { ...REASON, public_key: 'key-two' },
    ODD_HOST_SHOWN,
  ],
  [
    [...because('hosts', 'rekey', 'h1'), '--key', 'key-three'],
    ODD_HOST,
    'POST /v2/hosts/h1/rekey',
    { ...REASON, public_key: 'key-three' },
    ODD_HOST_SHOWN,
  ],
  [
    [...because('hosts', 'remove', 'a/b'), '--yes'],
    '',
    'DELETE /v2/hosts/a%2Fb?reason=it+is+so&force=false',
    null,
    'host a/b is removed\n',
  ],
  [
    [...because('hosts', 'remove', 'h1'), '--force', '--yes'],
    '',
    'DELETE /v2/hosts/h1?reason=it+is+so&force=true',
    null,
    'host h1 is removed\n',
  ],
  [
    [...because('hosts', 'retire', 'h1'), '--dry-run'],
    IMPACT,
    'POST /v2/hosts/h1/retire?dry_run=true',
    REASON,
    `it would be done
1 device, 1 instance, 1 project, 2 accelerator requests, kept as they are
${IMPACT_SHOWN}`,
  ],
  [
    [...because('hosts', 'remove', 'h1'), '--force', '--dry-run'],
    { ...IMPACT, refusal: 'no', effect: 'unbound', arqs_left_out: 1 },
    'DELETE /v2/hosts/h1?reason=it+is+so&force=true&dry_run=true',
    null,
    `it would be refused: no
1 device, 1 instance, 1 project, 3 accelerator requests, unbound by force
${IMPACT_SHOWN.replace('nothing', 'and 1 more\nnothing')}`,
  ],
  [
    [...because('hosts', 'remove', 'h1'), '--json', '-y'],
    '',
    'DELETE /v2/hosts/h1?reason=it+is+so&force=false',
    null,
    '',
  ],
  [
    ['handles', 'list'],
    { handles: [HANDLE, { ...HANDLE, arq_uuid: null }] },
    'GET /v2/handles',
    null,
    'UUID  STATE  HOST  DEPLOYABLE  ARQ\nu1    held   h1    d1          q1\nu1    held   h1    d1          -\n',
  ],
  [
    ['handles', 'list', '--state', 'free', '--host', 'h 1'],
    { handles: [] },
    'GET /v2/handles?state=free&hostname=h+1',
    null,
    'UUID  STATE  HOST  DEPLOYABLE  ARQ\n',
  ],
  [['handles', 'show', 'a/b'], HANDLE, 'GET /v2/handles/a%2Fb', null, HANDLE_SHOWN],
  [because('handles', 'quarantine', 'a/b'), HANDLE, 'POST /v2/handles/a%2Fb/quarantine', REASON, HANDLE_SHOWN],
  [
    because('handles', 'release', 'u1'),
    { ...HANDLE, quarantine: null, order: null, arq_uuid: null, last_arq_uuid: null },
    'POST /v2/handles/u1/release',
    REASON,
    HANDLE_SHOWN.replace('q1', '-').replace('q0', '-').replace('prepare', '-').replace('by kim at T2: old', '-'),
  ],
  [['arqs', 'show', 'a/b'], ARQ, 'GET /v2/accelerator_requests/a%2Fb', null, ARQ_SHOWN],
  [
    ['arqs', 'show', 'a/b', '--timeline'],
    TIMELINE,
    'GET /v2/accelerator_requests/a%2Fb/timeline',
    null,
    'AT  STEP     AFTER MS  CAUSE  DETAIL\nT1  created  -         nova\nT2  bound    12        host   a=b c={"d":1}\n',
  ],
  [
    [...because('arqs', 'force-unbind', 'a/b'), '--yes'],
    ARQ,
    'POST /v2/accelerator_requests/a%2Fb/force_unbind',
    REASON,
    ARQ_SHOWN,
  ],
  [
    ['arqs', 'show', 'q1', '--json'],
    { a: [1] },
    'GET /v2/accelerator_requests/q1',
    null,
    '{\n  "a": [\n    1\n  ]\n}\n',
  ],
])('%j', async (args, json, line, body, out) => {
  expect(await ran(json, args)).toEqual({ code: 0, out, err: '' })
  expect(asked).toMatchObject([{ line, body }])
})

const TRAITS = { traits: { CUSTOM_A: 'CUSTOM_B' }, classes: {} }
test.each<readonly [name: string, content: string, more: readonly string[], json: unknown, body: unknown, out: string]>(
  [
    [
      'map.toml',
      '[traits]\nCUSTOM_A = "CUSTOM_B"\n',
      [],
      { ...MIGRATED, applied: false },
      { ...TRAITS, apply: false, reason: '' },
      `${MIGRATED_SHOWN}2 profiles would change, 2 names; --apply does it\n`,
    ],
    [
      'map.json',
      '{"classes": {}, "traits": {"CUSTOM_A": "CUSTOM_B"}}',
      ['--apply', '--reason', 'r'],
      MIGRATED,
      { ...TRAITS, apply: true, reason: 'r' },
      `${MIGRATED_SHOWN}2 profiles changed, 2 names\n`,
    ],
    [
      'json-without-the-ending',
      '  {"classes": {"CUSTOM_C": "CUSTOM_D"}}',
      ['--reason', 'r'],
      { applied: false, profiles: [] },
      { traits: {}, classes: { CUSTOM_C: 'CUSTOM_D' }, apply: false, reason: 'r' },
      '0 profiles would change, 0 names\n',
    ],
  ],
)('profiles migrate --map %s', async (name, content, more, json, body, out) => {
  const args = ['profiles', 'migrate', '--map', file(name, content), ...more]
  expect(await ran(json, args)).toEqual({ code: 0, out, err: '' })
  expect(asked).toMatchObject([{ line: 'POST /v2/profile_migrations', body }])
})

test.each<readonly [name: string, content: string, more: readonly string[], err: string]>([
  ['empty.json', '', [], 'empty.json: Unexpected end of JSON input\n'],
  ['bad.toml', 'traits = ', [], 'bad.toml: Invalid TOML document'],
  [
    'list.toml',
    'traits = []\n[classes]\nA = 1\n',
    [],
    'list.toml: classes.A: Invalid type: Expected string but received 1; it holds tables traits and classes\n',
  ],
  [
    'other.json',
    '{"colours": {}}',
    [],
    'other.json: colours: Invalid key: Expected never but received "colours"; it holds tables traits and classes\n',
  ],
  ['map.toml', '[traits]\n', ['--apply'], '--apply needs --reason\n'],
  ['map.toml', '[traits]\n', ['--apply', '--reason', ' '], '--apply needs --reason\n'],
])('profiles migrate --map %s is not sent', async (name, content, more, err) => {
  const refused = await ran({}, ['profiles', 'migrate', '--map', file(name, content), ...more])
  expect(refused).toMatchObject({ code: 2, out: '', err: expect.stringContaining(err) })
  expect(asked).toEqual([])
})

test('who asks is named on demand only', async () => {
  await ran({ hosts: [] }, ['hosts', 'list'])
  expect(asked[0]!.headers).not.toHaveProperty('x-user-id')
  expect(asked[0]!.headers).not.toHaveProperty('x-auth-token')
  await ran({ hosts: [] }, ['hosts', 'list', '--as', 'kim'])
  expect(asked[0]!.headers).toMatchObject({
    'x-user-id': 'kim',
    'x-project-id': 'operations',
    'x-roles': 'admin,manager,member,reader',
  })
})

test('a token is sent, and slashes at the end of the address are not', async () => {
  answer = { status: 200, text: '{"hosts": []}' }
  asked = []
  const { code } = await commandHere(['hosts', 'list', '--api', `${api}//`], { OS_TOKEN: 'secret' })
  expect([code, asked[0]!.line, asked[0]!.headers['x-auth-token']]).toEqual([0, 'GET /v2/hosts', 'secret'])
})

test.each<readonly [status: number, said: string, err: string, exit: number]>([
  [404, '{"errors": [{"detail": "no such host"}, {}]}', 'GET /hosts: 404 no such host', 3],
  [409, '{"errors": []}', 'GET /hosts: 409 it answered {"errors": []}', 5],
  [500, '', 'GET /hosts: 500 it answered nothing', 1],
  [502, `<html>${'x'.repeat(300)}`, `GET /hosts: 502 it answered <html>${'x'.repeat(194)}`, 8],
  [200, 'no JSON', 'GET /hosts: 200 it answered no JSON', 1],
  [300, '{}', 'GET /hosts: 300 it answered {}', 1],
  [
    401,
    '',
    'GET /hosts: 401 the API at API wants a valid token: set OS_AUTH_URL with OS_USERNAME, OS_PASSWORD and OS_PROJECT_NAME or with an application credential, or OS_CLOUD, or OS_TOKEN',
    4,
  ],
])('an answer %i %j is told', async (status, said, err, exit) => {
  expect(await ran(said, ['hosts', 'list'], status)).toEqual({
    code: exit,
    out: '',
    err: `${err.replace('API at API', `API at ${api}`)}\n${status === 404 ? 'next: accelerando host list\n' : ''}`,
  })
})
test('an empty answer without a fault is a document without fields', async () => {
  expect(await ran('', ['hosts', 'show', 'h1', '--json'], 299)).toEqual({ code: 0, out: '{}\n', err: '' })
})

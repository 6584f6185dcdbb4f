/** What each command that changes something asks of the API, and what it says of the answer. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { tempFolder } from '../support/program.ts'
import { DELIVERY, DEVICE, HANDLE, HOST, IMPACT, LETTER, PROGRAM, SET_ASIDE, arq, profile } from './apiDocuments.ts'
import { type Answers, scriptedApi } from './scriptedApi.ts'

const folder = tempFolder('asked-acting')
afterAll(folder.remove)
const file = (name: string, text: string): string => {
  writeFileSync(join(folder.path, name), text)
  return join(folder.path, name)
}
const WHY = `--reason 'it is so'`
const REASON = '{"reason":"it is so"}'
const acts = (noun: string, document: object, ...acts: readonly string[]): Answers =>
  Object.fromEntries(acts.map((act) => [`POST /${noun}/${act}`, document]))
const { run } = scriptedApi({
  'POST /accelerator_requests': { arqs: [arq('a1', 'Initial')] },
  'PATCH /accelerator_requests': [202, {}],
  'GET /accelerator_requests/a1': arq('a1'),
  'GET /accelerator_requests/a2': arq('a2'),
  'POST /accelerator_requests/a%2F1/force_unbind': arq('a1', 'Unbound'),
  'DELETE /accelerator_requests?arqs=a1%2Ca2': [204, ''],
  'DELETE /accelerator_requests?instance=i1': [204, ''],
  ...acts('hosts/h%2F1', HOST, 'retire', 'restore', 'approve', 'rekey'),
  'POST /hosts/h%2F1/retire?dry_run=true': IMPACT,
  'DELETE /hosts/h%2F1?reason=it+is+so&force=false': '',
  'DELETE /hosts/h%2F1?reason=it+is+so&force=true': '',
  'DELETE /hosts/h%2F1?reason=it+is+so&force=true&dry_run=true': { ...IMPACT, refusal: 'no', arqs_left_out: 1 },
  ...acts('handles/u%2F1', HANDLE, 'quarantine', 'release', 'clean'),
  ...acts('devices/d%2F1', {}, 'enable', 'disable'),
  'POST /devices/d%2F1/disable?dry_run=true': IMPACT,
  'GET /devices/d%2F1': DEVICE,
  'POST /device_profiles': [201, profile(2)],
  'PATCH /device_profiles/a%20b': { device_profile: profile(2) },
  'PATCH /device_profiles/a%20b?dry_run=true': IMPACT,
  'DELETE /device_profiles?value=p1%2Cp2': [204, ''],
  'DELETE /device_profiles?value=p1%2Cp2&dry_run=true': { ...IMPACT, effect: 'unbound' },
  'POST /deliveries/i%2F1/resend': DELIVERY,
  ...acts(`dead_letters/${LETTER.uuid}`, LETTER, 'replay', 'drop'),
  'POST /drift/ignored': SET_ASIDE,
  'POST /drift/ignored/x%2F1/end': SET_ASIDE,
  'GET /programs/d%2F1': PROGRAM,
  'PATCH /deployables/d%2F1/program': { uuid: 'd1', name: 'card', bitstream_id: 'm0' },
})

const BIND = 'arq bind a1 a2 --host h1 --resource-provider r1 --instance i1'
const op = (path: string, value?: string) =>
  value === undefined ? { op: 'remove', path: `/${path}` } : { op: 'add', path: `/${path}`, value }
const patched = (...ops: readonly object[]) => `PATCH /accelerator_requests ${JSON.stringify({ a1: ops, a2: ops })}`
const BOUND = patched(op('hostname', 'h1'), op('device_rp_uuid', 'r1'), op('instance_uuid', 'i1'))
const READ = ['GET /accelerator_requests/a1', 'GET /accelerator_requests/a2']
const MINE = file('one.json', '{"name": "other", "groups": [{"a": "1"}], "uuid": "u9"}')
const LIST = file('list.json', '[{"groups": [{"a": "1"}], "description": "x"}]')
const GROUPS = file('groups.toml', '[[groups]]\n"resources:FPGA" = "1"\n')
const image = (uuid: string) =>
  `PATCH /deployables/d%2F1/program [{"op":"replace","path":"/program","value":[{"image_uuid":"${uuid}"}]}]`
const SHOWN_HANDLE = ['order under way  prepare', 'why of device    it is gone', 'quarantined      by kim at T2: old']

test.each<readonly [line: string, asks: string | readonly string[], shows: string | readonly string[]]>([
  [`arq create 'a profile'`, 'POST /accelerator_requests {"device_profile_name":"a profile"}', 'a1    Initial  p1'],
  [BIND, [BOUND, ...READ], ['a1    Bound  p1', 'a2    Bound  p1']],
  [
    `${BIND} --project j2`,
    [BOUND.replaceAll(/}]/g, '},{"op":"add","path":"/project_id","value":"j2"}]'), ...READ],
    'a1',
  ],
  ['arq unbind a1 a2', [patched(op('hostname'), op('device_rp_uuid'), op('instance_uuid')), ...READ], 'a1'],
  [
    `arqs force-unbind a/1 ${WHY} --yes`,
    `POST /accelerator_requests/a%2F1/force_unbind ${REASON}`,
    'state              Unbound',
  ],
  ['arq delete a1 a2 -y', 'DELETE /accelerator_requests?arqs=a1%2Ca2', 'deleted: a1, a2\n'],
  ['arq delete --instance i1 --yes', 'DELETE /accelerator_requests?instance=i1', 'deleted: all of instance i1\n'],
  [`host retire h/1 ${WHY}`, `POST /hosts/h%2F1/retire ${REASON}`, 'retired                      by kim at T2: old'],
  [`hosts restore h/1 ${WHY}`, `POST /hosts/h%2F1/restore ${REASON}`, 'liveness                     down'],
  [`host approve h/1 ${WHY}`, `POST /hosts/h%2F1/approve ${REASON}`, 'key that waits for approval  key-two'],
  [`host approve h/1 ${WHY} --key k`, 'POST /hosts/h%2F1/approve {"reason":"it is so","public_key":"k"}', 'h1'],
  [`host rekey h/1 ${WHY} --key k`, 'POST /hosts/h%2F1/rekey {"reason":"it is so","public_key":"k"}', 'h1'],
  [
    `host retire h/1 ${WHY} --dry-run`,
    `POST /hosts/h%2F1/retire?dry_run=true ${REASON}`,
    [
      'it would be done\n1 device, 2 instances, 1 project, 1 accelerator request, kept as they are\n',
      'a1   Bound  j1       i1        h1\nnothing was changed\n',
    ],
  ],
  [`host remove h/1 ${WHY} --yes`, 'DELETE /hosts/h%2F1?reason=it+is+so&force=false', 'host h/1 is removed\n'],
  [`host remove h/1 ${WHY} --force --yes`, 'DELETE /hosts/h%2F1?reason=it+is+so&force=true', 'host h/1 is removed\n'],
  [
    `host remove h/1 ${WHY} --force --dry-run`,
    'DELETE /hosts/h%2F1?reason=it+is+so&force=true&dry_run=true',
    ['it would be refused: no\n', '2 accelerator requests', 'and 1 more\nnothing was changed\n'],
  ],
  [`handles quarantine u/1 ${WHY}`, `POST /handles/u%2F1/quarantine ${REASON}`, SHOWN_HANDLE],
  [`handle release u/1 ${WHY}`, `POST /handles/u%2F1/release ${REASON}`, SHOWN_HANDLE],
  [`handle clean u/1 ${WHY}`, `POST /handles/u%2F1/clean ${REASON}`, SHOWN_HANDLE],
  ['device enable d/1', ['POST /devices/d%2F1/enable', 'GET /devices/d%2F1'], 'status         enabled'],
  ['device disable d/1', ['POST /devices/d%2F1/disable', 'GET /devices/d%2F1'], 'servers        i1'],
  ['device disable d/1 --dry-run', 'POST /devices/d%2F1/disable?dry_run=true', 'nothing was changed\n'],
  [
    `profile create small --group resources:FPGA=1,trait:A=required --group ' b=2=3 ' --description x`,
    'POST /device_profiles [{"name":"small","groups":[{"resources:FPGA":"1","trait:A":"required"},{"b":"2=3"}],"description":"x"}]',
    'groups       resources:FPGA=2,trait:A=required; a=b',
  ],
  [
    `profile create small --file ${MINE}`,
    'POST /device_profiles [{"name":"small","groups":[{"a":"1"}],"uuid":"u9"}]',
    'small',
  ],
  [
    `profile create small --file ${LIST} --description mine`,
    'POST /device_profiles [{"groups":[{"a":"1"}],"description":"mine","name":"small"}]',
    'small',
  ],
  [
    `profile create small --file ${GROUPS}`,
    'POST /device_profiles [{"groups":[{"resources:FPGA":"1"}],"name":"small"}]',
    'small',
  ],
  [
    `profile set 'a b' ${WHY} --group a=1 --description new --if-version 4 --project j1`,
    'PATCH /device_profiles/a%20b {"groups":[{"a":"1"}],"description":"new","projects":["j1"],"if_version":4,"reason":"it is so"}',
    'projects     j1 j2',
  ],
  [
    `profile set 'a b' ${WHY} --enable 1 --disable 3 --all-projects`,
    'PATCH /device_profiles/a%20b {"versions":{"1":true,"3":false},"projects":null,"reason":"it is so"}',
    'small',
  ],
  [
    `profile set 'a b' ${WHY} --description ''`,
    'PATCH /device_profiles/a%20b {"description":null,"reason":"it is so"}',
    'small',
  ],
  [
    `profile set 'a b' ${WHY} --disable 3 --dry-run`,
    'PATCH /device_profiles/a%20b?dry_run=true {"versions":{"3":false},"reason":"it is so"}',
    'nothing was changed\n',
  ],
  ['profile delete p1 p2 --yes', 'DELETE /device_profiles?value=p1%2Cp2', 'deleted: p1, p2\n'],
  ['profile delete p1 p2 --dry-run', 'DELETE /device_profiles?value=p1%2Cp2&dry_run=true', 'unbound by force'],
  [`delivery resend i/1 ${WHY}`, `POST /deliveries/i%2F1/resend ${REASON}`, 'answers     it answered 500; nothing'],
  [
    `dead-letter replay ${LETTER.uuid} ${WHY}`,
    `POST /dead_letters/${LETTER.uuid}/replay ${REASON}`,
    'handled               at T2 by kim: it is mended',
  ],
  [
    `dead-letter drop ${LETTER.uuid} ${WHY}`,
    `POST /dead_letters/${LETTER.uuid}/drop ${REASON}`,
    'message               {"a": 1}',
  ],
  [
    `drift ignore x1 --host h1 --until 2026-12-24 ${WHY}`,
    'POST /drift/ignored {"host":"h1","difference":"x1","until":"2026-12-24","reason":"it is so"}',
    'ignored since      T1',
  ],
  [`drift unignore x/1 ${WHY}`, `POST /drift/ignored/x%2F1/end ${REASON}`, 'ended              by lee at T3: mended'],
  ['bitstream revert d/1', ['GET /programs/d%2F1', image('m0')], 'image  m0'],
  ['bitstream preload d/1 --image image-seven', image('image-seven'), 'card'],
])('%s', async (line, asks, shows) => {
  const { code, out, err, asked } = await run(line)
  expect([code, err]).toEqual([0, ''])
  expect(asked.toSorted()).toEqual([asks].flat().toSorted())
  for (const text of [shows].flat()) expect(out).toContain(text)
})

const probed = (answer: object | null, more: object = {}): Answers => ({
  'POST /hosts/h%2F1/probe': { ...HOST, probe: { asked_at: 'T3', by: 'kim', answer }, ...more },
})
const hidden = (status: number): Answers => ({
  'GET /accelerator_requests/a2': [status, { errors: [{ detail: 'no' }] }],
})
const ANSWERED = { report_number: 7, devices: 3, failed_drivers: ['a'], took_ms: 12 }
test.each<readonly [line: string, answers: Answers, code: number, out: string, err: string]>([
  [
    'host probe h/1',
    probed(ANSWERED),
    0,
    'asked at T3 by kim, answered after 12 ms by report 7 with 3 devices, failed: a',
    '',
  ],
  [
    'host probe h/1',
    probed(null),
    8,
    'not answered',
    'host h/1 has not answered; it was last heard of at T1\nnext: accelerando host show h/1\n',
  ],
  ['host probe h/1', probed(null, { last_seen_at: null }), 8, 'h1', 'it was never heard of'],
  [BIND, hidden(403), 0, 'accepted: a1, a2\n', ''],
  [BIND, hidden(404), 0, 'accepted: a1, a2\n', ''],
  [BIND, hidden(500), 1, '', 'GET /accelerator_requests/a2: 500 no\n'],
  [
    BIND,
    { 'GET /accelerator_requests/a2': arq('a2', 'BindFailed') },
    1,
    '',
    'the accelerator request a2 could not be bound\nnext: accelerando arq timeline a2\n',
  ],
  [
    'bitstream revert d/1',
    { 'GET /programs/d%2F1': { ...PROGRAM, former_image_uuid: null } },
    5,
    '',
    'no image is recorded that deployable d/1 held before\n',
  ],
  [
    'bitstream preload d/1 --image m7',
    { 'PATCH /deployables/d%2F1/program': [202, { uuid: 'd1', bitstream_id: 'm7' }] },
    6,
    'uuid',
    'image m7 is still being loaded',
  ],
  ['arq delete a1 a2', {}, 2, '', 'Accelerator requests are deleted: a1, a2. There is no terminal to ask: add --yes\n'],
  ['arq delete a1 --instance i1 --yes', {}, 2, '', 'name accelerator requests, or an instance with --instance\n'],
  [
    `host remove h1 ${WHY} --force`,
    {},
    2,
    '',
    'Host h1 is removed for good, and all on it is unbound. There is no terminal to ask: add --yes\n',
  ],
  [
    'profile create small --group a=1,b',
    {},
    2,
    '',
    '--group: must be KEY=VALUE,..., such as resources:FPGA=1,trait:CUSTOM_A=required (is a=1,b)\n',
  ],
  [
    `profile create small --file ${file('two.json', '[{"groups": []}, {"groups": []}]')}`,
    {},
    2,
    '',
    'two.json: must hold one device profile or a list of groups\n',
  ],
  [`profile create small --file ${file('bad.json', '{"a"')}`, {}, 2, '', 'bad.json: '],
  ['profile create small --file x --group a=1', {}, 2, '', 'name its groups with --group or with --file\n'],
  [
    `profile set p ${WHY} --if-version 4`,
    {},
    2,
    '',
    'say what changes: --group, --description, --enable, --disable, --project or --all-projects\n',
  ],
  [`profile set p ${WHY} --project j1 --all-projects`, {}, 2, '', '--project and --all-projects exclude each other\n'],
  [
    `drift ignore x1 --until 2026-12-24 ${WHY}`,
    {},
    2,
    '',
    '--host NAME is needed: the host that shows the difference\n',
  ],
])('%s ends otherwise with %j', async (line, answers, code, shows, says) => {
  const { code: ended, out, err } = await run(line, answers)
  expect([ended, out === '' ? '' : 'something']).toEqual([code, shows === '' ? '' : 'something'])
  expect(out).toContain(shows)
  expect(err).toContain(says)
})

test('a bind is waited for although its events may not be read', async () => {
  const states = ['Initial', 'BindStarted', 'Bound'].map((state) => [200, arq('a1', state)] as const)
  const answers: Answers = {
    'GET /accelerator_requests/a1': states,
    'GET /events?subject=a1': [403, { errors: [{ detail: 'not for you' }] }],
  }
  const { code, out, err } = await run(`${BIND.replace(' a2', '')} --wait 9`, answers)
  expect([code, out]).toEqual([0, expect.stringContaining('a1    Bound')])
  expect(err).toBe('what happens cannot be followed: GET /events?subject=a1: 403 not for you\n')
})

const MIGRATED = { applied: true, profiles: [{ name: 'p1', uuid: 'u1', changes: [{ group: 0, from: 'A', to: 'B' }] }] }
test.each<readonly [name: string, text: string, more: string, asks: string, shows: string]>([
  [
    'map.toml',
    '[traits]\nA = "B"\n',
    '',
    '{"traits":{"A":"B"},"classes":{},"apply":false,"reason":""}',
    '1 profiles would change, 1 names; --apply does it\n',
  ],
  [
    'map.json',
    '{"classes": {"C": "D"}}',
    ` --apply ${WHY}`,
    '{"traits":{},"classes":{"C":"D"},"apply":true,"reason":"it is so"}',
    'p1 (u1)\n  group 0: A -> B\n1 profiles changed, 1 names\n',
  ],
])('profiles are migrated by %s', async (name, text, more, asks, shows) => {
  const answers = { 'POST /profile_migrations': { ...MIGRATED, applied: more !== '' } }
  const { code, out, asked } = await run(`profile migrate --map ${file(name, text)}${more}`, answers)
  expect([code, asked]).toEqual([0, [`POST /profile_migrations ${asks}`]])
  expect(out).toContain(shows)
})
test.each([
  ['empty.json', '', '', 'empty.json: Unexpected end of JSON input\n'],
  ['bad.toml', 'traits = ', '', 'bad.toml: Invalid TOML document'],
  [
    'other.json',
    '{"colours": {}}',
    '',
    'other.json: colours: Invalid key: Expected never but received "colours"; it holds tables traits and classes\n',
  ],
  ['map.toml', '[traits]\n', ' --apply', '--apply needs --reason\n'],
])('a map %s with %j%s is not sent', async (name, text, more, says) => {
  const refused = await run(`profile migrate --map ${file(name, text)}${more}`)
  expect(refused).toMatchObject({ code: 2, out: '', err: expect.stringContaining(says), asked: [] })
})

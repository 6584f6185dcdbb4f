/**
 * The commands that change something: what each asks of the API, in which order, and what it prints of the answers,
 * word for word. Where a change is meant: `npx vitest run test/cli/askedActing.test.ts -u`.
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { tempFolder } from '../support/program.ts'
import { type Answer, type Answers, transcriptOf } from './scriptedApi.ts'

const folder = tempFolder('asked-acting')
afterAll(folder.remove)
const file = (name: string, text: string): string => {
  writeFileSync(join(folder.path, name), text)
  return join(folder.path, name)
}
const shown = (cases: Parameters<typeof transcriptOf>[0]) => transcriptOf(cases, [[folder.path, '<folder>']])

const REQUEST = { 'x-openstack-request-id': 'req-1' }
const DONE: Answer = [204, {}]
const refused = (status: number, detail: string): Answer => [status, { errors: [{ detail }] }]
const ok = (...documents: readonly unknown[]): readonly Answer[] => documents.map((one) => [200, one] as const)

const arq = (uuid: string, state: string) => ({
  uuid,
  state,
  device_profile_name: `profile of ${uuid}`,
  project_id: 'j1',
  hostname: 'h1',
  instance_uuid: 'i1',
  device_rp_uuid: 'r1',
  attach_handle_uuid: uuid === 'a2' ? null : `handle-${uuid}`,
  created_at: 'T1',
})
const PATCH = 'PATCH /accelerator_requests'
const at = (uuid: string) => `GET /accelerator_requests/${uuid}`
const BIND = 'arq bind a1 a2 --host h1 --resource-provider r1 --instance i1'
const both = (one: string, other: string): Answers => ({
  [PATCH]: [[202, {}]],
  [at('a1')]: ok(arq('a1', one)),
  [at('a2')]: ok(arq('a2', other)),
})
const handle = (uuid: string, state: string, holder: string | null, last: string | null) => ({
  uuid,
  state,
  arq_uuid: holder,
  last_arq_uuid: last,
})

test('requests are bound, and the answer to those that may not be read is that they are accepted', async () => {
  const hidden = (answer: Answer): Answers => ({ ...both('Bound', 'Bound'), [at('a2')]: [answer] })
  await expect(
    await shown({
      'the requests of a profile are made': {
        line: ['arq', 'create', 'a profile'],
        answers: { 'POST /accelerator_requests': ok({ arqs: [arq('a1', 'Initial'), arq('a2', 'Initial')] }) },
        also: ['-f csv', '--json'],
      },
      'two are bound, for another project': {
        line: `${BIND} --project j2`,
        answers: both('Bound', 'Bound'),
        also: ['-f csv', '--json'],
      },
      'the first of those that failed is named': {
        line: 'arq bind a1 a2 a3 --host h1 --resource-provider r1 --instance i1',
        answers: { ...both('Bound', 'BindFailed'), [at('a3')]: ok(arq('a3', 'BindFailed')) },
      },
      'one of them is of another project': { line: BIND, answers: hidden(refused(403, 'no')), also: ['--json'] },
      'one of them cannot be seen': { line: BIND, answers: hidden(refused(404, 'no')) },
      'the service fails when it is asked for them': { line: BIND, answers: hidden(refused(500, 'oh')) },
      'a bind that is refused': {
        line: BIND,
        answers: { [PATCH]: [[409, { errors: [{ detail: 'it has one', code: 'accelerator.in_use' }] }, REQUEST]] },
        also: ['-f json', '-f jsonl', '-f csv'],
      },
      'a service has to sign in': { line: BIND, answers: { [PATCH]: [[401, {}]] } },
      'it is waited for until each of them has ended': {
        line: `${BIND} --wait 9`,
        answers: {
          ...both('Bound', 'Bound'),
          [at('a1')]: ok(arq('a1', 'Initial'), arq('a1', 'BindStarted'), arq('a1', 'Bound')),
        },
      },
      'it is waited for no longer than until it has failed': {
        line: `${BIND} --wait`,
        answers: both('BindFailed', 'Bound'),
      },
      'a wait whose events may not be read': {
        line: `${BIND} --wait 9`,
        answers: {
          ...both('Bound', 'Bound'),
          [at('a1')]: ok(arq('a1', 'Initial'), arq('a1', 'BindStarted'), arq('a1', 'Bound')),
          'GET /events?subject=a1%2Ca2': [refused(403, 'not for you')],
        },
      },
      'a wait that is too short': {
        line: `${BIND} --wait 0.05`,
        answers: both('BindStarted', 'Initial'),
      },
    }),
  ).toMatchFileSnapshot('golden/askedBinds.txt')
})

test('requests are unbound and deleted', async () => {
  const unbound = both('Unbound', 'Unbound')
  const gone: Answers = { 'DELETE /accelerator_requests?arqs=a1%2Ca2': [DONE] }
  await expect(
    await shown({
      'two are unbound': { line: 'arq unbind a1 a2', answers: unbound, also: ['--json'] },
      'that cannot be read afterwards': {
        line: 'arq unbind a1 a2',
        answers: { ...unbound, [at('a1')]: [refused(403, 'no')] },
        also: ['--json'],
      },
      'it is waited for until no handle is busy with them': {
        line: 'arq unbind a1 a2 a3 --wait 9',
        answers: {
          ...unbound,
          [at('a3')]: ok(arq('a3', 'Unbound')),
          'GET /handles/handle-a1': ok(
            handle('handle-a1', 'held', 'a1', null),
            handle('handle-a1', 'held', 'a1', null),
            handle('handle-a1', 'releasing', null, 'a1'),
            handle('handle-a1', 'free', null, 'a1'),
          ),
          // somebody else has it already
          'GET /handles/handle-a3': ok(handle('handle-a3', 'held', 'another', 'a3')),
        },
      },
      'a wait that is too short': {
        line: 'arq unbind a1 a3 --wait 0.05',
        answers: {
          [PATCH]: [[202, {}]],
          [at('a1')]: ok(arq('a1', 'Bound')),
          [at('a3')]: ok(arq('a3', 'Bound')),
          'GET /handles/handle-a1': ok(handle('handle-a1', 'held', 'a1', null)),
          'GET /handles/handle-a3': ok(handle('handle-a3', 'releasing', null, 'a3')),
        },
      },
      'two are deleted': { line: 'arq delete a1 a2 --yes', answers: gone, also: ['--json'] },
      'as a service': { line: 'arq delete a1 a2 --as-service -y', answers: gone },
      'all of an instance': {
        line: 'arq delete --instance i1 --yes',
        answers: { 'DELETE /accelerator_requests?instance=i1': [DONE] },
      },
      'nobody agrees to that': { line: 'arq delete --instance i1' },
      'nobody agrees to two': { line: 'arq delete a1 a2' },
      'requests or an instance': { line: 'arq delete a1 --instance i1 --yes' },
    }),
  ).toMatchFileSnapshot('golden/askedUnbinds.txt')
})

const PROFILE = {
  name: 'small',
  uuid: 'u1',
  description: 'for all',
  version: 2,
  enabled: true,
  groups: [{ 'resources:FPGA': '1', 'trait:A': 'required' }, { 'resources:PGPU': '2' }],
  projects: ['j1', 'j2'],
  created_at: 'T1',
  updated_at: 'T2',
}
const IMPACT = {
  refusal: null,
  effect: 'kept',
  devices: ['d1'],
  instances: ['i1', 'i2'],
  projects: ['j1'],
  arqs: [{ uuid: 'a1', state: 'Bound', project_id: 'j1', instance_uuid: 'i1', hostname: 'h1' }],
  arqs_left_out: 0,
}
test('profiles are made, changed and deleted', async () => {
  const made: Answers = { 'POST /device_profiles': [[201, PROFILE]] }
  const set: Answers = { 'PATCH /device_profiles/a%20b': ok({ device_profile: PROFILE }) }
  const change = (...more: readonly string[]) => ['profile', 'set', 'a b', '--reason', 'as agreed', ...more]
  await expect(
    await shown({
      'two groups and a description': {
        line: 'profile create small --group resources:FPGA=1,trait:A=required --group resources:PGPU=2=3 --description x',
        answers: made,
        also: ['-f csv', '--json'],
      },
      'no description': { line: 'profile create small --group a=', answers: made },
      'blanks around the parts of a group, and a line break in a value': {
        line: ['profile', 'create', 'small', '--group', ' a=1 , b=2\n3 '],
        answers: made,
      },
      'a group without a value': { line: 'profile create small --group a=1,b' },
      'from a file': {
        line: `profile create small --file ${file('one.json', '{"name": "other", "groups": [{"a": "1"}], "uuid": "u9"}')}`,
        answers: made,
      },
      'the first of a list, with another description': {
        line: `profile create small --description mine --file ${file('list.json', '[{"groups": [{"a": "1"}], "description": "x"}]')}`,
        answers: made,
      },
      'the list of groups that other clients take': {
        line: `profile create small --file ${file('groups.json', '[{"resources:FPGA": "1", "trait:CUSTOM_A": "required"}, {"resources:PGPU": "2"}]')}`,
        answers: made,
      },
      'a file with two': {
        line: `profile create small --file ${file('two.json', '[{"groups": [{"a": "1"}]}, {"groups": []}]')}`,
      },
      'a file that holds none': { line: `profile create small --file ${file('none.json', '["a"]')}` },
      'a file and groups': { line: 'profile create small --file x --group a=1' },
      'a new version': {
        line: change(
          '--group',
          'a=1',
          '--description',
          'new',
          '--if-version',
          '4',
          '--project',
          'j1',
          '--project',
          'j2',
        ),
        answers: set,
        also: ['--json'],
      },
      'versions on and off': {
        line: change('--enable', '1', '--enable', '2', '--disable', '3', '--all-projects'),
        answers: set,
      },
      'no description any more': { line: change('--description', ''), answers: set },
      'nothing changes': { line: change('--if-version', '4') },
      'one project and all': { line: change('--project', 'j1', '--all-projects') },
      'whom it would concern': {
        line: change('--disable', '3', '--dry-run'),
        answers: { 'PATCH /device_profiles/a%20b?dry_run=true': ok(IMPACT) },
        also: ['-f csv', '--json'],
      },
      'two are deleted': {
        line: 'profile delete p1 p2 --yes',
        answers: { 'DELETE /device_profiles?value=p1%2Cp2': [DONE] },
        also: ['--json'],
      },
      'nobody agrees': { line: 'profile delete p1 p2' },
      'whom it would concern if two were deleted': {
        line: 'profile delete p1 p2 --dry-run',
        answers: { 'DELETE /device_profiles?value=p1%2Cp2&dry_run=true': ok({ ...IMPACT, refusal: 'in use' }) },
        also: ['--json'],
      },
    }),
  ).toMatchFileSnapshot('golden/askedProfiles.txt')
})

const HANDLE = {
  uuid: 'u1',
  state: 'releasing',
  hostname: 'h1',
  deployable_uuid: 'd1',
  arq_uuid: null,
  last_arq_uuid: 'a1',
  order: 'clean',
  quarantine: null,
}
const CLEANING = { due: 'before the next', under_way: false, last: null }
const HOST = {
  name: 'h1',
  liveness: 'up',
  last_seen_at: 'T1',
  retired: { by: 'kim', at: 'T2', reason: 'old' },
  public_key: 'key-one',
  offered_key: null,
  drivers: { pci_driver: { status: 'ok', error: null }, ssd_driver: { status: 'failed', error: null } },
  aliases: ['n1', 'n2'],
  handles: { free: 1, held: 2 },
  arqs: [],
  playbooks: [
    { driver: 'a', playbook: 'setup', status: 'ok', reason: null },
    { driver: 'b', playbook: 'clean', status: 'failed', reason: 'exit 1' },
  ],
}
const PROBED = { asked_at: 'T3', by: 'kim', answer: null }
const ANSWERED = { report_number: 7, devices: 3, failed_drivers: [], took_ms: 12 }
test('hosts, handles and devices are acted upon', async () => {
  const cleaned = (end: object): Answers => ({
    'POST /handles/u%2F1/clean': ok(HANDLE),
    'GET /handles/u%2F1': ok(HANDLE, { ...HANDLE, ...end }, { ...HANDLE, ...end, cleaning: CLEANING }),
  })
  const clean = (...more: readonly string[]) => ['handle', 'clean', 'u/1', '--reason', 'it is time', ...more]
  const probe = (document: object): Answers => ({ 'POST /hosts/h%2F1/probe': ok(document) })
  await expect(
    await shown({
      'a handle is to be cleaned': { line: clean(), answers: cleaned({}), also: ['--json'] },
      'it is waited for': { line: clean('--wait', '9'), answers: cleaned({ state: 'free', order: null }) },
      'it was not cleaned': {
        line: clean('--wait', '9'),
        answers: cleaned({ state: 'quarantined', quarantine: { by: 'host', at: 'T4', reason: 'exit 3' } }),
      },
      'its cleaning lasts': { line: clean('--wait', '0.05'), answers: cleaned({}) },
      'a host is retired, and waited for': {
        line: ['host', 'retire', 'h/1', '--reason', 'it is old', '--wait', '9'],
        answers: {
          'POST /hosts/h%2F1/retire': ok({ ...HOST, arqs: ['a1', 'a2'] }),
          'GET /hosts/h%2F1': ok({ ...HOST, arqs: ['a1', 'a2'] }, HOST),
        },
        also: ['-f csv'],
      },
      'it is in use for longer': {
        line: ['host', 'retire', 'h/1', '--reason', 'it is old', '--wait', '0.05'],
        answers: {
          'POST /hosts/h%2F1/retire': ok(HOST),
          'GET /hosts/h%2F1': ok({ ...HOST, arqs: ['a1', 'a2'] }),
        },
      },
      'nobody agrees that it is removed': { line: 'host remove h1 --reason x --force' },
      'a host that answers': {
        line: 'host probe h/1',
        answers: probe({ ...HOST, probe: { ...PROBED, answer: ANSWERED } }),
      },
      'a host of which drivers fail': {
        line: 'host probe h/1',
        answers: probe({ ...HOST, probe: { ...PROBED, answer: { ...ANSWERED, failed_drivers: ['a', 'b'] } } }),
      },
      'a host that does not answer': { line: 'host probe h/1', answers: probe({ ...HOST, probe: PROBED }) },
      'a host that never was there': {
        line: 'host probe h/1 --json',
        answers: probe({ ...HOST, probe: PROBED, last_seen_at: null }),
      },
      'a device is offered again': {
        line: 'device enable d/1',
        answers: { 'POST /devices/d%2F1/enable': ok({}), 'GET /devices/d%2F1': ok({ uuid: 'd1', status: 'enabled' }) },
        also: ['--json'],
      },
      'and no more': {
        line: 'device disable d/1',
        answers: { 'POST /devices/d%2F1/disable': ok({}), 'GET /devices/d%2F1': ok({ uuid: 'd1', model: 'x' }) },
      },
      'whom that would concern': {
        line: 'device disable d/1 --dry-run',
        answers: { 'POST /devices/d%2F1/disable?dry_run=true': ok(IMPACT) },
        also: ['--json'],
      },
    }),
  ).toMatchFileSnapshot('golden/askedHosts.txt')
})

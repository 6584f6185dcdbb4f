/** The words of each refusal that a request gets before anybody is asked: clients and people read them. */
import { describe, expect, test } from 'vitest'
import { tell, uuid } from './toldControl.ts'

const [A, B, C] = [uuid(1), uuid(2), uuid(3)] as const
const faultOf = async (line: string, body?: unknown, headers: Readonly<Record<string, string>> = {}) => {
  const { got, asked } = await tell(line, {}, { ...(body === undefined ? {} : { body }), headers })
  expect(asked).toEqual([])
  return [got.status, got.fault]
}
const add = (path: string, value: unknown = A) => ({ op: 'add', path, value })
const whole = [add('/hostname', 'h1'), add('/device_rp_uuid'), add('/instance_uuid')]
const remove = { op: 'remove', path: '/hostname' }

describe('a bind', () => {
  test.each<[body: unknown, fault: string]>([
    [{}, 'body: it holds no patch'],
    [[], 'body: it must be an object'],
    [{ x: whole }, 'x: each key must be the UUID of an accelerator request'],
    [{ ['x'.repeat(61)]: whole }, `${'x'.repeat(60)}: each key must be the UUID of an accelerator request`],
    [{ [B]: [] }, `${B}: it holds no operation`],
    [{ [B]: [{ path: '/hostname' }] }, `${B}.0.op: it is missing`],
    [{ [B]: [{ op: 'add' }] }, `${B}.0.path: it is missing`],
    [{ [B]: [{ ...add('/hostname'), op: 'replace' }] }, `${B}.op: it must be add or remove`],
    [{ [B]: [{ ...add('/hostname'), op: 'toString' }] }, `${B}.op: it must be add or remove`],
    [{ [B]: [...whole, remove] }, `${B}.op: all must be add, or all remove`],
    [{ [B]: [...whole, add('/colour')] }, `${B}.path: there is no path /colour`],
    [{ [B]: [...whole, add('/hostname/x')] }, `${B}.path: there is no path /hostname/x`],
    [{ [B]: [...whole, add('x/hostname')] }, `${B}.path: there is no path x/hostname`],
    [{ [B]: [...whole.slice(1), add('host/name')] }, `${B}.path: there is no path host/name`],
    [{ [B]: [...whole.slice(1), add('toString')] }, `${B}.path: there is no path toString`],
    [{ [B]: [...whole, add('x'.repeat(61))] }, `${B}.path: there is no path ${'x'.repeat(60)}`],
    [{ [B]: [...whole, add('hostname', 'h2')] }, `${B}.path: the path hostname is given twice`],
    [{ [B]: [{ op: 'add', path: '/hostname' }] }, `${B}.hostname: its value is missing`],
    [{ [B]: whole.slice(1) }, `${B}.hostname: it is missing`],
    [{ [B]: whole.slice(0, 2) }, `${B}.instance_uuid: it is missing`],
    [{ [B]: whole.slice(0, 1) }, `${B}.device_rp_uuid: it is missing`],
    [{ [B]: [...whole.slice(0, 2), add('/instance_uuid', null)] }, `${B}.instance_uuid: it is missing`],
    [{ [B]: [...whole.slice(0, 2), add('/instance_uuid', 'x')] }, `${B}.instance_uuid: it must be a UUID`],
    [{ [B]: [...whole.slice(1), add('/hostname', '')] }, `${B}.hostname: it must be a text of 1 to 255 characters`],
    [{ [B]: [...whole.slice(1), add('/hostname', 5)] }, `${B}.hostname: it must be a text of 1 to 255 characters`],
    [{ [B]: [...whole.slice(1), add('/hostname', 'a b')] }, `${B}.hostname: it holds white space`],
    [
      { [B]: [...whole.slice(1), add('/hostname', 'h'.repeat(256))] },
      `${B}.hostname: it must not be longer than 255 characters`,
    ],
    [{ [B]: [...whole, add('/project_id', ' ')] }, `${B}.project_id: it must be a text of 1 to 255 characters`],
    [{ [B]: [...whole, add('/project_id', null)] }, `${B}.project_id: it must be a text of 1 to 255 characters`],
    [{ [B]: whole, [C]: [remove] }, 'op: one request either binds or unbinds'],
  ])('%j', async (body, fault) =>
    expect(await faultOf('PATCH /v2/accelerator_requests', body)).toEqual([400, `Invalid ${fault}`]),
  )
  test('that names another request in its path than in its body', async () => {
    const fault = 'The path names a request that the body does not.'
    for (const body of [{ [B]: whole }, { [B]: [remove] }])
      expect(await faultOf(`PATCH /v2/accelerator_requests/${C}`, body)).toEqual([409, fault])
  })
  test.each([
    [{ [B]: whole, [B.replaceAll('-', '')]: whole }, 'The body names one accelerator request twice.'],
    [{ [B]: whole, [C]: [...whole.slice(0, 2), add('/instance_uuid', B)] }, 'One request binds for one instance.'],
  ])('that contradicts itself: %j', async (body, fault) =>
    expect(await faultOf('PATCH /v2/accelerator_requests', body)).toEqual([409, fault]),
  )
  test('that sets a project too early, or not as an administrator', async () => {
    const body = { [B]: [...whole, add('/project_id', 'p')] }
    const of = (headers: Readonly<Record<string, string>>) => faultOf('PATCH /v2/accelerator_requests', body, headers)
    expect(await of({ 'OpenStack-API-Version': 'accelerator 2.0' })).toEqual([
      406,
      'The path /project_id is understood since version 2.1.',
    ])
    expect(await of({ 'OpenStack-API-Version': 'accelerator 2.1', 'X-Roles': 'member' })).toEqual([
      403,
      'Only an administrator may set project_id.',
    ])
  })
})

const group = (more: object = {}) => ({ 'resources:FPGA': '1', ...more })
const profile = (more: object = {}) => [{ name: 'n', groups: [group()], ...more }]
const classes = 'there is no such resource class'
const traits = 'the trait must start with CUSTOM_ or be OWNER_CYBORG'
const amount = 'the amount must be an integer from 1 to 256'
const selectors = 'accel:bitstream_id, accel:bitstream_name, accel:function_id, accel:function_name'
describe('a device profile', () => {
  test.each<[body: unknown, fault: string]>([
    [[], 'body: it must be a list of exactly one device profile'],
    [[1, 2], 'body: it must be a list of exactly one device profile'],
    ['x', 'body: it must be a list of exactly one device profile'],
    [profile({ name: undefined }), 'name: it is missing'],
    [profile({ name: 'a b' }), 'name: it may hold letters, digits, "_" and "-" only'],
    [profile({ name: 'a\n' }), 'name: it may hold letters, digits, "_" and "-" only'],
    [profile({ groups: {} }), 'groups: it must be a list of at least one object'],
    [profile({ groups: [] }), 'groups: it must be a list of at least one object'],
    [profile({ groups: Array(101).fill(group()) }), 'groups: there must not be more than 100'],
    [profile({ groups: [group(), 5] }), 'groups[1]: it must be an object'],
    [profile({ uuid: 'x' }), 'uuid: it must be a UUID'],
    [profile({ description: 'd'.repeat(65_536) }), 'description: it must not be longer than 65535 characters'],
    [profile({ groups: [{ 'trait:CUSTOM_A': 'required' }] }), 'groups[0]: it asks for no resources'],
    [profile({ groups: [group({ x: 1 })] }), 'groups[0].x: its name must start with resources:, trait: or accel:'],
    [
      profile({ groups: [group({ traits: 1 })] }),
      'groups[0].traits: its name must start with resources:, trait: or accel:',
    ],
    [
      profile({ groups: [group({ [`x${'y'.repeat(100)}`]: 1 })] }),
      `groups[0].x${'y'.repeat(99)}: its name must start with resources:, trait: or accel:`,
    ],
    [profile({ groups: [group({ 'accel:bitstream_id': [] })] }), 'groups[0].accel:bitstream_id: it must be a string'],
    [
      profile({ groups: [group({ 'constructor:x': 1 })] }),
      'groups[0].constructor:x: its name must start with resources:, trait: or accel:',
    ],
    [profile({ groups: [{ 'resources:VCPU': 1 }] }), `groups[0].resources:VCPU: ${classes}`],
    [profile({ groups: [{ 'resources:fpga': 1 }] }), `groups[0].resources:fpga: ${classes}`],
    [profile({ groups: [{ 'resources:CUSTOM_': 1 }] }), `groups[0].resources:CUSTOM_: ${classes}`],
    [profile({ groups: [group({ 'trait:HW_X': 'required' })] }), `groups[0].trait:HW_X: ${traits}`],
    [
      profile({ groups: [group({ 'trait:CUSTOM_A': 'wanted' })] }),
      'groups[0].trait:CUSTOM_A: it must be required or forbidden',
    ],
    ...[0, 257, 1.5, -1, '0', '257', '', 'one', '1 1', null].map((bad): [unknown, string] => [
      profile({ groups: [{ 'resources:FPGA': bad }] }),
      `groups[0].resources:FPGA: ${amount}`,
    ]),
    [
      profile({ groups: [group({ 'accel:a b': 'x' })] }),
      'groups[0].accel:a b: its name may hold letters, digits, "_", ":" and "-" only',
    ],
    [profile({ groups: [group({ 'accel:x': [] })] }), 'groups[0].accel:x: it must be a string'],
    [
      profile({ groups: [group({ 'accel:bitstream_id': 'x' })] }),
      'groups[0].accel:bitstream_id: it must be the UUID of an image',
    ],
    [profile({ groups: [group({ 'accel:function_id': '' })] }), 'groups[0].accel:function_id: it must not be empty'],
    [
      profile({ groups: [group({ 'accel:attach_target': 'vm' })] }),
      'groups[0].accel:attach_target: it must be VM, host or none',
    ],
    [
      profile({ groups: [group({ 'accel:cleaning': 'none' })] }),
      'groups[0].accel:cleaning: it must be required or quarantine: a profile may ask for more than the operator of a host has chosen, not for less',
    ],
    [
      profile({ groups: [group({ 'accel:bitstream_id': A, 'accel:function_name': 'f' })] }),
      `groups[0]: it may hold only one of ${selectors}`,
    ],
  ])('case %#', async (body, fault) =>
    expect(await faultOf('POST /v2/device_profiles', body)).toEqual([400, `Invalid ${fault}`]),
  )
  test('that clients expect to be a fault of the server', async () => {
    const long = 'it must not be longer than 255 characters'
    expect(await faultOf('POST /v2/device_profiles', profile({ name: '' }))).toEqual([500, 'Invalid name: it is empty'])
    expect(await faultOf('POST /v2/device_profiles', profile({ name: 'n'.repeat(256) }))).toEqual([
      500,
      `Invalid name: ${long}`,
    ])
  })
  test.each<[body: object, fault: string]>([
    [{}, 'body: it must hold groups, description, versions or projects'],
    [{ versions: {} }, 'body: it must hold groups, description, versions or projects'],
    [
      { enabled: false, versions: { 1: true } },
      'enabled: it is said of a new version, which groups or description make; versions changes others',
    ],
    [{ versions: { '01': true } }, 'versions.01: it must be the number of a version'],
    [
      { versions: Object.fromEntries(Array.from({ length: 33 }, (_, n) => [n + 1, true])) },
      'versions: there must not be more than 32',
    ],
    [{ projects: Array(1001).fill('p') }, 'projects: there must not be more than 1000'],
    [{ projects: [' '] }, 'projects.0: it is empty'],
    [{ groups: [{}] }, 'groups[0]: it asks for no resources'],
    [{ description: 'd', reason: ' ' }, 'reason: it is empty'],
    [{ description: 'd', reason: 'r'.repeat(1001) }, 'reason: it must not be longer than 1000 characters'],
  ])('that is changed by %j', async (body, fault) =>
    expect(await faultOf('PATCH /v2/device_profiles/n', { reason: 'r', ...body })).toEqual([400, `Invalid ${fault}`]),
  )
})

describe('other requests', () => {
  const EVENT = 'it must be the id of an event, as it was received'
  const names = (count: number) => Array.from({ length: count }, (_, n) => `n${n}`).join(',')
  test.each<[line: string, body: unknown, status: number, fault: string]>([
    ['GET /v2/devices?failing=yes', undefined, 400, 'Invalid failing: it must be true or false'],
    ['GET /v2/devices?sort_dir=up', undefined, 400, 'Invalid sort_dir: it must be asc or desc'],
    ['GET /v2/devices?limit=0', undefined, 400, 'Invalid limit: it must be an integer from 1 to 2147483647'],
    ['GET /v2/devices?limit=2147483648', undefined, 400, 'Invalid limit: it must be an integer from 1 to 2147483647'],
    ['GET /v2/devices?limit=1x', undefined, 400, 'Invalid limit: it must be an integer from 1 to 2147483647'],
    ['GET /v2/devices?limit=%2B1', undefined, 400, 'Invalid limit: it must be an integer from 1 to 2147483647'],
    ['GET /v2/devices?colour=x', undefined, 400, 'Invalid colour: there is no such query argument here'],
    ['GET /v2/devices?vendor=%zz', undefined, 400, 'Invalid query: its percent-encoding is broken'],
    [
      'GET /v2/devices?filters=5',
      undefined,
      400,
      'Invalid filters: it must be JSON that pairs each field with a value',
    ],
    [
      'GET /v2/devices?filters=[5]',
      undefined,
      400,
      'Invalid filters: it must be JSON that pairs each field with a value',
    ],
    ['GET /v2/devices?filters.field=vendor', undefined, 400, 'Invalid filters: each field needs one value'],
    ['GET /v2/devices?filters.value=x', undefined, 400, 'Invalid filters: each value needs a field'],
    [
      'GET /v2/devices?filters.field=colour&filters.value=x',
      undefined,
      400,
      'Invalid filters: there is no field "colour"',
    ],
    [
      `GET /v2/devices?filters=${encodeURIComponent(JSON.stringify({ ['x'.repeat(61)]: '' }))}`,
      undefined,
      400,
      `Invalid filters: there is no field "${'x'.repeat(60)}"`,
    ],
    [
      'GET /v2/devices?as_of=2026-02-29',
      undefined,
      400,
      'Invalid as_of: it must be a day or a moment in UTC, such as 2026-03-01 or 2026-03-01T08:15:30Z',
    ],
    [
      'GET /v2/attributes?deployable_id=x',
      undefined,
      400,
      'Invalid deployable_id: it must be the integer id or the UUID of a deployable',
    ],
    ['GET /v2/accelerator_requests?arqs=x', undefined, 400, 'Invalid arqs: each element must be a UUID'],
    ['GET /v2/accelerator_requests/x', undefined, 400, 'Invalid uuid: it must be a UUID'],
    ['GET /v2/devices/x', undefined, 404, 'The device x could not be found.'],
    ['GET /v2/device_profiles/a%20b', undefined, 404, 'The device profile a b could not be found.'],
    ['POST /v2/device_profiles/a%20b/check', undefined, 404, 'The device profile a b could not be found.'],
    ['DELETE /v2/device_profiles?value=a%20b', undefined, 404, 'The device profile a b could not be found.'],
    ['DELETE /v2/device_profiles?value=n,a%20b,c%20d', undefined, 404, 'The device profile a b could not be found.'],
    [
      'POST /v2/accelerator_requests',
      { device_profile_name: 'a b' },
      404,
      'The device profile a b could not be found.',
    ],
    [
      'POST /v2/accelerator_requests',
      { device_profile_name: 5 },
      400,
      'Invalid device_profile_name: it must be a string',
    ],
    ['DELETE /v2/accelerator_requests', undefined, 400, 'Invalid arqs: exactly one of arqs and instance must be given'],
    ['DELETE /v2/device_profiles', undefined, 400, 'Invalid value: exactly one of value and name must be given'],
    ['DELETE /v2/device_profiles?name=a,', undefined, 400, 'Invalid name: it holds an empty element'],
    ['DELETE /v2/device_profiles?value=a,', undefined, 400, 'Invalid value: it holds an empty element'],
    [
      'DELETE /v2/device_profiles?value=a&name=a',
      undefined,
      400,
      'Invalid value: exactly one of value and name must be given',
    ],
    ['DELETE /v2/hosts/h1', undefined, 400, 'Invalid reason: it is missing'],
    ['DELETE /v2/hosts/h1?reason=', undefined, 400, 'Invalid reason: it is missing'],
    [
      `PATCH /v2/deployables/${A}/program/${B}`,
      [{ op: 'add', path: '/program', value: B }],
      409,
      'The path names two different deployables.',
    ],
    [
      `PATCH /v2/deployables/${A}`,
      [{ op: 'add', path: '/program', value: {} }],
      400,
      'Invalid 0.value: it must be [{"image_uuid": "<uuid>"}]',
    ],
    ['POST /v2/attributes', { deployable_id: 1, key: '', value: '' }, 400, 'Invalid key: it is empty'],
    [
      'POST /v2/attributes',
      { deployable_id: 1.5, key: 'k', value: '' },
      400,
      'Invalid deployable_id: it must be the integer id or the UUID of a deployable',
    ],
    [
      'POST /v2/attributes',
      { deployable_id: 1, key: 'k', value: '', parent_uuid: 'x' },
      400,
      'Invalid parent_uuid: it must be a UUID',
    ],
    ['POST /v2/orphans/collect', { instance_uuids: [] }, 400, 'Invalid instance_uuids: it must name an instance'],
    [
      'POST /v2/orphans/collect',
      { instance_uuids: Array(101).fill(A) },
      400,
      'Invalid instance_uuids: it must name at most 100 instances',
    ],
    ['POST /v2/orphans/collect', { instance_uuids: [A, 'x'] }, 400, 'Invalid instance_uuids.1: it must be a UUID'],
    ['POST /v2/orphans/collect', { instance_uuids: ['x', A] }, 400, 'Invalid instance_uuids.0: it must be a UUID'],
    [
      'POST /v2/hosts/h1/approve',
      { reason: 'r', public_key: 'x' },
      400,
      'Invalid public_key: must be a public key: 43 characters of base64url',
    ],
    ['GET /v2/events?after=x', undefined, 400, `Invalid after: ${EVENT}`],
    [`GET /v2/events?host=${names(101)}`, undefined, 400, 'Invalid host: at most 100 may be listed'],
    [`GET /v2/events?type=${names(101)}&host=${names(101)}`, undefined, 400, 'Invalid type: at most 100 may be listed'],
    [
      'GET /v2/events?kind=arq,card',
      undefined,
      400,
      'Invalid kind: it must be among arq, deployable, device, host, instance, placement, profile',
    ],
  ])('%s %j', async (line, body, status, fault) => expect(await faultOf(line, body)).toEqual([status, fault]))
  test('a client that comes back with an id that is none', async () =>
    expect(await faultOf('GET /v2/events', undefined, { 'Last-Event-ID': 'x' })).toEqual([
      400,
      `Invalid Last-Event-ID: ${EVENT}`,
    ]))
  test('too old a version', async () => {
    const older = (minor: number) => ({ 'OpenStack-API-Version': `accelerator 2.${minor}` })
    expect(await faultOf('GET /v2/device_profiles/n', undefined, older(1))).toEqual([
      406,
      'Device profiles are found by name since version 2.2.',
    ])
    const versions = 'Device profiles have versions since version 2.5.'
    expect(await faultOf('GET /v2/device_profiles/n/versions', undefined, older(4))).toEqual([406, versions])
    const change = { description: 'd', reason: 'r' }
    expect(await faultOf('PATCH /v2/device_profiles/n', change, older(4))).toEqual([406, versions])
  })
})

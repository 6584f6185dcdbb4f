/** What clients ask during a short life of a small cloud: each route with what it accepts, shows and refuses. */
import { bindBody, unbindBody } from '../http/cloud.ts'
import { type As, type Scene, SERVER, type Stage, UNKNOWN } from './answers.ts'
import { AGAIN, DONE, HOST, NEVER, answer, placeOf, shows } from './scenario.ts'

const LISTS = ['device_profiles', 'accelerator_requests', 'devices', 'deployables', 'attributes', 'hosts', 'handles']
const ALL: readonly As[] = ['admin', 'service', 'tenant', 'stranger', 'manager', 'nobody']

const entrance: Scene = async ({ ask }) => {
  for (const path of ['/', '/v2', '/accelerator/v2', '/healthz', '/readyz']) await ask(`GET ${path}`, { as: 'nobody' })
  for (const list of [...LISTS, 'drift', 'orphans']) await ask(`GET /v2/${list}`)
  for (const list of LISTS) await ask(`GET /v2/${list}/${UNKNOWN}`)
  for (const list of LISTS) await ask(`GET /v2/${list}/no-uuid`, { as: 'newest' })
  for (const list of [...LISTS, 'nothing']) await ask(`PUT /v2/${list}`)
  for (const version of ['2.1', 'accelerator 2.9', '3.0', 'compute 2.1, accelerator 2.3', 'one'])
    await ask('GET /v2/devices', { headers: { 'OpenStack-API-Version': version } })
  for (const headers of [
    { Origin: 'http://elsewhere.example' },
    { 'Sec-Fetch-Site': 'cross-site' },
    { Host: 'elsewhere.example' },
    { 'X-Project-Id': 'p\u0001' },
  ])
    await ask('GET /v2/devices', { headers })
}

const inventory: Scene = async ({ ask, cloud }) => {
  await shows(cloud, cloud.shown)
  for (const as of ALL) await ask('GET /v2/hosts', { as })
  await ask(`GET /v2/hosts/${HOST}`)
  await ask(`GET /v2/hosts/${HOST}`, { as: 'manager' })
  for (const as of ['admin', 'newest'] as const) {
    const { devices } = await ask('GET /v2/devices', { as })
    await ask(`GET /v2/devices/${devices[1].uuid}`, { as })
    const { deployables } = await ask('GET /v2/deployables', { as })
    await ask(`GET /v2/deployables/${deployables[0].uuid}`, { as })
    const { attributes } = await ask('GET /v2/attributes', { as })
    await ask(`GET /v2/attributes/${attributes[0].uuid}`, { as })
  }
  const { handles } = await ask('GET /v2/handles')
  await ask(`GET /v2/handles/${handles[0].uuid}`)
}

const pages: Scene = async ({ ask }) => {
  const { handles, handles_links: links } = await ask('GET /v2/handles?limit=2')
  await ask(`GET ${new URL(links[0].href).pathname}${new URL(links[0].href).search}`)
  await ask(`GET /v2/handles?limit=2&marker=${handles[1].uuid}&sort_key=uuid&sort_dir=desc`)
  const queries = [
    'devices?sort_key=vendor&sort_dir=desc',
    'devices?type=FPGA',
    'devices?vendor=none&hostname=compute-1',
    'devices?status=enabled&hostname=compute-1&limit=1',
    'devices?filters.field=type&filters.value=GPU',
    'devices?filters=%5B%7B%22field%22%3A%22type%22%2C%22value%22%3A%22GPU%22%7D%5D&type=FPGA',
    'devices?filters.field=height&filters.value=1',
    'devices?filters.field=type',
    'devices?filters=no',
    'deployables?device_id=2',
    `deployables?device_uuid=${UNKNOWN}`,
    'deployables?name=compute-1_none',
    'deployables?sort_key=name&sort_dir=desc&limit=1',
    'attributes?deployable_id=1&key=rc',
    'attributes?deployable_id=0&key=rc&sort_key=deployable_id&sort_dir=desc',
    `attributes?deployable_id=${UNKNOWN}`,
    'attributes?deployable_id=x',
    'handles?state=held',
    'handles?hostname=compute-1&limit=1',
    'handles?hostname=compute-2',
    `handles?deployable_uuid=${UNKNOWN}`,
    'handles?state=lost',
    'hosts?marker=compute-0',
    'hosts?marker=compute-1',
    'devices?limit=0',
    'devices?limit=1&limit=2',
    'devices?sort_key=model',
    'devices?sort_dir=up',
    `devices?marker=${UNKNOWN}`,
    'devices?colour=red',
  ]
  for (const query of queries) await ask(`GET /v2/${query}`)
}

const profile = (name: unknown, groups: unknown, more: object = {}) => ({ body: [{ name, groups, ...more }] })
const profiles: Scene = async ({ ask }) => {
  const path = 'POST /v2/device_profiles'
  const fpga = { 'resources:FPGA': '1' }
  await ask(path, profile('fpga', [fpga], { description: 'one card' }))
  await ask(path, profile('pair', [{ 'resources:FPGA': 1, 'trait:custom-fpga-xilinx': 'required', 'accel:x': 3 }]))
  await ask(path, profile('gpu', [{ ' resources:PGPU ': '1' }]))
  await ask(path, profile('gpu', [{ 'resources:PGPU': ' 01 ' }], { uuid: UNKNOWN.toUpperCase() }))
  await ask(path, profile('both', [fpga, { 'resources:CUSTOM_GPU': '1', 'trait:CUSTOM_A': 'forbidden' }]))
  await ask(path, { ...profile('theirs', [fpga]), as: 'tenant' })
  const broken: readonly (readonly [unknown, unknown, object?])[] = [
    ['fpga', [fpga]],
    ['again', [fpga], { uuid: UNKNOWN }],
    ['', [fpga]],
    ['a'.repeat(256), [fpga]],
    ['a b', [fpga]],
    [UNKNOWN, [fpga]],
    [7, [fpga]],
    ['none', []],
    ['none', 'fpga'],
    ['none', ['fpga']],
    ['none', [{}]],
    ['none', [{ 'trait:CUSTOM_A': 'required' }]],
    ['none', [{ 'resources:FPGAS': 1 }]],
    ['none', [{ 'resources:FPGA': 0 }]],
    ['none', [{ 'resources:FPGA': 257 }]],
    ['none', [{ 'resources:FPGA': '1.5' }]],
    ['none', [{ 'resources:FPGA': 200 }, { 'resources:FPGA': 57 }]],
    ['none', [{ ...fpga, 'trait:HW': 'required' }]],
    ['none', [{ ...fpga, 'trait:CUSTOM_A': 'wanted' }]],
    ['none', [{ ...fpga, 'accel:bitstream_id': 'x' }]],
    ['none', [{ ...fpga, 'accel:bitstream_name': '' }]],
    ['none', [{ ...fpga, 'accel:attach_target': 'disk' }]],
    ['none', [{ ...fpga, 'accel:function_id': 'a', 'accel:function_name': 'b' }]],
    ['none', [{ ...fpga, 'accel:a b': 'c' }]],
    ['none', [{ ...fpga, 'accel:a': null }]],
    ['none', [{ ...fpga, other: 'c' }]],
    ['none', [{ 'resources:CUSTOM_A': 1, 'resources:custom-a': 1 }]],
    ['none', [fpga], { description: 'd'.repeat(256) }],
    ['none', [fpga], { uuid: 'x' }],
  ]
  for (const one of broken) await ask(path, profile(...one))
  for (const body of [[], [1], null, [profile('a', [fpga]), profile('b', [fpga])]]) await ask(path, { body })
}

const profileReads: Scene = async ({ ask }) => {
  for (const id of ['fpga', UNKNOWN, UNKNOWN.toUpperCase(), 'nobody', 'a%20b']) {
    await ask(`GET /v2/device_profiles/${id}`, { as: 'newest' })
    await ask(`GET /v2/device_profiles/${id}`)
  }
  for (const query of ['name=gpu,nobody,fpga', 'name=', 'sort_key=name&sort_dir=desc', 'limit=2', 'name=a%20b,both'])
    await ask(`GET /v2/device_profiles?${query}`, { as: 'tenant' })
  const removals = [
    '/nobody',
    '?value=both,nobody',
    '?value=both,',
    '?name=both&value=both',
    '?name=a%20b',
    '',
    `?value=both,${UNKNOWN}`,
    '/both',
  ]
  for (const rest of removals) await ask(`DELETE /v2/device_profiles${rest}`)
  await ask(`DELETE /v2/device_profiles/fpga`, { as: 'tenant' })
  await ask('POST /v2/device_profiles', profile('gpu', [{ 'resources:PGPU': '1' }]))
  const migrations = [
    { traits: { 'custom-fpga-xilinx': 'CUSTOM_CARD' } },
    { traits: { CUSTOM_FPGA_XILINX: 'CUSTOM_CARD' }, apply: true },
    { traits: { CUSTOM_FPGA_XILINX: 'CUSTOM_CARD' }, apply: true, reason: 'renamed' },
    { traits: { CUSTOM_FPGA_XILINX: 'CUSTOM_CARD' } },
    { traits: { CUSTOM_CARD: 'CUSTOM_FPGA_XILINX' }, classes: { PGPU: 'GPU' } },
    { traits: { A: 'CUSTOM_A', ' a': 'CUSTOM_B' } },
    { traits: { ' ': 'CUSTOM_A' } },
    { traits: { A: 'B' } },
    { classes: { FPGA: 'CARD' } },
    {},
    { traits: { A: 'CUSTOM_A' }, more: 1 },
    { traits: { CUSTOM_CARD: 'CUSTOM_FPGA_XILINX' }, apply: true, reason: ' back ' },
  ]
  for (const body of migrations) await ask('POST /v2/profile_migrations', { body })
  await ask('POST /v2/profile_migrations', { body: migrations[0], as: 'manager' })
}

export type Arqs = readonly { readonly uuid: string; readonly state: string }[]
export const requests = async ({ ask, cloud }: Stage, name: string): Promise<Arqs> => {
  const { arqs } = await ask('POST /v2/accelerator_requests', { body: { device_profile_name: name }, as: 'tenant' })
  await cloud.clock.pass(1)
  return arqs
}
export const providerOf = async ({ cloud }: Stage, rc: string): Promise<string> => (await placeOf(cloud, rc)).rp_uuid!
export const PATCH = 'PATCH /v2/accelerator_requests'

const refusedBinds: Scene = async (stage) => {
  const { ask } = stage
  for (const body of [{ device_profile_name: 'nobody' }, { device_profile_name: 'a b' }, {}, []])
    await ask('POST /v2/accelerator_requests', { body, as: 'tenant' })
  const fpga = await providerOf(stage, 'FPGA')
  const gpu = await providerOf(stage, 'PGPU')
  const arqs = await requests(stage, 'fpga')
  const { uuid } = arqs[0]!
  const bodies: readonly object[] = [
    bindBody(arqs, gpu, SERVER(1), HOST),
    bindBody(arqs, UNKNOWN, SERVER(1), HOST),
    bindBody([...arqs, { uuid: UNKNOWN, state: '' }], fpga, SERVER(1), HOST),
    bindBody(arqs, fpga, SERVER(1), ' '),
    bindBody(arqs, fpga, SERVER(1), 'a b'),
    bindBody(arqs, fpga, 'x', HOST),
    { x: bindBody(arqs, fpga, SERVER(1), HOST)[uuid] },
    { [uuid]: [] },
    {},
    { [uuid]: [{ op: 'replace', path: '/hostname', value: 'a' }] },
    { [uuid]: [{ op: 'add', path: '/hostname', value: 'a' }] },
    { [uuid]: [{ op: 'add', path: '/hostname' }] },
    { [uuid]: [{ op: 'add', path: '/colour', value: 'a' }] },
    { [uuid]: [...unbindBody(arqs)[uuid]!, ...bindBody(arqs, fpga, SERVER(1), HOST)[uuid]!] },
    { [uuid]: [...bindBody(arqs, fpga, SERVER(1), HOST)[uuid]!, { op: 'add', path: '/project_id', value: 'p3' }] },
    unbindBody([{ uuid: UNKNOWN, state: '' }]),
  ]
  for (const body of bodies) await ask(PATCH, { body, as: 'service' })
  await ask(PATCH, { body: bindBody(arqs, fpga, SERVER(1), HOST), as: 'tenant' })
  await ask(PATCH, { body: unbindBody(arqs), as: 'tenant' })
  await ask(`${PATCH}/${UNKNOWN}`, { body: bindBody(arqs, fpga, SERVER(1), HOST), as: 'service' })
  for (const as of ['tenant', 'stranger', 'admin'] as const) {
    await ask(`GET /v2/accelerator_requests/${uuid}`, { as })
    await ask(`GET /v2/accelerator_requests?arqs=${uuid},${UNKNOWN}`, { as })
    await ask(`GET /v2/accelerator_requests/${uuid}/timeline`, { as })
  }
  for (const rest of ['?arqs=x', '', `?arqs=${uuid}&instance=${SERVER(1)}`, `/${UNKNOWN}`, `?instance=${SERVER(1)}`])
    await ask(`DELETE /v2/accelerator_requests${rest}`, { as: 'tenant' })
  await ask(`DELETE /v2/accelerator_requests/${uuid}`, { as: 'stranger' })
  await ask(`DELETE /v2/accelerator_requests?arqs=${uuid},${UNKNOWN}`, { as: 'tenant' })
  await ask(`GET /v2/accelerator_requests/${uuid}/timeline`, { as: 'tenant' })
}

/** How an instance and its requests look to those who may ask. */
const look = async ({ ask }: Stage, server: string, arqs: Arqs) => {
  for (const as of ['service for p1', 'service', 'tenant', 'stranger'] as const) {
    await ask(`GET /v2/accelerator_requests?instance=${server}`, { as })
    await ask(`GET /v2/accelerator_requests?instance=${server}&bind_state=resolved`, { as })
  }
  for (const { uuid } of arqs) await ask(`GET /v2/accelerator_requests/${uuid}`, { as: 'tenant' })
}

const binds: Scene = async (stage) => {
  const { ask, cloud, talk } = stage
  const fpga = await providerOf(stage, 'FPGA')
  // the card has two functions, each an accelerator of its own
  const { uuid: card } = await placeOf(cloud, 'FPGA')
  const trait = { deployable_id: card, key: 'trait9', value: 'CUSTOM_FPGA_XILINX' }
  await ask('POST /v2/attributes', { body: trait })
  const arqs = await requests(stage, 'pair')
  const body = bindBody(arqs, fpga, SERVER(1), HOST)
  await ask(PATCH, { body, as: 'service' })
  await ask(PATCH, { body, as: 'service' })
  await ask(PATCH, { body: bindBody(arqs.slice(1), fpga, SERVER(1), HOST), as: 'service' })
  await ask(PATCH, { body: bindBody(arqs, fpga, SERVER(2), HOST), as: 'service' })
  const more = await requests(stage, 'fpga')
  await ask(PATCH, { body: bindBody(more, fpga, SERVER(1), HOST), as: 'service' })
  await ask(PATCH, { body: bindBody(more, fpga, SERVER(2), HOST), as: 'service' })
  talk.title('while the host works')
  await look(stage, SERVER(1), arqs)
  await ask('GET /v2/handles')
  await cloud.pump()
  for (const order of cloud.orders.splice(0)) await cloud.answer(order)
  await cloud.clock.pass(4000)
  talk.title('bound')
  await look(stage, SERVER(1), arqs)
  const { handles } = await ask('GET /v2/handles?state=held')
  for (const as of ['admin', 'manager', 'tenant'] as const) await ask(`GET /v2/handles/${handles[0].uuid}`, { as })
  await ask(`GET /v2/hosts/${HOST}`)
  await ask(`DELETE /v2/hosts/${HOST}?reason=sold`)
  await ask('DELETE /v2/device_profiles/pair')
  for (const as of ['admin', 'tenant'] as const)
    await ask(`GET /v2/accelerator_requests/${arqs[0]!.uuid}/timeline`, { as })
  await ask(`DELETE /v2/accelerator_requests/${arqs[0]!.uuid}`, { as: 'tenant' })
  await ask(`DELETE /v2/accelerator_requests?instance=${SERVER(1)}`, { as: 'tenant' })
  await ask(PATCH, { body: unbindBody(arqs), as: 'service' })
  await ask(`DELETE /v2/accelerator_requests?arqs=${more[0]!.uuid}`, { as: 'tenant' })
}

/** One release that fails for good, one that the host answers late, and a bind that fails. */
const failures: Scene = async (stage) => {
  const { ask, cloud, talk } = stage
  const { arqs } = await ask('GET /v2/accelerator_requests?sort_key=uuid')
  await cloud.pump()
  const [first, second] = cloud.orders.splice(0)
  await cloud.answer(first!, NEVER)
  await cloud.answer(second!, AGAIN)
  await cloud.clock.pass(1)
  await ask('GET /v2/handles')
  const { handles } = await ask('GET /v2/handles?state=quarantined')
  for (const as of ['admin', 'stranger'] as const) await ask(`GET /v2/handles/${handles[0].uuid}`, { as })
  for (const { uuid } of arqs) await ask(`GET /v2/accelerator_requests/${uuid}`)
  await ask(`GET /v2/accelerator_requests/${first!.type === 'ReleaseSlot' ? arqs[0].uuid : UNKNOWN}/timeline`)
  await answer(cloud, 'ReleaseSlot', DONE)
  talk.title('a bind that fails')
  const more = await requests(stage, 'fpga')
  const fpga = await providerOf(stage, 'FPGA')
  await ask(PATCH, { body: bindBody(more, fpga, SERVER(3), HOST), as: 'service' })
  await answer(cloud, 'PrepareSlot', NEVER)
  await look(stage, SERVER(3), more)
  for (const as of ['admin', 'tenant'] as const)
    await ask(`GET /v2/accelerator_requests/${more[0]!.uuid}/timeline`, { as })
  await answer(cloud, 'ReleaseSlot', DONE)
  await ask(`DELETE /v2/accelerator_requests?instance=${SERVER(3)}`, { as: 'service' })
  await ask('GET /v2/handles')
}

/** In the order in which they are asked; each goes on from what the ones before have left. */
export const CLIENTS: Readonly<Record<string, Scene>> = {
  'a cloud without hosts': entrance,
  'a host has shown its devices': inventory,
  'pages, orders and filters': pages,
  'device profiles': profiles,
  'device profiles that exist': profileReads,
  'binds that are refused': refusedBinds,
  binds,
  'what fails': failures,
}

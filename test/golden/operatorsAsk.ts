/**
 * What operators ask and decide in a small cloud that is in use: handles, hosts, devices, programs, Placement and
 * servers that are gone.
 */
import { bindBody } from '../http/cloud.ts'
import { type Scene, SERVER, type Stage, UNKNOWN } from './answers.ts'
import { type Arqs, PATCH, providerOf, requests } from './clientsAsk.ts'
import { BOOT, type Cloud, COMPUTE_NODE, DONE, HOST, IMAGE, NEVER, answer, shows } from './scenario.ts'

/** Requests that changed more recently are kept whatever Nova says. */
const SETTLED_MS = 601_000
const WORD = { body: { reason: ' looked at ' } }

/** The host does all that it was ordered. */
const carriedOut = async ({ pump, orders, answer: told }: Cloud) => {
  await pump()
  for (const order of orders.splice(0)) await told(order)
}
/** Bound for this server, and told to Nova. */
const bound = async (stage: Stage, profile: string, rc: string, server: string): Promise<Arqs> => {
  const { ask, cloud } = stage
  const arqs = await requests(stage, profile)
  await ask(PATCH, { body: bindBody(arqs, await providerOf(stage, rc), server, HOST), as: 'service' })
  await carriedOut(cloud)
  await cloud.clock.pass(4000)
  return arqs
}

const handles: Scene = async (stage) => {
  const { ask, cloud } = stage
  const [arq] = await bound(stage, 'fpga', 'FPGA', SERVER(10))
  const { handles: all } = await ask('GET /v2/handles?sort_key=uuid')
  const free = all.find(({ state }: { state: string }) => state === 'free').uuid
  const held = all.find(({ state }: { state: string }) => state === 'held').uuid
  for (const body of [{}, { reason: '' }, { reason: ' ' }, { reason: 'a'.repeat(1001) }, { reason: 1 }])
    await ask(`POST /v2/handles/${free}/quarantine`, { body })
  for (const as of ['manager', 'tenant'] as const) await ask(`POST /v2/handles/${free}/release`, { ...WORD, as })
  for (const uuid of [UNKNOWN, 'x']) await ask(`POST /v2/handles/${uuid}/release`, WORD)
  for (const verb of ['release', 'quarantine', 'quarantine', 'release', 'release'])
    await ask(`POST /v2/handles/${free}/${verb}`, { ...WORD, as: 'operator' })
  for (const verb of ['quarantine', 'release']) await ask(`POST /v2/handles/${held}/${verb}`, WORD)
  // a request whose release has failed ends with the quarantine of its handle
  const stuck = all.find(({ state }: { state: string }) => state === 'quarantined').uuid
  const { last_arq_uuid: last } = await ask(`GET /v2/handles/${stuck}`)
  await ask(`POST /v2/handles/${stuck}/release`, { ...WORD, as: 'operator' })
  await answer(cloud, 'ReleaseSlot', DONE)
  await ask(`GET /v2/accelerator_requests/${last}/timeline`)
  await ask(`POST /v2/accelerator_requests/${UNKNOWN}/force_unbind`, WORD)
  await ask(`POST /v2/accelerator_requests/${arq!.uuid}/force_unbind`, { ...WORD, as: 'tenant' })
  for (let n = 0; n < 2; n++) await ask(`POST /v2/accelerator_requests/${arq!.uuid}/force_unbind`, WORD)
  await ask(`GET /v2/handles/${held}`)
  await answer(cloud, 'ReleaseSlot', DONE)
  for (const as of ['admin', 'tenant'] as const) await ask(`GET /v2/accelerator_requests/${arq!.uuid}/timeline`, { as })
  await ask(`DELETE /v2/accelerator_requests/${arq!.uuid}`, { as: 'tenant' })
  await ask('GET /v2/handles')
}

const devices: Scene = async ({ ask, cloud }) => {
  const { devices: all } = await ask('GET /v2/devices?sort_key=uuid', { as: 'newest' })
  const { uuid } = all[0]
  for (const verb of ['disable', 'disable', 'enable'])
    for (const as of ['manager', 'admin'] as const) await ask(`POST /v2/devices/${uuid}/${verb}`, { as })
  await ask(`POST /v2/devices/${UNKNOWN}/disable`)
  await ask(`POST /v2/devices/${uuid}/disable`)
  await cloud.clock.pass(1)
  for (const status of ['maintaining', 'enabled']) await ask(`GET /v2/devices?status=${status}`, { as: 'newest' })
  await ask(`POST /v2/devices/${uuid}/enable`)
  const place = (await ask('GET /v2/deployables?limit=1', { as: 'newest' })).deployables[0]
  const bodies: readonly object[] = [
    { deployable_id: place.id, key: 'rack', value: 'r1' },
    { attribute: { deployable_id: place.uuid, key: 'row', value: 7 } },
    { deployable_id: String(place.id), key: 'rack', value: 'r2' },
    { deployable_id: place.id, key: 'rc', value: 'GPU' },
    { deployable_id: 0, key: 'a', value: 'b' },
    { deployable_id: UNKNOWN, key: 'a', value: 'b' },
    { deployable_id: 'x', key: 'a', value: 'b' },
    { deployable_id: place.id, key: '', value: 'b' },
    { deployable_id: place.id, key: 'a', value: null },
    { deployable_id: place.id, key: 'a' },
  ]
  for (const body of bodies) await ask('POST /v2/attributes', { body })
  await ask('POST /v2/attributes', { body: bodies[0], as: 'manager' })
  await ask(`GET /v2/attributes?deployable_id=${place.uuid}&key=rack`, { as: 'newest' })
  const { attributes } = await ask('GET /v2/attributes?key=row')
  const { attributes: shown } = await ask('GET /v2/attributes?key=rc&limit=1')
  for (const one of [attributes[0].uuid, attributes[0].uuid, shown[0].uuid, UNKNOWN, 'x'])
    await ask(`DELETE /v2/attributes/${one}`)
  await ask('DELETE /v2/attributes')
}

const load = (value: unknown, path = '/bitstream_id') => ({ body: [{ path, op: 'replace', value }] })
const programs: Scene = async (stage) => {
  const { ask, cloud } = stage
  const { deployables } = await ask('GET /v2/deployables')
  const holds = (rc: string) => (one: { attributes_list: string }) => one.attributes_list.includes(`"${rc}"`)
  const [fpga, gpu] = [deployables.find(holds('FPGA')), deployables.find(holds('PGPU'))]
  const image = [{ image_uuid: IMAGE }]
  const path = `PATCH /v2/deployables/${fpga.uuid}`
  const asked: readonly unknown[] = [[], [{ image_uuid: 'x' }], 'x', 1, [{}]]
  for (const value of asked) await ask(path, load(value))
  await ask(path, load(image, '/name'))
  await ask(path, { ...load(image), as: 'tenant' })
  await ask(`PATCH /v2/deployables/${gpu.uuid}`, load(image))
  await ask(`PATCH /v2/deployables/${UNKNOWN}/program`, load(image))
  await ask(path, { ...load(image), meanwhile: () => cloud.clock.pass(30_000) })
  await ask(path, load({ image_uuid: UNKNOWN }, '/program'))
  const arqs = await requests(stage, 'fpga')
  await ask(PATCH, { body: bindBody(arqs, fpga.rp_uuid, SERVER(11), HOST), as: 'service' })
  await answer(cloud, 'Program', NEVER)
  await ask(`GET /v2/deployables/${fpga.uuid}`, { as: 'newest' })
  await ask(`${path}/program`, { ...load(IMAGE), meanwhile: () => cloud.clock.pass(1) })
  await answer(cloud, 'Program', DONE)
  await ask(path, { ...load(image), as: 'newest' })
  await ask(`DELETE /v2/accelerator_requests/${arqs[0]!.uuid}`, { as: 'tenant' })
}

const explained: Scene = async ({ ask }) => {
  for (const line of ['gpu/check', 'gpu/check?host=compute-2', `${UNKNOWN}/check`, 'gpu/check?limit=0', 'a%20b/check'])
    await ask(`POST /v2/device_profiles/${line}`)
  const check = 'POST /v2/profile_checks'
  const draft = (...groups: readonly object[]) => ({ body: { groups } })
  await ask(check, draft({ 'resources:FPGA': '1', 'trait:custom-a': 'required' }, { 'resources:PGPU': '9' }))
  await ask(check, draft({ 'resources:VGPU': '1' }))
  for (const body of [{}, { groups: [] }, { groups: [{ 'trait:CUSTOM_A': 'required' }] }]) await ask(check, { body })
  for (const as of ['manager', 'tenant'] as const) await ask(check, { ...draft({ 'resources:FPGA': '1' }), as })
}

const placement: Scene = async (stage) => {
  const { ask, cloud } = stage
  const rest = async () => {
    await cloud.clock.pass(20_000)
    await cloud.plane.sweeper.idle()
  }
  await ask('GET /v2/drift')
  await ask('GET /v2/drift?host=compute-2')
  await ask('GET /v2/drift', { as: 'manager' })
  cloud.placing.ask('POST', '/resource_providers', { uuid: COMPUTE_NODE, name: HOST })
  await rest()
  await ask('GET /v2/drift')
  await bound(stage, 'gpu', 'PGPU', SERVER(12))
  const { deployables } = await ask('GET /v2/deployables', { as: 'newest' })
  const { rp_uuid: provider } = deployables[0]
  cloud.placing.ask('PUT', `/resource_providers/${provider}/inventories`, {
    resource_provider_generation: (
      cloud.placing.ask('GET', `/resource_providers/${provider}`) as { readonly generation: number }
    ).generation,
    inventories: {},
  })
  for (const line of ['GET /v2/drift?limit=1', 'POST /v2/drift/heal', `POST /v2/drift/heal?host=${HOST}&dry_run=false`])
    await ask(line)
  await ask('GET /v2/drift?nova=true')
  await explained(stage)
  await ask('GET /v2/drift/ignored')
  await ask('GET /v2/drift/ignored', { as: 'manager' })
  await ask('POST /v2/drift/ignored', { body: { host: HOST, difference: SERVER(13), reason: 'a test' } })
  await ask('POST /v2/drift/heal?dry_run=perhaps')
  await ask('POST /v2/drift/heal?host=compute-2&dry_run=false')
}

const orphans: Scene = async (stage) => {
  const { ask, cloud, servers, nova } = stage
  servers.set(SERVER(12), { is: 'unknown' })
  await bound(stage, 'fpga', 'FPGA', SERVER(13))
  servers.set(SERVER(13), { is: 'unclear', reason: 'no answer in time' })
  await ask('GET /v2/orphans')
  await cloud.clock.pass(SETTLED_MS)
  await ask('GET /v2/orphans')
  await ask('GET /v2/orphans', { as: 'manager' })
  await ask(`GET /v2/orphans?marker=${UNKNOWN}`)
  await ask('GET /v2/drift?nova=true')
  const collect = 'POST /v2/orphans/collect'
  for (const body of [{}, { instance_uuids: [] }, { instance_uuids: ['x'] }]) await ask(collect, { body })
  const wanted = { instance_uuids: [SERVER(12), SERVER(13), SERVER(14), SERVER(12).toUpperCase()] }
  nova.blind = 'the role is missing'
  await ask(collect, { body: wanted })
  await ask('GET /v2/orphans')
  nova.blind = null
  await ask(collect, { body: wanted, meanwhile: () => cloud.clock.pass(11_000) })
  await carriedOut(cloud)
  await ask('GET /v2/orphans')
  await ask('GET /v2/accelerator_requests')
}

const KEY = 'A'.repeat(43)
const used: Scene = async ({ ask }) => {
  for (const query of [
    '',
    '?period=day',
    '?period=hour',
    '?from=2026-02-30',
    '?from=2030-01-01',
    '?until=2026-01-01&from=2025-12-31T23:59:59Z',
  ])
    await ask(`GET /v2/usage${query}`)
  await ask('GET /v2/usage?project_id=p1', { as: 'tenant' })
  await ask('GET /v2/usage?project_id=nobody', { as: 'tenant' })
}

const tried: Scene = async ({ ask }) => {
  await ask(`POST /v2/hosts/${HOST}/retire?dry_run=true`, WORD)
  for (const query of ['reason=sold', 'reason=sold&force=true', ''])
    await ask(`DELETE /v2/hosts/${HOST}?${query}&dry_run=true`)
  await ask(`DELETE /v2/hosts/compute-2?reason=sold&dry_run=true`)
  for (const id of ['gpu', 'fpga,nobody', UNKNOWN]) await ask(`DELETE /v2/device_profiles?value=${id}&dry_run=true`)
  const { devices } = await ask('GET /v2/devices')
  await ask(`POST /v2/devices/${devices[0].uuid}/disable?dry_run=true`)
  await ask(`POST /v2/devices/${devices[0].uuid}/disable?dry_run=true`, { as: 'manager' })
  await ask(`POST /v2/devices/${UNKNOWN}/disable?dry_run=1`)
}

const hosts: Scene = async (stage) => {
  const { ask, cloud } = stage
  await tried(stage)
  await used(stage)
  for (const verb of ['retire', 'restore', 'approve', 'rekey']) {
    await ask(`POST /v2/hosts/compute-2/${verb}`, WORD)
    await ask(`POST /v2/hosts/${HOST}/${verb}`, { body: {} })
    await ask(`POST /v2/hosts/${HOST}/${verb}`, { ...WORD, as: 'manager' })
  }
  for (const verb of ['retire', 'retire', 'restore', 'retire']) await ask(`POST /v2/hosts/${HOST}/${verb}`, WORD)
  await ask('GET /v2/devices')
  await ask(`DELETE /v2/hosts/${HOST}`)
  await ask(`DELETE /v2/hosts/${HOST}?reason=sold`, { as: 'manager' })
  await ask(`DELETE /v2/hosts/compute-2?reason=sold`)
  await ask(`DELETE /v2/hosts/${HOST}?reason=sold`)
  await ask(`DELETE /v2/hosts/${HOST}?reason=sold&force=true`)
  for (const list of ['hosts', 'devices', 'deployables', 'handles', 'accelerator_requests'])
    await ask(`GET /v2/${list}`)
  await ask(`POST /v2/hosts/${HOST}/restore`, WORD)
  await shows(cloud, cloud.shown)
  for (const list of ['hosts', 'devices', 'deployables', 'handles', 'drift']) await ask(`GET /v2/${list}`)
}

const keys: Scene = async ({ ask, cloud }) => {
  const beat = (signer: string) =>
    cloud.plane.reports.take(
      {
        type: 'Heartbeat',
        host: HOST,
        bootId: BOOT,
        observedAt: 1,
        status: { drivers: {}, ordersInHand: 0, resultsWaiting: 0 },
      },
      `beat ${signer}`,
      signer,
    )
  await ask(`POST /v2/hosts/${HOST}/approve`, WORD)
  await beat(KEY)
  await ask(`GET /v2/hosts/${HOST}`)
  await ask(`POST /v2/hosts/${HOST}/rekey`, { body: { reason: 'new', public_key: 'x' } })
  await ask(`POST /v2/hosts/${HOST}/rekey`, { body: { reason: 'new', public_key: `B${KEY.slice(1)}` } })
  await beat(KEY)
  for (const as of ['admin', 'manager'] as const) await ask('GET /v2/hosts', { as })
  await ask(`POST /v2/hosts/${HOST}/approve`, { body: { reason: 'back', public_key: KEY } })
}

const versions: Scene = async ({ ask }) => {
  const path = 'PATCH /v2/device_profiles/versioned'
  const change = (body: object) => ({ body: { ...WORD.body, ...body }, as: 'newest' as const })
  const groups = [{ 'resources:PGPU': 1, 'trait:custom-a': 'required' }]
  await ask('POST /v2/device_profiles', { body: { name: 'versioned', groups: [{ 'resources:PGPU': 1 }] } })
  await ask(path, { body: change({ groups }).body })
  await ask(path, change({ groups, if_version: 1 }))
  await ask(path, change({ groups, if_version: 1 }))
  await ask(path, change({ description: 'a draft', enabled: false }))
  await ask('GET /v2/device_profiles/versioned/versions', { as: 'newest' })
  await ask('GET /v2/device_profiles/versioned')
  const broken = [{}, { enabled: false, projects: null }, { groups: [] }, { name: 'x' }, { versions: { 0: true } }]
  for (const one of [...broken, { versions: { 9: true } }, { projects: ['p', 1] }]) await ask(path, change(one))
  await ask('PATCH /v2/device_profiles/nobody', change({ projects: null }))
  await ask(path, change({ projects: ['elsewhere'] }))
  const list = 'GET /v2/device_profiles?name=versioned'
  for (const as of ['newest', 'tenant'] as const) await ask(list, { as })
  await ask('POST /v2/accelerator_requests', { body: { device_profile_name: 'versioned' }, as: 'tenant' })
  await ask(path, change({ projects: null, versions: { 1: false, 2: false } }))
  for (const as of ['newest', 'admin'] as const) await ask(list, { as })
  await ask(path, change({ versions: { 2: true } }))
  await ask('POST /v2/accelerator_requests', { body: { device_profile_name: 'versioned' }, as: 'newest' })
}

/** After what clients have asked. */
export const OPERATORS: Readonly<Record<string, Scene>> = {
  handles,
  'devices and attributes': devices,
  programs,
  placement,
  'servers that are gone': orphans,
  hosts,
  'keys of hosts': keys,
  'versions of device profiles': versions,
}

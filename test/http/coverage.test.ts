/** Each route has a case that is allowed and cases that are refused; a new row without them fails here. */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ROUTES } from '../../src/http/routes/all.ts'
import { deadLetterRecord } from '../../src/wire/message.ts'
import { createTestApp } from './app.ts'
import { novaServersOf } from '../support/novaServers.ts'
import { placementInMemory } from '../support/placement.ts'
import { isUsualStore } from '../support/stores.ts'
import { anyImage, bindBody, freshName, openWorkshop, speaker } from './cloud.ts'
import type { Sent } from './steps.ts'
import { as, expectRefusal, send, service, version } from './steps.ts'

type Shop = Awaited<ReturnType<typeof openWorkshop>>
let shop: Shop
beforeAll(
  async () =>
    void (shop = await openWorkshop({
      parts: { images: anyImage, placement: placementInMemory().placement, novaServers: novaServersOf().servers },
      hostWork: false,
      options: { additiveMicroversion: true },
    })),
)
afterAll(() => shop.close())

/** Line, what is sent with it, and the status of success. */
type Case = readonly [line: string, status: number, sent?: Sent]
type Cases = Readonly<Record<string, () => Case | Promise<Case>>>

const image = () => ({ body: [{ op: 'replace', path: '/program', value: [{ image_uuid: randomUUID() }] }] })
const binding = async (arq: { readonly uuid: string }): Promise<Sent> => ({
  body: bindBody([{ ...arq, state: '' }], shop.fpga.rp_uuid, randomUUID()),
  headers: service,
})
const anArq = async () => (await shop.newArqs())[0]!
const aDevice = async () => (await shop.must(200, 'GET /v2/devices')).json.devices[0].uuid as string
const BECAUSE = { body: { reason: 'a test' } }
const KEYED = { reason: 'a test', public_key: 'A'.repeat(43) }
const REKEYED = { ...KEYED, public_key: `B${'A'.repeat(42)}` }
const aHandle = async () => (await shop.must(200, 'GET /v2/handles?state=free')).json.handles[0].uuid as string
let letters = 0
const aLetter = async () => {
  const id = `host.reports.v1/0/${++letters}`
  const of = { topic: 'host.reports.v1', key: 'sim-1', value: 'no JSON', headers: {} }
  await shop.bus.publish([deadLetterRecord(of, 'message: must be JSON', { id, time: Date.now() })])
  return (await shop.must(200, 'GET /v2/dead_letters')).json.dead_letters[0].uuid as string
}
let hosts = 0
const anotherHost = async () => {
  const name = `other-${++hosts}`
  await shop.shows(name, { seed: 1, devices: [{ kind: 'gpu', handles: 1 }] })
  return name
}
const DAY_MS = 86_400_000
/** That a handle is withheld is a difference that no pass repairs. */
const aDifference = async () => {
  const host = await anotherHost()
  const [handle] = (await shop.must(200, `GET /v2/handles?hostname=${host}`)).json.handles
  await shop.must(200, `POST /v2/handles/${handle.uuid}/quarantine`, BECAUSE)
  const { drift } = (await shop.must(200, `GET /v2/drift?host=${host}`)).json
  const { uuid: difference } = drift[0].entries.find(({ kind }: { readonly kind: string }) => kind === 'hardware')
  return { host, difference, until: new Date(Date.now() + DAY_MS).toISOString(), reason: 'a test' }
}
const anIgnored = async () =>
  (await shop.must(200, 'POST /v2/drift/ignored', { body: await aDifference() })).json.uuid as string
const anAttribute = async () =>
  (
    await shop.must(201, 'POST /v2/attributes', {
      body: { deployable_id: shop.fpga.uuid, key: randomUUID(), value: 'v' },
    })
  ).json.uuid

const CASES: Cases = {
  'GET /': () => ['GET /', 200],
  'GET /v2': () => ['GET /v2', 200],
  'GET /healthz': () => ['GET /healthz', 200],
  'GET /readyz': () => ['GET /readyz', 200],
  'GET /openapi.json': () => ['GET /openapi.json', 200],
  'GET /asyncapi.json': () => ['GET /asyncapi.json', 200],
  'GET /v2/device_profiles': () => ['GET /v2/device_profiles', 200],
  'POST /v2/device_profiles': () => [
    'POST /v2/device_profiles',
    201,
    { body: [{ name: freshName(), groups: [{ 'resources:FPGA': '1' }] }] },
  ],
  'GET /v2/device_profiles/:id': async () => [
    `GET /v2/device_profiles/${await shop.newProfile()}`,
    200,
    { headers: version(2) },
  ],
  'PATCH /v2/device_profiles/:id': async () => [
    `PATCH /v2/device_profiles/${await shop.newProfile()}`,
    200,
    { body: { description: 'another', reason: 'a test' }, headers: version(5) },
  ],
  'GET /v2/device_profiles/:id/versions': async () => [
    `GET /v2/device_profiles/${await shop.newProfile()}/versions`,
    200,
    { headers: version(5) },
  ],
  'DELETE /v2/device_profiles/:id': async () => [`DELETE /v2/device_profiles/${await shop.newProfile()}`, 204],
  'DELETE /v2/device_profiles': async () => [`DELETE /v2/device_profiles?value=${await shop.newProfile()}`, 204],
  'POST /v2/accelerator_requests': async () => [
    'POST /v2/accelerator_requests',
    201,
    { body: { device_profile_name: await shop.newProfile() } },
  ],
  'GET /v2/accelerator_requests': () => ['GET /v2/accelerator_requests', 200],
  'GET /v2/accelerator_requests/:uuid': async () => [`GET /v2/accelerator_requests/${(await anArq()).uuid}`, 200],
  'PATCH /v2/accelerator_requests': async () => ['PATCH /v2/accelerator_requests', 202, await binding(await anArq())],
  'PATCH /v2/accelerator_requests/:uuid': async () => {
    const arq = await anArq()
    return [`PATCH /v2/accelerator_requests/${arq.uuid}`, 202, await binding(arq)]
  },
  'DELETE /v2/accelerator_requests/:uuid': async () => [`DELETE /v2/accelerator_requests/${(await anArq()).uuid}`, 204],
  'DELETE /v2/accelerator_requests': async () => [`DELETE /v2/accelerator_requests?arqs=${(await anArq()).uuid}`, 204],
  'GET /v2/accelerator_requests/:uuid/timeline': async () => [
    `GET /v2/accelerator_requests/${(await anArq()).uuid}/timeline`,
    200,
  ],
  'GET /v2/devices': () => ['GET /v2/devices', 200],
  'GET /v2/devices/:uuid': async () => [`GET /v2/devices/${await aDevice()}`, 200],
  'POST /v2/devices/:uuid/disable': async () => [`POST /v2/devices/${await aDevice()}/disable`, 204],
  'POST /v2/devices/:uuid/enable': async () => [`POST /v2/devices/${await aDevice()}/enable`, 204],
  'GET /v2/deployables': () => ['GET /v2/deployables', 200],
  'GET /v2/deployables/:uuid': () => [`GET /v2/deployables/${shop.fpga.uuid}`, 200],
  'PATCH /v2/deployables/:uuid': () => [`PATCH /v2/deployables/${shop.fpga.uuid}`, 200, image()],
  'PATCH /v2/deployables/:uuid/program': () => [`PATCH /v2/deployables/${shop.fpga.uuid}/program`, 200, image()],
  'PATCH /v2/deployables/:uuid/program/:again': () => [
    `PATCH /v2/deployables/${shop.fpga.uuid}/program/${shop.fpga.uuid}`,
    200,
    image(),
  ],
  'GET /v2/attributes': () => ['GET /v2/attributes', 200],
  'GET /v2/attributes/:uuid': async () => [`GET /v2/attributes/${await anAttribute()}`, 200],
  'POST /v2/attributes': () => [
    'POST /v2/attributes',
    201,
    { body: { deployable_id: shop.fpga.uuid, key: randomUUID(), value: 'v' } },
  ],
  'DELETE /v2/attributes/:uuid': async () => [`DELETE /v2/attributes/${await anAttribute()}`, 204],
  // It exists to say what is missing.
  'GET /v2/hosts': () => ['GET /v2/hosts', 200],
  'GET /v2/hosts/:name': () => ['GET /v2/hosts/sim-1', 200],
  'POST /v2/hosts/:name/retire': async () => [`POST /v2/hosts/${await anotherHost()}/retire`, 200, BECAUSE],
  'POST /v2/hosts/:name/restore': () => ['POST /v2/hosts/sim-1/restore', 200, BECAUSE],
  'POST /v2/hosts/:name/probe': () => ['POST /v2/hosts/sim-1/probe', 202],
  'POST /v2/hosts/:name/approve': () => [`POST /v2/hosts/keyed-${++hosts}/approve`, 200, { body: KEYED }],
  'POST /v2/hosts/:name/rekey': async () => [`POST /v2/hosts/${await anotherHost()}/rekey`, 200, { body: REKEYED }],
  'DELETE /v2/hosts/:name': async () => [`DELETE /v2/hosts/${await anotherHost()}?reason=sold`, 204],
  'GET /v2/handles': () => ['GET /v2/handles?state=free', 200],
  'GET /v2/handles/:uuid': async () => [`GET /v2/handles/${await aHandle()}`, 200],
  'POST /v2/handles/:uuid/quarantine': async () => [`POST /v2/handles/${await aHandle()}/quarantine`, 200, BECAUSE],
  'POST /v2/handles/:uuid/release': async () => [`POST /v2/handles/${await aHandle()}/release`, 200, BECAUSE],
  // no command cleans it: CLEAN-1 to CLEAN-3 and UNCLEAN-1 to UNCLEAN-3 have tests of their own
  'POST /v2/handles/:uuid/clean': async () => [`POST /v2/handles/${await aHandle()}/clean`, 409, BECAUSE],
  'GET /v2/events': () => ['GET /v2/events', 200],
  'GET /v2/drift': () => ['GET /v2/drift', 200],
  'GET /v2/drift/ignored': () => ['GET /v2/drift/ignored', 200],
  'POST /v2/drift/ignored': async () => ['POST /v2/drift/ignored', 200, { body: await aDifference() }],
  'GET /v2/drift/ignored/:uuid': async () => [`GET /v2/drift/ignored/${await anIgnored()}`, 200],
  'POST /v2/drift/ignored/:uuid/end': async () => [`POST /v2/drift/ignored/${await anIgnored()}/end`, 200, BECAUSE],
  'POST /v2/drift/heal': () => ['POST /v2/drift/heal?dry_run=false', 200],
  'GET /v2/overview': () => ['GET /v2/overview', 200],
  'GET /v2/system': () => ['GET /v2/system', 200],
  'GET /v2/system/support_bundle': () => ['GET /v2/system/support_bundle', 200],
  'GET /v2/capacity': () => ['GET /v2/capacity', 200],
  'GET /v2/programs': () => ['GET /v2/programs', 200],
  'GET /v2/programs/:uuid': () => [`GET /v2/programs/${shop.fpga.uuid}`, 200],
  'GET /v2/deliveries': () => ['GET /v2/deliveries', 200],
  // no Nova is configured here: test/http/resendToNova.test.ts has one
  'POST /v2/deliveries/:uuid/resend': () => [`POST /v2/deliveries/${randomUUID()}/resend`, 409, BECAUSE],
  'GET /v2/dead_letters': () => ['GET /v2/dead_letters', 200],
  'GET /v2/dead_letters/:uuid': async () => [`GET /v2/dead_letters/${await aLetter()}`, 200],
  'POST /v2/dead_letters/:uuid/replay': async () => [`POST /v2/dead_letters/${await aLetter()}/replay`, 200, BECAUSE],
  'POST /v2/dead_letters/:uuid/drop': async () => [`POST /v2/dead_letters/${await aLetter()}/drop`, 200, BECAUSE],
  'GET /v2/permissions': () => ['GET /v2/permissions', 200],
  'GET /v2/orphans': () => ['GET /v2/orphans', 200],
  'POST /v2/orphans/collect': () => ['POST /v2/orphans/collect', 200, { body: { instance_uuids: [randomUUID()] } }],
  'POST /v2/accelerator_requests/:uuid/force_unbind': async () => [
    `POST /v2/accelerator_requests/${(await anArq()).uuid}/force_unbind`,
    200,
    BECAUSE,
  ],
  'GET /v2/usage': () => ['GET /v2/usage', 200],
  'POST /v2/device_profiles/:id/check': async () => [`POST /v2/device_profiles/${await shop.newProfile()}/check`, 200],
  'POST /v2/profile_checks': () => ['POST /v2/profile_checks', 200, { body: { groups: [{ 'resources:FPGA': '1' }] } }],
  'POST /v2/profile_migrations': () => [
    'POST /v2/profile_migrations',
    200,
    { body: { traits: { CUSTOM_OLD: 'CUSTOM_NEW' } } },
  ],
}

const names = ROUTES.map(({ method, path }) => `${method} ${path}`)

test('no row is without a case, no case without a row, and no row stands twice', () => {
  expect(Object.keys(CASES).toSorted()).toEqual(names.toSorted())
})

/** Devices must be idle to be programmed, so binds come last. */
const inOrder = [
  ...names.filter((name) => !/PATCH \/v2\/acc|disable/.test(name)),
  ...names.filter((name) => /PATCH \/v2\/acc/.test(name)),
  'POST /v2/devices/:uuid/disable',
]

describe.each(inOrder)('%s', (name) => {
  const row = ROUTES.find(({ method, path }) => `${method} ${path}` === name)!

  test('is allowed', async () => {
    const [line, status, sent] = await CASES[name]!()
    await shop.must(status, line, sent)
  })

  if (row.rule === null)
    test('is refused with an argument it does not know', async () => {
      expectRefusal(await shop.say(`${name}?colour=red`, { headers: { 'X-Roles': 'nobody' } }), 400)
    })
  else
    test('is refused without a project, and by a rule that says no', async () => {
      const [line, , sent = {}] = await CASES[name]!()
      expectRefusal(await shop.say(line, { ...sent, headers: { ...sent.headers, 'X-Roles': 'admin' } }), 403)
      const closed = createTestApp(shop.control, {
        additiveMicroversion: true,
        policy: { enforceNewDefaults: false, rules: { [row.rule!]: '!' } },
      })
      const refused = await send(closed, line, sent)
      expectRefusal(refused, 403)
      expect(refused.fault).toContain(row.rule!)
    })
})

/** The role matrix, cell by cell, over HTTP: what the rules allow is what the routes do. */
const PERSONAS = {
  admin: 'admin,manager,member,reader',
  manager: 'manager,member,reader',
  member: 'member,reader',
  reader: 'reader',
  service: 'service',
  other: 'somebody',
}
const ALLOWED: Readonly<Record<'now' | 'legacy', readonly (readonly [rule: RegExp, personas: string])[]>> = {
  now: [
    [/^cyborg:(device_profile|permission|usage):get/, 'admin manager member reader'],
    [/^cyborg:(arq|event):get/, 'admin manager member reader'],
    [/^cyborg:arq:(create|update|delete)/, 'admin manager member service'],
    [/^cyborg:(device|deployable|attribute|host|handle):get|^cyborg:device_profile:check/, 'admin manager'],
    [/./, 'admin'],
  ],
  legacy: [
    [
      /^cyborg:(device_profile|permission|usage|event):get|^cyborg:arq:get/,
      'admin manager member reader service other',
    ],
    [/^cyborg:arq:(create|update|delete)/, 'admin manager member service other'],
    [/^cyborg:(device|deployable|attribute|host|handle):get|^cyborg:device_profile:check/, 'admin manager'],
    [/./, 'admin'],
  ],
}

// the roles are judged before anything of the store is asked
describe.each(isUsualStore() ? (['now', 'legacy'] as const) : [])('roles, %s', (mode) => {
  const guarded = ROUTES.filter((row) => row.rule !== null)
  const cells = guarded.flatMap((row) =>
    Object.keys(PERSONAS).map((persona) => [`${row.method} ${row.path}`, persona, row.rule!] as const),
  )

  test.each(cells)('%s by %s', async (name, persona, rule) => {
    const policy = { enforceNewDefaults: mode === 'now', rules: {} }
    const { say } = speaker(createTestApp(shop.control, { additiveMicroversion: true, policy }, shop.events), {
      ...as(PERSONAS[persona as keyof typeof PERSONAS]),
      ...version(5),
    })
    const [method, path] = name.split(' ') as [string, string]
    const got = await say(`${method} ${path.replace(/:\w+/g, randomUUID())}`, method === 'GET' ? {} : { raw: '{' })
    const allowed = ALLOWED[mode]
      .find(([pattern]) => pattern.test(rule))![1]
      .split(' ')
      .includes(persona)
    if (allowed) expect([200, 204, 400, 404]).toContain(got.status)
    else expectRefusal(got, 403)
  })
})

/** Accelerator requests over HTTP: created, bound, read, let go and deleted as the contract says. */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { bindBody, openCloud, speaker, unbindBody } from './cloud.ts'
import type { Arq, Cloud } from './cloud.ts'
import { as, expectRefusal, service, version } from './steps.ts'

let cloud: Cloud
beforeAll(async () => void (cloud = await openCloud()))
afterAll(() => cloud.close())

const tenant = (project: string) =>
  speaker(cloud.app, { 'X-User-Id': 'u', 'X-Project-Id': project, 'X-Roles': 'member' })
const PCI = {
  domain: expect.any(String),
  bus: expect.any(String),
  device: expect.any(String),
  function: expect.any(String),
}

describe('creating', () => {
  test('one for each accelerator asked for, in the order of the groups', async () => {
    const name = await cloud.newProfile()
    await cloud.must(204, `DELETE /v2/device_profiles/${name}`)
    const groups = [{ 'resources:FPGA': '1', 'resources:CUSTOM_MEM': '1' }, { 'resources:FPGA': '2' }]
    await cloud.must(201, 'POST /v2/device_profiles', { body: [{ name, groups }] })
    const { json } = await cloud.must(201, 'POST /v2/accelerator_requests', {
      body: { device_profile_name: name, device_profile_group_id: null, image_uuid: 'x', colour: 'red' },
    })
    expect(json.arqs.map((arq: { device_profile_group_id: number }) => arq.device_profile_group_id)).toEqual([
      0, 0, 1, 1,
    ])
    const [first] = json.arqs
    expect(first).toEqual({
      uuid: expect.any(String),
      state: 'Initial',
      device_profile_name: name,
      device_profile_group_id: 0,
      hostname: null,
      device_rp_uuid: null,
      instance_uuid: null,
      project_id: expect.any(String),
      attach_handle_type: '',
      attach_handle_uuid: null,
      attach_handle_info: {},
      created_at: expect.stringMatching(/\+00:00$/),
      updated_at: null,
      links: [{ href: `http://localhost/accelerator/v2/accelerator_requests/${first.uuid}`, rel: 'self' }],
    })
  })
  test.each([[''], ['nobody'], ['@#$%^&*'], [' '], ['x'.repeat(5000)]])(
    'from the profile "%s": not found',
    async (name) => {
      expectRefusal(await cloud.say('POST /v2/accelerator_requests', { body: { device_profile_name: name } }), 404)
    },
  )
  test('two for one card of the kind that has two functions', async () => {
    const arqs = await cloud.newArqs(2, { 'trait:CUSTOM_FPGA_XILINX': 'required' })
    expect(arqs).toHaveLength(4)
  })
  test('nothing, where that kind of card is asked for without one', async () => {
    const body = [
      {
        name: `x-${randomUUID().slice(0, 8)}`,
        groups: [{ 'resources:GPU': '1', 'trait:CUSTOM_FPGA_XILINX': 'required' }],
      },
    ]
    const { json } = await cloud.must(201, 'POST /v2/device_profiles', { body })
    expectRefusal(await cloud.say('POST /v2/accelerator_requests', { body: { device_profile_name: json.name } }), 400)
  })
})

describe('binding', () => {
  test('is done when it was accepted, for a device without host work', async () => {
    const { arqs, instance } = await cloud.bound(2)
    const { json } = await cloud.must(200, `GET /v2/accelerator_requests?instance=${instance}&bind_state=resolved`)
    expect(json.arqs.map((arq: Arq) => arq.uuid)).toEqual(arqs.map(({ uuid }) => uuid))
    expect(json.arqs[0]).toMatchObject({
      state: 'Bound',
      hostname: 'node-7',
      device_rp_uuid: cloud.fpga.rp_uuid,
      instance_uuid: instance,
      attach_handle_type: 'PCI',
      attach_handle_uuid: expect.any(String),
      attach_handle_info: PCI,
      updated_at: expect.stringMatching(/\+00:00$/),
    })
    await cloud.leave(instance)
  })

  test('12 needs a service token, whoever asks', async () => {
    const arqs = await cloud.newArqs()
    const body = bindBody(arqs, cloud.fpga.rp_uuid, randomUUID())
    for (const headers of [{}, as('service'), as('admin'), { 'X-Service-Roles': 'reader' }]) {
      const got = await cloud.say('PATCH /v2/accelerator_requests', { body, headers })
      expectRefusal(got, 403)
      expect(got.text.toLowerCase()).toContain('requires a service token')
    }
    expect((await cloud.arq(arqs[0]!.uuid)).state).toBe('Initial')
  })

  test('13 an instance that has requests gets no more; the exact repeat changes nothing', async () => {
    const { arqs, instance } = await cloud.bound()
    const before = (await cloud.must(200, `GET /v2/accelerator_requests/${arqs[0]!.uuid}`)).text
    expect((await cloud.bind(arqs, instance)).status).toBe(202)
    expect((await cloud.must(200, `GET /v2/accelerator_requests/${arqs[0]!.uuid}`)).text).toBe(before)
    expectRefusal(await cloud.bind(await cloud.newArqs(), instance), 400)
    await cloud.leave(instance)
  })

  const refusedBind = async (arqs: readonly Arq[], rpUuid: string, status: number, hostname?: string) => {
    const known = arqs[0]!.uuid
    const before = (await cloud.must(200, `GET /v2/accelerator_requests/${known}`)).text
    const body = bindBody(arqs, rpUuid, randomUUID(), hostname)
    expectRefusal(await cloud.say('PATCH /v2/accelerator_requests', { body, headers: service }), status)
    expect((await cloud.must(200, `GET /v2/accelerator_requests/${known}`)).text).toBe(before)
  }

  test('14 with one unknown request nothing is done', async () =>
    refusedBind([...(await cloud.newArqs()), { uuid: randomUUID(), state: '' }], cloud.fpga.rp_uuid, 404))
  test('15 a bound one is not bound elsewhere', async () => {
    const { arqs, instance } = await cloud.bound()
    await refusedBind(arqs, cloud.fpga.rp_uuid, 409)
    await cloud.leave(instance)
  })
  test('16 to a provider nobody knows', async () => refusedBind(await cloud.newArqs(), randomUUID(), 404))
  test('17 without enough handles', async () => refusedBind(await cloud.newArqs(17), cloud.fpga.rp_uuid, 409))
  test('18 to a device in maintenance', async () => {
    const { json } = await cloud.must(200, 'GET /v2/devices?type=FPGA')
    const device = json.devices[0].uuid
    await cloud.must(204, `POST /v2/devices/${device}/disable`)
    await refusedBind(await cloud.newArqs(), cloud.fpga.rp_uuid, 409)
    await cloud.must(204, `POST /v2/devices/${device}/enable`)
    await cloud.leave((await cloud.bound()).instance)
  })
  test('19 to a deployable of another class, or without the trait', async () => {
    await refusedBind(await cloud.newArqs(), cloud.gpu.rp_uuid, 409)
    await refusedBind(await cloud.newArqs(1, { 'trait:CUSTOM_RARE': 'required' }), cloud.fpga.rp_uuid, 409)
    await refusedBind(await cloud.newArqs(1, { 'trait:OWNER_CYBORG': 'forbidden' }), cloud.fpga.rp_uuid, 409)
  })

  test('keeps the owner, unless an administrator names another', async () => {
    const owner = tenant('p-own')
    const name = await cloud.newProfile()
    const [[kept], [given]] = [await owner.arqsOf(name), await owner.arqsOf(name)]
    const instances = [randomUUID(), randomUUID()] as const
    expect((await cloud.bind([kept!], instances[0])).status).toBe(202)
    const body = bindBody([given!], cloud.fpga.rp_uuid, instances[1])
    body[given!.uuid]!.push({ op: 'add', path: '/project_id', value: 'p-new' })
    await cloud.must(202, 'PATCH /v2/accelerator_requests', { body, headers: { ...service, ...version(1) } })
    expect([(await cloud.arq(kept!.uuid)).project_id, (await cloud.arq(given!.uuid)).project_id]).toEqual([
      'p-own',
      'p-new',
    ])
    for (const instance of instances) await cloud.leave(instance)
  })

  test('takes the uuid in the path as one client writes it', async () => {
    const [arqs, instance] = [await cloud.newArqs(), randomUUID()]
    const body = bindBody(arqs, cloud.fpga.rp_uuid, instance)
    const got = await cloud.must(202, `PATCH /v2/accelerator_requests/${arqs[0]!.uuid}`, { body, headers: service })
    expect([got.text, got.headers.get('content-length'), got.headers.has('content-type')]).toEqual(['', '0', false])
    await cloud.leave(instance)
  })
})

describe('unbinding', () => {
  test('lets go of everything, and may be repeated', async () => {
    const { arqs, instance } = await cloud.bound(2)
    for (let turn = 0; turn < 2; turn++)
      await cloud.must(202, 'PATCH /v2/accelerator_requests', { body: unbindBody(arqs), headers: service })
    expect(await cloud.arq(arqs[0]!.uuid)).toMatchObject({
      state: 'Unbound',
      hostname: null,
      device_rp_uuid: null,
      instance_uuid: null,
      attach_handle_type: '',
      attach_handle_uuid: null,
      attach_handle_info: {},
    })
    expect((await cloud.must(200, `GET /v2/accelerator_requests?instance=${instance}`)).json.arqs).toEqual([])
    expect((await cloud.bind(arqs, instance)).status).toBe(202)
    await cloud.leave(instance)
  })
  test('needs a service token, and a request that is there', async () => {
    const arqs = await cloud.newArqs()
    expectRefusal(await cloud.say('PATCH /v2/accelerator_requests', { body: unbindBody(arqs) }), 403)
    const stranger = [{ uuid: randomUUID(), state: '' }]
    expectRefusal(
      await cloud.say('PATCH /v2/accelerator_requests', { body: unbindBody([...arqs, ...stranger]), headers: service }),
      404,
    )
    expect((await cloud.arq(arqs[0]!.uuid)).state).toBe('Initial')
  })
})

describe('listing', () => {
  test('resolved ones: none of those that were never bound, none of an instance nobody knows', async () => {
    const arqs = await cloud.newArqs(2)
    const { json } = await cloud.must(
      200,
      `GET /v2/accelerator_requests?arqs=${arqs.map(({ uuid }) => uuid).join(',')}&bind_state=resolved`,
    )
    expect(json.arqs).toEqual([])
    const none = await cloud.must(200, `GET /v2/accelerator_requests?instance=${randomUUID()}&bind_state=resolved`)
    expect(none.json.arqs).toEqual([])
  })
  test('own project, all projects for an administrator, all of an instance for a service', async () => {
    const [one, other] = [tenant('p-1'), tenant('p-2')]
    const [arq] = await one.arqsOf(await cloud.newProfile())
    const instance = randomUUID()
    await cloud.bind([arq!], instance)
    const sees = async (who: typeof one, query = '', headers = {}) =>
      (await who.must(200, `GET /v2/accelerator_requests${query}`, { headers })).json.arqs.map((each: Arq) => each.uuid)
    expect(await sees(one)).toEqual([arq!.uuid])
    expect(await sees(other)).toEqual([])
    expect(await sees(cloud as never)).toContain(arq!.uuid)
    expect(await sees(other, `?instance=${instance}`)).toEqual([])
    expect(await sees(other, `?instance=${instance}`, service)).toEqual([arq!.uuid])
    expectRefusal(await other.say(`GET /v2/accelerator_requests/${arq!.uuid}`), 404)
    expectRefusal(await other.say(`DELETE /v2/accelerator_requests/${arq!.uuid}`, { headers: service }), 404)
    await other.must(204, `DELETE /v2/accelerator_requests?instance=${instance}`, { headers: service })
    expect(await sees(one)).toEqual([])
  })
  test('a marker of another project is answered as one that nobody has', async () => {
    const [one, other] = [tenant('p-3'), tenant('p-4')]
    const profile = await cloud.newProfile(2)
    const [foreign] = await one.arqsOf(profile)
    const [own, last] = await other.arqsOf(profile)
    const page = async (marker: string, more = '', headers = {}) => {
      const got = await other.say(`GET /v2/accelerator_requests?marker=${marker}${more}`, { headers })
      return got.status === 200
        ? got.json.arqs.map(({ uuid }: Arq) => uuid)
        : [got.status, got.fault.replace(marker, 'MARKER')]
    }
    for (const more of ['', '&limit=1', '&sort_dir=desc', '&sort_key=state', `&instance=${randomUUID()}`])
      for (const headers of [{}, service]) {
        const unknown = await page(randomUUID(), more, headers)
        expect(unknown).toEqual([404, 'The marker MARKER could not be found.'])
        expect(await page(foreign!.uuid, more, headers)).toEqual(unknown)
      }
    expect(await page(own!.uuid)).toEqual([last!.uuid])
    const asAdmin = await cloud.must(200, `GET /v2/accelerator_requests?marker=${foreign!.uuid}`)
    expect(asAdmin.json.arqs.length).toBeGreaterThan(0)
  })
})

describe('deleting', () => {
  test('all that are there, then 404 that names the others', async () => {
    const [one, two] = await cloud.newArqs(2)
    const stranger = randomUUID()
    const got = await cloud.say(
      `DELETE /v2/accelerator_requests?arqs=${one!.uuid},${stranger},${two!.uuid},${one!.uuid}`,
    )
    expectRefusal(got, 404)
    expect(got.fault).toContain(stranger)
    for (const arq of [one!, two!]) expectRefusal(await cloud.say(`GET /v2/accelerator_requests/${arq.uuid}`), 404)
  })
  test('by path, and a bound one only with a service token', async () => {
    const { arqs } = await cloud.bound()
    expectRefusal(await cloud.say(`DELETE /v2/accelerator_requests/${arqs[0]!.uuid}`), 403)
    await cloud.must(204, `DELETE /v2/accelerator_requests/${arqs[0]!.uuid}`, { headers: service })
    expectRefusal(await cloud.say(`DELETE /v2/accelerator_requests/${arqs[0]!.uuid}`), 404)
  })
  test('of an instance: with a service token, as often as one likes, and the instance can bind anew at once', async () => {
    const { instance } = await cloud.bound()
    const got = await cloud.say(`DELETE /v2/accelerator_requests?instance=${instance}`)
    expectRefusal(got, 403)
    expect(got.text.toLowerCase()).toContain('requires a service token')
    for (let turn = 0; turn < 2; turn++) await cloud.leave(instance)
    expect((await cloud.bind(await cloud.newArqs(), instance)).status).toBe(202)
    await cloud.leave(instance)
  })
})

describe('the timeline', () => {
  test('tells each step with its time, cause and request, also after the end', async () => {
    const { arqs, instance } = await cloud.bound()
    const caused = `req-${randomUUID()}`
    await cloud.must(204, `DELETE /v2/accelerator_requests?instance=${instance}`, {
      headers: { ...service, 'X-OpenStack-Request-ID': caused },
    })
    const { json } = await cloud.must(200, `GET /v2/accelerator_requests/${arqs[0]!.uuid}/timeline`)
    expect(json).toMatchObject({ arq: arqs[0]!.uuid, deleted: true, total_ms: expect.any(Number) })
    const steps = json.steps.map((step: { step: string }) => step.step)
    expect([steps[0], steps[1], steps.at(-1)]).toEqual(['created', 'bind accepted', 'deleted'])
    expect(steps).toContain('bound')
    expect(json.steps[0]).toMatchObject({ took_ms: null, request_id: expect.stringMatching(/^req-/) })
    expect(json.steps[1].at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
    expect(json.steps[1].took_ms).toBeGreaterThanOrEqual(0)
    expect(json.steps.at(-1).request_id).toBe(caused)
  })
  test('is for its project', async () => {
    const [arq] = await tenant('p-1').arqsOf(await cloud.newProfile())
    await tenant('p-1').must(200, `GET /v2/accelerator_requests/${arq!.uuid}/timeline`)
    expectRefusal(await tenant('p-2').say(`GET /v2/accelerator_requests/${arq!.uuid}/timeline`), 404)
    expectRefusal(await cloud.say(`GET /v2/accelerator_requests/${randomUUID()}/timeline`), 404)
  })
})

/**
 * The conformance checklist of the REST contract (section 13), line by line; clients are imitated by what they put on
 * the wire.
 */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createTestApp } from './app.ts'
import { bindBody, freshName, openCloud, openWorkshop, speaker } from './cloud.ts'
import type { Arq, Cloud } from './cloud.ts'
import { HEADER_MATRIX } from './headerMatrix.ts'
import { as, expectRefusal, send, service } from './steps.ts'
import { until } from '../support/lab.ts'

type Told = { readonly name: string; readonly server_uuid: string; readonly tag: string; readonly status: string }

let cloud: Cloud
beforeAll(async () => void (cloud = await openCloud()))
afterAll(() => cloud.close())

const groups = [{ 'resources:FPGA': '1', 'trait:CUSTOM_FPGA_INTEL': 'required' }]
const create = (profile: object) => cloud.say('POST /v2/device_profiles', { body: [profile] })

describe('discovery', () => {
  test('1 two public documents, under the four spellings of a catalogue', async () => {
    for (const path of ['/', '/accelerator']) {
      const { json } = await cloud.must(200, `GET ${path}`, {
        headers: { Accept: 'application/json', 'X-Roles': 'nobody' },
      })
      expect(json.versions).toMatchObject([{ id: 'v2', status: 'CURRENT', min_version: '2.0', max_version: '2.3' }])
    }
    for (const path of ['/v2', '/accelerator/v2']) {
      const { json } = await cloud.must(200, `GET ${path}`, {
        headers: { Accept: 'application/json', 'X-Roles': 'nobody' },
      })
      expect(json).toMatchObject({ id: 'v2.0', status: 'CURRENT', min_version: '2.0', max_version: '2.3' })
    }
  })

  test('2 every link leads to something on the same server', async () => {
    await create({ name: freshName(), groups })
    await cloud.newArqs()
    const hrefs = new Set<string>()
    const gather = (value: unknown): void => {
      if (typeof value !== 'object' || value === null) return
      if ('href' in value) hrefs.add(String(value.href))
      for (const each of Object.values(value)) gather(each)
    }
    const lists = ['device_profiles', 'accelerator_requests', 'devices', 'deployables', 'attributes', 'hosts']
    for (const path of ['/', '/v2', ...lists.flatMap((each) => [`/v2/${each}`, `/v2/${each}?limit=1`])])
      gather((await cloud.must(200, `GET ${path}`)).json)
    expect(hrefs.size).toBeGreaterThan(15)
    for (const href of hrefs) expect((await cloud.app.request(href)).status, href).toBe(200)
  })

  test.each(HEADER_MATRIX)('3 the version header "%s" means %s', async (header, effective) => {
    const got = await cloud.say(
      'GET /v2/devices',
      header === undefined ? {} : { headers: { 'OpenStack-API-Version': header } },
    )
    expect([got.status, got.headers.get('openstack-api-version')]).toEqual(
      effective === null ? [406, null] : [200, `accelerator ${effective}`],
    )
    expect(got.headers.get('openstack-api-maximum-version')).toBe('2.3')
  })
})

describe('the API tests of tempest', () => {
  test('4 a device profile is created, seen, and deleted in each of the three ways', async () => {
    const [name, other, third] = [freshName(), freshName(), freshName()]
    const { json } = await create({ name, groups, description: 'desc' })
    expect(json).toMatchObject({ name, groups, description: 'desc' })
    const listed = async () =>
      (await cloud.must(200, 'GET /v2/device_profiles')).json.device_profiles.map((each: { name: string }) => each.name)
    expect(await listed()).toContain(name)
    expect((await cloud.must(200, `GET /v2/device_profiles/${json.uuid}`)).json.device_profile.name).toBe(name)
    await create({ name: other, groups })
    await create({ name: third, groups })
    for (const path of [`/${json.uuid}`, `/${other}`]) await cloud.must(204, `DELETE /v2/device_profiles${path}`)
    await create({ name: other, groups })
    await cloud.must(204, `DELETE /v2/device_profiles?value=${other},${third}`)
    for (const gone of [name, other, third]) expect(await listed()).not.toContain(gone)
  })

  test('5 what is refused about device profiles', async () => {
    const known = (await create({ name: freshName(), groups })).json
    const expected = [
      [404, await cloud.say(`GET /v2/device_profiles/${randomUUID()}`)],
      [404, await cloud.say(`DELETE /v2/device_profiles/${randomUUID()}`)],
      [404, await cloud.say('DELETE /v2/device_profiles?value=fpga_uuid,fpga_name')],
      [400, await cloud.say('DELETE /v2/device_profiles/')],
      [409, await create({ name: known.name, groups })],
      [500, await create({ name: freshName(), uuid: known.uuid, groups })],
      [500, await create({ name: '', groups })],
      [500, await create({ name: 'a'.repeat(256), groups })],
    ] as const
    for (const [status, got] of expected) expectRefusal(got, status)
  })

  test('6 a request is created, listed, shown and deleted', async () => {
    const { name } = (await create({ name: freshName(), groups })).json
    const [arq] = (await cloud.must(201, 'POST /v2/accelerator_requests', { body: { device_profile_name: name } })).json
      .arqs
    expect(arq).toMatchObject({ uuid: expect.any(String), device_profile_name: name })
    const listed = async () =>
      (await cloud.must(200, 'GET /v2/accelerator_requests')).json.arqs.map((each: Arq) => each.uuid)
    expect(await listed()).toContain(arq.uuid)
    expect((await cloud.arq(arq.uuid)).uuid).toBe(arq.uuid)
    await cloud.must(204, `DELETE /v2/accelerator_requests?arqs=${arq.uuid}`)
    expect(await listed()).not.toContain(arq.uuid)
  })

  test('7 what is refused about requests', async () => {
    expectRefusal(await cloud.say(`GET /v2/accelerator_requests/${randomUUID()}`), 404)
    expectRefusal(await cloud.say(`DELETE /v2/accelerator_requests?arqs=${randomUUID()}`), 404)
    for (const name of ['', 'nobody', '@#$%^*'])
      expectRefusal(await cloud.say('POST /v2/accelerator_requests', { body: { device_profile_name: name } }), 404)
  })

  test('8 devices: the first key, the filters, the unknown', async () => {
    const { json } = await cloud.must(200, 'GET /v2/devices')
    expect(Object.keys(json)[0]).toBe('devices')
    const [device] = json.devices
    const count = async (query: string) => (await cloud.must(200, `GET /v2/devices?${query}`)).json.devices.length
    for (const field of ['type', 'vendor', 'hostname'])
      expect(await count(`${field}=${device[field]}`)).toBeGreaterThan(0)
    expect(await count(`type=${device.type}&vendor=${device.vendor}&hostname=${device.hostname}`)).toBeGreaterThan(0)
    for (const field of ['type', 'vendor', 'hostname']) expect(await count(`${field}=fake`)).toBe(0)
    expectRefusal(await cloud.say(`GET /v2/devices/${randomUUID()}`), 404)
  })

  test('9 deployables and attributes: the first key, the unknown', async () => {
    for (const key of ['deployables', 'attributes']) {
      const { json } = await cloud.must(200, `GET /v2/${key}`)
      expect(Object.keys(json)[0]).toBe(key)
      expect(json[key].length).toBeGreaterThan(0)
      expectRefusal(await cloud.say(`GET /v2/${key}/${randomUUID()}`), 404)
    }
  })

  test('10 roles with the new defaults', async () => {
    const app = createTestApp(cloud.control, { policy: { enforceNewDefaults: true, rules: {} } })
    const who = (roles: string, more = {}) => speaker(app, as(roles, more))
    const profile = await cloud.newProfile()
    const request = { body: { device_profile_name: profile } }
    await who('reader').must(200, 'GET /v2/device_profiles')
    await who('reader').must(200, 'GET /v2/accelerator_requests')
    await who('reader').must(403, 'POST /v2/accelerator_requests', request)
    for (const roles of ['member,reader', 'service']) {
      const { json } = await who(roles).must(201, 'POST /v2/accelerator_requests', request)
      await who(roles).must(204, `DELETE /v2/accelerator_requests?arqs=${json.arqs[0].uuid}`)
    }
    for (const path of ['devices', 'deployables', 'attributes']) {
      await who('manager,member,reader').must(200, `GET /v2/${path}`)
      await who('member,reader').must(403, `GET /v2/${path}`)
    }
    await speaker(app, { 'X-Roles': 'admin', 'OpenStack-System-Scope': 'all' }).must(403, 'GET /v2/devices')
  })

  test('11 a bound request leaves with its instance, for a service only', async () => {
    const { instance } = await cloud.bound()
    const refused = await cloud.say(`DELETE /v2/accelerator_requests?instance=${instance}`)
    expectRefusal(refused, 403)
    expect(refused.text.toLowerCase()).toContain('requires a service token')
    await cloud.leave(instance)
    expect((await cloud.must(200, `GET /v2/accelerator_requests?instance=${instance}`)).json.arqs).toEqual([])
  })

  test('12 after a boot the instance has its request, and none after its end', async () => {
    const { instance } = await cloud.bound()
    const all = (await cloud.must(200, 'GET /v2/accelerator_requests')).json.arqs
    expect(all.filter((arq: { instance_uuid: string }) => arq.instance_uuid === instance)).toHaveLength(1)
    const { json } = await cloud.must(200, `GET /v2/accelerator_requests?instance=${instance}&bind_state=resolved`)
    expect(json.arqs[0].attach_handle_type).toBe('PCI')
    expect(Object.keys(json.arqs[0].attach_handle_info).toSorted()).toEqual(['bus', 'device', 'domain', 'function'])
    await cloud.leave(instance)
    expect((await cloud.must(200, `GET /v2/accelerator_requests?instance=${instance}`)).json.arqs).toEqual([])
  })
})

test('14 the text of a refusal reaches whoever reads the nested or the plain form', async () => {
  const name = await cloud.newProfile()
  const got = await create({ name, groups })
  expectRefusal(got, 409)
  expect(JSON.parse(got.json.error_message).faultstring).toContain(name)
  expect(got.json.errors[0].detail).toContain(name)
})

describe('what Nova sees besides its answers', () => {
  test('16 an event for each request once it can be read as bound; then delete, create and bind in one breath', async () => {
    const received: (Told & { readonly read: string })[] = []
    const nova = {
      notify: async (events: readonly Told[]) => {
        for (const event of events) received.push({ ...event, read: (await shop.arq(event.tag)).state })
        return events.map(({ tag }) => ({ tag, outcome: 'delivered' as const, code: 200 }))
      },
    }
    const shop = await openWorkshop({ parts: { nova } })
    const { arqs, instance } = await shop.bound(2)
    await until(() => received.length === 2)
    expect(received.toSorted((a, b) => a.tag.localeCompare(b.tag))).toEqual(
      arqs
        .map(({ uuid }) => ({
          name: 'accelerator-request-bound',
          server_uuid: instance,
          tag: uuid,
          status: 'completed',
          read: 'Bound',
        }))
        .toSorted((a, b) => a.tag.localeCompare(b.tag)),
    )
    await shop.leave(instance)
    expect((await shop.bind(await shop.newArqs(2), instance)).status).toBe(202)
    await shop.close()
  })

  test('17 of binds at once for one instance one wins; a deployable is never given out twice', async () => {
    const instance = randomUUID()
    const rivals = await Promise.all(Array.from({ length: 8 }, () => cloud.newArqs()))
    const statuses = (await Promise.all(rivals.map((arqs) => cloud.bind(arqs, instance)))).map((got) => got.status)
    expect(statuses.filter((status) => status === 202)).toHaveLength(1)
    expect(statuses.every((status) => status === 202 || status === 400)).toBe(true)
    await cloud.leave(instance)

    const crowd = await Promise.all(
      Array.from({ length: 24 }, async () => ({ arqs: await cloud.newArqs(), instance: randomUUID() })),
    )
    const got = await Promise.all(crowd.map((one) => cloud.bind(one.arqs, one.instance)))
    expect(got.filter(({ status }) => status === 202)).toHaveLength(16)
    expect(got.filter(({ status }) => status === 409)).toHaveLength(8)
    const arqs = (await cloud.must(200, 'GET /v2/accelerator_requests?bind_state=resolved')).json.arqs
    const handles = arqs.map((arq: { attach_handle_uuid: string }) => arq.attach_handle_uuid)
    expect(new Set(handles).size).toBe(16)
    for (const one of crowd) await cloud.leave(one.instance)
  })

  test('18 of several requests to delete the unknown one is named, the others are gone', async () => {
    const [one, two] = await cloud.newArqs(2)
    expectRefusal(
      await cloud.say(`DELETE /v2/accelerator_requests?arqs=${one!.uuid},${randomUUID()},${two!.uuid}`),
      404,
    )
    for (const { uuid } of [one!, two!]) expectRefusal(await cloud.say(`GET /v2/accelerator_requests/${uuid}`), 404)
  })
})

describe('15 the sequences of Nova', () => {
  /** As its adapter calls: no version header, the service token on every call, errors judged by status alone. */
  const nova = (catalogue: string) => {
    const call = async (line: string, body?: unknown) => {
      const [method, path] = line.split(' ') as [string, string]
      return send(cloud.app, `${method} ${catalogue}${path}`, {
        ...(body !== undefined && { body }),
        headers: as('member', { ...service, Accept: '*/*' }),
      })
    }
    const build = async (profile: string, instance: string) => {
      const found = (await call(`GET /device_profiles?name=${profile}`)).json.device_profiles
      expect(found).toHaveLength(1)
      const { arqs } = (await call('POST /accelerator_requests', { device_profile_name: profile })).json
      expect(arqs.map((arq: { device_profile_group_id: number }) => arq.device_profile_group_id)).toEqual([0])
      expect((await call('PATCH /accelerator_requests', bindBody(arqs, cloud.fpga.rp_uuid, instance))).status).toBe(202)
      return arqs as readonly Arq[]
    }
    const read = async (instance: string) => {
      const { json } = await call(`GET /accelerator_requests?instance=${instance}`)
      return json.arqs as readonly (Arq & {
        readonly attach_handle_type: string
        readonly attach_handle_info: object
      })[]
    }
    const drop = async (instance: string, arqs: readonly Arq[] = []) => {
      expect((await call(`DELETE /accelerator_requests?instance=${instance}`)).status).toBe(204)
      if (arqs.length > 0)
        expect((await call(`DELETE /accelerator_requests?arqs=${arqs.map(({ uuid }) => uuid).join(',')}`)).status).toBe(
          404,
        )
    }
    return { call, build, read, drop }
  }

  describe.each(['', '/v2', '/accelerator', '/accelerator/v2'])(
    'with the catalogue URL ending in "%s"',
    (catalogue) => {
      const { call, build, read, drop } = nova(catalogue)
      const boundOne = async (instance: string) => {
        const [arq, ...more] = await read(instance)
        expect([arq!.state, arq!.attach_handle_type, more.length]).toEqual(['Bound', 'PCI', 0])
      }

      test('create, start, rebuild, delete', async () => {
        const [profile, instance] = [await cloud.newProfile(), randomUUID()]
        const [arq] = await build(profile, instance)
        for (let turn = 0; turn < 3; turn++) await boundOne(instance)
        expect((await call(`GET /accelerator_requests/${arq!.uuid}`)).json.uuid).toBe(arq!.uuid)
        await drop(instance)
        await drop(instance)
        expect(await read(instance)).toEqual([])
      })
      test('a failed build and the next host, evacuation, shelving', async () => {
        const [profile, instance] = [await cloud.newProfile(), randomUUID()]
        await drop(instance, await build(profile, instance))
        for (let turn = 0; turn < 3; turn++) {
          await build(profile, instance)
          await boundOne(instance)
          await drop(instance)
        }
      })
      test('a bind that fails gives the requests back', async () => {
        const { arqs } = (await call('POST /accelerator_requests', { device_profile_name: await cloud.newProfile() }))
          .json
        expect((await call('PATCH /accelerator_requests', bindBody(arqs, randomUUID(), randomUUID()))).status).toBe(404)
        expect((await call(`DELETE /accelerator_requests?arqs=${arqs[0].uuid}`)).status).toBe(204)
      })
    },
  )

  test('the tenant operates what an administrator moved', async () => {
    const [profile, instance] = [await cloud.newProfile(), randomUUID()]
    const arqs = await cloud.arqsOf(profile)
    expect((await cloud.bind(arqs, instance)).status).toBe(202)
    const tenant = speaker(cloud.app, { 'X-Project-Id': 'p-tenant', 'X-Roles': 'member', ...service })
    expect((await tenant.must(200, `GET /accelerator_requests?instance=${instance}`)).json.arqs).toHaveLength(1)
    await tenant.must(204, `DELETE /accelerator_requests?instance=${instance}`)
  })
})
/**
 * Elsewhere: an expired user token beside a service token in test/http/tokenIdentity.test.ts, and on a real Keystone in
 * test/cloud and test/nova/clients.ts; openstacksdk, the command lines and Nova's adapter themselves in test/clients;
 * line 12, servers of a real Nova that live on, in test/nova/lives.ts.
 */

/** Devices, deployables, attributes and hosts: what there is, found and paged through. */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openCloud } from './cloud.ts'
import type { Cloud } from './cloud.ts'
import { expectRefusal, send, version } from './steps.ts'

let cloud: Cloud
beforeAll(async () => void (cloud = await openCloud({ additiveMicroversion: true })))
afterAll(() => cloud.close())

const get = async (path: string, minor = 0) =>
  (await cloud.must(200, `GET /v2/${path}`, { headers: version(minor) })).json
const self = (collection: string, uuid: string) => ({
  href: `http://localhost/accelerator/v2/${collection}/${uuid}`,
  rel: 'self',
})
const times = { created_at: expect.stringMatching(/\+00:00$/), updated_at: null }

describe('devices', () => {
  test('are listed first of all, and shown bare', async () => {
    const listed = await get('devices')
    expect(Object.keys(listed)).toEqual(['devices'])
    const [device] = listed.devices
    expect(device).toEqual({
      uuid: expect.any(String),
      type: 'FPGA',
      vendor: expect.any(String),
      model: expect.any(String),
      std_board_info: expect.any(String),
      vendor_board_info: expect.any(String),
      hostname: 'sim-1',
      ...times,
      links: [self('devices', device.uuid)],
    })
    expect(await get(`devices/${device.uuid}`)).toEqual(device)
    expect(await get(`devices/${device.uuid.toUpperCase()}`)).toEqual(device)
  })
  test('tell their status since 2.3', async () => {
    for (const [minor, status] of [
      [2, undefined],
      [3, 'enabled'],
    ] as const) {
      const { devices } = await get('devices', minor)
      expect(devices[0].status).toBe(status)
      expect((await get(`devices/${devices[0].uuid}`, minor)).status).toBe(status)
    }
  })
  test('are filtered, alone and combined', async () => {
    const [fpga, gpu] = (await get('devices')).devices
    const uuids = async (query: string) =>
      (await get(`devices?${query}`)).devices.map((each: { uuid: string }) => each.uuid)
    expect(await uuids('type=FPGA')).toEqual([fpga.uuid])
    expect(await uuids(`vendor=${gpu.vendor}`)).toEqual([gpu.uuid])
    expect(await uuids('hostname=sim-1')).toEqual([fpga.uuid, gpu.uuid])
    expect(await uuids(`type=GPU&vendor=${gpu.vendor}&hostname=sim-1&status=enabled`)).toEqual([gpu.uuid])
    expect(await uuids('type=FPGA&hostname=nowhere')).toEqual([])
    for (const nothing of ['type=X', 'vendor=X', 'hostname=X', 'status=X']) expect(await uuids(nothing)).toEqual([])
    expect(await uuids('type=&vendor=&hostname=')).toEqual([fpga.uuid, gpu.uuid])
    expect(await uuids('filters.field=limit&filters.value=1&type=GPU')).toEqual([gpu.uuid])
    expect(await uuids('type=GPU&filters.field=type&filters.value=FPGA')).toEqual([gpu.uuid])
    expect(await uuids('sort_key=type&sort_dir=desc')).toEqual([gpu.uuid, fpga.uuid])
  })
  test('are turned off and on, as often as one likes', async () => {
    const { uuid } = (await get('devices')).devices[1]
    const statusAfter = async (verb: string) => {
      for (let turn = 0; turn < 2; turn++) {
        const got = await cloud.must(
          204,
          `POST /v2/devices/${uuid}/${verb}`,
          turn === 0 ? {} : { body: { ignored: true } },
        )
        expect([got.text, got.headers.get('content-length')]).toEqual(['', null])
      }
      return (await get(`devices/${uuid}`, 3)).status
    }
    expect(await statusAfter('disable')).toBe('maintaining')
    expect((await get('devices?status=maintaining')).devices).toHaveLength(1)
    expect(await statusAfter('enable')).toBe('enabled')
  })
  test('nobody knows are not found', async () => {
    for (const line of ['GET /v2/devices/', 'POST /v2/devices/'])
      for (const id of [randomUUID(), 'x'])
        expectRefusal(await cloud.say(`${line}${id}${line.startsWith('POST') ? '/disable' : ''}`), 404)
  })
})

describe('deployables', () => {
  test('are listed first of all, and shown bare', async () => {
    const listed = await get('deployables')
    expect(Object.keys(listed)).toEqual(['deployables'])
    const [deployable] = listed.deployables
    expect(deployable).toEqual({
      uuid: expect.any(String),
      parent_id: null,
      root_id: null,
      name: expect.stringMatching(/^sim-1_/),
      num_accelerators: 16,
      device_id: expect.any(Number),
      attributes_list: expect.any(String),
      rp_uuid: expect.any(String),
      driver_name: expect.any(String),
      bitstream_id: null,
      ...times,
      links: [
        self('deployables', deployable.uuid),
        { href: `http://localhost/accelerator/deployables/${deployable.uuid}`, rel: 'bookmark' },
      ],
    })
    expect(JSON.parse(deployable.attributes_list)[0]).toEqual({ rc: 'FPGA' })
    expect(await get(`deployables/${deployable.uuid}`)).toEqual(deployable)
  })
  test('tell more in the additive microversion, and nothing of it before', async () => {
    const [plain] = (await get('deployables', 3)).deployables
    const [rich] = (await get('deployables', 4)).deployables
    const [device] = (await get('devices')).devices
    expect(rich).toEqual({
      ...plain,
      id: expect.any(Number),
      device_uuid: device.uuid,
      parent_uuid: null,
      root_uuid: null,
      kind: null,
      placement: null,
    })
  })
  test('are filtered', async () => {
    const [fpga, gpu] = (await get('deployables', 4)).deployables
    const uuids = async (query: string) =>
      (await get(`deployables?${query}`)).deployables.map((each: { uuid: string }) => each.uuid)
    expect(await uuids(`name=${gpu.name}`)).toEqual([gpu.uuid])
    expect(await uuids(`device_id=${gpu.device_id}`)).toEqual([gpu.uuid])
    expect(await uuids(`device_uuid=${fpga.device_uuid}`)).toEqual([fpga.uuid])
    expect(await uuids(`rp_uuid=${fpga.rp_uuid.toUpperCase()}`)).toEqual([fpga.uuid])
    expect(await uuids(`filters.field=name&filters.value=${fpga.name}`)).toEqual([fpga.uuid])
    expect(await uuids(`filters=${encodeURIComponent(JSON.stringify({ name: gpu.name }))}`)).toEqual([gpu.uuid])
    expect(await uuids(`name=nothing&rp_uuid=${randomUUID()}`)).toEqual([])
  })
  test('nobody knows are not found', async () => {
    expectRefusal(await cloud.say(`GET /v2/deployables/${randomUUID()}`), 404)
    const body = [{ op: 'replace', path: '/program', value: [{ image_uuid: randomUUID() }] }]
    expectRefusal(await cloud.say(`PATCH /v2/deployables/${randomUUID()}/program`, { body }), 404)
  })
})

describe('attributes', () => {
  const create = (more: object = {}) =>
    cloud.say('POST /v2/attributes', {
      body: { deployable_id: cloud.fpga.uuid, key: `k-${randomUUID()}`, value: 'v', ...more },
    })
  const idOf = async () => (await get(`deployables/${cloud.fpga.uuid}`, 4)).id as number

  test('are created by integer, by text and by uuid, bare and wrapped', async () => {
    const id = await idOf()
    for (const deployable of [id, String(id), cloud.fpga.uuid, cloud.fpga.uuid.toUpperCase()])
      for (const wrap of [(body: object) => body, (attribute: object) => ({ attribute })]) {
        const body = wrap({ deployable_id: deployable, key: `k-${randomUUID()}`, value: 'v', uuid: 'mine', colour: 1 })
        const { json } = await cloud.must(201, 'POST /v2/attributes', { body })
        expect(json).toEqual({
          uuid: expect.stringMatching(/^[0-9a-f-]{36}$/),
          deployable_id: id,
          key: expect.stringMatching(/^k-/),
          value: 'v',
          ...times,
          links: [self('attributes', json.uuid)],
        })
        expect(await get(`attributes/${json.uuid}`)).toEqual(json)
      }
  })
  test('take scalars for values', async () => {
    for (const [value, kept] of [
      [true, 'true'],
      [5, '5'],
      ['', ''],
    ] as const)
      expect((await create({ value })).json.value).toBe(kept)
  })
  test('have a key nobody else has on the deployable', async () => {
    const { key } = (await create()).json
    expectRefusal(await create({ key }), 409)
    expect((await create({ key, deployable_id: cloud.gpu.uuid })).status).toBe(201)
  })
  test('belong to a deployable that is there', async () => {
    for (const deployable_id of [999_999, 0, randomUUID()]) expectRefusal(await create({ deployable_id }), 404)
  })
  test('are listed by deployable and key', async () => {
    const made = (await create()).json
    const uuids = async (query: string) =>
      (await get(`attributes?${query}`)).attributes.map((each: { uuid: string }) => each.uuid)
    expect(await uuids(`key=${made.key}`)).toEqual([made.uuid])
    expect(await uuids(`deployable_id=${made.deployable_id}&key=rc`)).toHaveLength(1)
    expect(await uuids(`deployable_id=${cloud.gpu.uuid}&key=rc`)).toHaveLength(1)
    expect(await uuids(`deployable_id=${randomUUID()}`)).toEqual([])
    expect(await uuids('key=nothing')).toEqual([])
    expect(await uuids('deployable_id=0')).toEqual(await uuids(''))
    expect(Object.keys(await get('attributes'))).toEqual(['attributes'])
    const [rich] = (await get(`attributes?key=${made.key}`, 4)).attributes
    expect(rich).toEqual({ ...made, deployable_uuid: cloud.fpga.uuid, parent_uuid: null })
  })
  test('are taken away once', async () => {
    const { uuid } = (await create()).json
    await cloud.must(204, `DELETE /v2/attributes/${uuid}`)
    for (const id of [uuid, randomUUID(), 'x']) expectRefusal(await cloud.say(`DELETE /v2/attributes/${id}`), 404)
    expectRefusal(await cloud.say(`GET /v2/attributes/${uuid}`), 404)
  })
})

test('hosts tell how they are', async () => {
  const { hosts } = await get('hosts')
  expect(hosts).toEqual([
    {
      name: 'sim-1',
      liveness: 'up',
      aliases: [],
      drivers: { simulated_driver: { status: 'ok', error: null } },
      boot_id: expect.any(String),
      last_seen_at: expect.stringMatching(/\+00:00$/),
      retired: null,
      public_key: null,
      offered_key: null,
      ...times,
    },
  ])
  expect((await get('hosts?marker=sim-1')).hosts).toEqual([])
})

describe('pages', () => {
  type Page = Readonly<Record<string, readonly { readonly href: string; readonly rel: string }[]>>
  const walk = async (path: string, key: string, limit: number) => {
    const pages: unknown[][] = []
    let next: string | undefined =
      `http://localhost/accelerator/v2/${path}${path.includes('?') ? '&' : '?'}limit=${limit}`
    while (next !== undefined) {
      const got = await send(cloud.app, `GET ${next}`, { headers: version(3) })
      expect(got.status, got.text).toBe(200)
      const page = got.json as Page
      expect(Object.keys(page)[0]).toBe(key)
      pages.push([...page[key]!])
      next = page[`${key}_links`]?.find((link) => link.rel === 'next')?.href
    }
    return pages
  }
  beforeAll(async () => void (await cloud.newArqs(5)))

  test.each([
    ['device_profiles', 'device_profiles'],
    ['accelerator_requests', 'arqs'],
    ['devices', 'devices'],
    ['deployables', 'deployables'],
    ['attributes', 'attributes'],
    ['hosts', 'hosts'],
    ['attributes?key=rc', 'attributes'],
    ['devices?sort_key=type&sort_dir=desc', 'devices'],
  ])('of %s are the list, in order', async (path, key) => {
    const whole = (await get(path, 3))[key]
    for (const limit of [1, 2, 1000]) {
      const pages = await walk(path, key, limit)
      expect(pages.flat()).toEqual(whole)
      expect(pages.slice(0, -1).every((page) => page.length === limit)).toBe(true)
    }
  })

  test('begin after the marker, as one client asks for them', async () => {
    const [first, second] = (await get('devices')).devices
    const page = await get(`devices?limit=1&marker=${first.uuid}`)
    expect(page.devices).toEqual([second])
    expect((await get(`devices?limit=1&marker=${second.uuid}`)).devices).toEqual([])
  })
  test.each(['device_profiles', 'accelerator_requests', 'devices', 'deployables', 'attributes', 'hosts'])(
    'of %s do not begin after nothing',
    async (path) => expectRefusal(await cloud.say(`GET /v2/${path}?marker=${randomUUID()}`), 404),
  )
})

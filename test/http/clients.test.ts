/**
 * Line 13 of the conformance checklist: each call of openstacksdk and of the command line, as they put it on the wire.
 */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { anyImage, bindBody, freshName, openWorkshop, speaker, unbindBody } from './cloud.ts'
import { expectRefusal, service, version } from './steps.ts'

let shop: Awaited<ReturnType<typeof openWorkshop>>
beforeAll(async () => void (shop = await openWorkshop({ parts: { images: anyImage }, hostWork: false })))
afterAll(() => shop.close())

const groups = [{ 'resources:FPGA': '1' }]

describe('13 openstacksdk', () => {
  /** It asks for no version unless it was told to, and accepts anything but for lists. */
  const sdk = () => speaker(shop.app, { Accept: '*/*', 'User-Agent': 'openstacksdk/4.0' })
  const newest = () => speaker(shop.app, { Accept: '*/*', ...version(3) })

  test('devices', async () => {
    const [device] = (await sdk().must(200, 'GET /v2/devices', { headers: { Accept: 'application/json' } })).json
      .devices
    expect(device).toMatchObject({
      uuid: expect.any(String),
      type: 'FPGA',
      vendor: expect.any(String),
      model: expect.any(String),
      hostname: 'sim-1',
    })
    expect((await sdk().must(200, `GET /v2/devices/${device.uuid}`)).json.uuid).toBe(device.uuid)
  })

  test('deployables, and programming at its own address', async () => {
    const [deployable] = (await sdk().must(200, 'GET /v2/deployables')).json.deployables
    expect((await sdk().must(200, `GET /v2/deployables/${deployable.uuid}`)).json).toMatchObject({
      name: deployable.name,
      device_id: deployable.device_id,
    })
    const image = randomUUID()
    const body = [{ op: 'replace', path: '/program', value: [{ image_uuid: image }] }]
    for (const tail of [`/program/${deployable.uuid}`, '/program'])
      expect(
        (await sdk().must(200, `PATCH /v2/deployables/${deployable.uuid}${tail}`, { body })).json.bitstream_id,
      ).toBe(image)
  })

  test('device profiles, by uuid and by name', async () => {
    const name = freshName()
    const { json } = await sdk().must(201, 'POST /v2/device_profiles', { body: [{ name, groups }] })
    expect((await sdk().must(200, `GET /v2/device_profiles/${json.uuid}`)).json.device_profile.name).toBe(name)
    expect((await newest().must(200, `GET /v2/device_profiles/${name}`)).json.device_profile.uuid).toBe(json.uuid)
    expectRefusal(await sdk().say(`GET /v2/device_profiles/${name}`), 406)
    expectRefusal(await sdk().say('POST /v2/device_profiles', { body: [{ name, groups }] }), 409)
    await sdk().must(204, `DELETE /v2/device_profiles/${json.uuid}`)
    expectRefusal(await sdk().say(`DELETE /v2/device_profiles/${json.uuid}`), 404)
  })

  test('accelerator requests, patched under their own address', async () => {
    const [arq] = await shop.newArqs()
    const path = `/v2/accelerator_requests/${arq!.uuid}`
    const instance = randomUUID()
    await sdk().must(202, `PATCH ${path}`, { body: bindBody([arq!], shop.fpga.rp_uuid, instance), headers: service })
    expect((await sdk().must(200, `GET ${path}`)).json).toMatchObject({ state: 'Bound', instance_uuid: instance })
    await sdk().must(202, `PATCH ${path}`, { body: unbindBody([arq!]), headers: service })
    await sdk().must(204, `DELETE ${path}`)
    expectRefusal(await sdk().say(`GET ${path}`), 404)
  })

  test('attributes, wrapped and with a uuid', async () => {
    const attribute = { deployable_id: shop.fpga.uuid, key: randomUUID(), value: 'v' }
    const { json } = await sdk().must(201, 'POST /v2/attributes', { body: { attribute } })
    expect(json).toMatchObject({ key: attribute.key, value: 'v', deployable_id: expect.any(Number) })
    expect((await sdk().must(200, `GET /v2/attributes/${json.uuid}`)).json.key).toBe(attribute.key)
    await sdk().must(204, `DELETE /v2/attributes/${json.uuid}`)
  })

  test('pages, asked for by limit and marker until one is empty', async () => {
    const whole = (await sdk().must(200, 'GET /v2/attributes')).json.attributes
    const seen: { readonly uuid: string }[] = []
    for (;;) {
      const marker = seen.length === 0 ? '' : `&marker=${seen.at(-1)!.uuid}`
      const page = (await sdk().must(200, `GET /v2/attributes?limit=3${marker}`)).json.attributes
      if (page.length === 0) break
      seen.push(...page)
    }
    expect(seen).toEqual(whole)
  })
})

describe('13 the command line', () => {
  const cli = () => speaker(shop.app, { 'User-Agent': 'python-cyborgclient', ...version(3) })

  test('device profile: create, list, show, delete', async () => {
    const name = freshName()
    const body = [{ name, groups: [{ 'resources:FPGA': 1, 'trait:CUSTOM_X': 'required' }], description: null }]
    const { uuid } = (await cli().must(201, 'POST /v2/device_profiles', { body })).json
    const shown = (await cli().must(200, `GET /v2/device_profiles/${uuid}`)).json.device_profile
    expect(shown.groups).toEqual([{ 'resources:FPGA': '1', 'trait:CUSTOM_X': 'required' }])
    expect((await cli().must(200, 'GET /v2/device_profiles')).json.device_profiles).toContainEqual(shown)
    expect((await cli().must(200, `GET /v2/device_profiles/${name}`)).json.device_profile).toEqual(shown)
    await cli().must(204, `DELETE /v2/device_profiles/${name}`)
    expectRefusal(await cli().say(`GET /v2/device_profiles/${name}`), 404)
  })

  test('arq: create, bind, unbind, list, delete', async () => {
    const profile = await shop.newProfile()
    const body = { device_profile_name: profile, device_profile_group_id: null }
    const [arq] = (await cli().must(201, 'POST /v2/accelerator_requests', { body })).json.arqs
    await cli().must(201, 'POST /v2/accelerator_requests', { body: { ...body, device_profile_group_id: '0' } })
    const path = `/v2/accelerator_requests/${arq.uuid}`
    const bind = bindBody([arq], shop.fpga.rp_uuid, randomUUID())
    expectRefusal(await cli().say(`PATCH ${path}`, { body: bind }), 403)
    await cli().must(202, `PATCH ${path}`, { body: bind, headers: service })
    expect((await cli().must(200, `GET ${path}`)).json.state).toBe('Bound')
    expectRefusal(await cli().say(`PATCH ${path}`, { body: unbindBody([arq]) }), 403)
    await cli().must(202, `PATCH ${path}`, { body: unbindBody([arq]), headers: service })
    expect((await cli().must(200, 'GET /v2/accelerator_requests')).json.arqs.length).toBeGreaterThan(1)
    await cli().must(204, `DELETE ${path}`)
  })

  test('device: list and show, with the status', async () => {
    const [device] = (await cli().must(200, 'GET /v2/devices')).json.devices
    expect((await cli().must(200, `GET /v2/devices/${device.uuid}`)).json.status).toBe('enabled')
    for (const verb of ['disable', 'enable']) await cli().must(204, `POST /v2/devices/${device.uuid}/${verb}`)
  })

  test('deployable: list, show, program', async () => {
    const { deployables } = (await cli().must(200, 'GET /v2/deployables')).json
    for (const { uuid } of deployables) await cli().must(200, `GET /v2/deployables/${uuid}`)
    const body = [{ op: 'replace', path: '/program', value: [{ image_uuid: randomUUID() }] }]
    await cli().must(200, `PATCH /v2/deployables/${shop.fpga.uuid}/program/${shop.fpga.uuid}`, { body })
  })

  test('device attribute: create with the id as text, list, show, delete', async () => {
    const [{ deployable_id: id }] = (await cli().must(200, 'GET /v2/attributes')).json.attributes
    const body = { attribute: { deployable_id: String(id), key: randomUUID(), value: 'v' } }
    const { uuid } = (await cli().must(201, 'POST /v2/attributes', { body })).json
    expect((await cli().must(200, `GET /v2/attributes/${uuid}`)).json.deployable_id).toBe(id)
    await cli().must(204, `DELETE /v2/attributes/${uuid}`)
  })
})

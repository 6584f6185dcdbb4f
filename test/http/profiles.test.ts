import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { freshName, openCloud } from './cloud.ts'
import type { Cloud } from './cloud.ts'
import { as, expectRefusal, version } from './steps.ts'

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00$/
const groups = [{ 'resources:FPGA': '1', 'trait:CUSTOM_FPGA_INTEL': 'required' }, { 'resources:PGPU': '2' }]

let cloud: Cloud
beforeAll(async () => void (cloud = await openCloud()))
afterAll(() => cloud.close())

const create = (more: object = {}) =>
  cloud.say('POST /v2/device_profiles', { body: [{ name: freshName(), groups, ...more }] })

describe('a device profile', () => {
  test('is created, found, and deleted', async () => {
    const name = freshName()
    const { json } = await cloud.must(201, 'POST /v2/device_profiles', { body: [{ name, groups, description: 'd' }] })
    expect(json).toEqual({
      uuid: expect.stringMatching(/^[0-9a-f-]{36}$/),
      name,
      description: 'd',
      groups,
      created_at: expect.stringMatching(TIME),
      updated_at: null,
      links: [{ href: `http://localhost/accelerator/v2/device_profiles/${json.uuid}`, rel: 'self' }],
    })
    const shown = await cloud.must(200, `GET /v2/device_profiles/${json.uuid}`)
    expect(shown.json).toEqual({ device_profile: json })
    const listed = await cloud.must(200, 'GET /v2/device_profiles')
    expect(listed.json.device_profiles).toContainEqual(json)
    const gone = await cloud.must(204, `DELETE /v2/device_profiles/${json.uuid}`)
    expect([gone.text, gone.headers.get('content-length'), gone.headers.has('content-type')]).toEqual(['', null, false])
    expectRefusal(await cloud.say(`GET /v2/device_profiles/${json.uuid}`), 404)
  })

  test('is created from the object alone, and without a description', async () => {
    const { json } = await cloud.must(201, 'POST /v2/device_profiles', {
      body: { name: freshName(), groups, description: null },
    })
    expect(json.description).toBeNull()
  })

  test('keeps a uuid that the client chose, in its one spelling', async () => {
    const uuid = randomUUID()
    expect((await create({ uuid: uuid.toUpperCase() })).json.uuid).toBe(uuid)
    expect((await cloud.must(200, `GET /v2/device_profiles/{${uuid.toUpperCase()}}`)).json.device_profile.uuid).toBe(
      uuid,
    )
  })

  test('14 has a name nobody else has', async () => {
    const name = await cloud.newProfile()
    const again = await create({ name })
    expectRefusal(again, 409)
    expect(again.fault).toContain(name)
    expect((await create({ name: name.toUpperCase() })).status).toBe(201)
  })

  test('15 a uuid that exists is the server fault that clients expect', async () => {
    const { uuid } = (await create()).json
    expectRefusal(await create({ uuid }), 500)
    const name = await cloud.newProfile()
    expectRefusal(await create({ uuid, name }), 409)
  })

  test('15 and a conflict with the switch off', async () => {
    const strict = await openCloud({ compat: { tempestServerFaults: false } })
    const body = (uuid: string) => ({ body: [{ uuid, name: freshName(), groups }] })
    const uuid = randomUUID()
    await strict.must(201, 'POST /v2/device_profiles', body(uuid))
    expectRefusal(await strict.say('POST /v2/device_profiles', body(uuid)), 409)
    await strict.close()
  })

  test('keeps a description of several lines, and takes an empty uuid for none', async () => {
    const description = `For the models of\n\tthe second floor \u{1F469}\u200D\u{1F4BB}\r\n${'x'.repeat(300)}`
    const { json } = await create({ description, uuid: '' })
    expect([json.description, json.uuid]).toEqual([description, expect.stringMatching(/^[0-9a-f-]{36}$/)])
    const shown = await cloud.must(200, `GET /v2/device_profiles/${json.uuid}`)
    expect(shown.json.device_profile.description).toBe(description)
  })

  test('refused ones leave nothing behind', async () => {
    const before = (await cloud.must(200, 'GET /v2/device_profiles')).text
    for (const more of [{ uuid: 'x' }, { description: 5 }, { groups: [{}] }, { name: 'a b' }])
      expectRefusal(await create(more), 400)
    expect((await cloud.must(200, 'GET /v2/device_profiles')).text).toBe(before)
  })
})

describe('finding', () => {
  test('by name, since 2.2', async () => {
    const name = await cloud.newProfile()
    expect(
      (await cloud.must(200, `GET /v2/device_profiles/${name}`, { headers: version(2) })).json.device_profile.name,
    ).toBe(name)
    expectRefusal(await cloud.say(`GET /v2/device_profiles/${name}`, { headers: version(1) }), 406)
    expectRefusal(await cloud.say('GET /v2/device_profiles/nobody', { headers: version(2) }), 404)
    expectRefusal(await cloud.say('GET /v2/device_profiles/a%20b', { headers: version(2) }), 404)
  })
  test('4f by a name that looks like a UUID: as a UUID first, then as a name', async () => {
    const uuid = randomUUID()
    const names = [randomUUID(), randomUUID().replaceAll('-', ''), randomUUID().replaceAll('-', '').toUpperCase()]
    for (const name of [uuid, ...names]) await cloud.must(201, 'POST /v2/device_profiles', { body: [{ name, groups }] })
    for (const name of names) {
      const path = `/v2/device_profiles/${name}`
      const shown = await cloud.must(200, `GET ${path}`, { headers: version(2) })
      expect(shown.json.device_profile.name).toBe(name)
      expectRefusal(await cloud.say(`GET ${path}`, { headers: version(1) }), 404)
      expect((await cloud.must(200, `GET /v2/device_profiles?name=${name}`)).json.device_profiles).toHaveLength(1)
      const arqs = (await cloud.arqsOf(name)).map((arq) => arq.uuid)
      expectRefusal(await cloud.say(`DELETE ${path}`), 409)
      await cloud.must(204, `DELETE /v2/accelerator_requests?arqs=${arqs.join(',')}`)
      await cloud.must(204, `DELETE ${path}`)
      expectRefusal(await cloud.say(`DELETE ${path}`), 404)
    }
    // another profile has the UUID that is the name of the first one
    const { name } = (await create({ uuid })).json
    const found = await cloud.must(200, `GET /v2/device_profiles/${uuid}`, { headers: version(2) })
    expect(found.json.device_profile.name).toBe(name)
    await cloud.must(204, `DELETE /v2/device_profiles?value=${uuid},${uuid.toUpperCase()}`)
    expect((await cloud.must(200, `GET /v2/device_profiles?name=${uuid}`)).json.device_profiles).toHaveLength(1)
  })
  test('a name with a suffix is not cut', async () => {
    expectRefusal(
      await cloud.say(`GET /v2/device_profiles/${await cloud.newProfile()}.json`, { headers: version(2) }),
      404,
    )
  })
  test('several by name: unknown ones are left out', async () => {
    const [one, two] = [await cloud.newProfile(), await cloud.newProfile()]
    // of one millisecond none is the earlier one
    const names = async (query: string) =>
      (await cloud.must(200, `GET /v2/device_profiles?${query}`)).json.device_profiles
        .map((each: { name: string }) => each.name)
        .toSorted()
    const both = [one, two].toSorted()
    expect(await names(`name=${two},nobody,${one}`)).toEqual(both)
    expect(await names(`name=${one}&name=${two}`)).toEqual(both)
    expect(await names('name=')).toEqual([])
    expect(await names('name=nobody')).toEqual([])
    expect(await names('name=%40%20')).toEqual([])
  })
})

describe('deleting', () => {
  const exists = async (name: string) =>
    (await cloud.must(200, `GET /v2/device_profiles?name=${name}`)).json.device_profiles.length === 1

  test('by name in the path, whatever the version', async () => {
    await cloud.must(204, `DELETE /v2/device_profiles/${await cloud.newProfile()}`)
    expectRefusal(await cloud.say('DELETE /v2/device_profiles/nobody'), 404)
    expectRefusal(await cloud.say(`DELETE /v2/device_profiles/${randomUUID()}`), 404)
  })
  test('by a name that begins or ends with a UUID, which is a name all the same', async () => {
    for (const name of [`${randomUUID()}-fast`, `fast-${randomUUID()}`]) {
      const { json } = await cloud.must(201, 'POST /v2/device_profiles', { body: [{ name, groups }] })
      const shown = await cloud.must(200, `GET /v2/device_profiles/${name}`, { headers: version(2) })
      expect(shown.json.device_profile.uuid).toBe(json.uuid)
      await cloud.must(204, `DELETE /v2/device_profiles/${name}`)
      expect(await exists(name)).toBe(false)
    }
  })
  test('several, by name or uuid, under either argument', async () => {
    for (const argument of ['value', 'name']) {
      const [one, two] = [await cloud.newProfile(), await cloud.newProfile()]
      const { uuid } = (await cloud.say(`GET /v2/device_profiles/${two}`, { headers: version(2) })).json.device_profile
      await cloud.must(204, `DELETE /v2/device_profiles?${argument}=${one},${uuid},${one}`)
      expect([await exists(one), await exists(two)]).toEqual([false, false])
    }
  })
  test('all or none', async () => {
    const name = await cloud.newProfile()
    expectRefusal(await cloud.say(`DELETE /v2/device_profiles?value=${name},nobody`), 404)
    expectRefusal(await cloud.say(`DELETE /v2/device_profiles?value=${name},`), 400)
    expect(await exists(name)).toBe(true)
  })
  test('one in use is kept', async () => {
    const name = await cloud.newProfile()
    const [arq] = await cloud.arqsOf(name)
    expectRefusal(await cloud.say(`DELETE /v2/device_profiles/${name}`), 409)
    await cloud.must(204, `DELETE /v2/accelerator_requests/${arq!.uuid}`)
    await cloud.must(204, `DELETE /v2/device_profiles/${name}`)
  })
  test('is for administrators', async () => {
    expectRefusal(await cloud.say('DELETE /v2/device_profiles/nobody', { headers: as('member') }), 403)
  })
})

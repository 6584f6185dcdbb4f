/** Whom a change would concern: `dry_run=true` on whatever takes something away. Nothing is written. */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { latestMinor } from '../../src/http/versions.ts'
import { createTestApp } from './app.ts'
import { openWorkshop } from './cloud.ts'
import { send, version } from './steps.ts'

type Shop = Awaited<ReturnType<typeof openWorkshop>>
let shop: Shop
let bound: Awaited<ReturnType<Shop['bound']>>
beforeAll(async () => {
  shop = await openWorkshop({ hostWork: false })
  bound = await shop.bound(2)
  await shop.newArqs()
})
afterAll(() => shop.close())

const rows = async () => (await shop.store.journal.feed('', 10_000)).length
const views = async () => {
  const lines: string[] = []
  for await (const line of shop.store.dumpViews()) lines.push(line)
  return lines
}
const REASON = { body: { reason: 'a test' } }
const dry = async (line: string, sent = {}) => {
  const before = [await rows(), await views()]
  const { json } = await shop.must(200, line, sent)
  expect([await rows(), await views()]).toEqual(before)
  return json
}
let device = ''
let profile = ''
beforeEach(async () => {
  const { devices } = (await shop.must(200, 'GET /v2/devices?type=FPGA')).json
  device = devices[0].uuid
  profile = (await shop.arq(bound.arqs[0]!.uuid)).device_profile_name
})

/** Changes profiles, in the version that has versions of them. */
const newer = () => {
  const additive = createTestApp(shop.control, { additiveMicroversion: true }, shop.events)
  const headers = version(latestMinor(true))
  const change = async (status: number, id: string, body: object, query = '') => {
    const got = await send(additive, `PATCH /v2/device_profiles/${id}${query}`, {
      body: { ...body, reason: 'a test' },
      headers,
    })
    expect(got.status, got.text).toBe(status)
    return got
  }
  const patch = async (status: number, id: string, body: object) => {
    const before = [await rows(), await views()]
    const { json } = await change(status, id, body, '?dry_run=true')
    expect([await rows(), await views()]).toEqual(before)
    return json
  }
  return { change, patch }
}

const concerned = () => ({
  dry_run: true,
  instances: [bound.instance],
  arqs_left_out: 0,
  arqs: bound.arqs
    .map(({ uuid }) => ({
      uuid,
      state: 'Bound',
      instance_uuid: bound.instance,
      hostname: 'node-7',
      deployable_uuid: shop.fpga.uuid,
    }))
    .toSorted((one, other) => (one.uuid < other.uuid ? -1 : 1)),
})

describe('a dry run says whom it would concern, and writes nothing', () => {
  test('a device that is disabled', async () => {
    const impact = await dry(`POST /v2/devices/${device}/disable?dry_run=true`)
    expect(impact).toMatchObject({ ...concerned(), refusal: null, effect: 'kept', devices: [device] })
    expect(impact.projects).toHaveLength(1)
    expect((await shop.must(200, `GET /v2/devices/${device}`, { headers: {} })).json.uuid).toBe(device)
  })
  test('a host that is retired', async () => {
    const impact = await dry('POST /v2/hosts/sim-1/retire?dry_run=true', REASON)
    expect(impact).toMatchObject({ ...concerned(), refusal: null, effect: 'kept' })
    expect(impact.devices).toHaveLength(2)
    expect((await shop.must(200, 'GET /v2/hosts/sim-1')).json.retired).toBe(null)
  })
  test('a host that is removed: refused while it is in use', async () => {
    const impact = await dry('DELETE /v2/hosts/sim-1?reason=sold&dry_run=true')
    expect(impact).toMatchObject({ ...concerned(), effect: 'kept' })
    const refused = await shop.must(409, 'DELETE /v2/hosts/sim-1?reason=sold')
    expect(refused.fault).toContain(impact.refusal)
  })
  test('a host that is removed by force: everything is unbound', async () => {
    const impact = await dry('DELETE /v2/hosts/sim-1?reason=sold&force=true&dry_run=true')
    expect(impact).toMatchObject({ ...concerned(), refusal: null, effect: 'unbound' })
  })
  test('a device profile: by name, by UUID, several', async () => {
    const all = (await shop.must(200, 'GET /v2/device_profiles')).json.device_profiles
    const { uuid } = all.find(({ name }: { name: string }) => name === profile)
    const unused = await shop.newProfile()
    for (const path of [`/${profile}?`, `/${uuid}?`, `?value=${unused},${uuid}&`]) {
      const impact = await dry(`DELETE /v2/device_profiles${path}dry_run=true`)
      expect(impact).toMatchObject({ ...concerned(), refusal: expect.stringContaining(profile), devices: [] })
    }
    expect(await dry(`DELETE /v2/device_profiles/${unused}?dry_run=true`)).toMatchObject({ refusal: null, arqs: [] })
    await shop.must(204, `DELETE /v2/device_profiles/${unused}?dry_run=false`)
  })
  test('a device profile that is changed: its requests keep their groups', async () => {
    const { patch } = newer()
    const bare = await shop.newProfile()
    const before = (await shop.must(200, 'GET /v2/device_profiles')).json
    for (const change of [
      { groups: [{ 'resources:FPGA': '2' }] },
      { versions: { 1: false } },
      { projects: ['p1'] },
      { description: 'two', enabled: false, if_version: 1 },
    ]) {
      const [used, unused] = [await patch(200, profile, change), await patch(200, bare, change)]
      expect(used).toMatchObject({ ...concerned(), refusal: null, effect: 'kept', devices: [] })
      expect(unused).toMatchObject({ refusal: null, arqs: [], instances: [], projects: [] })
    }
    expect((await shop.must(200, 'GET /v2/device_profiles')).json).toEqual(before)
  })
  test('a change of a device profile that would be refused, for the reason of the change itself', async () => {
    const { patch, change } = newer()
    const stale = { description: 'x', if_version: 7 }
    const impact = await patch(200, profile, stale)
    expect(impact).toMatchObject({ ...concerned(), effect: 'kept' })
    expect((await change(409, profile, stale)).fault).toContain(impact.refusal)
    expect(impact.refusal).toContain('was changed or deleted meanwhile')
    await patch(400, profile, { versions: { 9: true } })
    await patch(400, profile, {})
    await patch(404, 'nobody', { description: 'x' })
  })
})

test('what is not there is not found, and a wrong flag is refused', async () => {
  const nobody = randomUUID()
  for (const line of [
    `POST /v2/devices/${nobody}/disable?dry_run=true`,
    `DELETE /v2/hosts/nobody?reason=sold&dry_run=true`,
    `DELETE /v2/device_profiles/${nobody}?dry_run=true`,
    `DELETE /v2/device_profiles/${profile},nobody?dry_run=true`,
  ])
    await shop.must(404, line)
  await shop.must(404, 'POST /v2/hosts/nobody/retire?dry_run=true', REASON)
  await shop.must(400, `POST /v2/devices/${device}/disable?dry_run=perhaps`)
  await shop.must(400, `POST /v2/devices/${device}/enable?dry_run=true`)
})

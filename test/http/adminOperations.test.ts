/**
 * What an operator may ask over HTTP: hosts, handles, a bind that nobody else will end, and other names in profiles.
 */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createTestApp } from './app.ts'
import { freshName, openWorkshop, speaker } from './cloud.ts'
import { as, expectRefusal } from './steps.ts'

type Shop = Awaited<ReturnType<typeof openWorkshop>>
let shop: Shop
beforeAll(async () => void (shop = await openWorkshop()))
afterAll(() => shop.close())

const because = { body: { reason: '  the card was exchanged ' } }
const WORD = { by: expect.any(String), reason: 'the card was exchanged', at: expect.any(String) }
const handle = async (state: string) => (await shop.must(200, `GET /v2/handles?state=${state}`)).json.handles[0]

const PATHS = [
  ['POST /v2/hosts/sim-1/retire', 404],
  ['POST /v2/hosts/sim-1/restore', 404],
  ['POST /v2/hosts/sim-1/rekey', 404],
  [`POST /v2/handles/${randomUUID()}/quarantine`, 404],
  [`POST /v2/handles/${randomUUID()}/release`, 404],
  [`POST /v2/accelerator_requests/${randomUUID()}/force_unbind`, 404],
] as const

describe('a reason', () => {
  const bad: readonly (readonly [string, unknown, string])[] = [
    ['none', {}, 'Invalid reason: it is missing'],
    ['an empty one', { reason: '  ' }, 'Invalid reason: it is empty'],
    ['a number', { reason: 7 }, 'Invalid reason: it must be a string'],
    ['a long one', { reason: 'x'.repeat(1001) }, 'Invalid reason: it must not be longer than 1000 characters'],
  ]
  test.each(PATHS)('is needed: %s', async (line) => {
    for (const [, body, fault] of bad) {
      const got = await shop.say(line, { body })
      expectRefusal(got, 400)
      expect(got.fault).toBe(fault)
    }
  })
  test('is needed to remove a host as well', async () => {
    expectRefusal(await shop.say('DELETE /v2/hosts/sim-1'), 400)
    const got = await shop.say('DELETE /v2/hosts/sim-1?reason=x&force=perhaps')
    expectRefusal(got, 400)
    expect(got.fault).toBe('Invalid force: it must be true or false')
  })
})

describe('what nobody knows', () => {
  test.each(PATHS)('is not found: %s', async (line, status) => {
    expectRefusal(await shop.say(line.replace('sim-1', 'nobody'), because), status)
  })
  test('is not found: a host to show or to remove', async () => {
    expectRefusal(await shop.say('GET /v2/hosts/nobody'), 404)
    expectRefusal(await shop.say('DELETE /v2/hosts/nobody?reason=x&force=true'), 404)
  })
})

describe('the key of a host', () => {
  const [first, second] = ['A'.repeat(43), `B${'A'.repeat(42)}`]
  const body = (public_key?: unknown) => ({ body: { reason: 'compared', public_key } })
  test('is approved before the host reports, which is pending until then, and replaced', async () => {
    const { json } = await shop.must(200, 'POST /v2/hosts/keyed/approve', body(first))
    expect(json).toMatchObject({ name: 'keyed', liveness: 'pending', public_key: first, offered_key: null })
    expect((await shop.must(200, 'GET /v2/hosts/keyed')).json).toEqual(json)
    await shop.must(200, 'POST /v2/hosts/keyed/approve', body())
    expectRefusal(await shop.say('POST /v2/hosts/keyed/approve', body(second)), 409)
    const replaced = await shop.must(200, 'POST /v2/hosts/keyed/rekey', body(second))
    expect(replaced.json).toMatchObject({ public_key: second })
    expect((await shop.must(200, 'POST /v2/hosts/keyed/rekey', body())).json).toMatchObject({ public_key: null })
    await shop.must(204, 'DELETE /v2/hosts/keyed?reason=x')
  })
  test.each([7, '', 'A'.repeat(42), 'A'.repeat(44), `${'A'.repeat(42)}B`])('cannot be %j', async (key) => {
    for (const verb of ['approve', 'rekey']) {
      const got = await shop.say(`POST /v2/hosts/keyed/${verb}`, body(key))
      expectRefusal(got, 400)
      expect(got.fault).toMatch(/^Invalid public_key: /)
    }
  })
  test('that nobody waits with cannot be approved', async () => {
    expectRefusal(await shop.say('POST /v2/hosts/nobody/approve', body()), 409)
  })
})

describe('a handle', () => {
  test('is kept back and given back, and says by whom and why', async () => {
    const free = await handle('free')
    const line = `/v2/handles/${free.uuid}`
    const kept = await shop.must(200, `POST ${line}/quarantine`, { ...because, headers: as('admin') })
    expect(kept.json).toMatchObject({ state: 'quarantined', quarantine: { ...WORD, by: 'u1' } })
    expect((await shop.must(200, `GET ${line}`)).json).toEqual(kept.json)
    for (let n = 0; n < 2; n++)
      expect((await shop.must(200, `POST ${line}/release`, because)).json).toMatchObject({
        state: 'free',
        quarantine: null,
      })
  })
  test('that is held is refused, and the refusal says what to do', async () => {
    const { arqs, instance } = await shop.bound()
    const held = await handle('held')
    expect(held.arq_uuid).toBe(arqs[0]!.uuid)
    for (const verb of ['quarantine', 'release']) {
      const got = await shop.say(`POST /v2/handles/${held.uuid}/${verb}`, because)
      expectRefusal(got, 409)
      expect(got.fault).toContain('unbind that first')
    }
    await shop.leave(instance)
  })
  test('is listed by state, host and deployable, page by page', async () => {
    const { handles } = (await shop.must(200, `GET /v2/handles?hostname=sim-1&deployable_uuid=${shop.fpga.uuid}`)).json
    expect(handles).toHaveLength(4)
    const first = (await shop.must(200, 'GET /v2/handles?limit=2')).json
    expect(first.handles).toHaveLength(2)
    expect(first.handles_links[0].href).toContain(`marker=${first.handles[1].uuid}`)
    expectRefusal(await shop.say('GET /v2/handles?state=broken'), 400)
  })
})

describe('an unbind by force', () => {
  test('ends the bind, and the timeline says by whom and why', async () => {
    const { arqs } = await shop.bound()
    const line = `/v2/accelerator_requests/${arqs[0]!.uuid}`
    await expect.poll(async () => (await shop.arq(arqs[0]!.uuid)).state).toBe('Bound')
    const { json } = await shop.must(200, `POST ${line}/force_unbind`, { ...because, headers: as('admin') })
    expect(json).toMatchObject({ state: 'Unbound', instance_uuid: null, attach_handle_uuid: null })
    const { steps } = (await shop.must(200, `GET ${line}/timeline`)).json
    expect(steps.at(-1)).toMatchObject({
      step: 'unbound by force',
      cause: 'u1',
      detail: { by: 'u1', reason: 'the card was exchanged' },
    })
  })
})

describe('a host', () => {
  test('is retired, shown as such, and restored', async () => {
    await shop.shows('other', { seed: 1, devices: [{ kind: 'gpu', handles: 1 }] })
    const named = async () =>
      (await shop.must(200, 'GET /v2/hosts')).json.hosts.find(({ name }: { name: string }) => name === 'other')
    expect((await shop.must(200, 'POST /v2/hosts/other/retire', because)).json).toMatchObject({
      retired: WORD,
      arqs: [],
    })
    expect((await named()).retired).toEqual(WORD)
    expect((await shop.must(200, 'GET /v2/devices?hostname=other')).json.devices).toEqual([])
    await shop.must(200, 'POST /v2/hosts/other/restore', because)
    expect((await named()).retired).toBe(null)
  })
  test('in use is refused to be removed, and removed by force', async () => {
    const { arqs } = await shop.bound()
    await expect.poll(async () => (await shop.arq(arqs[0]!.uuid)).state).toBe('Bound')
    const got = await shop.say('DELETE /v2/hosts/sim-1?reason=sold')
    expectRefusal(got, 409)
    expect(got.fault).toContain(`by accelerator request ${arqs[0]!.uuid}`)
    await shop.must(204, 'DELETE /v2/hosts/sim-1?reason=sold&force=true')
    expect((await shop.arq(arqs[0]!.uuid)).state).toBe('Unbound')
    expect((await shop.must(200, 'GET /v2/hosts/sim-1')).json).toMatchObject({ liveness: 'removed', arqs: [] })
    await shop.must(200, 'POST /v2/hosts/sim-1/restore', because)
  })
})

describe('other names in device profiles', () => {
  const profile = async (group: object, name = freshName()) => {
    await shop.must(201, 'POST /v2/device_profiles', {
      body: [{ name, groups: [{ 'resources:FPGA': '1', ...group }] }],
    })
    return name
  }
  const groupsOf = async (name: string) =>
    (await shop.must(200, `GET /v2/device_profiles?name=${name}`)).json.device_profiles[0].groups
  const migrate = (body: object) => shop.say('POST /v2/profile_migrations', { body })
  const reason = 'release 2'

  test('are told first, and changed when asked; requests keep the group they were made with', async () => {
    const name = await profile({ 'trait:CUSTOM_OLD': 'required', 'accel:x': 'y' })
    const arq = (await shop.arqsOf(name))[0]!
    const map = { traits: { custom_old: 'CUSTOM_NEW' }, classes: { FPGA: 'CUSTOM_FPGA' } }
    const preview = (await migrate(map)).json
    const mine = preview.profiles.find((one: { name: string }) => one.name === name)
    expect(mine.changes).toEqual([
      { group: 0, from: 'resources:FPGA', to: 'resources:CUSTOM_FPGA' },
      { group: 0, from: 'trait:CUSTOM_OLD', to: 'trait:CUSTOM_NEW' },
    ])
    expect(await groupsOf(name)).toEqual([{ 'resources:FPGA': '1', 'trait:CUSTOM_OLD': 'required', 'accel:x': 'y' }])
    const applied = await migrate({ ...map, apply: true, reason })
    expect(applied.json).toEqual({ ...preview, applied: true })
    const after = [{ 'resources:CUSTOM_FPGA': '1', 'trait:CUSTOM_NEW': 'required', 'accel:x': 'y' }]
    expect(await groupsOf(name)).toEqual(after)
    expect((await migrate({ ...map, apply: true, reason })).json).toEqual({ applied: true, profiles: [] })
    const row = await shop.store.reads.page({ view: 'arqs', where: { uuid: arq.uuid }, sort: 'uuid', limit: 1 })
    expect(row![0]!.group).toEqual({ 'resources:FPGA': '1', 'trait:CUSTOM_OLD': 'required', 'accel:x': 'y' })
    await migrate({ classes: { CUSTOM_FPGA: 'FPGA' }, apply: true, reason })
  })
  test('swap in one step', async () => {
    const name = await profile({ 'trait:CUSTOM_X': 'required', 'trait:CUSTOM_Y': 'forbidden' })
    await migrate({ traits: { CUSTOM_X: 'CUSTOM_Y', CUSTOM_Y: 'CUSTOM_X' }, apply: true, reason })
    expect(await groupsOf(name)).toEqual([
      { 'resources:FPGA': '1', 'trait:CUSTOM_Y': 'required', 'trait:CUSTOM_X': 'forbidden' },
    ])
  })
  test('that make two keys one are refused, and nothing at all is changed', async () => {
    const fine = await profile({ 'trait:CUSTOM_P': 'required' })
    const torn = await profile({ 'trait:CUSTOM_P': 'required', 'trait:CUSTOM_Q': 'forbidden' })
    for (const apply of [false, true]) {
      const got = await migrate({ traits: { CUSTOM_P: 'CUSTOM_Q' }, apply, reason })
      expectRefusal(got, 409)
      expect(got.fault).toBe(`${torn}.groups[0]: two of its keys would become trait:CUSTOM_Q.`)
    }
    expect(await groupsOf(fine)).toEqual([{ 'resources:FPGA': '1', 'trait:CUSTOM_P': 'required' }])
  })
  test('that make a profile ask for more than one request may make are refused', async () => {
    const name = freshName()
    const groups = [{ 'resources:FPGA': '129', 'trait:CUSTOM_ONE_FUNCTION': 'required' }]
    await shop.must(201, 'POST /v2/device_profiles', { body: [{ name, groups }] })
    const got = await migrate({ traits: { CUSTOM_ONE_FUNCTION: 'CUSTOM_FPGA_XILINX' }, apply: true, reason })
    expectRefusal(got, 409)
    expect(got.fault).toBe(
      `Profile ${name}: The amounts of a profile must not sum to more than 256; these ask for 258.`,
    )
    expect(await groupsOf(name)).toEqual(groups)
  })
  test.each([
    [{}, 'Invalid traits: neither traits nor classes are renamed'],
    [
      { traits: { CUSTOM_A: 'HW_B' } },
      'Invalid traits.CUSTOM_A: the new name must start with CUSTOM_ or be OWNER_CYBORG',
    ],
    [{ classes: { FPGA: 'VCPU' } }, 'Invalid classes.FPGA: there is no such resource class'],
    [{ traits: { CUSTOM_A: 'CUSTOM_B' }, apply: true }, 'Invalid reason: it is empty'],
    [{ traits: { CUSTOM_A: 7 } }, 'Invalid traits.CUSTOM_A: it must be a string'],
  ])('%j is refused', async (body, fault) => {
    const got = await migrate(body)
    expectRefusal(got, 400)
    expect(got.fault).toBe(fault)
  })
})

test('all of it is for administrators, in both modes', async () => {
  const lines = [...PATHS.map(([line]) => line), 'DELETE /v2/hosts/sim-1?reason=x', 'POST /v2/profile_migrations']
  for (const enforceNewDefaults of [false, true]) {
    const { say } = speaker(
      createTestApp(shop.control, { policy: { enforceNewDefaults, rules: {} } }),
      as('manager,member,reader'),
    )
    for (const line of lines) expectRefusal(await say(line, because), 403)
  }
})

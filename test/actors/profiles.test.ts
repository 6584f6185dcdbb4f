import { randomUUID } from 'node:crypto'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Cloud, FPGA, GPU, NOVA, openCloud, TENANT, value } from './cloud.ts'
import { expectRebuilt } from './rebuilt.ts'

let cloud: Cloud
beforeEach(async () => {
  cloud = await openCloud(GPU, { 'resources:PGPU': '1' })
})
afterEach(async () => {
  await expectRebuilt(cloud.store)
  await cloud.stop()
})
const groups = [{ 'resources:PGPU': '1' }]
const create = (name: string, uuid?: string) =>
  cloud.control.profiles.create(NOVA, { name, description: null, groups, ...(uuid ? { uuid } : {}) })
const names = async () =>
  value(await cloud.control.profiles.list(null, {}))
    .items.map(({ name }) => name)
    .toSorted()

describe('a device profile', () => {
  it('is found by its UUID and by its name', async () => {
    const made = value(await create('q'))
    expect(value(await cloud.control.profiles.byUuid(made.uuid))).toEqual(made)
    expect(value(await cloud.control.profiles.byName('q'))).toEqual(made)
    expect(value(await cloud.control.profiles.list(['q', 'none'], {})).items).toEqual([made])
    expect(await cloud.control.profiles.byName('none')).toMatchObject({ fault: { kind: 'not_found' } })
    expect(await cloud.control.profiles.byUuid(randomUUID())).toMatchObject({ fault: { kind: 'not_found' } })
  })
  it('whose name is taken is refused for that, whatever its UUID; then for its UUID', async () => {
    const { uuid } = value(await create('q'))
    expect(await create('q', uuid)).toMatchObject({ fault: { kind: 'exists', field: 'name', value: 'q' } })
    expect(await create('r', uuid)).toMatchObject({ fault: { kind: 'exists', field: 'uuid', value: uuid } })
    expect(await cloud.control.profiles.byName('r')).toMatchObject({ fault: { kind: 'not_found' } })
  })
  it('made twenty times at once is made once', async () => {
    const made = await Promise.all(Array.from({ length: 20 }, () => create('q')))
    expect(made.filter(({ ok }) => ok)).toHaveLength(1)
  })
  it('is removed by name or UUID, several at once, all or none', async () => {
    const [q] = [value(await create('q')), value(await create('r'))]
    expect(await cloud.control.profiles.remove(NOVA, ['r', 'none'])).toMatchObject({
      fault: { kind: 'not_found', id: 'none' },
    })
    expect(await names()).toEqual(['p', 'q', 'r'])
    value(await cloud.control.profiles.remove(NOVA, [q.uuid, 'q', 'r']))
    expect(await names()).toEqual(['p'])
    value(await create('q'))
  })
  it('in use is kept: refused while any request is of it, removed after (C5)', async () => {
    const [arq] = await cloud.create()
    expect(await cloud.control.profiles.remove(NOVA, ['p'])).toMatchObject({ fault: { kind: 'conflict' } })
    expect(await names()).toEqual(['p'])
    value(await create('unused'))
    value(await cloud.control.profiles.remove(NOVA, ['unused']))
    value(await cloud.control.arqs.remove(TENANT, [arq!]))
    value(await cloud.control.profiles.remove(NOVA, ['p']))
    expect(await names()).toEqual([])
  })
  it('made anew under the same name leaves the requests of the old one as they were (S15)', async () => {
    const [arq] = value(await cloud.control.arqs.create(TENANT, 'p'))
    value(await cloud.control.arqs.remove(TENANT, [arq!.uuid]))
    value(await cloud.control.profiles.remove(NOVA, ['p']))
    value(
      await cloud.control.profiles.create(NOVA, { name: 'p', description: null, groups: [{ 'resources:FPGA': '1' }] }),
    )
    const [next] = value(await cloud.control.arqs.create(TENANT, 'p'))
    expect(next).toMatchObject({ group: { 'resources:FPGA': '1' } })
    expect(next!.profile_uuid).not.toBe(arq!.profile_uuid)
    expect(arq).toMatchObject({ group: { 'resources:PGPU': '1' }, profile_name: 'p' })
    const { steps } = value(await cloud.control.arqs.timeline(NOVA, arq!.uuid))
    expect(steps[0]).toMatchObject({ step: 'created', detail: { profile: 'p' } })
  })
})

describe('attributes', () => {
  it('of operators are added by integer id or UUID, found and removed', async () => {
    const { id, uuid } = cloud.deployable
    const made = value(await cloud.control.attributes.create(NOVA, id, 'site', 'b2'))
    expect(made).toMatchObject({ deployable_id: id, deployable_uuid: uuid, key: 'site', value: 'b2' })
    expect(value(await cloud.control.attributes.get(made.uuid))).toEqual(made)
    expect(value(await cloud.control.attributes.list({ deployableId: id, key: 'site' }, {})).items).toEqual([made])
    expect(value(await cloud.control.deployables.get(uuid)).attributes).toContainEqual({ site: 'b2' })
    value(await cloud.control.attributes.remove(NOVA, made.uuid))
    expect(await cloud.control.attributes.get(made.uuid)).toMatchObject({ fault: { kind: 'not_found' } })
    expect(await cloud.control.attributes.remove(NOVA, made.uuid)).toMatchObject({ fault: { kind: 'not_found' } })
    value(await cloud.control.attributes.create(NOVA, uuid, 'site', 'b3'))
  })
  it('of a key that is there, or of no deployable, are refused', async () => {
    value(await cloud.control.attributes.create(NOVA, cloud.deployable.id, 'site', 'b2'))
    expect(await cloud.control.attributes.create(NOVA, cloud.deployable.uuid, 'site', 'b3')).toMatchObject({
      fault: { kind: 'exists', field: 'key' },
    })
    for (const nobody of [4711, randomUUID()])
      expect(await cloud.control.attributes.create(NOVA, nobody, 'site', 'b2')).toMatchObject({
        fault: { kind: 'not_found', resource: 'deployable' },
      })
  })
  it('added at once under one key are one', async () => {
    const made = await Promise.all(
      Array.from({ length: 10 }, (_, n) => cloud.control.attributes.create(NOVA, cloud.deployable.id, 'site', `${n}`)),
    )
    expect(made.filter(({ ok }) => ok)).toHaveLength(1)
  })
  it('go with a device that is retired', async () => {
    value(await cloud.control.attributes.create(NOVA, cloud.deployable.id, 'site', 'b2'))
    for (let n = 0; n < 2; n++) await cloud.shows('h1', { ...GPU, devices: [] })
    expect(value(await cloud.control.attributes.list({}, {})).items).toEqual([])
  })
})

describe('accelerator requests are listed', () => {
  it('for their project, for an admin all, for a service those of the instance it names', async () => {
    const own = await cloud.start()
    value(await cloud.control.arqs.create({ ...TENANT, projectId: 'p2' }, 'p'))
    const count = async (...query: Parameters<typeof cloud.control.arqs.list>) =>
      value(await cloud.control.arqs.list(...query)).items.length
    const service = { ...NOVA, isAdmin: false, projectId: 'p3' }
    expect(await count(TENANT, {}, {})).toBe(1)
    expect(await count(NOVA, {}, {})).toBe(2)
    expect(await count(service, {}, {})).toBe(0)
    expect(await count(service, { instance: own.instance }, {})).toBe(1)
    expect(await count({ ...TENANT, projectId: 'p2' }, { instance: own.instance }, {})).toBe(0)
    expect(await count(NOVA, { resolvedOnly: true, instance: own.instance }, {})).toBe(1)
  })
  it('page by page, and a marker nobody knows is refused', async () => {
    const made = []
    for (let n = 0; n < 5; n++) made.push((await cloud.create())[0]!)
    const first = value(await cloud.control.arqs.list(NOVA, {}, { limit: 2 }))
    expect([first.items.map(({ uuid }) => uuid), first.next !== null]).toEqual([made.slice(0, 2), true])
    const rest = value(await cloud.control.arqs.list(NOVA, {}, { limit: 3, marker: made[1]! }))
    expect([rest.items.map(({ uuid }) => uuid), rest.next !== null]).toEqual([made.slice(2), false])
    expect(await cloud.control.arqs.list(NOVA, {}, { marker: randomUUID() })).toMatchObject({
      fault: { kind: 'not_found' },
    })
    expect(await cloud.control.arqs.list(NOVA, {}, { sort: 'group' })).toMatchObject({
      fault: { kind: 'invalid', field: 'sort_key' },
    })
  })
})

describe('a timeline', () => {
  it('tells each step with its cause, and the parts of the hosts', async () => {
    const fpga = await openCloud(FPGA, { 'resources:FPGA': '1' }, {}, undefined, 'when told')
    const { arq, instance } = await fpga.start()
    await fpga.pump()
    await fpga.answer(fpga.orders[0]!)
    value(await fpga.control.arqs.removeByInstance({ ...NOVA, requestId: 'req-last' }, instance))
    const timeline = value(await fpga.control.arqs.timeline(NOVA, arq))
    expect(timeline).toMatchObject({ arq, projectId: 'p1', deleted: true })
    expect(timeline.steps.map(({ step, cause }) => [step, cause])).toEqual([
      ['created', 'u1'],
      ['bind accepted', 'service'],
      ['prepared on the host', 'host h1'],
      ['bound', 'host h1'],
      ['nova not told', 'host h1'],
      ['deleted', 'service'],
    ])
    expect(timeline.steps.at(-1)!.requestId).toBe('req-last')
    expect(timeline.steps[3]!.detail).toEqual({ host_work_ms: 4 })
    expect(timeline.steps[0]!.tookMs).toBe(null)
    expect(timeline.steps.slice(1).every(({ tookMs }) => tookMs !== null && tookMs >= 0)).toBe(true)
    await fpga.stop()
  })
  it('tells which image the card has to hold, and how long its host needed to load it', async () => {
    const image = 'c0ffee00-0000-4000-8000-000000000001'
    const group = { 'resources:FPGA': '1', 'accel:bitstream_id': image }
    const fpga = await openCloud(FPGA, group, {}, undefined, 'when told')
    const { arq } = await fpga.start()
    await fpga.pump()
    const steps = async () => value(await fpga.control.arqs.timeline(NOVA, arq)).steps
    expect((await steps()).slice(-2)).toMatchObject([
      { step: 'bind accepted', detail: { image } },
      { step: 'image asked for', detail: { image, host: 'h1', order: fpga.orders[0]!.number } },
    ])
    const loaded = { fetchMs: 1500, programMs: 2500 }
    await fpga.answer(fpga.orders[0]!, { status: 'done', bitstreamId: image, loaded })
    expect(await steps()).toContainEqual(
      expect.objectContaining({
        step: 'prepared on the host',
        detail: { image_fetched_ms: 1500, card_programmed_ms: 2500 },
      }),
    )
    await fpga.stop()
  })
  it('is for the project of the request, also when it is gone, and for a set time', async () => {
    const [arq] = await cloud.create()
    value(await cloud.control.arqs.remove(TENANT, [arq!]))
    expect(value(await cloud.control.arqs.timeline(TENANT, arq!)).steps.map(({ step }) => step)).toEqual([
      'created',
      'deleted',
    ])
    expect(await cloud.control.arqs.timeline({ ...TENANT, projectId: 'p2' }, arq!)).toMatchObject({
      fault: { kind: 'not_found' },
    })
    expect(await cloud.control.arqs.timeline(NOVA, randomUUID())).toMatchObject({ fault: { kind: 'not_found' } })
    const short = await openCloud(GPU, { 'resources:PGPU': '1' }, { options: { timelineKeptMs: -1 } })
    const [other] = await short.create()
    value(await short.control.arqs.remove(TENANT, [other!]))
    expect(await short.control.arqs.timeline(NOVA, other!)).toMatchObject({ fault: { kind: 'not_found' } })
    await short.stop()
  })
  it('does not tell of what another request of the instance went through', async () => {
    const two = await openCloud(FPGA, { 'resources:FPGA': '2' }, {}, undefined, 'when told')
    const { arqs } = await two.start()
    await two.pump()
    for (const order of two.orders.slice(0, 2)) await two.answer(order)
    for (const arq of arqs)
      expect((await two.steps(arq)).filter((step) => step === 'prepared on the host')).toHaveLength(1)
    await two.stop()
  })
  it('that cannot be read is answered as such', async () => {
    const { memoryStore } = await import('../support/memoryStore/memory.ts')
    let broken = false
    const store = memoryStore({ beforeRead: async () => { if (broken) throw new Error('no connection') } }) // prettier-ignore
    const world = await openCloud(GPU, { 'resources:PGPU': '1' }, {}, store)
    const [arq] = await world.create()
    broken = true
    expect(await world.control.arqs.timeline(NOVA, arq!)).toMatchObject({ ok: false, fault: { kind: 'unavailable' } })
    await world.stop()
  })
})

import { randomUUID } from 'node:crypto'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Cloud, FPGA, GPU, NOVA, openCloud, TENANT, value } from './cloud.ts'

const refusal = (fault: object) => ({ ok: false, fault })

describe('a bind is refused, and nothing is changed,', () => {
  let cloud: Cloud
  beforeEach(async () => {
    cloud = await openCloud(GPU, { 'resources:PGPU': '1' })
  })
  afterEach(async () => {
    await expectNothingHeld()
    await cloud.stop()
  })
  const expectNothingHeld = async () =>
    expect((await cloud.handles()).filter(({ state }) => state === 'held')).toEqual([])
  const one = async (more: object = {}) => {
    const [arq] = await cloud.create()
    return { arq: arq!, binding: cloud.bindingOf(arq!, randomUUID(), more) }
  }
  it('without a service token', async () => {
    const { binding } = await one()
    expect(await cloud.control.arqs.bind(TENANT, [binding])).toMatchObject(refusal({ kind: 'service_token' }))
  })
  it('for a provider nobody owns', async () => {
    const { binding } = await one({ deviceRpUuid: randomUUID() })
    expect(await cloud.control.arqs.bind(NOVA, [binding])).toMatchObject(
      refusal({ kind: 'not_found', resource: 'resource provider' }),
    )
  })
  it('for a request nobody made, beside one that is there', async () => {
    const { arq, binding } = await one()
    const unknown = { ...binding, arq: randomUUID() }
    expect(await cloud.control.arqs.bind(NOVA, [binding, unknown])).toMatchObject(
      refusal({ kind: 'not_found', id: unknown.arq }),
    )
    expect(await cloud.states([arq])).toEqual(['Initial'])
  })
  it('when the deployable is of another class', async () => {
    value(
      await cloud.control.profiles.create(NOVA, { name: 'q', description: null, groups: [{ 'resources:FPGA': '1' }] }),
    )
    const [arq] = value(await cloud.control.arqs.create(TENANT, 'q'))
    const bound = await cloud.control.arqs.bind(NOVA, [cloud.bindingOf(arq!.uuid, randomUUID())])
    expect(bound).toMatchObject(refusal({ kind: 'conflict' }))
  })
  it('when the deployable lacks a trait, or has one that is forbidden', async () => {
    const groups = [
      { 'resources:PGPU': '1', 'trait:CUSTOM_NONE': 'required' },
      { 'resources:PGPU': '1', 'trait:OWNER_CYBORG': 'forbidden' },
    ]
    for (const [n, group] of groups.entries()) {
      value(await cloud.control.profiles.create(NOVA, { name: `q${n}`, description: null, groups: [group] }))
      const [arq] = value(await cloud.control.arqs.create(TENANT, `q${n}`))
      const bound = await cloud.control.arqs.bind(NOVA, [cloud.bindingOf(arq!.uuid, randomUUID())])
      expect(bound).toMatchObject(refusal({ kind: 'conflict' }))
    }
  })
  it('when the image has to be searched for', async () => {
    const group = { 'resources:PGPU': '1', 'accel:function_id': 'f' }
    value(await cloud.control.profiles.create(NOVA, { name: 'q', description: null, groups: [group] }))
    const [arq] = value(await cloud.control.arqs.create(TENANT, 'q'))
    expect(await cloud.control.arqs.bind(NOVA, [cloud.bindingOf(arq!.uuid, randomUUID())])).toMatchObject(
      refusal({ kind: 'conflict' }),
    )
  })
  it('when the name is that of another host (Q7)', async () => {
    await cloud.shows('h2', { seed: 2, devices: [{ kind: 'nic', handles: 2 }] })
    const { binding } = await one({ hostname: 'h2' })
    expect(await cloud.control.arqs.bind(NOVA, [binding])).toMatchObject(refusal({ kind: 'conflict' }))
  })
  it('while the device is in maintenance (S9)', async () => {
    const { uuid } = await cloud.device()
    value(await cloud.control.devices.setStatus(NOVA, uuid, 'maintaining'))
    const { binding } = await one()
    expect(await cloud.control.arqs.bind(NOVA, [binding])).toMatchObject(refusal({ kind: 'conflict' }))
    value(await cloud.control.devices.setStatus(NOVA, uuid, 'enabled'))
    value(await cloud.control.arqs.bind(NOVA, [binding]))
    value(await cloud.control.arqs.removeByInstance(NOVA, binding.instanceUuid))
  })
  it('while the device is missing', async () => {
    await cloud.shows('h1', { ...GPU, devices: [] })
    const { binding } = await one()
    expect(await cloud.control.arqs.bind(NOVA, [binding])).toMatchObject(refusal({ kind: 'conflict' }))
  })
  it('when it repeats a bind with another host or another resource provider', async () => {
    const { binding } = await one()
    value(await cloud.control.arqs.bind(NOVA, [binding]))
    for (const other of [{ hostname: 'h2' }, { deviceRpUuid: randomUUID() }])
      expect((await cloud.control.arqs.bind(NOVA, [{ ...binding, ...other }])).ok).toBe(false)
    expect((await cloud.control.arqs.bind(NOVA, [binding])).ok).toBe(true)
    value(await cloud.control.arqs.removeByInstance(NOVA, binding.instanceUuid))
  })
  it('when the request is bound elsewhere', async () => {
    const { binding } = await one()
    value(await cloud.control.arqs.bind(NOVA, [binding]))
    const elsewhere = { ...binding, instanceUuid: randomUUID() }
    expect(await cloud.control.arqs.bind(NOVA, [elsewhere])).toMatchObject(
      refusal({ kind: 'bad_state', state: 'Bound' }),
    )
    // nor to an instance that has another one on the same provider
    const other = await cloud.start()
    expect((await cloud.control.arqs.bind(NOVA, [{ ...binding, instanceUuid: other.instance }])).ok).toBe(false)
    for (const uuid of [binding.instanceUuid, other.instance])
      value(await cloud.control.arqs.removeByInstance(NOVA, uuid))
  })
})

it('a bind that has failed is refused when it is repeated, and so is one whose release has failed', async () => {
  const cloud = await openCloud(FPGA, { 'resources:FPGA': '1' }, {}, undefined, 'when told')
  const { arqs, instance } = await cloud.start()
  const ends = async (status: 'done' | 'failed') => {
    await cloud.pump()
    const order = cloud.orders.splice(0).at(-1)!
    await cloud.answer(order, status === 'done' ? { status } : { status, reason: 'stuck', final: true })
  }
  expect((await cloud.bind(arqs, instance)).ok).toBe(true)
  await ends('failed')
  expect(await cloud.bind(arqs, instance)).toMatchObject(refusal({ kind: 'invalid', field: 'instance_uuid' }))
  const other = await cloud.start()
  await ends('done')
  expect((await cloud.bind(other.arqs, other.instance)).ok).toBe(true)
  value(await cloud.control.arqs.unbind(NOVA, other.arqs))
  await ends('failed')
  expect((await cloud.bind(other.arqs, other.instance)).ok).toBe(false)
  expect(await cloud.states(other.arqs)).toEqual(['UnbindFailed'])
  await cloud.stop()
})

it('a bind of several requests is a repeat only when all of them are named as they are bound', async () => {
  const plan = { ...GPU, devices: [...GPU.devices, ...GPU.devices] }
  const cloud = await openCloud(plan, { 'resources:PGPU': '2' })
  const [one, other] = value(await cloud.control.deployables.list({}, {})).items.map((row) => row.rp_uuid!)
  const [arqs, instance] = [await cloud.create(), randomUUID()]
  const named = (...providers: readonly string[]) =>
    providers.map((deviceRpUuid, n) => cloud.bindingOf(arqs[n]!, instance, { deviceRpUuid }))
  const asks = async (...providers: readonly string[]) => (await cloud.control.arqs.bind(NOVA, named(...providers))).ok
  expect([arqs.length, one === other]).toEqual([2, false])
  expect(await asks(one!, other!)).toBe(true)
  expect((await cloud.control.arqs.bind(NOVA, named(one!, other!).toReversed())).ok).toBe(true)
  for (const wrong of [[one!], [one!, one!], [other!, other!], [other!, one!]]) expect(await asks(...wrong)).toBe(false)
  expect((await cloud.handles()).filter(({ state }) => state === 'held')).toHaveLength(2)
  await cloud.stop()
})

describe('a bind is accepted', () => {
  it('under any name that is nobody’s', async () => {
    const cloud = await openCloud(GPU, { 'resources:PGPU': '1' })
    const [arq] = await cloud.create()
    value(await cloud.control.arqs.bind(NOVA, [cloud.bindingOf(arq!, randomUUID(), { hostname: 'node-of-nova' })]))
    expect(await cloud.states([arq!])).toEqual(['Bound'])
    await cloud.stop()
  })
  it('and gives the request to the project that is named', async () => {
    const cloud = await openCloud(GPU, { 'resources:PGPU': '1' })
    const [arq] = await cloud.create()
    value(await cloud.control.arqs.bind(NOVA, [cloud.bindingOf(arq!, randomUUID(), { projectId: 'p2' })]))
    expect(await cloud.control.arqs.get(TENANT, arq!)).toMatchObject(refusal({ kind: 'not_found' }))
    expect(value(await cloud.control.arqs.get({ ...TENANT, projectId: 'p2' }, arq!)).state).toBe('Bound')
    await cloud.stop()
  })
  it('again on a provider whose device was retired and came back', async () => {
    const cloud = await openCloud(GPU, { 'resources:PGPU': '1' })
    const first = await cloud.start()
    value(await cloud.control.arqs.removeByInstance(NOVA, first.instance))
    for (let n = 0; n < 3; n++) await cloud.shows('h1', { ...GPU, devices: [] })
    expect(value(await cloud.control.deployables.list({}, {})).items).toEqual([])
    await cloud.shows('h1', GPU)
    const second = await cloud.start()
    expect(await cloud.states(second.arqs)).toEqual(['Bound'])
    await cloud.stop()
  })
  it('at the second attempt, once the host has released what the first one lacked', async () => {
    const cloud = await openCloud(FPGA, { 'resources:FPGA': '4' }, {}, undefined, 'when told')
    const first = await cloud.start()
    await cloud.pump()
    for (const order of cloud.orders) await cloud.answer(order)
    const late = await cloud.create()
    expect(await cloud.bind(late, randomUUID())).toEqual(refusal({ kind: 'conflict', reason: expect.any(String) }))
    value(await cloud.control.arqs.removeByInstance(NOVA, first.instance))
    expect(await cloud.bind(late, randomUUID())).toMatchObject(refusal({ kind: 'conflict', passing: true }))
    await cloud.pump()
    for (const order of cloud.orders.filter(({ type }) => type === 'ReleaseSlot')) await cloud.answer(order)
    value(await cloud.bind(late, randomUUID()))
    await cloud.stop()
  })
  it('at the second attempt, once the host has loaded what another request had asked for', async () => {
    const { catalogueOf } = await import('../support/images.ts')
    const [first, second] = [randomUUID(), randomUUID()]
    const opening = [{ images: catalogueOf() }, undefined, 'when told'] as const
    const cloud = await openCloud(FPGA, { 'resources:FPGA': '1', 'accel:bitstream_id': first }, ...opening)
    const other = { name: 'q', description: null, groups: [{ 'resources:FPGA': '1', 'accel:bitstream_id': second }] }
    value(await cloud.control.profiles.create(NOVA, other))
    const loading = await cloud.start()
    const [late] = value(await cloud.control.arqs.create(TENANT, 'q'))
    const bound = () => cloud.bind([late!.uuid], randomUUID())
    expect(await bound()).toMatchObject(refusal({ kind: 'conflict', passing: true }))
    await cloud.pump()
    await cloud.answer(cloud.orders.at(-1)!, { status: 'done', bitstreamId: first })
    // it is used now, which no waiting ends
    expect(await bound()).toEqual(refusal({ kind: 'conflict', reason: expect.stringContaining('another request') }))
    value(await cloud.control.arqs.removeByInstance(NOVA, loading.instance))
    await cloud.pump()
    await cloud.answer(cloud.orders.at(-1)!)
    value(await bound())
    await cloud.stop()
  })
  it('when the acknowledgement of its append is lost', async () => {
    const { memoryStore } = await import('../support/memoryStore/memory.ts')
    let lost = false
    const store = memoryStore({
      afterCommit: async ({ rows }) => {
        if (lost || !rows.some(({ key }) => key.startsWith('instance/'))) return
        lost = true
        throw new Error('connection lost')
      },
    })
    const cloud = await openCloud(FPGA, { 'resources:FPGA': '2' }, {}, store)
    const { arqs } = await cloud.start()
    expect(lost).toBe(true)
    await cloud.pump()
    expect(await cloud.states(arqs)).toEqual(['Bound', 'Bound'])
    await cloud.stop()
  })
})

import { describe, expect, it } from 'vitest'
import type { SimulatedPlan } from '../../src/drivers/simulated/simulated.ts'
import { NOVA, TENANT, openPlane, value } from '../support/plane.ts'

const GPU: SimulatedPlan = { seed: 1, devices: [{ kind: 'gpu', handles: 2 }] }
const FPGA: SimulatedPlan = { seed: 1, devices: [{ kind: 'fpga', handles: 4 }] }
const uuid = () => crypto.randomUUID()

const opened = async (
  plan: SimulatedPlan,
  rc: string,
  amount = '1',
  answering: 'at once' | 'when told' = 'at once',
) => {
  const world = await openPlane({}, undefined, answering)
  await world.shows('h1', plan)
  const [deployable] = value(await world.control.deployables.list({}, {})).items
  value(
    await world.control.profiles.create(NOVA, {
      name: 'p',
      description: null,
      groups: [{ [`resources:${rc}`]: amount }],
    }),
  )
  const arqs = value(await world.control.arqs.create(TENANT, 'p'))
  const instance = uuid()
  const bindings = arqs.map(({ uuid: arq }) => ({
    arq,
    hostname: 'h1',
    deviceRpUuid: deployable!.rp_uuid!,
    instanceUuid: instance,
  }))
  const states = async () =>
    (await Promise.all(arqs.map(async (arq) => value(await world.control.arqs.get(NOVA, arq.uuid))))).map(
      ({ state }) => state,
    )
  return { ...world, deployable: deployable!, arqs, instance, bindings, states }
}

describe('bind', () => {
  it('of a device without host work is Bound with the acceptance', async () => {
    const world = await opened(GPU, 'PGPU')
    value(await world.control.arqs.bind(NOVA, world.bindings))
    const listed = value(await world.control.arqs.list(NOVA, { instance: world.instance }, {}))
    expect(listed.items).toMatchObject([{ state: 'Bound', hostname: 'h1', handle_type: 'PCI' }])
    await world.plane.stop()
  })
  it('of a device with host work waits for the host', async () => {
    const world = await opened(FPGA, 'FPGA', '2', 'when told')
    value(await world.control.arqs.bind(NOVA, world.bindings))
    expect(await world.states()).toEqual(['BindStarted', 'BindStarted'])
    await world.pump()
    expect(world.orders).toHaveLength(2)
    await world.answer(world.orders[0]!)
    expect(await world.states()).toEqual(['BindStarted', 'BindStarted'])
    await world.answer(world.orders[1]!)
    expect(await world.states()).toEqual(['Bound', 'Bound'])
    await world.plane.stop()
  })
  it('fails as a whole when one part fails, and gives the handles back', async () => {
    const world = await opened(FPGA, 'FPGA', '2', 'when told')
    value(await world.control.arqs.bind(NOVA, world.bindings))
    await world.pump()
    await world.answer(world.orders[0]!)
    await world.answer(world.orders[1]!, { status: 'failed', reason: 'no', final: true })
    expect(await world.states()).toEqual(['BindFailed', 'BindFailed'])
    await world.pump()
    for (const order of world.orders.filter(({ type }) => type === 'ReleaseSlot')) await world.answer(order)
    const handles = (await world.store.reads.page({ view: 'handles', where: {}, sort: 'uuid', limit: 100 }))!
    expect(handles.filter(({ state }) => state !== 'free')).toEqual([])
    await world.plane.stop()
  })
  it('is refused as a whole when there are too few handles', async () => {
    const world = await opened(GPU, 'PGPU', '3')
    expect(await world.control.arqs.bind(NOVA, world.bindings)).toMatchObject({
      ok: false,
      fault: { kind: 'conflict' },
    })
    expect(await world.states()).toEqual(['Initial', 'Initial', 'Initial'])
    await world.plane.stop()
  })
  it('repeated exactly is no second bind; another one for the instance is refused', async () => {
    const world = await opened(GPU, 'PGPU')
    value(await world.control.arqs.bind(NOVA, world.bindings))
    value(await world.control.arqs.bind(NOVA, world.bindings))
    const [more] = value(await world.control.arqs.create(TENANT, 'p'))
    const again = await world.control.arqs.bind(NOVA, [{ ...world.bindings[0]!, arq: more!.uuid }])
    expect(again).toMatchObject({ ok: false, fault: { kind: 'invalid' } })
    await world.plane.stop()
  })
  it('then delete by instance frees everything', async () => {
    const world = await opened(FPGA, 'FPGA', '2')
    value(await world.control.arqs.bind(NOVA, world.bindings))
    await world.pump()
    expect(await world.states()).toEqual(['Bound', 'Bound'])
    value(await world.control.arqs.removeByInstance(NOVA, world.instance))
    expect(value(await world.control.arqs.list(NOVA, {}, {})).items).toEqual([])
    await world.pump()
    const handles = (await world.store.reads.page({ view: 'handles', where: {}, sort: 'uuid', limit: 100 }))!
    expect(handles.map(({ state }) => state)).toEqual(['free', 'free', 'free', 'free'])
    const timeline = value(await world.control.arqs.timeline(NOVA, world.arqs[0]!.uuid))
    expect(timeline.steps.map(({ step }) => step)).toContain('deleted')
    await world.plane.stop()
  })
  it('parallel binds on a deployable with k free handles: exactly k succeed', async () => {
    const world = await opened({ seed: 1, devices: [{ kind: 'gpu', handles: 8 }] }, 'PGPU')
    const results = await Promise.all(
      Array.from({ length: 20 }, async () => {
        const [arq] = value(await world.control.arqs.create(TENANT, 'p'))
        return world.control.arqs.bind(NOVA, [{ ...world.bindings[0]!, arq: arq!.uuid, instanceUuid: uuid() }])
      }),
    )
    expect(results.filter(({ ok }) => ok)).toHaveLength(8)
    await world.plane.stop()
  })
})

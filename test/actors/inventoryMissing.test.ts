import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { NOVA, openPlane, TENANT, value } from '../support/plane.ts'
import { card, failed, inventoryOf, shown } from './cards.ts'
import { expectRebuilt } from './rebuilt.ts'
import { catalogueOf } from '../support/images.ts'

let world: Awaited<ReturnType<typeof openPlane>>
let seen: ReturnType<typeof inventoryOf>
beforeEach(async () => {
  world = await openPlane()
  seen = inventoryOf(world)
})
afterEach(async () => {
  await expectRebuilt(world.store)
  await world.plane.stop()
})

describe('a device that is not shown', () => {
  it('is missing at once and retired after two complete reports', async () => {
    await seen.shows(card(1), card(2))
    await seen.shows(card(2))
    expect((await seen.devices()).map(({ presence }) => presence)).toEqual(['missing', 'present'])
    await seen.shows(card(2))
    expect((await seen.devices()).map(({ id }) => id)).toEqual([3])
    expect(await seen.handles()).toHaveLength(2)
  })
  it('by a driver that failed is neither missing nor counted (Q11)', async () => {
    await seen.shows(card(1))
    for (let n = 0; n < 5; n++) await world.report('h1', [failed])
    expect(await seen.devices()).toMatchObject([{ presence: 'present' }])
    expect(await seen.hosts()).toMatchObject([{ drivers: { some_driver: { status: 'failed', error: 'no answer' } } }])
    await seen.shows()
    await world.report('h1', [failed])
    expect(await seen.devices()).toMatchObject([{ presence: 'missing' }])
  })
  it('because its driver is not asked any more is neither missing nor counted', async () => {
    await seen.shows(card(1))
    for (let n = 0; n < 5; n++) await world.report('h1', [{ ...shown(), driver: 'other_driver' }])
    expect(await seen.devices()).toMatchObject([{ presence: 'present' }])
  })
  it('but named by a stub is not missing', async () => {
    await seen.shows(card(1))
    for (let n = 0; n < 5; n++) await seen.shows(card(1, { stub: true, deployables: [] }))
    expect(await seen.devices()).toMatchObject([{ presence: 'present' }])
  })
  it('and never was, is not recorded by a stub', async () => {
    await seen.shows(card(1, { stub: true, deployables: [] }))
    expect(await seen.devices()).toEqual([])
  })
  it('and comes back in time keeps its UUIDs', async () => {
    await seen.shows(card(1))
    const was = [await seen.devices(), await seen.deployables(), await seen.handles()].flat().map(({ uuid }) => uuid)
    await seen.shows()
    await seen.shows(card(1))
    expect(
      [await seen.devices(), await seen.deployables(), await seen.handles()].flat().map(({ uuid }) => uuid),
    ).toEqual(was)
    expect(await seen.devices()).toMatchObject([{ presence: 'present' }])
    await seen.shows()
    expect(await seen.devices()).toMatchObject([{ presence: 'missing' }])
  })
  it('is not retired while an accelerator request holds one of its handles (Q11, I9)', async () => {
    await seen.shows(card(1))
    value(
      await world.control.profiles.create(NOVA, { name: 'p', description: null, groups: [{ 'resources:FPGA': '1' }] }),
    )
    const [arq] = value(await world.control.arqs.create(TENANT, 'p'))
    const [deployable] = await seen.deployables()
    const binding = {
      arq: arq!.uuid,
      hostname: 'h1',
      deviceRpUuid: deployable!.rp_uuid!,
      instanceUuid: crypto.randomUUID(),
    }
    value(await world.control.arqs.bind(NOVA, [binding]))
    for (let n = 0; n < 5; n++) await seen.shows()
    expect(await seen.devices()).toMatchObject([{ presence: 'missing' }])
    expect(value(await world.control.arqs.get(NOVA, arq!.uuid)).state).toBe('Bound')
    value(await world.control.arqs.removeByInstance(NOVA, binding.instanceUuid))
    await seen.shows()
    expect(await seen.devices()).toEqual([])
  })
  it('is not retired while it is being programmed', async () => {
    await world.plane.stop()
    world = await openPlane({ images: catalogueOf(), options: { programWaitMs: 1 } }, undefined, 'when told')
    seen = inventoryOf(world)
    await seen.shows(card(1))
    const [deployable] = await seen.deployables()
    expect(value(await world.control.deployables.program(NOVA, deployable!.uuid, crypto.randomUUID())).finished).toBe(
      false,
    )
    for (let n = 0; n < 4; n++) await seen.shows()
    expect(await seen.devices()).toMatchObject([{ presence: 'missing' }])
    await world.pump()
    await world.answer(world.orders[0]!)
    await seen.shows()
    expect(await seen.devices()).toEqual([])
  })
})

import { ENTITIES } from '../../src/actors/entities.ts'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { memoryStore } from '../support/memoryStore/memory.ts'
import { NOVA, openPlane, TENANT, value } from '../support/plane.ts'
import { card, inventoryOf, named, part, shown } from './cards.ts'
import { expectRebuilt } from './rebuilt.ts'

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

describe('of what a report shows', () => {
  it('a control path shown twice counts once', async () => {
    await world.report('h1', [shown(card(1)), { ...shown(card(1, { model: 'other' })), driver: 'other_driver' }])
    expect(await seen.devices()).toMatchObject([{ model: 'some card', driver: 'some_driver' }])
  })
  it('a name that is too long refuses its device and no other (C14)', async () => {
    await seen.shows(card(1, { deployables: [part('x'.repeat(201))] }), card(2))
    expect((await seen.deployables()).map(({ name }) => name)).toEqual(['h1_2'])
    await seen.shows(card(1), card(2))
    expect((await seen.deployables()).map(({ name }) => name)).toEqual(['h1_2', 'h1_1'])
  })
  it('a device without exactly one class for each deployable is refused', async () => {
    const twice = [
      { key: 'rc', value: 'FPGA' },
      { key: 'rc', value: 'PGPU' },
    ]
    await seen.shows(
      card(1, { deployables: [part('h1_1', { attributes: [] })] }),
      card(2, { deployables: [part('h1_2', { attributes: twice })] }),
      card(3),
    )
    expect((await seen.deployables()).map(({ name }) => name)).toEqual(['h1_3'])
  })
  it('text that no store can hold refuses its device and no other', async () => {
    await seen.shows(card(1, { model: 'a\0b' }), card(2, { vendorBoardInfo: 'half \ud83d' }), card(3))
    expect((await seen.deployables()).map(({ name }) => name)).toEqual(['h1_3'])
  })
  it('a deployable name of another host refuses its device while the others are recorded', async () => {
    await seen.shows(card(1))
    await world.report('h2', [shown(card(1), named(2, 'h2_2'))])
    expect((await seen.deployables()).map(({ name, hostname }) => [name, hostname])).toEqual([
      ['h1_1', 'h1'],
      ['h2_2', 'h2'],
    ])
  })
  it('a deployable name that another host records at the same time lets the report come again, and then refuses its device', async () => {
    await world.plane.stop()
    const store = memoryStore()
    let compared = async () => {}
    const page: typeof store.reads.page = async (query) => {
      const rows = await store.reads.page(query)
      if (query.view === 'deployables' && 'name' in query.where) await compared()
      return rows
    }
    world = await openPlane({ reads: { ...store.reads, page } }, store)
    compared = async () => {
      compared = async () => {}
      await world.report('h1', [shown(named(1, 'h1_x_1'))])
    }
    const head = { host: 'h1_x', bootId: crypto.randomUUID(), number: 1, observedAt: 1, version: '0.1.0', aliases: [] }
    const report = { type: 'Inventory' as const, ...head, drivers: [shown(named(1, 'h1_x_1'), named(2, 'h1_x_2'))] }
    expect(await world.plane.reports.take(report, 'm1')).toMatchObject({ fault: { kind: 'unavailable' } })
    expect(await world.plane.reports.take(report, 'm1')).toMatchObject({ ok: true })
    expect(value(await world.control.deployables.list({}, {})).items.map(({ name }) => name)).toEqual([
      'h1_x_1',
      'h1_x_2',
    ])
  })
  it('a deployable name shown by two devices refuses the second', async () => {
    await seen.shows(card(1), named(2, 'h1_1'), card(3))
    expect((await seen.deployables()).map(({ name }) => name)).toEqual(['h1_1', 'h1_3'])
  })
  it('an attach handle shown twice refuses the device that shows it again (S1)', async () => {
    await seen.shows(card(1), card(2, { deployables: [part('h1_2')] }), card(3))
    expect((await seen.deployables()).map(({ name }) => name)).toEqual(['h1_1', 'h1_3'])
    const [handle] = card(4).deployables[0]!.handles
    await seen.shows(card(1), card(3), card(4, { deployables: [part('h1_4', { handles: [handle!, handle!] })] }))
    expect((await seen.deployables()).map(({ name }) => name)).toEqual(['h1_1', 'h1_3'])
  })
  it('an attribute that is named twice refuses its device', async () => {
    const trait = { key: 'trait0', value: 'CUSTOM_A' }
    await seen.shows(
      card(1, { deployables: [part('h1_1', { attributes: [{ key: 'rc', value: 'FPGA' }, trait, trait] })] }),
    )
    expect(await seen.deployables()).toEqual([])
  })
  it('a new deployable of a known device under a name that is taken refuses that device’s news only', async () => {
    await seen.shows(card(1), card(2))
    await seen.shows(
      card(1, { deployables: [part('h1_1'), part('h1_2', { handles: [] })] }),
      card(2, { model: 'newer' }),
    )
    expect((await seen.deployables()).map(({ name }) => name)).toEqual(['h1_1', 'h1_2'])
    expect((await seen.devices()).map(({ model }) => model)).toEqual(['some card', 'newer'])
  })
  it('a new deployable of a known device is recorded, in the status of its device', async () => {
    await seen.shows(card(1))
    const { uuid } = (await seen.devices())[0]!
    value(await world.control.devices.setStatus(NOVA, uuid, 'maintaining'))
    await seen.shows(card(1, { deployables: [part('h1_1'), part('h1_1_b', { handles: [] })] }))
    const [, added] = await seen.deployables()
    expect(added).toMatchObject({ name: 'h1_1_b', device_uuid: uuid, device_id: 1, id: 3 })
    const looked = await world.plane.region.readCurrent(ENTITIES['deployable']!, `deployable/${added!.uuid}`)
    expect(looked).toMatchObject({ value: { state: { status: 'maintaining' } } })
  })
  it('a device that another driver shows now is asked of that driver from then on', async () => {
    await seen.shows(card(1))
    const [before] = await seen.devices()
    await world.report('h1', [{ ...shown(card(1)), driver: 'other_driver' }])
    expect(await seen.devices()).toMatchObject([{ uuid: before!.uuid, driver: 'other_driver' }])
    const looked = await world.plane.region.readCurrent(
      ENTITIES['deployable']!,
      `deployable/${(await seen.deployables())[0]!.uuid}`,
    )
    expect(looked).toMatchObject({ value: { state: { driver: 'other_driver' } } })
  })
})

describe('hardware that is used', () => {
  const bind = async (rpUuid: string) => {
    value(
      await world.control.profiles.create(NOVA, { name: 'p', description: null, groups: [{ 'resources:FPGA': '1' }] }),
    )
    const [arq] = value(await world.control.arqs.create(TENANT, 'p'))
    const binding = { arq: arq!.uuid, hostname: 'h1', deviceRpUuid: rpUuid, instanceUuid: crypto.randomUUID() }
    value(await world.control.arqs.bind(NOVA, [binding]))
    return binding
  }
  it('is not given again under another name before it is released (S1)', async () => {
    await seen.shows(card(1))
    const binding = await bind((await seen.deployables())[0]!.rp_uuid!)
    for (let n = 0; n < 3; n++) await seen.shows(named(1, 'h1_renamed'))
    expect((await seen.deployables()).map(({ name, presence }) => [name, presence])).toEqual([['h1_1', 'missing']])
    value(await world.control.arqs.removeByInstance(NOVA, binding.instanceUuid))
    await seen.shows(named(1, 'h1_renamed'))
    expect((await seen.deployables()).map(({ name, presence }) => [name, presence])).toEqual([
      ['h1_1', 'missing'],
      ['h1_renamed', 'present'],
    ])
  })
})

describe('two first reports of a host at the same time', () => {
  it('make one device of each control path, whoever takes them (C2)', async () => {
    const store = memoryStore({ exclusive: false })
    const planes = await Promise.all([openPlane({}, store), openPlane({}, store)])
    const boot = crypto.randomUUID()
    const bare = card(3, { deployables: [] })
    const say = (plane: number, number: number) =>
      planes[plane]!.plane.reports.take(
        {
          type: 'Inventory',
          host: 'h1',
          bootId: boot,
          number,
          observedAt: 1,
          version: '1',
          aliases: [],
          drivers: [shown(card(1), card(2), bare)],
        },
        `${boot}.${number}`,
      )
    await Promise.all([say(0, 1), say(1, 1), say(0, 2), say(1, 2), say(0, 3), say(1, 3)])
    const both = inventoryOf(planes[0])
    expect((await both.devices()).map(({ id }) => id)).toEqual([1, 3, 5])
    expect((await both.deployables()).map(({ name }) => name)).toEqual(['h1_1', 'h1_2'])
    await Promise.all(planes.map(({ plane }) => plane.stop()))
  })
  it('of two hosts share the integer ids without a gap', async () => {
    await Promise.all(Array.from({ length: 10 }, (_, n) => world.report(`h${n}`, [shown(named(n, `h${n}_card`))])))
    expect(
      [...(await seen.devices()), ...(await seen.deployables())].map(({ id }) => id).toSorted((a, b) => a - b),
    ).toEqual(Array.from({ length: 20 }, (_, n) => n + 1))
  })
})

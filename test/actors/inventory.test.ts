import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { memoryStores } from '../support/memoryStore/memory.ts'
import type { ReportedDevice } from '../../src/vocabulary/hardware.ts'
import { inventoryDigest } from '../../src/wire/message.ts'
import { NOVA, openPlane, value } from '../support/plane.ts'
import { card, inventoryOf, part, shown, slot } from './cards.ts'
import { expectRebuilt, viewsOf } from './rebuilt.ts'

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

/** The same content, members in another order, JSON texts spaced and spelled otherwise. */
const respelled = (device: ReportedDevice, n: number): ReportedDevice => {
  const turned = <Value extends object>(value: Value) => Object.fromEntries(Object.entries(value).toReversed()) as Value
  const text = (json: string) => JSON.stringify(turned(JSON.parse(json) as object), null, n % 3)
  return turned({
    ...device,
    stdBoardInfo: text(device.stdBoardInfo!),
    controlPath: turned({ type: 'PCI' as const, info: text(device.controlPath.info) }),
    deployables: device.deployables.map((one) =>
      turned({ ...one, handles: one.handles.map((handle) => turned({ ...handle, info: turned(handle.info) })) }),
    ),
  })
}

describe('a report', () => {
  it('that is repeated, however it is spelled, changes no row and makes no UUID (C1)', async () => {
    await seen.shows(card(1), card(2))
    const [was, rows] = [await viewsOf(world.store), await seen.rows()]
    for (let n = 0; n < 100; n++) await seen.shows(...[respelled(card(1), n), respelled(card(2), n)])
    expect(await viewsOf(world.store)).toEqual(was)
    expect(await seen.rows()).toBe(rows)
  })
  it('of the same devices and handles in another order changes no row', async () => {
    await seen.shows(card(1), card(2))
    const was = await viewsOf(world.store)
    const backwards = (device: ReportedDevice) => ({
      ...device,
      deployables: device.deployables.map((one) => ({ ...one, handles: one.handles.toReversed() })),
    })
    await seen.shows(backwards(card(2)), backwards(card(1)))
    expect(await viewsOf(world.store)).toEqual(was)
  })
  it('gives the integer ids in the order of its devices', async () => {
    await seen.shows(card(1), card(2))
    expect((await seen.devices()).map(({ id }) => id)).toEqual([1, 3])
    expect((await seen.deployables()).map(({ id, device_id }) => [id, device_id])).toEqual([
      [2, 1],
      [4, 3],
    ])
  })
  it('shows the names, the provider and the attributes of what it found', async () => {
    await seen.shows(card(1))
    expect(await seen.devices()).toMatchObject([
      { hostname: 'h1', type: 'FPGA', vendor: '1bf2', status: 'enabled', presence: 'present' },
    ])
    const attributes = [{ rc: 'FPGA' }, { trait0: 'OWNER_CYBORG' }, { trait1: 'CUSTOM_A' }]
    expect(await seen.deployables()).toMatchObject([{ name: 'h1_1', num_accelerators: 2, attributes }])
    expect(await seen.hosts()).toMatchObject([{ name: 'h1', liveness: 'up' }])
  })
  it('whose traits changed places changes the places and nothing else (C9)', async () => {
    await seen.shows(card(1))
    const [before] = await seen.deployables()
    const [rc, one, other] = part('').attributes
    await seen.shows(card(1, { deployables: [{ ...card(1).deployables[0]!, attributes: [rc!, other!, one!] }] }))
    const [after] = await seen.deployables()
    expect(after).toMatchObject({ uuid: before!.uuid, rp_uuid: before!.rp_uuid })
    expect(after!.attributes).toEqual([{ rc: 'FPGA' }, { trait1: 'CUSTOM_A' }, { trait0: 'OWNER_CYBORG' }])
  })
  it('lets attributes of operators be (C8, Q12)', async () => {
    await seen.shows(card(1))
    const { uuid } = (await seen.deployables())[0]!
    value(await world.control.attributes.create(NOVA, uuid, 'site', 'b2'))
    for (let n = 0; n < 10; n++)
      await seen.shows(card(1, { model: `model ${n}`, deployables: [part('h1_1', { numAccelerators: n })] }))
    const listed = value(await world.control.attributes.list({ key: 'site' }, {})).items
    expect(listed).toMatchObject([{ value: 'b2', origin: 'operator' }])
  })
  it('without one of three handles takes exactly that one away, and the others keep their UUIDs (C3)', async () => {
    const three = [1, 2, 3].map((fn) => ({ type: 'PCI' as const, info: slot(1, fn) }))
    const of = (handles: typeof three) => card(1, { deployables: [part('h1_1', { handles })] })
    await seen.shows(of(three))
    const before = new Map((await seen.handles()).map(({ canonical, uuid }) => [canonical, uuid]))
    await seen.shows(of([three[0]!, three[2]!]))
    const after = await seen.handles()
    expect(new Map(after.map(({ canonical, uuid }) => [canonical, uuid]))).toEqual(before)
    expect(after.filter(({ state }) => state === 'missing').map(({ canonical }) => canonical)).toEqual(
      [...before.keys()].filter((key) => key.includes('"function":"2"')),
    )
    await seen.shows(of(three))
    expect((await seen.handles()).map(({ state }) => state)).toEqual(['free', 'free', 'free'])
  })
  it('is ignored when it is older than what is known, or of a former boot (Q1, I10)', async () => {
    const boots = [crypto.randomUUID(), crypto.randomUUID()] as const
    const say = (boot: string, number: number, ...devices: readonly ReportedDevice[]) =>
      world.plane.reports.take(
        {
          type: 'Inventory',
          host: 'h1',
          bootId: boot,
          number,
          observedAt: 1,
          version: '1',
          aliases: [],
          drivers: [shown(...devices)],
        },
        `${boot}.${number}.${devices.length}`,
      )
    await say(boots[0], 5, card(1))
    await say(boots[0], 4)
    expect(await seen.devices()).toMatchObject([{ presence: 'present' }])
    await say(boots[1], 1, card(1))
    expect(await seen.hosts()).toMatchObject([{ boot_id: boots[1] }])
    await say(boots[0], 6)
    expect(await seen.devices()).toMatchObject([{ presence: 'present' }])
    expect(await seen.hosts()).toMatchObject([{ boot_id: boots[1] }])
  })
  it('older than one that said nothing new is ignored too', async () => {
    const boot = crypto.randomUUID()
    const say = (number: number, ...devices: readonly ReportedDevice[]) =>
      world.plane.reports.take(
        {
          type: 'Inventory',
          host: 'h1',
          bootId: boot,
          number,
          observedAt: 1,
          version: '1',
          aliases: [],
          drivers: [shown(...devices)],
        },
        `${boot}.${number}.${devices.length}`,
      )
    await say(1, card(1))
    await say(3, card(1))
    await say(2)
    expect(await seen.devices()).toMatchObject([{ presence: 'present' }])
  })
})

describe('an unchanged report', () => {
  it('is recognised by its digest, until its boot or its content changes, or something is counted', async () => {
    const boot = crypto.randomUUID()
    const drivers = [shown(card(1))]
    const digest = inventoryDigest({ version: '1', aliases: [], drivers })
    const sighting = { host: 'h1', boot, number: 2, digest }
    expect(world.plane.reports.unchanged(sighting)).toBe(false)
    await world.plane.reports.take(
      { type: 'Inventory', host: 'h1', bootId: boot, number: 1, observedAt: 1, version: '1', aliases: [], drivers },
      'm1',
    )
    expect(world.plane.reports.unchanged(sighting)).toBe(true)
    expect(world.plane.reports.unchanged({ ...sighting, digest: 'other' })).toBe(false)
    expect(world.plane.reports.unchanged({ ...sighting, number: 4 })).toBe(false)
    expect(world.plane.reports.unchanged({ ...sighting, boot: crypto.randomUUID() })).toBe(false)
    const empty = {
      type: 'Inventory',
      host: 'h1',
      bootId: boot,
      observedAt: 1,
      version: '1',
      aliases: [],
      drivers: [shown()],
    } as const
    const nothing = {
      ...sighting,
      number: 5,
      digest: inventoryDigest({ version: '1', aliases: [], drivers: [shown()] }),
    }
    await world.plane.reports.take({ ...empty, aliases: [], drivers: [shown()], number: 3 }, 'm3')
    expect(world.plane.reports.unchanged(nothing)).toBe(false)
    await world.plane.reports.take({ ...empty, aliases: [], drivers: [shown()], number: 4 }, 'm4')
    expect(world.plane.reports.unchanged(nothing)).toBe(true)
  })
  it('of a picture that was refused in part is looked at again', async () => {
    const boot = crypto.randomUUID()
    const drivers = [shown(card(1, { deployables: [part('x'.repeat(201))] }))]
    await world.plane.reports.take(
      { type: 'Inventory', host: 'h1', bootId: boot, number: 1, observedAt: 1, version: '1', aliases: [], drivers },
      'm1',
    )
    const digest = inventoryDigest({ version: '1', aliases: [], drivers })
    expect(world.plane.reports.unchanged({ host: 'h1', boot, number: 2, digest })).toBe(false)
  })
  it('is still recognised after a late one, when another control has taken a later one meanwhile', async () => {
    const stores = memoryStores({ exclusive: false })
    const [one, other] = [await openPlane({}, stores()), await openPlane({}, stores())]
    const boot = crypto.randomUUID()
    const report = (number: number, ...devices: readonly ReportedDevice[]) => ({
      type: 'Inventory' as const,
      host: 'h1',
      bootId: boot,
      number,
      observedAt: 1,
      version: '1',
      aliases: [],
      drivers: [shown(...devices)],
    })
    const digest = inventoryDigest({ version: '1', aliases: [], drivers: [shown(card(1))] })
    value(await one.plane.reports.take(report(1, card(1)), 'm1'))
    value(await other.plane.reports.take(report(3, card(1), card(2)), 'm3'))
    value(await one.plane.reports.take(report(2), 'm2'))
    expect(one.plane.reports.unchanged({ host: 'h1', boot, number: 2, digest })).toBe(true)
    await Promise.all([one.plane.stop(), other.plane.stop()])
  })
})

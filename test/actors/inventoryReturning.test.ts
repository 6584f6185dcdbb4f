/** A device that was retired and is shown again is the same one, as operators left it (data-model 11.4). */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { memoryStore } from '../support/memoryStore/memory.ts'
import { openStore } from '../../src/persistence/open.ts'
import type { Store } from '../../src/persistence/store.ts'
import type { ReportedDevice } from '../../src/vocabulary/hardware.ts'
import { embeddedStoreIn } from '../support/embedded.ts'
import { NOVA, openPlane, TENANT, value } from '../support/plane.ts'
import { card, inventoryOf, named, part, slot } from './cards.ts'
import { expectRebuilt } from './rebuilt.ts'

let world: Awaited<ReturnType<typeof openPlane>>
let seen: ReturnType<typeof inventoryOf>
const open = async (store: Store = memoryStore()) => {
  world = await openPlane({}, store)
  seen = inventoryOf(world)
}
const WORD = { by: 'operator', reason: 'looked at' }
/** Two complete reports without it. */
const away = async (...others: readonly ReportedDevice[]) => {
  await seen.shows(...others)
  await seen.shows(...others)
}
/** All that lists show of the inventory, but when it changed. */
const shownNow = async () => {
  const attributes = value(await world.control.attributes.list({}, {})).items
  const rows = [await seen.devices(), await seen.deployables(), attributes, await seen.handles()]
  return rows.map((of) => of.map((row) => ({ ...row, updated_at: null })))
}
const careFor = async () => {
  const [one] = await seen.devices()
  const [deployable] = await seen.deployables()
  const [handle] = await seen.handles()
  value(await world.control.devices.setStatus(NOVA, one!.uuid, 'maintaining'))
  value(await world.control.attributes.create(NOVA, deployable!.uuid, 'rack', 'r1'))
  value(await world.control.handles.quarantine(NOVA, handle!.uuid, WORD))
}
const bind = async (name: string) => {
  await world.control.profiles.create(NOVA, { name: 'p', description: null, groups: [{ 'resources:FPGA': '1' }] })
  const [arq] = value(await world.control.arqs.create(TENANT, 'p'))
  const { rp_uuid: rp } = (await seen.deployables()).find((one) => one.name === name)!
  const binding = { arq: arq!.uuid, hostname: 'h1', deviceRpUuid: rp!, instanceUuid: crypto.randomUUID() }
  return world.control.arqs.bind(NOVA, [binding])
}

/** Takes a device away and back in each way there is. */
const ABSENCES = {
  'it was not shown for two complete reports': async () => away(),
  'its host was retired and restored': async () => {
    value(await world.control.hosts.retire(NOVA, 'h1', WORD))
    await seen.shows(card(1))
    value(await world.control.hosts.restore(NOVA, 'h1', WORD))
  },
}

describe('a device that returns after', () => {
  beforeEach(() => open())
  afterEach(async () => {
    await expectRebuilt(world.store)
    await world.plane.stop()
  })

  it.each(Object.entries(ABSENCES))('%s is the same, disabled as it was', async (_name, absent) => {
    await seen.shows(card(1))
    const { uuid } = (await seen.devices())[0]!
    value(await world.control.devices.setStatus(NOVA, uuid, 'maintaining'))
    value(await world.control.attributes.create(NOVA, (await seen.deployables())[0]!.uuid, 'rack', 'r1'))
    const before = await shownNow()
    await absent()
    expect(await seen.devices()).toEqual([])
    expect(await world.control.devices.get(uuid)).toMatchObject({ ok: false, fault: { kind: 'not_found' } })
    await seen.shows(card(1))
    expect(await shownNow()).toEqual(before)
    expect(await bind('h1_1')).toMatchObject({ fault: { reason: expect.stringContaining('in maintenance') } })
    value(await world.control.devices.setStatus(NOVA, uuid, 'enabled'))
    expect(await bind('h1_1')).toMatchObject({ ok: true })
  })
  it('any number of absences is the same, and a report that repeats itself writes nothing', async () => {
    await seen.shows(card(1), card(2))
    await careFor()
    const before = await shownNow()
    for (let n = 0; n < 3; n++) {
      await away(card(2))
      await seen.shows(card(1), card(2))
      expect(await shownNow()).toEqual(before)
    }
    const rows = await seen.rows()
    await seen.shows(card(1), card(2))
    expect(await seen.rows()).toBe(rows)
  })
  it('a quarantine by an operator keeps that attach handle from everybody', async () => {
    const one = card(1, {
      deployables: [part('h1_1', { numAccelerators: 1, handles: [{ type: 'PCI', info: slot(1) }] })],
    })
    await seen.shows(one)
    const [handle] = await seen.handles()
    value(await world.control.handles.quarantine(NOVA, handle!.uuid, WORD))
    await away()
    await seen.shows(one)
    expect(value(await world.control.handles.get(NOVA, handle!.uuid))).toMatchObject({
      state: 'quarantined',
      quarantine: WORD,
    })
    expect(await bind('h1_1')).toMatchObject({ fault: { reason: expect.stringContaining('no free attach handle') } })
  })
  it('another card was in its place is the same, and the other card was another device', async () => {
    await seen.shows(card(1))
    await careFor()
    const before = await shownNow()
    const other = card(1, { model: 'another card', stdBoardInfo: '{"product_id": "0002"}' })
    await away()
    await seen.shows(other)
    const [between] = await seen.devices()
    expect(between).toMatchObject({ status: 'enabled', model: 'another card' })
    expect(between!.uuid).not.toBe((before[0]![0] as unknown as { uuid: string }).uuid)
    await away()
    await seen.shows(card(1))
    expect(await shownNow()).toEqual(before)
  })
  it.each([
    ['serial number', 'vendorBoardInfo', { serial: '0x17' }, { serial: '0x18' }],
    ['product', 'stdBoardInfo', { product_id: '0001' }, { product_id: '0002' }],
  ])('a card of another %s took its place is a new one', async (_name, board, was, is) => {
    await seen.shows(card(1, { [board]: JSON.stringify(was) }))
    const [before] = await seen.devices()
    await away()
    await seen.shows(card(1, { [board]: JSON.stringify(is) }))
    expect((await seen.devices())[0]!.uuid).not.toBe(before!.uuid)
  })
  it('another driver took it over is the same', async () => {
    await seen.shows(card(1))
    await careFor()
    const [before] = await seen.devices()
    await away()
    const drivers = [{ driver: 'other_driver', status: 'ok', devices: [card(1, { type: 'GPU' })] }] as const
    await world.report(
      'h1',
      drivers.map((one) => ({ ...one, devices: [...one.devices] })),
    )
    expect(await seen.devices()).toMatchObject([{ uuid: before!.uuid, driver: 'other_driver', status: 'maintaining' }])
  })
})

describe('the deployables of a device that returns', () => {
  beforeEach(() => open())
  afterEach(async () => {
    await expectRebuilt(world.store)
    await world.plane.stop()
  })
  const [left, right] = ['h1_left', 'h1_right'].map((name, at) =>
    part(name, { numAccelerators: 1, handles: [{ type: 'PCI', info: slot(1, at + 1) }] }),
  )
  const both = card(1, { deployables: [left!, right!] })
  const half = card(1, { deployables: [left!] })

  it('come back when they are shown, each as it was, in the status that the device has then', async () => {
    await seen.shows(both)
    const { uuid } = (await seen.devices())[0]!
    const [, second] = await seen.deployables()
    value(await world.control.devices.setStatus(NOVA, uuid, 'maintaining'))
    value(await world.control.attributes.create(NOVA, second!.uuid, 'rack', 'r1'))
    await away()
    await seen.shows(half)
    expect((await seen.deployables()).map(({ name }) => name)).toEqual(['h1_left'])
    value(await world.control.devices.setStatus(NOVA, uuid, 'enabled'))
    await away()
    await seen.shows(half)
    await seen.shows(both)
    const [, back] = await seen.deployables()
    expect(back).toMatchObject({ uuid: second!.uuid, id: second!.id, rp_uuid: second!.rp_uuid, presence: 'present' })
    expect(back!.attributes).toContainEqual({ rack: 'r1' })
    expect(await bind('h1_right')).toMatchObject({ ok: true })
    const rows = await seen.rows()
    await seen.shows(both)
    expect(await seen.rows()).toBe(rows)
  })
  it('do not come back under a name that another device shows meanwhile', async () => {
    await seen.shows(both, card(2))
    const [device] = await seen.devices()
    await away(card(2))
    await seen.shows(card(2), named(3, 'h1_right'))
    await seen.shows(card(2), named(3, 'h1_right'), half)
    expect((await seen.deployables()).map(({ name }) => name).toSorted()).toEqual([
      'h1_2',
      'h1_left',
      expect.stringMatching(/^h1_right_[0-9a-f]{8}$/),
    ])
    expect((await seen.devices()).map((one) => one.uuid)).toContain(device!.uuid)
    await seen.shows(card(2), named(3, 'h1_right'), both)
    expect((await seen.deployables()).filter(({ name }) => name.startsWith('h1_right'))).toHaveLength(1)
  })
})

describe('a host with more departed devices than are remembered', () => {
  it('knows again those that left last', async () => {
    await open()
    const devices = (from: number, count = 600) =>
      Array.from({ length: count }, (_, n) =>
        card(0, { controlPath: { type: 'PCI', info: `path ${from + n}` }, deployables: [] }),
      )
    await seen.shows(...devices(0))
    const first = new Set(value(await world.control.devices.list({}, { limit: 1000 })).items.map(({ uuid }) => uuid))
    await away(...devices(600, 500))
    await away()
    await seen.shows(...devices(0))
    const back = value(await world.control.devices.list({}, { limit: 1000 })).items
    expect(back.filter(({ uuid }) => first.has(uuid))).toHaveLength(500)
    await world.plane.stop()
  })
})

/** An embedded database takes its time to start on a busy machine. */
const SLOW = { timeout: 180_000 }
describe('in a store on disk', () => {
  it('a device that returns is the same after a restart too, and a rebuild makes the same views', SLOW, async () => {
    const dir = mkdtempSync(join(tmpdir(), 'accelerando-returning-'))
    await embeddedStoreIn(dir)
    await open(await openStore({ kind: 'pglite', dir }))
    await seen.shows(card(1), card(2))
    await careFor()
    const before = await shownNow()
    await away(card(2))
    await world.plane.stop()
    await expectRebuilt(world.store)
    await open(world.store)
    await seen.shows(card(1), card(2))
    expect(await shownNow()).toEqual(before)
    await expectRebuilt(world.store)
    await world.plane.stop()
    await world.store.close()
    rmSync(dir, { recursive: true })
  })
})

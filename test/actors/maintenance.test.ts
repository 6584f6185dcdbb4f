import { ENTITIES } from '../../src/actors/entities.ts'
import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { memoryStore } from '../support/memoryStore/memory.ts'
import { handClock, quiet, until } from '../support/lab.ts'
import { card, inventoryOf, part } from './cards.ts'
import { door } from './counters.ts'
import { FPGA, GPU, NOVA, openCloud, value } from './cloud.ts'
import { openPlane } from '../support/plane.ts'
import { catalogueOf, noCatalogue } from '../support/images.ts'

const IMAGE = randomUUID()
const images = catalogueOf()

describe('a device that is disabled', () => {
  it('keeps what is bound and starts no bind, on any of its deployables (S9)', async () => {
    const cloud = await openCloud(GPU, { 'resources:PGPU': '1' })
    const { arqs } = await cloud.start()
    const { uuid } = await cloud.device()
    value(await cloud.control.devices.setStatus(NOVA, uuid, 'maintaining'))
    value(await cloud.control.devices.setStatus(NOVA, uuid, 'maintaining'))
    expect(value(await cloud.control.devices.get(uuid)).status).toBe('maintaining')
    expect(await cloud.states(arqs)).toEqual(['Bound'])
    expect(await cloud.bind(await cloud.create(), randomUUID())).toMatchObject({ fault: { kind: 'conflict' } })
    value(await cloud.control.devices.setStatus(NOVA, uuid, 'enabled'))
    value(await cloud.bind(await cloud.create(), randomUUID()))
    await cloud.stop()
  })
  it('and is not there, is not found', async () => {
    const cloud = await openCloud(GPU, { 'resources:PGPU': '1' })
    const unknown = { ok: false, fault: { kind: 'not_found', resource: 'device' } }
    expect(await cloud.control.devices.setStatus(NOVA, randomUUID(), 'enabled')).toMatchObject(unknown)
    const { uuid } = await cloud.device()
    for (let n = 0; n < 2; n++) await cloud.shows('h1', { ...GPU, devices: [] })
    expect(await cloud.control.devices.setStatus(NOVA, uuid, 'enabled')).toMatchObject(unknown)
    expect(await cloud.control.devices.get(uuid)).toMatchObject(unknown)
    await cloud.stop()
  })
  it('while it grows, has no deployable that is enabled', async () => {
    const gate = door()
    let closed = false
    const store = memoryStore({ beforeCommit: () => (closed ? gate.pass() : Promise.resolve()) })
    const world = await openPlane({}, store)
    const seen = inventoryOf(world)
    await seen.shows(card(1))
    const { uuid } = (await seen.devices())[0]!
    closed = true
    const growing = seen.shows(card(1, { deployables: [part('h1_1'), part('h1_1_b', { handles: [] })] }))
    await until(() => gate.knocks() === 1)
    const disabling = world.control.devices.setStatus(NOVA, uuid, 'maintaining')
    await quiet()
    closed = false
    gate.open()
    await growing
    value(await disabling)
    const parts = await seen.deployables()
    const looked = await Promise.all(
      parts.map((row) => world.plane.region.readCurrent(ENTITIES['deployable']!, `deployable/${row.uuid}`)),
    )
    const maintaining = { value: { state: { status: 'maintaining' } } }
    expect(looked).toMatchObject([maintaining, maintaining])
    await world.plane.stop()
  })
})

describe('programming', () => {
  const opened = async (more: object = {}) =>
    openCloud(
      FPGA,
      { 'resources:FPGA': '1' },
      { images, options: { programWaitMs: 20 }, ...more },
      undefined,
      'when told',
    )
  it('answers with the deployable when its host is done, and shows the image', async () => {
    const cloud = await opened({ options: { programWaitMs: 5000 } })
    const asked = cloud.control.deployables.program(NOVA, cloud.deployable.uuid, IMAGE)
    await expect.poll(async () => (await cloud.pending()).length).toBe(1)
    await cloud.pump()
    expect(cloud.orders).toMatchObject([{ type: 'Program', image: IMAGE, slot: cloud.deployable.uuid }])
    await cloud.answer(cloud.orders[0]!)
    expect(value(await asked)).toMatchObject({ finished: true, deployable: { bitstream_id: IMAGE } })
    expect(value(await cloud.control.deployables.get(cloud.deployable.uuid)).bitstream_id).toBe(IMAGE)
    expect(await cloud.pending()).toEqual([])
    await cloud.stop()
  })
  it('that takes longer goes on without the caller', async () => {
    const cloud = await opened()
    expect(value(await cloud.control.deployables.program(NOVA, cloud.deployable.uuid, IMAGE)).finished).toBe(false)
    expect(await cloud.bind(await cloud.create(), randomUUID())).toMatchObject({ fault: { kind: 'conflict' } })
    expect(await cloud.control.deployables.program(NOVA, cloud.deployable.uuid, IMAGE)).toMatchObject({
      fault: { kind: 'conflict' },
    })
    await cloud.pump()
    await cloud.answer(cloud.orders[0]!)
    expect(value(await cloud.control.deployables.get(cloud.deployable.uuid)).bitstream_id).toBe(IMAGE)
    await cloud.stop()
  })
  it('that fails says so, and leaves nothing known of the region (S14)', async () => {
    const cloud = await opened({ options: { programWaitMs: 5000 } })
    const asked = cloud.control.deployables.program(NOVA, cloud.deployable.uuid, IMAGE)
    await expect.poll(async () => (await cloud.pending()).length).toBe(1)
    await cloud.pump()
    await cloud.answer(cloud.orders[0]!, { status: 'failed', reason: 'bad\0image', final: true })
    expect(await asked).toMatchObject({ ok: false, fault: { kind: 'device_failure', reason: 'badimage' } })
    expect(value(await cloud.control.deployables.get(cloud.deployable.uuid)).bitstream_id).toBe(null)
    await cloud.stop()
  })
  it('is refused without an image, without an image store, and of nothing', async () => {
    for (const [why, kind] of [
      ['unknown', 'not_found'],
      ['none', 'conflict'],
    ] as const) {
      const cloud = await opened({ images: noCatalogue(why) })
      expect(await cloud.control.deployables.program(NOVA, cloud.deployable.uuid, IMAGE)).toMatchObject({
        fault: { kind },
      })
      expect(await cloud.control.deployables.program(NOVA, randomUUID(), IMAGE)).toMatchObject({
        fault: { kind: 'not_found', resource: 'deployable' },
      })
      await cloud.stop()
    }
  })
  it('is refused while a request is bound there, and where nothing can be programmed', async () => {
    const cloud = await opened()
    await cloud.start()
    expect(await cloud.control.deployables.program(NOVA, cloud.deployable.uuid, IMAGE)).toMatchObject({
      fault: { kind: 'conflict' },
    })
    await cloud.stop()
    const fixed = await openCloud(GPU, { 'resources:PGPU': '1' }, { images })
    expect(await fixed.control.deployables.program(NOVA, fixed.deployable.uuid, IMAGE)).toMatchObject({
      fault: { kind: 'conflict' },
    })
    await fixed.stop()
  })
  it('is not begun while its host is silent', async () => {
    const clock = handClock()
    const cloud = await opened({ clock, options: { sweepEveryMs: 3_600_000 } })
    await clock.pass(15_000)
    for (let n = 0; n < 9; n++) await cloud.plane.sweeper.round()
    const refused = await cloud.control.deployables.program(NOVA, cloud.deployable.uuid, IMAGE)
    expect(refused).toMatchObject({ ok: false, fault: { kind: 'unavailable', reason: 'host h1 is stale' } })
    await Promise.all([cloud.stop(), clock.pass(3_600_000)])
  })
})

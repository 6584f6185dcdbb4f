/** A programming that its host never answers ends by its deadline, and nothing stays behind. */
import { expect, test } from 'vitest'
import { systemIds } from '../../src/vocabulary/clock.ts'
import type { SimulatedPlan } from '../../src/drivers/simulated/simulated.ts'
import { until } from '../support/lab.ts'
import { NOVA, openPlane, value } from '../support/plane.ts'
import { catalogueOf } from '../support/images.ts'

const FPGA: SimulatedPlan = { seed: 2, devices: [{ kind: 'fpga', handles: 4, hostWork: true }] }
const NOTE = { by: 'op', reason: 'burnt' }

const programming = async () => {
  const times = { programDeadlineMs: 400, programWaitMs: 50, resendMs: 100, sweepEveryMs: 20 }
  const images = catalogueOf()
  const world = await openPlane({ options: times, images }, undefined, 'when told')
  await world.shows('h', FPGA)
  value(
    await world.control.profiles.create(NOVA, { name: 'f', description: null, groups: [{ 'resources:FPGA': '1' }] }),
  )
  const [place] = value(await world.control.deployables.list({}, {})).items
  const image = systemIds.uuid()
  expect(value(await world.control.deployables.program(NOVA, place!.uuid, image)).finished).toBe(false)
  await world.pump()
  const [order] = world.orders
  const bind = async () => {
    const [arq] = value(await world.control.arqs.create(NOVA, 'f'))
    const wish = { arq: arq!.uuid, hostname: 'h', deviceRpUuid: place!.rp_uuid!, instanceUuid: systemIds.uuid() }
    return world.control.arqs.bind(NOVA, [wish])
  }
  const pending = async () =>
    (await world.store.reads.page({ view: 'pending_orders', where: {}, sort: 'sent_at', limit: 10 }))!
  const ended = async () => {
    let left = 1
    const look = async () => void (left = (await pending()).length)
    await until(() => (void look(), left === 0), 'the end of the programming')
  }
  return { ...world, place: place!, order: order!, bind, ended }
}

test('its deployable can be bound again, its content is unknown, and a late answer changes nothing', async () => {
  const { control, place, order, bind, ended, answer, plane } = await programming()
  // it may be over in a moment
  expect(await bind()).toMatchObject({ ok: false, fault: { kind: 'conflict', passing: true } })
  await ended()
  await answer(order)
  expect(value(await control.deployables.get(place.uuid))).toMatchObject({ bitstream_id: null })
  value(await bind())
  await plane.stop()
})

test('of a host that was removed meanwhile its device leaves', async () => {
  const { control, ended, plane } = await programming()
  value(await control.hosts.remove(NOVA, 'h', NOTE, true))
  expect(value(await control.devices.list({}, {})).items).toHaveLength(1)
  await ended()
  let devices = 1
  const look = async () => void (devices = value(await control.devices.list({}, {})).items.length)
  await until(() => (void look(), devices === 0), 'the device leaves')
  expect(value(await control.deployables.list({}, {})).items).toEqual([])
  await plane.stop()
})

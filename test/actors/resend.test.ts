/** When an order that its host has not answered is sent again, and when not. */
import { expect, test } from 'vitest'
import { systemIds } from '../../src/vocabulary/clock.ts'
import type { SimulatedPlan } from '../../src/drivers/simulated/simulated.ts'
import { handClock } from '../support/lab.ts'
import { NOVA, openPlane, value } from '../support/plane.ts'

const FPGA: SimulatedPlan = { seed: 2, devices: [{ kind: 'fpga', handles: 20, hostWork: true }] }
const open = async () => {
  const clock = handClock()
  const options = { sweepEveryMs: 1000, downAfterMs: 3_600_000 }
  const world = await openPlane({ clock, options }, undefined, 'when told')
  await world.shows('h', FPGA)
  value(
    await world.control.profiles.create(NOVA, { name: 'f', description: null, groups: [{ 'resources:FPGA': '1' }] }),
  )
  const [place] = value(await world.control.deployables.list({}, {})).items
  const bind = async () => {
    const [arq] = value(await world.control.arqs.create(NOVA, 'f'))
    const wish = { arq: arq!.uuid, hostname: 'h', deviceRpUuid: place!.rp_uuid!, instanceUuid: systemIds.uuid() }
    value(await world.control.arqs.bind(NOVA, [wish]))
    return arq!.uuid
  }
  return { ...world, clock, bind }
}

test('a release without an answer is repeated ever more seldom, and no more when it is answered', async () => {
  const { clock, bind, control, orders, answer, plane } = await open()
  const arq = await bind()
  value(await control.arqs.unbind(NOVA, [arq]))
  await clock.pass(600_000)
  const repeats = orders.filter(({ type }) => type === 'ReleaseSlot')
  // every ten seconds it would be 60
  expect(repeats.length).toBeGreaterThan(8)
  expect(repeats.length).toBeLessThan(16)
  await answer(repeats[0]!)
  orders.length = 0
  await clock.pass(300_000)
  expect(orders).toEqual([])
  await plane.stop()
})

test('RESEND-2 nothing is sent to a host that was removed', async () => {
  const { clock, bind, control, orders, plane } = await open()
  for (let n = 0; n < 20; n++) await bind()
  value(await control.hosts.remove(NOVA, 'h', { by: 'op', reason: 'burnt' }, true))
  orders.length = 0
  await clock.pass(600_000)
  expect(orders).toEqual([])
  await plane.stop()
})

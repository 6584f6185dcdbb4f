/** When an order that its host has not answered is sent again, and when not. */
import { describe, expect, test } from 'vitest'
import { QUIET_MS, RESEND_MAX_MS, pauseMs } from '../../src/services/due/resendOrders.ts'
import { systemIds } from '../../src/clock.ts'
import type { SimulatedPlan } from '../../src/drivers/simulated/simulated.ts'
import { orderRow } from '../persistence/samples.ts'
import { handClock } from '../support/lab.ts'
import { NOVA, openPlane, value } from '../support/plane.ts'

const TIMES = { resendMs: 10_000, bindDeadlineMs: 120_000, programDeadlineMs: 600_000 }
const AT = 1_000_000
const released = orderRow(systemIds.uuid(), AT, AT + 600_000)

test('the limits of the pauses', () => {
  expect([RESEND_MAX_MS, QUIET_MS]).toEqual([60_000, 120_000])
})

describe('RESEND-1 the pause before the next repeat', () => {
  test.each([
    [0, 10_000],
    [10_000, 10_000],
    [20_000, 20_000],
    [40_000, 40_000],
    [500_000, RESEND_MAX_MS],
    [90_000_000, RESEND_MAX_MS],
    [-5000, 10_000],
  ])('of a release given %i ms ago is %i ms', (age, pause) => {
    expect(pauseMs(released, AT + age, false, TIMES)).toBe(pause)
  })
  test('of a programming does not go beyond its deadline, also where the host is silent', () => {
    const { host, number, driver, deployable, deployableUuid } = released.body
    const body = { host, number, driver, deployable, deployableUuid, slot: deployableUuid, deadline: AT + 600_000 }
    const programming = { ...released, body: { ...body, type: 'Program', image: 'i' } as const }
    expect(pauseMs(programming, AT + 100_000, false, TIMES)).toBe(RESEND_MAX_MS)
    expect(pauseMs(programming, AT + 570_000, false, TIMES)).toBe(30_000)
    expect(pauseMs(programming, AT + 570_000, true, TIMES)).toBe(30_000)
    expect(pauseMs(programming, AT + 100_000, true, TIMES)).toBe(QUIET_MS)
  })
})

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

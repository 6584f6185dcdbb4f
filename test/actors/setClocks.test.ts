/**
 * Somebody sets a clock: of a control, while work waits for its next try, or of the store, while hosts are heard from.
 */
import { afterEach, describe, expect, it } from 'vitest'
import type { NovaEvent } from '../../src/actors/neighbours.ts'
import { memoryStore } from '../support/memoryStore/memory.ts'
import { handClock } from '../support/lab.ts'
import { openPlane } from '../support/plane.ts'
import { FPGA, openCloud } from './cloud.ts'

const HOUR = 3_600_000
const STEP = 300_000
const settable = () => {
  const clock = handClock()
  let by = 0
  return { ...clock, now: () => clock.now() + by, set: (ms: number) => void (by += ms) }
}
let close = async () => {}
afterEach(() => close())

describe('when the clock of a control is set back by an hour', () => {
  const opened = async () => {
    const clock = settable()
    const calls: number[] = []
    const nova = {
      up: true,
      notify: async (events: readonly NovaEvent[]) => {
        calls.push(clock.monotonic())
        return events.map(({ tag }) => ({ tag, outcome: nova.up ? 'delivered' : 'retry', code: 200 }) as const)
      },
    }
    const parts = { clock, options: { sweepEveryMs: 1000, resendMs: 10_000, bindDeadlineMs: 200_000 }, nova }
    const store = memoryStore({ now: clock.now })
    const cloud = await openCloud(FPGA, { 'resources:FPGA': '1' }, parts, store, 'when told')
    close = async () => void (await Promise.all([cloud.stop(), clock.pass(HOUR)]))
    return { ...cloud, clock, calls, nova }
  }
  it('Nova is told within two minutes, although the next try was recorded an hour ahead', async () => {
    const { clock, start, pump, answer, orders, calls, nova } = await opened()
    await start()
    await pump()
    nova.up = false
    await answer(orders[0]!)
    await clock.pass(20_000)
    const tried = calls.length
    expect(tried).toBeGreaterThan(1)
    clock.set(-HOUR)
    nova.up = true
    await clock.pass(120_000)
    expect(calls.length).toBe(tried + 1)
  })
  it('orders without an answer go on being repeated', async () => {
    const { clock, start, pump, orders } = await opened()
    await start()
    await pump()
    await clock.pass(25_000)
    clock.set(-HOUR)
    orders.length = 0
    await clock.pass(60_000)
    await pump()
    expect(orders.length).toBeGreaterThan(0)
    expect(orders.length).toBeLessThan(8)
  })
})

describe.each([
  ['back', -STEP],
  ['forward', STEP],
])('when the clock of the store is set %s by five minutes', (_, ms) => {
  const STALE = 15_000
  const opened = async () => {
    const clock = handClock()
    let by = 0
    const store = memoryStore({ now: () => clock.now() + by })
    const options = { sweepEveryMs: 250, staleAfterMs: STALE, downAfterMs: 60_000 }
    const world = await openPlane({ clock, options }, store, 'when told')
    close = async () => void (await Promise.all([world.plane.stop(), clock.pass(HOUR)]))
    for (const name of ['alive', 'dead']) await world.report(name, [])
    const liveness = async () => {
      const rows = await store.reads.page({ view: 'hosts', where: {}, sort: 'name', limit: 10 })
      return (rows ?? []).map(({ liveness: is }) => is)
    }
    const pass = async (seconds: number) => {
      for (let n = 0; n < seconds; n += 5) {
        await world.report('alive', [])
        await clock.pass(5000)
      }
    }
    return { ...world, store, pass, liveness, set: () => void (by += ms) }
  }
  it('a host that lives stays up, and one that dies then is noticed in time', async () => {
    const world = await opened()
    await world.pass(10)
    await world.report('dead', [])
    await world.pass(5)
    world.set()
    await world.pass(5)
    expect(await world.liveness()).toEqual(['up', 'up'])
    await world.pass(10)
    expect(await world.liveness()).toEqual(['up', 'stale'])
    await world.pass(50)
    expect(await world.liveness()).toEqual(['up', 'down'])
  })
  it('a host that was down before stays down', async () => {
    const world = await opened()
    await world.pass(80)
    expect(await world.liveness()).toEqual(['up', 'down'])
    world.set()
    await world.pass(30)
    expect(await world.liveness()).toEqual(['up', 'down'])
    // the clock comes to the moment that was recorded
    await world.pass(STEP / 1000)
    expect(await world.liveness()).toEqual(['up', 'down'])
  })
})

/** The clock of a control is set by an hour in the middle of binds: none fails early for it, and none hangs. */
import { describe, expect, it } from 'vitest'
import { memoryStore } from '../support/memoryStore/memory.ts'
import { handClock } from '../support/lab.ts'
import { FPGA, NOVA, openCloud, value } from './cloud.ts'

const HOUR = 3_600_000
/** A clock that can be set; its timers and its monotonic time go on. */
const settable = () => {
  const clock = handClock()
  let by = 0
  return { ...clock, now: () => clock.now() + by, set: (ms: number) => void (by += ms) }
}

describe.each([
  ['forward', HOUR],
  ['back', -HOUR],
])('a clock that is set an hour %s', (_, ms) => {
  const opened = async () => {
    const clock = settable()
    const options = { sweepEveryMs: 1000 }
    const parts = { clock, options }
    const cloud = await openCloud(FPGA, { 'resources:FPGA': '1' }, parts, memoryStore({ now: clock.now }), 'when told')
    const stateOf = async (arqs: readonly string[]) => (await cloud.states(arqs))[0]
    return { ...cloud, clock, stateOf, stop: () => Promise.all([cloud.stop(), clock.pass(10_000)]) }
  }
  it('ends a bind when its host answers, and at its deadline when it does not', async () => {
    const cloud = await opened()
    const [answered, silent] = [await cloud.start(), await cloud.start()]
    await cloud.pump()
    await cloud.clock.pass(30_000)
    cloud.clock.set(ms)
    await cloud.clock.pass(60_000)
    expect([await cloud.stateOf(answered.arqs), await cloud.stateOf(silent.arqs)]).toEqual([
      'BindStarted',
      'BindStarted',
    ])
    await cloud.answer(cloud.orders.find((order) => 'arq' in order && order.arq === answered.arqs[0])!)
    expect(await cloud.stateOf(answered.arqs)).toBe('Bound')
    await cloud.clock.pass(28_000)
    expect(await cloud.stateOf(silent.arqs)).toBe('BindStarted')
    await cloud.clock.pass(5_000)
    expect(await cloud.stateOf(silent.arqs)).toBe('BindFailed')
    expect(value(await cloud.control.arqs.get(NOVA, silent.arqs[0]!)).reason).toBe('the host did not answer in time')
    await cloud.stop()
  })
  it('changes nothing for a bind that is accepted after it', async () => {
    const cloud = await opened()
    await cloud.clock.pass(5_000)
    cloud.clock.set(ms)
    const { arqs } = await cloud.start()
    await cloud.clock.pass(118_000)
    expect(await cloud.stateOf(arqs)).toBe('BindStarted')
    await cloud.clock.pass(5_000)
    expect(await cloud.stateOf(arqs)).toBe('BindFailed')
    await cloud.stop()
  })
})

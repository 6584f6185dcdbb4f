import { describe, expect, it } from 'vitest'
import type { Store } from '../../src/persistence/store.ts'
import { put } from '../../src/actors/runtime/views.ts'
import { memoryStore } from '../support/memoryStore/memory.ts'
import { handClock } from '../support/lab.ts'
import { FPGA, NOVA, openCloud, value } from './cloud.ts'
import { openPlane } from '../support/plane.ts'

const HOUR = 3_600_000
/** The sweeper looks only when it is told to. */
const options = { sweepEveryMs: 24 * HOUR }

const opened = async (store: Store = memoryStore(), amount = '2') => {
  const clock = handClock()
  const cloud = await openCloud(FPGA, { 'resources:FPGA': amount }, { clock, options }, store, 'when told')
  const sweep = async () => {
    await cloud.plane.sweeper.round()
    await cloud.plane.sweeper.idle()
  }
  return { ...cloud, clock, sweep, stop: () => Promise.all([cloud.stop(), clock.pass(HOUR)]) }
}

describe('a bind whose host does not answer', () => {
  it('fails at its deadline, not before, as a whole, and its handles are released', async () => {
    const cloud = await opened()
    const { arqs } = await cloud.start()
    await cloud.pump()
    await cloud.answer(cloud.orders[0]!)
    await cloud.clock.pass(119_999)
    await cloud.sweep()
    expect(await cloud.states(arqs)).toEqual(['BindStarted', 'BindStarted'])
    await cloud.clock.pass(1)
    await cloud.sweep()
    expect(await cloud.states(arqs)).toEqual(['BindFailed', 'BindFailed'])
    expect(value(await cloud.control.arqs.get(NOVA, arqs[0]!)).reason).toBe('the host did not answer in time')
    await cloud.pump()
    const releases = cloud.orders.filter(({ type }) => type === 'ReleaseSlot')
    for (const release of releases) await cloud.answer(release)
    expect(await cloud.handleStates()).toEqual(['free', 'free', 'free', 'free'])
    await cloud.stop()
  })
  it('fails at its deadline while the bus lets everybody wait who sends an order again', async () => {
    const clock = handClock()
    let sending = 0
    const publish = () => {
      sending++
      return new Promise<void>(() => {})
    }
    const swept = { sweepEveryMs: 1000, resendMs: 5000 }
    const stuck = await openCloud(
      FPGA,
      { 'resources:FPGA': '1' },
      { clock, options: swept, publish },
      memoryStore(),
      'when told',
    )
    const { arqs } = await stuck.start()
    await clock.pass(121_000)
    await stuck.plane.sweeper.idle()
    expect(sending).toBe(1)
    expect(await stuck.states(arqs)).toEqual(['BindFailed'])
    await Promise.all([stuck.stop(), clock.pass(HOUR)])
  })
  it('fails at its deadline also behind many entities that fail each time they are worked on', async () => {
    const clock = handClock()
    const store = memoryStore({ now: clock.now })
    const terms = { clock, options: { sweepEveryMs: 250 } }
    const cloud = await openCloud(FPGA, { 'resources:FPGA': '1' }, terms, store, 'when told')
    const { arqs } = await cloud.start()
    const changes = Array.from({ length: 700 }, (_, at) =>
      put('due', { entity: `deployable/${crypto.randomUUID()}`, kind: 'deployable', at }),
    )
    await store.journal.append({ rows: [], changes })
    await clock.pass(126_000)
    await cloud.plane.sweeper.idle()
    expect(await cloud.states(arqs)).toEqual(['BindFailed'])
    await Promise.all([cloud.stop(), clock.pass(HOUR)])
  })
  it('fails too when the process was dead at its deadline (L1)', async () => {
    const store = memoryStore()
    const first = await opened(store)
    const { arqs } = await first.start()
    await first.stop()
    const clock = handClock()
    await clock.pass(120_000)
    const second = await openPlane({ clock, options }, store, 'when told')
    await second.plane.sweeper.idle()
    expect(value(await second.control.arqs.get(NOVA, arqs[0]!)).state).toBe('BindFailed')
    await Promise.all([second.plane.stop(), clock.pass(HOUR)])
  })
  it('and answers late changes nothing any more', async () => {
    const cloud = await opened(undefined, '1')
    const { arqs } = await cloud.start()
    await cloud.pump()
    await cloud.clock.pass(120_000)
    await cloud.sweep()
    await cloud.answer(cloud.orders[0]!)
    expect(await cloud.states(arqs)).toEqual(['BindFailed'])
    expect(await cloud.handleStates()).toEqual(['free', 'free', 'free', 'releasing'])
    await cloud.stop()
  })
  it('is no concern of the deadline once the one part that was late has left', async () => {
    const cloud = await opened()
    const { arqs } = await cloud.start()
    await cloud.pump()
    const [mine] = cloud.orders.filter((order) => order.type === 'PrepareSlot' && order.arq === arqs[0])
    await cloud.answer(mine!)
    value(await cloud.control.arqs.remove(NOVA, [arqs[1]!]))
    await cloud.sweep()
    expect(await cloud.states([arqs[0]!])).toEqual(['Bound'])
    await cloud.stop()
  })
})

describe('an order without an answer', () => {
  it('is sent again after a while, the same, until it is answered', async () => {
    const cloud = await opened(undefined, '1')
    await cloud.start()
    await cloud.pump()
    await cloud.clock.pass(9_999)
    await cloud.sweep()
    expect(cloud.orders).toHaveLength(1)
    await cloud.clock.pass(1)
    await cloud.sweep()
    expect(cloud.orders).toHaveLength(2)
    expect(cloud.orders[1]).toEqual(cloud.orders[0])
    await cloud.sweep()
    expect(cloud.orders).toHaveLength(2)
    await cloud.answer(cloud.orders[0]!)
    await cloud.clock.pass(60_000)
    await cloud.sweep()
    expect(cloud.orders).toHaveLength(2)
    expect(await cloud.pending()).toEqual([])
    await cloud.stop()
  })
  it('is sent at once by a process that starts, however many there are', async () => {
    const store = memoryStore()
    const clock = handClock()
    const plan = { seed: 1, devices: [{ kind: 'fpga' as const, handles: 600 }] }
    const first = await openCloud(plan, { 'resources:FPGA': '200' }, { clock, options }, store, 'when told')
    for (let n = 0; n < 3; n++) await first.start()
    expect(await first.pending()).toHaveLength(600)
    await clock.pass(1)
    const second = await openPlane({ clock, options }, store, 'when told')
    expect(new Set(second.orders.map(({ slot }) => slot)).size).toBe(600)
    await Promise.all([first.stop(), second.plane.stop(), clock.pass(HOUR)])
  })
})

describe('a handle whose release has failed for good', () => {
  it('is released again after a while, also when its request is gone (L5)', async () => {
    const cloud = await opened(undefined, '1')
    const { arq } = await cloud.start()
    await cloud.pump()
    await cloud.answer(cloud.orders[0]!)
    value(await cloud.control.arqs.remove(NOVA, [arq]))
    await cloud.pump()
    await cloud.answer(cloud.orders[1]!, { status: 'failed', reason: 'stuck', final: true })
    expect(await cloud.handleStates()).toEqual(['free', 'free', 'free', 'quarantined'])
    await cloud.clock.pass(299_999)
    await cloud.sweep()
    expect(await cloud.handleStates()).toEqual(['free', 'free', 'free', 'quarantined'])
    await cloud.clock.pass(1)
    await cloud.sweep()
    await cloud.pump()
    await cloud.answer(cloud.orders.at(-1)!)
    expect(await cloud.handleStates()).toEqual(['free', 'free', 'free', 'free'])
    await cloud.stop()
  })
  it('makes its request Unbound when it succeeds at last', async () => {
    const cloud = await opened(undefined, '1')
    const { arq } = await cloud.start()
    await cloud.pump()
    await cloud.answer(cloud.orders[0]!)
    value(await cloud.control.arqs.unbind(NOVA, [arq]))
    await cloud.pump()
    await cloud.answer(cloud.orders[1]!, { status: 'failed', reason: 'stuck', final: true })
    expect(await cloud.states([arq])).toEqual(['UnbindFailed'])
    await cloud.clock.pass(300_000)
    await cloud.sweep()
    await cloud.pump()
    await cloud.answer(cloud.orders.at(-1)!)
    expect(await cloud.states([arq])).toEqual(['Unbound'])
    await cloud.stop()
  })
})

/** When an order is over on a host whose clock is not that of the control. */
import { describe, expect, test } from 'vitest'
import type { Order } from '../../src/wire/orders.ts'
import { ledgerAnswerRecord, orderRecord } from '../../src/wire/message.ts'
import { HOST, openHostLab } from '../support/hostLab.ts'
import { quiet } from '../support/lab.ts'

const HOUR = 3_600_000
const TERM = 120_000
/** A host whose clock differs from that of the control by so much; its first device is busy until `free`. */
const opened = async (skewMs: number) => {
  const lab = await openHostLab()
  let by = skewMs
  const gate = Promise.withResolvers<void>()
  const clock = { ...lab.clock, now: () => lab.clock.now() + by }
  const prepare: typeof lab.driver.prepare = async (io, slot, signal) => {
    if (slot.deployable === lab.devices[0]!.deployables[0]!.name) await gate.promise
    return lab.driver.prepare(io, slot, signal)
  }
  const limits = { PrepareSlotMs: 1e9 }
  await lab.boot({ clock, drivers: [{ ...lab.driver, prepare }], options: { limits } })
  await lab.clock.pass(1000)
  const { bootNumber, bootId } = lab.inventories().at(-1)!
  const answer = { type: 'LedgerAnswer', host: HOST, bootId, slots: [], last: true } as const
  await lab.bus.publish([ledgerAnswerRecord(answer, 'answer/1', lab.clock.now())])
  let number = 0
  /** Sends an order that was made `ageMs` ago for this start, or for another one. */
  const send = async (ageMs: number, start = 0, more: Parameters<typeof lab.order>[2] = { device: 1 }) => {
    const sentAt = lab.clock.now() - ageMs
    const order: Order = lab.order('PrepareSlot', ++number, { ...more, deadline: sentAt + TERM })
    const record = orderRecord(order, `order/${number}`, sentAt)
    const boot = start === null ? {} : { boot: String(bootNumber! + start) }
    await lab.bus.publish([{ ...record, headers: { ...record.headers, ...boot } }])
    await quiet(40)
    return order
  }
  const outcome = () => {
    const { result } = lab.results().at(-1)!
    return 'reason' in result ? result.reason : result.status
  }
  const after = async (...given: Parameters<typeof send>) => {
    await send(...given)
    return outcome()
  }
  return { lab, send, after, outcome, free: () => gate.resolve(), step: (ms: number) => void (by += ms) }
}
const passed = (ms: number) => `deadline passed ${ms} ms ago`

describe('what an order has left', () => {
  test.each([0, HOUR])('is what its deadline says, on a host whose clock is %i ms ahead (DEADLINE-2)', async (skew) => {
    const { after } = await opened(skew)
    expect([await after(0), await after(TERM - 1), await after(TERM + 5000)]).toEqual(['done', 'done', passed(5000)])
  })
  test('is not learnt from an order for another start (DEADLINE-2)', async () => {
    const { lab, send, outcome } = await opened(HOUR)
    await send(0, 0, { device: 2 })
    const other = await send(0, -1)
    expect(lab.results().map(({ slot }) => slot)).not.toContain(other.slot)
    expect(outcome()).toBe('done')
  })
  test('is forgotten when no order has come for ten minutes, as after a step of the clock of the control', async () => {
    const { lab, after } = await opened(0)
    expect(await after(0)).toBe('done')
    // what is sent now by a clock that was set back an hour seems to be that old
    expect(await after(HOUR)).toBe(passed(HOUR - TERM))
    await lab.clock.pass(600_000)
    expect(await after(HOUR)).toBe('done')
  })
  const waiting = async (skew: number, step: number) => {
    const { lab, send, outcome, step: steps } = await opened(skew)
    await send(0, 0, { device: 0 })
    await send(0, 0, { device: 0, unit: 1 })
    steps(step)
    await lab.clock.pass(59_000)
    expect(lab.results()).toEqual([])
    await lab.clock.pass(TERM)
    return outcome()
  }
  test('is no more than it had when it was sent, on a host whose clock is an hour behind (DEADLINE-1)', async () => {
    expect(await waiting(-HOUR, 0)).toMatch(/busy for|deadline passed/)
  })
  test.each([HOUR, -HOUR])('is the same after a step of the clock of the host by %i ms (DEADLINE-3)', async (step) => {
    expect(await waiting(0, step)).toMatch(/busy for|deadline passed/)
  })
})

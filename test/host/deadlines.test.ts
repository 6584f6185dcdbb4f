/** When an order is over on a host whose clock is not that of the control. */
import { describe, expect, test } from 'vitest'
import { createDeadlines } from '../../src/host/deadlines.ts'
import { ledgerAnswerRecord, orderRecord } from '../../src/wire/message.ts'
import { BOOT_HEADER } from '../../src/wire/seal.ts'
import { HOST, openHostLab } from '../support/hostLab.ts'
import { handClock, quiet } from '../support/lab.ts'

const HOUR = 3_600_000
const TERM = 120_000
const BOOT = 7
/** A host whose clock differs from that of the control by so much. */
const opened = (skewMs: number) => {
  const control = handClock()
  let by = skewMs
  const dueAt = createDeadlines({ now: () => control.now() + by, monotonic: control.monotonic }, BOOT)
  /** How long an order has left that was sent `ageMs` ago. */
  const left = (ageMs = 0, meant: number | null = BOOT, term = TERM) => {
    const sentAt = control.now() - ageMs
    return dueAt({ deadline: sentAt + term }, { meant, sentAt }) - control.monotonic()
  }
  return { left, pass: control.pass, set: (ms: number) => void (by += ms) }
}

describe('what an order has left', () => {
  test('where the clocks agree: what its deadline says', () => {
    const { left } = opened(0)
    expect([left(), left(1000), left(TERM + 5000)]).toEqual([TERM, TERM - 1000, -5000])
    expect([left(0, null), left(1000, BOOT - 1), left(TERM + 5000, null)]).toEqual([TERM, TERM - 1000, -5000])
  })
  test('DEADLINE-2 on a host whose clock is an hour ahead: the same, by the freshest order for this start', async () => {
    const { left, pass } = opened(HOUR)
    expect([left(), left(50_000)]).toEqual([TERM, TERM - 50_000])
    await pass(60_000)
    expect([left(0), left(TERM + 5000)]).toEqual([TERM, -5000])
  })
  test('DEADLINE-2 an order for another start, or for none, says nothing about the clock', () => {
    const { left } = opened(HOUR)
    expect([left(0, null), left(0, BOOT - 1)]).toEqual([TERM - HOUR, TERM - HOUR])
    expect(left()).toBe(TERM)
  })
  test('DEADLINE-1 on a host whose clock is an hour behind: no more than it had when it was sent', () => {
    const { left } = opened(-HOUR)
    expect([left(), left(1000), left(0, null)]).toEqual([TERM, TERM, TERM])
  })
  test('DEADLINE-3 after a step of the clock of the host: as before', () => {
    for (const step of [HOUR, -HOUR]) {
      const { left, set } = opened(0)
      left()
      set(step)
      expect([left(), left(1000)]).toEqual([TERM, TERM - 1000])
    }
  })
  test('after a step of the clock of the control: again, ten minutes later at most', async () => {
    const [before, after] = [0, -HOUR]
    const clock = handClock()
    let control = before
    const dueAt = createDeadlines(clock, BOOT)
    const left = () => {
      const sentAt = clock.now() + control
      return dueAt({ deadline: sentAt + TERM }, { meant: BOOT, sentAt }) - clock.monotonic()
    }
    expect(left()).toBe(TERM)
    control = after
    expect(left()).toBe(TERM - HOUR)
    for (let n = 0; n < 10; n++) {
      await clock.pass(60_000)
      left()
    }
    expect(left()).toBe(TERM)
  })
  test('DEADLINE-2 what the clock seemed to be is forgotten when no order has come for ten minutes', async () => {
    const leftAfter = async (ms: number) => {
      const clock = handClock()
      const dueAt = createDeadlines(clock, BOOT)
      const left = (sentAt: number) => dueAt({ deadline: sentAt + TERM }, { meant: BOOT, sentAt }) - clock.monotonic()
      left(clock.now())
      await clock.pass(ms)
      return left(clock.now() - HOUR)
    }
    expect([await leftAfter(599_999), await leftAfter(600_000)]).toEqual([TERM - HOUR, TERM])
  })
  test('an order that was sent after its deadline, by a control with another clock, is judged by the clock of the host', () => {
    const clock = handClock()
    const dueAt = createDeadlines(clock, BOOT)
    const sending = { meant: null, sentAt: clock.now() + HOUR }
    expect(dueAt({ deadline: clock.now() + TERM }, sending) - clock.monotonic()).toBe(TERM)
    expect(dueAt({ deadline: clock.now() + TERM }, { meant: BOOT, sentAt: NaN }) - clock.monotonic()).toBe(TERM)
  })
})

test.each([
  ['ahead', HOUR],
  ['behind', -HOUR],
])('a host whose clock is an hour %s carries out what is sent for its start', async (_, skewMs) => {
  const lab = await openHostLab()
  await lab.boot({ clock: { ...lab.clock, now: () => lab.clock.now() + skewMs } })
  await lab.clock.pass(1000)
  const { bootNumber, bootId } = lab.inventories().at(-1)!
  const answer = { type: 'LedgerAnswer', host: HOST, bootId, slots: [], last: true } as const
  await lab.bus.publish([ledgerAnswerRecord(answer, 'answer/1', lab.clock.now())])
  const record = orderRecord(lab.order('PrepareSlot', 1), 'order/1', lab.clock.now())
  await lab.bus.publish([{ ...record, headers: { ...record.headers, [BOOT_HEADER]: String(bootNumber) } }])
  await quiet(40)
  expect(lab.results().map(({ result }) => result)).toMatchObject([{ status: 'done' }])
})

/** The clock of the machine. */
import { expect, test, vi } from 'vitest'
import { systemClock } from '../../src/vocabulary/clock.ts'

test('what is to run after some time never runs before, also when it is asked for late in a busy step', async () => {
  const early: number[] = []
  for (let round = 0; round < 10; round++) {
    const busyUntil = systemClock.monotonic() + 5
    while (systemClock.monotonic() < busyUntil);
    const asked = systemClock.monotonic()
    await new Promise<void>((resolve) => void systemClock.after(8, resolve))
    const passed = systemClock.monotonic() - asked
    if (passed < 8) early.push(passed)
  }
  expect(early).toEqual([])
})

test('what was cancelled does not run', async () => {
  let ran = false
  const cancel = systemClock.after(5, () => (ran = true))
  cancel()
  await new Promise<void>((resolve) => void systemClock.after(15, resolve))
  expect(ran).toBe(false)
})

test('a wait that is longer than a timer of Node can be is as long as that can be, and one that is over is none', () => {
  const timers = vi.spyOn(globalThis, 'setTimeout')
  for (const ms of [2 ** 40, 2 ** 31 - 1, -5]) systemClock.after(ms, () => {})()
  const waits = timers.mock.calls.map(([, ms]) => ms)
  timers.mockRestore()
  expect(waits).toEqual([2_147_483_647, 2_147_483_647, 0])
})

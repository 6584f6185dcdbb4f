/** The clock of the machine. */
import { expect, test } from 'vitest'
import { systemClock } from '../../src/clock.ts'

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

/** The percentiles of recent durations. */
import { expect, test } from 'vitest'
import { recentTimes } from '../../src/cli/observe/recentTimes.ts'

const MINUTE = 60_000

test('nothing is known before the first call', () => {
  expect(recentTimes(() => 0).read()).toBeNull()
})

test('one call is each of the percentiles', () => {
  const times = recentTimes(() => 7)
  times.add(1.2345)
  expect(times.read()).toEqual({ count: 1, since: 7, p50: 1.23, p90: 1.23, p99: 1.23, max: 1.23 })
})

test('a percentile is a duration that was measured: that share of all took no longer', () => {
  const times = recentTimes(() => 0)
  for (const ms of [40, 10, 30, 20]) times.add(ms)
  expect(times.read()).toMatchObject({ p50: 20, p90: 40, p99: 40, max: 40 })
})

test('what is older than a quarter of an hour is forgotten', () => {
  let now = 0
  const times = recentTimes(() => now)
  times.add(900)
  now = 14 * MINUTE
  times.add(1)
  expect(times.read()).toMatchObject({ count: 2, max: 900, since: 0 })
  now = 15 * MINUTE
  expect(times.read()).toMatchObject({ count: 2, since: 0 })
  now++
  expect(times.read()).toMatchObject({ count: 1, since: 14 * MINUTE })
  now = 16 * MINUTE
  expect(times.read()).toMatchObject({ count: 1, max: 1, since: 14 * MINUTE })
  now = 30 * MINUTE
  expect(times.read()).toBeNull()
})

test('the last thousand are kept', () => {
  const times = recentTimes(() => 0)
  for (let ms = 1; ms <= 1500; ms++) times.add(ms)
  expect(times.read()).toEqual({ count: 1000, since: 0, p50: 1000, p90: 1400, p99: 1490, max: 1500 })
})

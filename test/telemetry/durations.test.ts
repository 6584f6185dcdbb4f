/** Durations in metrics are in seconds, from the beginning of what is measured to its end. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { Bus } from '../../src/bus/port.ts'
import { type Meter, openMeter } from '../../src/cli/observe/metrics.ts'
import { timedDriver } from '../../src/cli/observe/metricsHost.ts'
import { observedJournal } from '../../src/cli/observe/metricsJournal.ts'
import { observedBus } from '../../src/cli/observe/observedBus.ts'
import { one } from '../persistence/samples.ts'

/** Each look at the clock of this process is this much later than the one before. */
const STEP_MS = 2500
let meter: Meter
beforeEach(() => {
  meter = openMeter()
  let now = 0
  vi.spyOn(performance, 'now').mockImplementation(() => (now += STEP_MS))
})
afterEach(() => void vi.restoreAllMocks())
const sumOf = async (name: string) =>
  [...(await meter.registry.metrics()).matchAll(/^accelerando_(\w+)_sum(?:\{.*\})? (\S+)$/gm)]
    .filter(([, metric]) => metric === name)
    .map(([, , sum]) => Number(sum))

test('of an append, which is also told in milliseconds', async () => {
  const took: number[] = []
  const journal = { onAppended: () => undefined, append: async () => 'appended' } as never
  await observedJournal(journal, meter, (ms) => void took.push(ms)).append(one('arq/q1', 1))
  expect([await sumOf('journal_append_seconds'), took]).toEqual([[2.5], [2500]])
})
test.each<readonly [string, Pick<Bus, 'publish'>]>([
  ['stored', { publish: async () => undefined }],
  ['failed', { publish: () => Promise.reject(new Error('away')) }],
])('of a batch that is %s', async (_, bus) => {
  await observedBus(bus, { meter })
    .publish([])
    .catch(() => undefined)
  expect(await sumOf('bus_publish_seconds')).toEqual([2.5])
})
test.each(['done', 'failed'])('of a call of a driver that is %s', async (outcome) => {
  const discover = async () => (outcome === 'done' ? [] : Promise.reject(new Error('no bus')))
  await timedDriver({ name: 'd', discover } as never, meter)
    .discover({} as never)
    .catch(() => undefined)
  expect(await sumOf('host_driver_seconds')).toEqual([2.5])
})
test.each([
  [1500, 1.5],
  [-1, 0],
])('of a bind that ended %i ms after it was accepted', async (ms, seconds) => {
  const { rows, ...append } = one('instance/i1', 1)
  const [row] = rows
  const settled = { type: 'BindSettled', outcome: 'completed', reason: null, since: row!.at - ms }
  const journal = { onAppended: () => undefined, append: async () => 'appended' } as never
  await observedJournal(journal, meter).append({ ...append, rows: [{ ...row, events: [settled] }] } as never)
  expect(await sumOf('bind_seconds')).toEqual([seconds])
})

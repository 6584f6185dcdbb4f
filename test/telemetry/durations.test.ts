/** Durations in metrics are in seconds, from the beginning of what is measured to its end. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { Journal } from '../../src/actors/runtime/ports.ts'
import type { Bus } from '../../src/bus/port.ts'
import { type Meter, openMeter } from '../../src/cli/observe/metrics.ts'
import { timedDriver } from '../../src/cli/observe/metricsHost.ts'
import { observedJournal } from '../../src/cli/observe/metricsJournal.ts'
import { observedBus } from '../../src/cli/observe/observedBus.ts'
import { realHostIo } from '../../src/drivers/hostIo.ts'
import { fakeDriver } from '../../src/drivers/simulated/fake.ts'
import { memoryStore } from '../support/memoryStore/memory.ts'
import { one } from '../persistence/samples.ts'

const TOOK_MS = 2500
let meter: Meter
let now: number
/** Only work takes time by the clock of this process. */
const work = () => void (now += TOOK_MS)
beforeEach(() => {
  meter = openMeter()
  now = 0
  vi.spyOn(performance, 'now').mockImplementation(() => now)
})
afterEach(() => void vi.restoreAllMocks())
const slowJournal = (): Journal => {
  const { journal } = memoryStore()
  return { ...journal, append: (append) => (work(), journal.append(append)) }
}
const io = realHostIo({ hostname: 'h1', stateDir: '/nowhere', warn: () => expect.fail('nothing is wrong') })
const sumOf = async (name: string) =>
  [...(await meter.registry.metrics()).matchAll(/^accelerando_(\w+)_sum(?:\{.*\})? (\S+)$/gm)]
    .filter(([, metric]) => metric === name)
    .map(([, , sum]) => Number(sum))

test('of an append, which is also told in milliseconds', async () => {
  const took: number[] = []
  await observedJournal(slowJournal(), meter, (ms) => void took.push(ms)).append(one('arq/q1', 1))
  expect([await sumOf('journal_append_seconds'), took]).toEqual([[2.5], [2500]])
})
test.each<readonly [string, Pick<Bus, 'publish'>]>([
  ['stored', { publish: async () => work() }],
  ['failed', { publish: async () => (work(), Promise.reject(new Error('away'))) }],
])('of a batch that is %s', async (_, bus) => {
  await observedBus(bus, { meter })
    .publish([])
    .catch(() => undefined)
  expect(await sumOf('bus_publish_seconds')).toEqual([2.5])
})
test.each(['done', 'failed'])('of a call of a driver that is %s', async (outcome) => {
  const discover = async () => (work(), outcome === 'done' ? [] : Promise.reject(new Error('no bus')))
  await timedDriver({ ...fakeDriver(), discover }, meter)
    .discover(io)
    .catch(() => undefined)
  expect(await sumOf('host_driver_seconds')).toEqual([2.5])
})
test.each([
  [1500, 1.5],
  [-1, 0],
])('of a bind that ended %i ms after it was accepted', async (ms, seconds) => {
  const { rows, ...append } = one('instance/i1', 1)
  const [row] = rows
  const ended = { outcome: 'completed', arqs: [], reason: null, tell: null, since: row!.at - ms } as const
  const settled = { type: 'BindSettled', ...ended } as const
  await observedJournal(memoryStore().journal, meter).append({ ...append, rows: [{ ...row!, events: [settled] }] })
  expect(await sumOf('bind_seconds')).toEqual([seconds])
})

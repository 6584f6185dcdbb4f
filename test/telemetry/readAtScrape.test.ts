/** How often a page of metrics asks the database, however often it is read. */
import { afterEach, expect, test, vi } from 'vitest'
import { openMeter } from '../../src/cli/observe/metrics.ts'
import { showBus, showDatabase } from '../../src/cli/observe/metricsControl.ts'

afterEach(() => void vi.restoreAllMocks())

test('each question is asked once in ten seconds', async () => {
  let now = 1_000_000
  vi.spyOn(Date, 'now').mockImplementation(() => now)
  const asked: string[] = []
  const meter = openMeter()
  const tally = async (view: string, column: string) => {
    asked.push(`${view} by ${column}`)
    return new Map<string, number>()
  }
  showDatabase(meter, {
    reads: {
      tally,
      page: async () => [],
      dueBefore: async (before: number, limit: number) => {
        asked.push(`${limit} due before ${before - now}`)
        return []
      },
    },
    isStopped: async () => {
      asked.push('whether it is stopped')
      return false
    },
  })
  showBus(meter, {
    state: () => ({ connected: true }),
    lag: async () => {
      asked.push('lags')
      return []
    },
  })
  const scrape = async () => {
    asked.splice(0)
    await meter.registry.metrics()
    return asked.toSorted()
  }
  const all = [
    '1 due before 0',
    'devices by failing',
    'devices by status',
    'devices by type',
    'handles by state',
    'hosts by liveness',
    'lags',
    'pending_orders by number',
    'whether it is stopped',
  ]
  expect(await scrape()).toEqual(all)
  now += 9999
  expect(await scrape()).toEqual([])
  now++
  expect(await scrape()).toEqual(all)
})

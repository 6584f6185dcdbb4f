/** The parts of the metrics, by themselves. */
import { describe, expect, test } from 'vitest'
import { cached, openMeter } from '../../src/cli/observe/metrics.ts'
import { showBus } from '../../src/cli/observe/metricsControl.ts'
import { pageOf, total } from './page.ts'

const page = async (meter: ReturnType<typeof openMeter>) => pageOf(await meter.registry.metrics())

describe('a read for the page', () => {
  const opened = () => {
    let [now, reads, failures] = [0, 0, 0]
    let read = async () => ++reads
    const show = cached(() => read(), { forMs: 100, withinMs: 10, now: () => now, failed: () => failures++ })
    return {
      show,
      pass: (ms: number) => (now += ms),
      become: (other: () => Promise<number>) => (read = other),
      counts: () => ({ reads, failures }),
    }
  }
  test('is done once in a while, however often the page is asked for', async () => {
    const { show, pass, counts } = opened()
    expect([await show(), await show(), await show()]).toEqual([1, 1, 1])
    pass(100)
    expect(await show()).toBe(2)
    expect(counts()).toEqual({ reads: 2, failures: 0 })
  })
  test('that does not come back holds no page up, and is not begun again meanwhile', async () => {
    const { show, pass, become, counts } = opened()
    await show()
    let begun = 0
    become(() => (begun++, new Promise(() => {})))
    pass(100)
    expect([await show(), await show()]).toEqual([1, 1])
    expect([begun, counts().failures]).toEqual([1, 2])
  })
  test('that fails leaves what was known', async () => {
    const { show, pass, become, counts } = opened()
    become(() => Promise.reject(new Error('away')))
    expect(await show()).toBeNull()
    become(async () => 7)
    pass(100)
    expect(await show()).toBe(7)
    expect(counts().failures).toBe(1)
  })
})

describe('a meter', () => {
  test('shows nothing where nothing is known, and follows what is', async () => {
    const meter = openMeter()
    let hosts: readonly (readonly [{ liveness: string }, number])[] | null = null
    meter.show('hosts', () => hosts)
    expect(total(await page(meter), 'accelerando_hosts')).toBe(0)
    meter.show('orders_pending', () => null)
    expect(await meter.registry.metrics()).not.toContain('orders_pending 0')
    hosts = [[{ liveness: 'up' }, 3]]
    expect((await page(meter)).samples).toEqual([{ name: 'accelerando_hosts', labels: { liveness: 'up' }, value: 3 }])
    hosts = [[{ liveness: 'down' }, 1]]
    expect((await page(meter)).samples).toEqual([{ name: 'accelerando_hosts', labels: { liveness: 'down' }, value: 1 }])
  })
  test('shows how far consumers are behind, hosts as one group, and nothing while the bus does not tell', async () => {
    const meter = openMeter()
    const behind = { topic: 'host.reports.v1', group: 'control', messages: 12 }
    const host = { topic: 'host.orders.v1', group: 'host-compute-1-0f3c', messages: 1 }
    showBus(meter, { state: () => ({ connected: true }), lag: async () => [behind, host] })
    const shown = await page(meter)
    expect(total(shown, 'accelerando_bus_up')).toBe(1)
    expect(total(shown, 'accelerando_bus_consumer_lag_messages', { group: 'control' })).toBe(12)
    expect(total(shown, 'accelerando_bus_consumer_lag_messages', { group: 'host' })).toBe(1)

    const away = openMeter()
    showBus(away, { state: () => ({ connected: false }), lag: () => Promise.reject(new Error('the broker is away')) })
    const blind = await page(away)
    expect(blind.samples.filter(({ name }) => name.includes('lag_messages'))).toEqual([])
    expect(total(await page(away), 'accelerando_scrape_failures_total', { read: 'lag' })).toBe(1)
  })
})

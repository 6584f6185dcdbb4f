/** What each number of a host's page is read from. */
import { expect, test } from 'vitest'
import { openMeter } from '../../src/cli/observe/metrics.ts'
import { ordersCounted, showHosts, timedDriver } from '../../src/cli/observe/metricsHost.ts'
import { fakeDriver } from '../../src/drivers/simulated/fake.ts'
import { recordedHostIo } from '../drivers/recordedHostIo.ts'
import { readingOf } from '../support/reports.ts'
import { lines } from './page.ts'

test('of a host', async () => {
  const meter = openMeter()
  const load = (ordersInHand: number, resultsWaiting: number) => ({
    load: () => ({ ordersInHand, resultsWaiting }),
    measured: () => [readingOf(ordersInHand)],
  })
  showHosts(meter, [load(1, 10), load(2, 20)])
  ordersCounted(meter)('PrepareSlot', 'done', 1500)
  ordersCounted(meter)('PrepareSlot', 'failed', -1)
  const driver = timedDriver(fakeDriver(), meter)
  const io = recordedHostIo({ images: { 'a.gbs': '' } }, 'h')
  const never = new AbortController().signal
  const [device] = await driver.discover(io)
  const [{ name, handles } = { name: '', handles: [] }] = device!.deployables
  const slot = { uuid: 'u', deployable: name, type: 'TEST_PCI', info: handles[0]!.info }
  await driver.prepare(io, slot as never, never)
  await driver.release(io, slot as never, never)
  await driver.program!(io, name, '/images/a.gbs', never)
  await expect(driver.prepare(io, { ...slot, deployable: 'other' } as never, never)).rejects.toThrow('has no other')
  expect(await lines(meter)).toMatchInlineSnapshot(`
    [
      "dead_letters_total topic=host.orders.v1 0",
      "host_devices driver=d health=ok 1",
      "host_devices driver=d health=warning 0",
      "host_devices driver=d health=bad 1",
      "host_measured_highest driver=d quantity=temperature_celsius 42",
      "host_orders_in_hand 3",
      "host_results_waiting 30",
      "host_orders_total type=PrepareSlot outcome=done 1",
      "host_orders_total type=PrepareSlot outcome=failed 1",
      "host_order_seconds_count type=PrepareSlot 2",
      "host_driver_seconds_count driver=fake_driver call=discover outcome=done 1",
      "host_driver_seconds_count driver=fake_driver call=prepare outcome=done 1",
      "host_driver_seconds_count driver=fake_driver call=release outcome=done 1",
      "host_driver_seconds_count driver=fake_driver call=program outcome=done 1",
      "host_driver_seconds_count driver=fake_driver call=prepare outcome=failed 1",
    ]
  `)
  expect((await meter.registry.getSingleMetricAsString('accelerando_host_order_seconds')).split('\n').at(-2)).toMatch(
    /_sum\{type="PrepareSlot"\} 1\.5$/,
  )
})

/**
 * COMPARE among processes over one journal: the one that takes the reports of a host need not be the one that took its
 * results.
 */
import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import { memoryStores } from '../support/memoryStore/memory.ts'
import { readToHost, reportRecord, sighting } from '../../src/wire/message.ts'
import type { BusRecord } from '../../src/wire/envelope.ts'
import { openPlane, value } from '../support/plane.ts'
import { inventoryOf } from '../support/reports.ts'
import { FPGA, openCloud } from './cloud.ts'

const NOTHING = { prepared: [] }

const opened = async () => {
  const stores = memoryStores({ exclusive: false })
  const asked: string[] = []
  const publish = async (records: readonly BusRecord[]) => {
    for (const record of records) {
      const sent = readToHost(record)
      if (sent.ok && sent.value.body.type === 'TellSlots') asked.push(sent.value.body.id)
    }
  }
  const worker = await openCloud(FPGA, { 'resources:FPGA': '1' }, {}, stores(), 'when told')
  const reader = await openPlane({ publish }, stores(), 'when told')
  const devices = await worker.discovered('h1', FPGA)
  const bootId = value(await worker.control.hosts.list({})).items[0]!.boot_id!
  let number = 100
  /** The reader takes a report of a host that has nothing prepared. */
  const report = async () => {
    const made = inventoryOf('h1', ++number, {
      bootId,
      drivers: [{ driver: 'simulated_driver', status: 'ok', devices }],
      slots: NOTHING,
    })
    value(await reader.plane.reports.take(made, `${bootId}/${number}`))
    return sighting(reportRecord(made, 'again', 0))!
  }
  const answered = async () => {
    await worker.pump()
    for (const order of worker.orders.splice(0)) await worker.answer(order)
  }
  const stop = () => Promise.all([worker.stop(), reader.plane.stop()])
  return { worker, reader, asked, report, answered, stop }
}

describe('a host that has lost what it had prepared', () => {
  let cloud: Awaited<ReturnType<typeof opened>>
  beforeEach(async () => {
    await cloud?.stop()
    cloud = await opened()
  })
  afterAll(() => cloud.stop())

  test('is asked also by a process that remembers the time before the bind', async () => {
    const before = await cloud.report()
    expect(cloud.reader.plane.reports.unchanged(before)).toBe(true)
    await cloud.worker.start()
    await cloud.answered()
    await cloud.report()
    expect(cloud.asked).toHaveLength(1)
  })

  test('is asked when the order has ended that was under way while it was compared', async () => {
    await cloud.worker.start()
    const meanwhile = await cloud.report()
    expect(cloud.asked).toHaveLength(0)
    expect(cloud.reader.plane.reports.unchanged(meanwhile)).toBe(false)
    await cloud.answered()
    await cloud.report()
    expect(cloud.asked).toHaveLength(1)
  })
})

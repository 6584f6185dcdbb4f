/** MEMORY-3: two programs under one host name. The older one does nothing more. */
import { beforeEach, expect, test } from 'vitest'
import { memoryDisk } from '../../src/host/disk.ts'
import { orderRecord, stopRecord } from '../../src/wire/message.ts'
import type { Order } from '../../src/wire/orders.ts'
import { BOOT_HEADER } from '../../src/wire/seal.ts'
import { type HostLab, openHostLab } from '../support/hostLab.ts'
import { quiet } from '../support/lab.ts'

let lab: HostLab
beforeEach(async () => {
  lab = await openHostLab()
})
const OLD_LEDGER = '{"ledger":1,"host":"h1"}\n'
/** A machine with a ledger, so that nothing is held back. */
const machine = async () => {
  const disk = memoryDisk()
  await disk.replace('/state/ledger.jsonl', OLD_LEDGER)
  const host = await lab.boot({ disk, io: (await openHostLab()).io })
  const { bootNumber } = lab.inventories().findLast(({ bootId }) => bootId === host.bootId)!
  return { host, bootNumber: bootNumber! }
}
const send = async (boot: number, order: Order) => {
  const plain = orderRecord(order, `${order.slot}/${order.number}`, lab.clock.now())
  await lab.bus.publish([{ ...plain, headers: { ...plain.headers, [BOOT_HEADER]: String(boot) } }])
  await quiet(40)
}
const results = () => lab.results().map(({ bootId, result }) => `${bootId} ${result.status}`)
const said = () => lab.log.said.filter(({ message }) => message === 'host.doubled')

test('an order for the later start is carried out by it alone, and the older one says why it stops', async () => {
  const older = await machine()
  await lab.clock.pass(1000)
  const later = await machine()
  await send(later.bootNumber, lab.order('PrepareSlot', 1))
  expect(results()).toEqual([`${later.host.bootId} done`])
  expect(said()).toMatchObject([{ level: 'error', detail: { bootId: older.host.bootId } }])
  expect([older.host.notReady(), later.host.notReady()]).toEqual([expect.stringContaining('another program'), null])
})
test('told to stop, it reports nothing more and takes no order, whatever it says', async () => {
  const older = await machine()
  const later = await machine()
  const stop = { type: 'Stop', host: 'h1', bootId: older.host.bootId, by: later.host.bootId } as const
  await lab.bus.publish([stopRecord(stop, 'stop', lab.clock.now())])
  await quiet(40)
  const heard = () => lab.heard.filter(({ report }) => report.bootId === older.host.bootId).length
  const before = heard()
  await lab.clock.pass(70_000)
  await lab.send(lab.order('PrepareSlot', 1))
  expect(heard()).toBe(before)
  expect(results()).toEqual([`${later.host.bootId} done`])
  expect(said()).toHaveLength(1)
})
test('a stop for another start changes nothing', async () => {
  const { host } = await machine()
  const other = 'b0a79999-0000-4000-8000-00000000000b'
  await lab.bus.publish([
    stopRecord({ type: 'Stop', host: 'h1', bootId: other, by: host.bootId }, 'stop', lab.clock.now()),
  ])
  await quiet(40)
  expect(host.notReady()).toBe(null)
})

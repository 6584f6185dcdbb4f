/** The host program as a whole: what it consumes, what it says of itself, what it buries, and how it stops. */
import { expect, test } from 'vitest'
import type { Delivered } from '../../src/bus/port.ts'
import type { Driver } from '../../src/drivers/driver.ts'
import { hostGroup } from '../../src/host/host.ts'
import { orderRecord, readDeadLetter, stopRecord } from '../../src/wire/message.ts'
import { openHostLab } from '../support/hostLab.ts'
import { quiet } from '../support/lab.ts'

test('a host consumes the orders of its name from the earliest, in a group of this start', async () => {
  const lab = await openHostLab()
  const consumed: unknown[] = []
  const consume: typeof lab.bus.consume = (how) => {
    consumed.push(how)
    return lab.bus.consume(how)
  }
  const host = await lab.boot({ bus: { ...lab.bus, consume } })
  expect(consumed).toEqual([
    {
      topic: 'host.orders.v1',
      group: `host-h1-${host.bootId}`,
      onlyKey: 'h1',
      offsetStore: expect.objectContaining({ from: null }),
      from: 'earliest',
      window: 64,
      take: expect.any(Function),
    },
  ])
  expect([hostGroup('a', 'b'), host.name, host.notReady()]).toEqual(['host-a-b', 'h1', null])
})

test('what cannot be read is buried with its place and the reason', async () => {
  const lab = await openHostLab()
  const letters: unknown[] = []
  const take = async (record: Delivered) => {
    const letter = readDeadLetter(record)
    if (letter.ok) letters.push({ id: letter.value.id, ...letter.value.body })
  }
  await lab.bus.consume({ topic: 'dead-letters.v1', group: 'test', from: 'earliest', take })
  await lab.boot()
  const good = orderRecord(lab.order('PrepareSlot', 1), 'x', lab.clock.now())
  const broken = [
    { ...good, value: good.value.replace('"deployableUuid":"', '"deployableUuid":"not-') },
    { ...good, value: 'no json' },
    { ...good, value: good.value.replaceAll('"h1"', '"h2"') },
  ]
  await lab.bus.publish(broken)
  await quiet(40)
  const reasons = letters.map((letter) => (letter as { readonly reason: string }).reason)
  expect(reasons).toHaveLength(3)
  expect(reasons[0]).toMatch(/^data\.deployableUuid: ./)
  for (const reason of reasons) expect(reason).toMatch(/^[\w.]+(: .+)?$/)
  const ids = letters.map((letter) => (letter as { readonly id: string }).id)
  expect(ids[0]).toMatch(/^host\.orders\.v1\/0\/0\/./)
  expect(letters[0]).toMatchObject({ topic: 'host.orders.v1', key: 'h1' })
  expect(lab.log.said.filter(({ message }) => message === 'host.unreadableOrder').map(({ detail }) => detail)).toEqual(
    reasons.map((reason, n) => ({ host: 'h1', id: ids[n], reason })),
  )
})

test('a host that steps back says so once, reports nothing more, and lets what is in hand end', async () => {
  const lab = await openHostLab()
  await lab.disk.replace('/state/ledger.jsonl', '{"ledger":1,"host":"h1"}\n')
  const gate = Promise.withResolvers<void>()
  const prepare: Driver['prepare'] = () => gate.promise
  const host = await lab.boot({ drivers: [{ ...lab.driver, prepare }] })
  await lab.send(lab.order('PrepareSlot', 1))
  expect(host.load()).toEqual({ ordersInHand: 1, resultsWaiting: 0 })
  const stop = (by: string, id: string) =>
    stopRecord({ type: 'Stop', host: 'h1', bootId: host.bootId, by }, id, lab.clock.now())
  const later = ['a', 'b'].map((one) => `b0a79999-0000-4000-8000-00000000000${one}`) as [string, string]
  await lab.bus.publish([stop(later[0], '1'), stop(later[1], '2')])
  await quiet(40)
  const reason = `another program runs under the name h1: boot ${later[0]}`
  expect(host.notReady()).toBe(reason)
  const { bootNumber } = lab.inventories()[0]!
  expect(lab.log.said.filter(({ message }) => message === 'host.doubled')).toEqual([
    { level: 'error', detail: { host: 'h1', bootId: host.bootId, bootNumber, reason }, message: 'host.doubled' },
  ])
  expect(await host.reportNow()).toBe(false)
  gate.resolve()
  await host.idle()
  await quiet(40)
  expect(lab.results().map(({ result }) => result.status)).toEqual(['done'])
  expect(host.load()).toEqual({ ordersInHand: 0, resultsWaiting: 0 })
})

test('a result that the bus does not take yet is counted, told when it does, and waited for by a stop', async () => {
  const lab = await openHostLab()
  let away = true
  const publish: typeof lab.bus.publish = async (records) => {
    if (away && records.some(({ value }) => value.includes('report.OrderResult'))) throw new Error('no broker')
    return lab.bus.publish(records)
  }
  const host = await lab.boot({ bus: { ...lab.bus, publish } })
  await lab.send(lab.order('PrepareSlot', 1))
  expect([host.load(), lab.results()]).toEqual([{ ordersInHand: 0, resultsWaiting: 1 }, []])
  const stopped = host.stop()
  expect(host.stop('at once')).toBe(stopped)
  await lab.clock.pass(30)
  away = false
  await lab.clock.pass(970)
  await stopped
  expect(lab.results()).toHaveLength(1)
  expect(await lab.ledger()).toMatchObject([{ sent: true }])
})

test('an orderly stop waits for orders in hand as long as it may, and then leaves them', async () => {
  const lab = await openHostLab()
  const signals: AbortSignal[] = []
  const prepare: Driver['prepare'] = (_io, _slot, signal) => {
    signals.push(signal)
    return new Promise((_resolve, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true })
    })
  }
  const host = await lab.boot({ drivers: [{ ...lab.driver, prepare }], options: { stopWaitMs: 3000 } })
  await lab.send(lab.order('PrepareSlot', 1))
  let isOver = false
  const stopped = host.stop().then(() => (isOver = true))
  await lab.clock.pass(2999)
  expect([signals[0]!.aborted, isOver]).toEqual([false, false])
  await lab.clock.pass(1)
  await stopped
  expect((signals[0]!.reason as Error).message).toBe('the host stops')
  expect(await lab.ledger()).toMatchObject([{ state: 'in-hand' }])
  const heartbeats = lab.heartbeats().length
  await lab.clock.pass(60_000)
  expect([lab.heartbeats().length, lab.results()]).toEqual([heartbeats, []])
})

test('slots that are forgotten are counted in the log', async () => {
  const lab = await openHostLab()
  await lab.boot({ options: { ledgerKeepMs: 1000 } })
  await lab.send(lab.order('ReleaseSlot', 1), lab.order('ReleaseSlot', 1, { device: 1 }))
  lab.driver.control.unplug(0)
  await lab.clock.pass(130_000)
  expect(lab.log.said.filter(({ message }) => message === 'ledger.forgotten').map(({ detail }) => detail)).toEqual([
    { host: 'h1', forgotten: 1 },
  ])
})
